//! Takes out of a text what tells who and where: user and host names, home folders, addresses, serial numbers, UUIDs,
//! mail addresses and secrets. The same value gets the same stand-in in all texts of one [`Redactor`], so that files
//! still join up; stand-ins keep the form of what they stand for, so that the text is still read the same way.
//!
//! It is pure: it reads no environment. Names that only the node knows (its own, its users') are told to it.

mod find;

use std::collections::BTreeMap;

use find::Found;

/// What was taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A user's name, in a home folder or by itself.
    User,
    /// A host's name.
    Host,
    /// A mail address.
    Mail,
    /// An IPv4 or IPv6 address.
    Address,
    /// A hardware address or an InfiniBand GUID.
    Hardware,
    /// A UUID of a GPU or of anything else.
    Uuid,
    /// A serial number.
    Serial,
    /// A password, token or key. Secrets have no stand-in of their own: nothing may tell two apart.
    Secret,
}

impl Class {
    /// Name for people and for the manifest.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user name",
            Self::Host => "host name",
            Self::Mail => "mail address",
            Self::Address => "IP address",
            Self::Hardware => "hardware address",
            Self::Uuid => "UUID",
            Self::Serial => "serial number",
            Self::Secret => "secret",
        }
    }
}

/// Names that are words of their own or belong to every system: replacing them would spoil the text and hide nobody.
const COMMON: &[&str] = &[
    "root",
    "user",
    "users",
    "ubuntu",
    "debian",
    "centos",
    "fedora",
    "admin",
    "ec2-user",
    "azureuser",
    "nvidia",
    "python",
    "data",
    "home",
    "local",
    "localhost",
    "linux",
    "kernel",
    "docker",
    "slurm",
    "gpu",
    "node",
    "test",
    "work",
    "none",
];
/// Shortest name that is replaced wherever it stands as a word.
const NAME_MIN: usize = 3;

/// Replaces, and remembers what it has replaced by what.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    /// Names that are replaced wherever they stand as a word.
    names: BTreeMap<String, Class>,
    stand_ins: BTreeMap<(Class, String), String>,
    only_secrets: bool,
    counts: BTreeMap<Class, usize>,
}

impl Redactor {
    /// A redactor that knows no names yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A redactor that takes out secrets and leaves everything else, for texts that stay in the team.
    #[must_use]
    pub fn secrets() -> Self {
        Self { only_secrets: true, ..Self::default() }
    }

    /// Tells the name of a host, which is then replaced wherever it stands as a word.
    pub fn know_host(&mut self, name: &str) {
        self.know(name, Class::Host);
    }

    /// Tells the name of a host and its stand-in, so that texts of several hosts, redacted apart, stay apart.
    pub fn know_host_as(&mut self, name: &str, stand_in: &str) {
        self.know_host(name);
        self.stand_ins.insert((Class::Host, name.trim().to_owned()), stand_in.to_owned());
    }

    /// Tells the name of a user, which is then replaced wherever it stands as a word.
    pub fn know_user(&mut self, name: &str) {
        self.know(name, Class::User);
    }

    fn know(&mut self, name: &str, class: Class) {
        let name = name.trim();
        if name.len() >= NAME_MIN && !COMMON.contains(&name.to_ascii_lowercase().as_str()) {
            self.names.entry(name.to_owned()).or_insert(class);
        }
    }

    /// The stand-in of a value that is known to be a host's name, however short or common.
    pub fn host(&mut self, name: &str) -> String {
        self.stand_in(Class::Host, name.trim())
    }

