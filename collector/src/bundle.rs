//! `sextant bundle`: the raw evidence of this node, and files that were named, in one compressed archive with a manifest.
//! Names, addresses, serial numbers and secrets are taken out unless that is switched off.
//!
//! It decides what goes in; what is taken out is decided by [`checks::redact`].

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use checks::fact::Value;
use checks::keys;
use checks::redact::Redactor;
use checks::snapshot::Snapshot;
use serde::Serialize;

use crate::check::{files, print};
use crate::cli::BundleArgs;
use crate::probe::{self, Root};
use crate::sample;

/// Compression of the archive: text shrinks to about a tenth, at some 50 MB/s.
const ZSTD_LEVEL: i32 = 9;
/// Lines that are redacted at once.
const BLOCK_LINES: usize = 2_000;
/// Commands whose output no probe has, by the name of their file: what a person would be asked for. `nvidia-smi -q` may
/// initialise every GPU first.
const COMMANDS: &[(&str, &[&str], u64)] = &[
    ("nvidia-smi-q.txt", &["nvidia-smi", "-q"], 30),
    ("nvidia-smi-topo.txt", &["nvidia-smi", "topo", "-m"], 20),
    ("nvidia-smi-nvlink.txt", &["nvidia-smi", "nvlink", "-s"], 20),
    ("lspci.txt", &["lspci", "-vv"], 10),
];

/// `manifest.json`.
#[derive(Serialize)]
struct Manifest {
    v: u32,
    kind: &'static str,
    collector: &'static str,
    created_ms: u128,
    redacted: bool,
    files: Vec<Entry>,
    redactions: BTreeMap<&'static str, usize>,
    left_out: Vec<String>,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    bytes: u64,
    hash: String,
}

/// An archive that is being written.
struct Bundle<W: Write> {
    tar: tar::Builder<zstd::Encoder<'static, W>>,
    redactor: Option<Redactor>,
    entries: Vec<Entry>,
    left_out: Vec<String>,
    created_ms: u128,
}

