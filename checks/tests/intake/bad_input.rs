//! Input that is broken, hostile or not what it seems: never a crash, never a made-up value, always a note.

use crate::common::{gzip, read};

const XID: &str = "[   12.345678] NVRM: Xid (PCI:0000:3b:00): 79, pid=77, name=python3, GPU has fallen off the bus.\n";

#[test]
fn empty_file() {
    let r = read("a.txt", b"");
    assert_eq!(r.kinds(), ["unknown"]);
    assert_eq!(r.notes(), "The file is empty.");
    assert!(r.facts.is_empty());
    assert_eq!(read("a.txt", b" \n\t\r\n").notes(), "There is no text in it.");
}

#[test]
fn random_bytes() {
    // A fixed generator: the same bytes in every run.
    let mut x = 0x2545_f491_4f6c_dd1d_u64;
    for len in [1_usize, 7, 64, 4096, 300_000] {
        let bytes: Vec<u8> = (0..len)
            .map(|_| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                x.to_le_bytes()[3]
            })
            .collect();
        let r = read("noise.bin", &bytes);
        assert_eq!(r.kinds(), ["unknown"], "{len} bytes");
        assert!(!r.notes().is_empty());
        assert!(r.facts.is_empty());
    }
}

#[test]
fn truncated_gzip_gives_what_came_before() {
    let log: String = (0..5000).map(|i| format!("[{i:5}.000001] usb 1-1: message {i}\n")).collect();
    let packed = gzip(format!("{XID}{log}").as_bytes());
    let r = read("kern.log.gz", &packed[..packed.len() / 2]);
    assert_eq!(r.kinds(), ["dmesg"]);
    assert_eq!(r.text("xids").as_deref(), Some("79"));
    assert!(r.notes().contains("breaks off"), "{}", r.notes());
    // Cut within the gzip header: nothing can be read, and that is said.
    let r = read("kern.log.gz", &packed[..9]);
    assert_eq!(r.kinds(), ["unknown"]);
    assert!(!r.notes().is_empty());
}

#[test]
fn gzip_of_a_gibibyte_of_zeros_is_refused_at_its_head() {
    // Members of a gzip file may follow each other.
    let bomb = gzip(&vec![0; 16 << 20]).repeat(64);
    let started = std::time::Instant::now();
    let r = read("bomb.gz", &bomb);
    assert_eq!(r.kinds(), ["unknown"]);
    assert_eq!(r.notes(), "Binary data that nothing here can read.");
    assert!(r.inputs[0].bytes <= 1 << 20, "no more than the head is unpacked");
    assert!(started.elapsed().as_secs() < 30);
}

#[test]
fn endless_text_is_cut() {
    let mut packed = gzip(XID.as_bytes());
    packed.extend(gzip(&vec![b'x'; 10 << 20]).repeat(10));
    let r = read("long.gz", &packed);
    assert_eq!(r.text("xids").as_deref(), Some("79"));
}

#[test]
fn nested_compression_ends() {
    let mut packed = gzip(XID.as_bytes());
    packed = zstd::encode_all(&packed[..], 1).unwrap();
    assert_eq!(read("a.gz.zst", &packed).kinds(), ["dmesg"]);
    for _ in 0..8 {
        packed = gzip(&packed);
    }
    let r = read("a.gz", &packed);
    assert_eq!(r.kinds(), ["unknown"]);
    assert!(r.notes().contains("unpack it first"));
}

#[test]
fn utf16_in_both_orders_with_and_without_mark() {
    let text =
        format!("PyTorch version: 2.1.0+cu121\r\nCUDA used to build PyTorch: 12.1\r\n{XID}").replace('\n', "\r\n");
    for (name, mark, big) in
        [("le+bom", true, false), ("be+bom", true, true), ("le", false, false), ("be", false, true)]
    {
        let mut bytes: Vec<u8> = Vec::new();
        let units = mark.then_some(0xfeff).into_iter().chain(text.encode_utf16());
        for u in units {
            bytes.extend(if big { u.to_be_bytes() } else { u.to_le_bytes() });
        }
        let r = read(name, &bytes);
        assert_eq!(r.text("torch").as_deref(), Some("2.1.0+cu121"), "{name}");
        assert_eq!(r.text("xids").as_deref(), Some("79"), "{name}");
        // A half unit at the end is dropped.
        bytes.push(0x41);
        assert_eq!(read(name, &bytes).text("torch").as_deref(), Some("2.1.0+cu121"), "{name}");
    }
}

#[test]
fn ten_megabytes_on_one_line() {
    let junk = "x".repeat(10 << 20);
    let started = std::time::Instant::now();
    assert_eq!(read("line.txt", &junk).kinds(), ["unknown"]);
    let r = read(
        "line.log",
        format!("{XID}[   13.000000] NVRM: {junk}\n[   14.000000] usb: {junk} NVRM: Xid (PCI:0000:01:00): 13, x"),
    );
    assert_eq!(r.kinds(), ["dmesg"]);
    assert_eq!(r.text("kernel_log.lines").as_deref(), Some("3"));
    assert!(
        r.facts.kernel.iter().all(|e| e.text.len() <= 600 && e.place.quote.as_ref().unwrap().chars().count() <= 241)
    );
    assert!(started.elapsed().as_secs() < 30);
}

#[test]
fn escapes_and_markup_stay_text() {
    let log = "\u{1b}[33m[   12.345678]\u{1b}[0m NVRM: Xid (PCI:0000:3b:00): 13, pid=7, name=<script>alert(1)</script>, <b>x</b>\n";
    let r = read("c.log", log);
    let quote = r.place("xids").unwrap().2;
    assert_eq!(quote, "[   12.345678] NVRM: Xid (PCI:0000:3b:00): 13, pid=7, name=<script>alert(1)</script>, <b>x</b>");
    assert!(!quote.contains('\u{1b}'));
    // A sequence that never ends does not swallow the rest.
    let r = read("c.log", format!("{XID}\u{1b}[\u{1b}]0;title never ends\n{XID}"));
    assert_eq!(r.facts.kernel.len(), 2);
}

#[test]
fn invalid_utf8_is_replaced_and_read_on() {
    let mut bytes = b"[    1.000000] usb: caf\xe9 \xff\xfe\x80 broken\n".to_vec();
    bytes.extend(XID.as_bytes());
    let r = read("latin1.log", &bytes);
    assert_eq!(r.text("xids").as_deref(), Some("79"));
    assert_eq!(r.place("xids").unwrap().1, Some(2));
}

#[test]
fn names_are_labels_only() {
    let r = read("../../etc/passwd", XID);
    assert_eq!(r.inputs[0].name, "../../etc/passwd");
}