    /// The text with everything replaced that was recognised. Lines stay lines.
    pub fn text(&mut self, text: &str) -> String {
        if !self.only_secrets {
            for host in find::syslog_hosts(text) {
                self.know_host(&host);
            }
        }
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            self.line(line, &mut out);
        }
        out
    }

    /// How often each class was replaced.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<Class, usize> {
        &self.counts
    }

    /// What was replaced by what, for a preview on the node itself. Secrets are not in it.
    pub fn stand_ins(&self) -> impl Iterator<Item = (Class, &str, &str)> {
        self.stand_ins.iter().map(|((class, value), stand_in)| (*class, value.as_str(), stand_in.as_str()))
    }

    fn line(&mut self, line: &str, out: &mut String) {
        let mut at = 0;
        let mut copied = 0;
        while at < line.len() {
            let found = find::boundary(line, at).then(|| find::at(line, at, &self.names)).flatten();
            let found = found.filter(|f| !self.only_secrets || f.class == Class::Secret);
            let Some(Found { class, start, end, key }) = found else {
                at += line[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            };
            out.push_str(&line[copied..start]);
            out.push_str(&self.stand_in(class, &line[start..start + key]));
            copied = end;
            at = end;
        }
        out.push_str(&line[copied..]);
    }

    fn stand_in(&mut self, class: Class, value: &str) -> String {
        *self.counts.entry(class).or_default() += 1;
        if class == Class::Secret {
            return "REDACTED".to_owned();
        }
        // Upper and lower case of an address or UUID are one value.
        let key = match class {
            Class::User | Class::Host | Class::Serial => value.to_owned(),
            _ => value.to_ascii_lowercase(),
        };
        if let Some(known) = self.stand_ins.get(&(class, key.clone())) {
            return known.clone();
        }
        let n = 1 + self.stand_ins.keys().filter(|(c, _)| *c == class).count();
        let stand_in = form(class, value, n);
        self.stand_ins.insert((class, key), stand_in.clone());
        stand_in
    }
}