/// Runs the command.
pub(crate) fn run(args: &BundleArgs) -> Result<ExitCode> {
    let redactor = (!args.no_redact).then(|| redactor(&args.root));
    let Some(path) = &args.output else {
        // Only the preview was asked for: everything is made, nothing is kept.
        let bundle = fill(Bundle::new(io::sink(), redactor)?, args)?;
        preview(&bundle)?;
        return Ok(ExitCode::SUCCESS);
    };
    let (partial, file) = create(path)?;
    let written = fill(Bundle::new(file, redactor)?, args).and_then(|bundle| {
        if args.show_redactions {
            preview(&bundle)?;
        }
        bundle.finish()
    });
    let done = written.and_then(|file| {
        file.sync_all().context("the bundle could not be made durable")?;
        fs::rename(&partial, path).with_context(|| format!("{} could not be written", path.display()))
    });
    if let Err(e) = done {
        // What is left behind is of no use; that it cannot be removed is less worth saying than why.
        let _ = fs::remove_file(&partial);
        return Err(e);
    }
    print(&format!("{}\n", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// A new file beside the target that only its owner may read. The target is replaced when everything is in it, and never
/// through a link.
fn create(path: &Path) -> Result<(PathBuf, File)> {
    if let Ok(meta) = fs::symlink_metadata(path)
        && !meta.is_file()
    {
        bail!("{} is not a plain file; name another", path.display());
    }
    let mut name = path.file_name().context("the bundle needs a file name")?.to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(name);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial);
    let file = file.with_context(|| format!("{} could not be written", partial.display()))?;
    Ok((partial, file))
}

/// A redactor that knows this node and its users. The node's stand-in is made of its machine id, so that bundles of
/// several nodes stay apart.
fn redactor(root: &Path) -> Redactor {
    let root = Root::new(root);
    let mut redactor = Redactor::new();
    if let Some(host) = probe::host(&root) {
        let machine = probe::machine(&root).unwrap_or_default();
        redactor.know_host_as(&host, &format!("node-{}", machine.get(..8).unwrap_or("unknown")));
    }
    for name in root.names("/home") {
        redactor.know_user(&name);
    }
    let passwd = root.text("/etc/passwd").unwrap_or_default();
    for line in passwd.lines() {
        let mut fields = line.split(':');
        let (name, uid) = (fields.next().unwrap_or_default(), fields.nth(1).and_then(|u| u.parse::<u32>().ok()));
        // Below 1000 are the system's own users, 65534 is nobody.
        if uid.is_some_and(|u| (1000..65534).contains(&u)) {
            redactor.know_user(name);
        }
    }
    if root.is_live() {
        for name in ["USER", "LOGNAME", "SUDO_USER"].iter().filter_map(|v| std::env::var(v).ok()) {
            redactor.know_user(&name);
        }
    }
    redactor
}

/// Everything that belongs in.
fn fill<W: Write>(mut bundle: Bundle<W>, args: &BundleArgs) -> Result<Bundle<W>> {
    let snapshot = probe::snapshot(&args.root, probe::Options::default());
    bundle.snapshot(snapshot)?;
    if Root::new(&args.root).is_live() {
        for (name, line, seconds) in COMMANDS {
            match probe::command_output(line, Duration::from_secs(*seconds)) {
                Ok(text) => bundle.text(name, text.as_bytes())?,
                Err(e) => bundle.left_out.push(format!("{}: {e}", line.join(" "))),
            }
        }
    }
    for path in &args.files {
        let (found, notes) = if path.is_dir() { files::list(path) } else { (vec![path.clone()], Vec::new()) };
        bundle.left_out.extend(notes);
        for file in found {
            let base = path.parent().unwrap_or(Path::new(""));
            let name = file.strip_prefix(base).unwrap_or(&file).display().to_string();
            bundle.file(&name, &file)?;
        }
    }
    bundle.manifest()?;
    Ok(bundle)
}

impl<W: Write> Bundle<W> {
    fn new(out: W, redactor: Option<Redactor>) -> Result<Self> {
        let encoder = zstd::Encoder::new(out, ZSTD_LEVEL).context("the archive could not be started")?;
        let tar = tar::Builder::new(encoder);
        let created_ms = sample::epoch().as_millis();
        Ok(Self { tar, redactor, entries: Vec::new(), left_out: Vec::new(), created_ms })
    }

    fn finish(self) -> Result<W> {
        let encoder = self.tar.into_inner().context("the archive could not be ended")?;
        encoder.finish().context("the archive could not be ended")
    }

    fn redact(&mut self, text: &str) -> String {
        match &mut self.redactor {
            Some(r) => r.text(text),
            None => text.to_owned(),
        }
    }

    /// The snapshot, each of its texts redacted before they are wrapped into JSON, where escapes would hide word ends.
    fn snapshot(&mut self, mut snapshot: Snapshot) -> Result<()> {
        for raw in &mut snapshot.raw {
            raw.text = self.redact(&raw.text);
        }
        for fact in &mut snapshot.facts {
            match (&mut fact.value, &mut self.redactor) {
                (Value::Text(name), Some(r)) if fact.path == keys::HOST.path => *name = r.host(name),
                (value, _) => self.value(value),
            }
            fact.source = fact.source.take().map(|s| self.redact(&s));
        }
        if let Some(r) = &mut self.redactor {
            snapshot.node.name = snapshot.node.name.take().map(|n| r.host(&n));
        }
        for text in snapshot.collector.receipt.iter_mut().flat_map(|r| &mut r.unreadable) {
            *text = self.redact(text);
        }
        self.add("snapshot.json", &serde_json::to_vec(&snapshot)?)
    }

    /// Every text in a value.
    fn value(&mut self, value: &mut Value) {
        match value {
            Value::Text(t) => *t = self.redact(t),
            Value::List(all) => all.iter_mut().for_each(|v| self.value(v)),
            _ => {}
        }
    }

    /// A named file: text is redacted, compressed text is opened for it, anything else only goes in where nothing is to be
    /// taken out.
    fn file(&mut self, name: &str, path: &Path) -> Result<()> {
        let open = || File::open(path).with_context(|| format!("{} could not be opened", path.display()));
        let mut head = [0; 4096];
        let n = open()?.read(&mut head).with_context(|| format!("{} could not be read", path.display()))?;
        let (name, mut reader): (&str, Box<dyn Read>) = match head[..n] {
            _ if self.redactor.is_none() => (name, Box::new(open()?)),
            [0x1f, 0x8b, ..] => (name.trim_end_matches(".gz"), Box::new(flate2::read::MultiGzDecoder::new(open()?))),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => (name.trim_end_matches(".zst"), Box::new(zstd::Decoder::new(open()?)?)),
            _ => (name, Box::new(open()?)),
        };
        let name = self.redact(name);
        if self.redactor.is_none() {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).with_context(|| format!("{} could not be read", path.display()))?;
            return self.add(&name, &bytes);
        }
        match self.redacted(reader) {
            Ok(Some(text)) => self.add(&name, &text),
            Ok(None) => {
                self.left_out.push(format!("{name}: it is not text, so names in it could not be taken out"));
                Ok(())
            }
            Err(e) => {
                self.left_out.push(format!("{name}: {e}"));
                Ok(())
            }
        }
    }

    /// The text with everything taken out; `None` if it is not text.
    fn redacted(&mut self, reader: Box<dyn Read>) -> io::Result<Option<Vec<u8>>> {
        let mut reader = BufReader::new(reader);
        let mut out = Vec::new();
        let mut block = Vec::new();
        loop {
            block.clear();
            for _ in 0..BLOCK_LINES {
                if reader.read_until(b'\n', &mut block)? == 0 {
                    break;
                }
            }
            if block.is_empty() {
                return Ok(Some(out));
            }
            if block.contains(&0) {
                return Ok(None);
            }
            let text = self.redact(&String::from_utf8_lossy(&block));
            out.extend_from_slice(text.as_bytes());
        }
    }

    /// A text that a command printed.
    fn text(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let text = self.redact(&String::from_utf8_lossy(bytes));
        self.add(name, text.as_bytes())
    }

    fn manifest(&mut self) -> Result<()> {
        let counts = self.redactor.iter().flat_map(Redactor::counts).map(|(c, n)| (c.name(), *n)).collect();
        let manifest = Manifest {
            v: 1,
            kind: "bundle",
            collector: env!("CARGO_PKG_VERSION"),
            created_ms: self.created_ms,
            redacted: self.redactor.is_some(),
            files: std::mem::take(&mut self.entries),
            redactions: counts,
            left_out: std::mem::take(&mut self.left_out),
        };
        self.add("manifest.json", &serde_json::to_vec_pretty(&manifest)?)
    }

    fn add(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(u64::try_from(self.created_ms / 1000).unwrap_or_default());
        self.tar
            .append_data(&mut header, name.trim_start_matches(['/', '.']), bytes)
            .with_context(|| format!("{name} could not be put into the bundle"))?;
        let hash = blake3::hash(bytes).to_hex().to_string();
        self.entries.push(Entry { name: name.to_owned(), bytes: bytes.len() as u64, hash });
        Ok(())
    }
}

/// What was taken out, for the one who sends it: never part of the bundle.
fn preview<W: Write>(bundle: &Bundle<W>) -> Result<()> {
    let Some(redactor) = &bundle.redactor else { return print("Nothing is taken out.\n") };
    let mut text = String::new();
    for (class, value, stand_in) in redactor.stand_ins() {
        text.push_str(&format!("{:<17} {value}  →  {stand_in}\n", class.name()));
    }
    for (class, n) in redactor.counts() {
        text.push_str(&format!("{:<17} {n} replaced\n", class.name()));
    }
    if text.is_empty() {
        text.push_str("Nothing had to be taken out.\n");
    }
    print(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(output: Option<PathBuf>, root: &Path, files: Vec<PathBuf>) -> BundleArgs {
        BundleArgs { output, files, no_redact: false, show_redactions: false, root: root.to_owned() }
    }

    fn unpack(path: &Path) -> BTreeMap<String, String> {
        let decoder = zstd::Decoder::new(File::open(path).expect("it was written")).expect("it is zstd");
        let mut tar = tar::Archive::new(decoder);
        let mut all = BTreeMap::new();
        for entry in tar.entries().expect("it is a tar") {
            let mut entry = entry.expect("an entry");
            let name = entry.path().expect("a name").display().to_string();
            let mut text = String::new();
            entry.read_to_string(&mut text).expect("text");
            all.insert(name, text);
        }
        all
    }

    #[test]
    fn a_bundle_holds_what_was_read_and_nobody_s_name() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = dir.path().join("root");
        let put = |name: &str, text: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
            fs::write(path, text).expect("it can be written");
        };
        put("proc/sys/kernel/hostname", "trainer9\n");
        put("etc/machine-id", "0123456789abcdef\n");
        put("home/alice/x", "");
        put("dev/kmsg", "6,1,5000000,-;trainer9: eth0 3c:ec:ef:01:02:03 alice\n");
        let log = dir.path().join("train.log.gz");
        let mut gz = flate2::write::GzEncoder::new(File::create(&log).expect("a file"), flate2::Compression::fast());
        gz.write_all(b"loading /home/alice/data on trainer9.corp.example\nHF_TOKEN=hf_abcdefghij0123456789\n")
            .expect("text");
        gz.finish().expect("an end");
        let binary = dir.path().join("weights.bin");
        fs::write(&binary, [1, 0, 2, 0]).expect("a file");

        let out = dir.path().join("b.tar.zst");
        run(&args(Some(out.clone()), &root, vec![log, binary])).expect("a bundle");
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&out).expect("it is there").permissions().mode() & 0o777, 0o600);
        let all = unpack(&out);
        let text = all.values().cloned().collect::<String>();
        for secret in ["alice", "trainer9", "3c:ec:ef", "hf_abc"] {
            assert!(!text.contains(secret), "{secret} is still in {all:?}");
        }
        assert!(all["train.log"].contains("/home/user1/data on node-"), "{}", all["train.log"]);
        let manifest: serde_json::Value = serde_json::from_str(&all["manifest.json"]).expect("JSON");
        assert_eq!(manifest["redacted"], true);
        let hash = blake3::hash(all["snapshot.json"].as_bytes()).to_hex().to_string();
        assert_eq!(manifest["files"][0]["hash"], hash.as_str());
        assert!(manifest["left_out"].to_string().contains("weights.bin"), "{manifest}");
        assert!(!all.contains_key("weights.bin"));
    }

    #[test]
    fn a_bundle_is_not_written_through_a_link() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let target = dir.path().join("target");
        fs::write(&target, "mine").expect("a file");
        let link = dir.path().join("b.tar.zst");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        let refused = run(&args(Some(link), dir.path(), Vec::new())).expect_err("a link is refused");
        assert!(refused.to_string().contains("not a plain file"), "{refused}");
        assert_eq!(fs::read_to_string(&target).expect("it is there"), "mine");
    }
}