/// The n-th stand-in of a class, in the form of the value.
fn form(class: Class, value: &str, n: usize) -> String {
    let (high, low) = (n >> 8 & 0xff, n & 0xff);
    match class {
        Class::User => format!("user{n}"),
        Class::Host => format!("host{n}"),
        Class::Mail => format!("mail{n}@example.invalid"),
        // 198.18.0.0/15 and 2001:db8::/32 are set aside for tests and documents.
        Class::Address if value.contains(':') => format!("2001:db8::{n:x}"),
        Class::Address => format!("198.18.{high}.{low}"),
        // The second bit of the first byte marks an address that no maker has given out.
        Class::Hardware if value.split(':').count() == 6 => format!("02:00:00:00:{high:02x}:{low:02x}"),
        Class::Hardware => format!("0200:0000:0000:{n:04x}"),
        Class::Uuid => format!("00000000-0000-4000-8000-{n:012x}"),
        Class::Serial => format!("{n:0>width$}", width = value.len()),
        Class::Secret => "REDACTED".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redact(text: &str) -> String {
        Redactor::new().text(text)
    }

    #[test]
    fn the_same_value_has_the_same_stand_in_in_every_text() {
        let mut r = Redactor::new();
        let a = r.text("GPU UUID: GPU-1f2e3d4c-aaaa-bbbb-cccc-0123456789ab from 10.1.2.3\n");
        let b = r.text("10.9.9.9 then 10.1.2.3, gpu-1F2E3D4C-AAAA-BBBB-CCCC-0123456789AB");
        assert_eq!(a, "GPU UUID: GPU-00000000-0000-4000-8000-000000000001 from 198.18.0.1\n");
        assert_eq!(b, "198.18.0.2 then 198.18.0.1, gpu-00000000-0000-4000-8000-000000000001");
        assert_eq!(r.counts()[&Class::Address], 3);
    }

    #[test]
    fn people_and_places_go() {
        assert_eq!(redact("/home/alice/run.py, /home/bob/x"), "/home/user1/run.py, /home/user2/x");
        assert_eq!(redact("C:\\Users\\Alice\\x"), "C:\\Users\\user1\\x");
        assert_eq!(redact("mail a.b+c@corp.example.com!"), "mail mail1@example.invalid!");
        assert_eq!(redact("link/ether 3C:ec:ef:01:02:03 brd"), "link/ether 02:00:00:00:00:01 brd");
        assert_eq!(redact("inet6 fe80::3eec:efff:fe01:203/64"), "inet6 2001:db8::1/64");
        assert_eq!(redact("node_guid: 506b:4b03:00aa:bbcc"), "node_guid: 0200:0000:0000:0001");
        assert_eq!(
            redact("    Serial Number                  : 1650022012345"),
            "    Serial Number                  : 0000000000001"
        );
        assert_eq!(redact("<serial>1650022012345</serial>"), "<serial>0000000000001</serial>");
    }

    #[test]
    fn names_that_were_told_or_stand_in_a_log_go_as_words() {
        let mut r = Redactor::new();
        r.know_host("dgx-07");
        r.know_user("alice");
        r.know_user("root");
        assert_eq!(r.text("alice@dgx-07.corp.example: malice root dgx-077"), "user1@host1: malice root dgx-077");
        let log = "Jun  1 10:00:00 trainer9 kernel: NVRM: Xid (PCI:0000:3b:00): 79\nping trainer9\n";
        assert_eq!(redact(log), "Jun  1 10:00:00 host1 kernel: NVRM: Xid (PCI:0000:3b:00): 79\nping host1\n");
    }

    #[test]
    fn secrets_go_without_a_trace() {
        for (text, kept) in [
            ("HF_TOKEN=hf_abcdefghijklmnop", "HF_TOKEN="),
            ("export WANDB_API_KEY='0123456789abcdef'", "export WANDB_API_KEY='"),
            ("\"password\": \"hunter2\", \"a\": 1", "\"password\": \""),
            ("--api-key sk-aaaaaaaaaaaaaaaaaaaaaaaa x", "--api-key "),
            ("Authorization: Bearer abc.def.ghi", "Authorization: Bearer "),
            ("git clone https://bob:pw123@git.example/x", "git clone https://"),
            ("key AKIAIOSFODNN7EXAMPLE end", "key "),
            ("ghp_0123456789012345678901234567890123", ""),
        ] {
            let out = redact(text);
            assert!(out.starts_with(kept) && out.contains("REDACTED"), "{text} → {out}");
            for secret in ["hunter2", "hf_abc", "0123456789abcdef", "sk-a", "abc.def", "pw123", "AKIA", "ghp_"] {
                assert!(!out.contains(secret), "{text} → {out}");
            }
        }
    }

    #[test]
    fn what_looks_alike_stays() {
        for text in [
            "Driver Version: 580.159.04   CUDA Version: 13.0",
            "VBIOS Version : 96.00.A5.00.1A",
            "00000000:3B:00.0 0000:3b:00.0 12:34:56.789 01:02:03",
            "nvidia-cudnn-cu12==9.1.0.70 and nvidia-cudnn-cu12   9.1.0.70",
            "at::native::vectorized_elementwise_kernel c10::Half std::vector",
            "getty@tty1.service 127.0.0.1 0.0.0.0 ::1",
            "Serial Number : N/A",
            "tokens per second: 1234, token_count=77, num_tokens: 512",
            "/root/x /home and /homework/x",
            "Inforom Version Image: G520.0200.00.05",
            "key_frames 12 monkey=see",
            "max_split_size_mb:128,expandable_segments:True",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken(text in "\\PC{0,200}(@|://|:|=|/home/|serial: |token=){0,3}\\PC{0,40}") {
            let mut r = Redactor::new();
            r.know_host("abc");
            let out = r.text(&text);
            proptest::prop_assert_eq!(out.lines().count(), text.lines().count());
        }
    }

    #[test]
    fn lines_stay_lines_and_nothing_twice() {
        let text = "a /home/alice\r\n\n10.0.0.1\n";
        let once = redact(text);
        assert_eq!(once.lines().count(), text.lines().count());
        assert_eq!(Redactor::new().text(&once), once, "a stand-in stands for itself");
    }
}
