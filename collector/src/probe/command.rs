//! Runs a command of the system with a time limit and takes what it prints.
//!
//! It does not know what is run. The search path is the user's own: these are the commands that the user would type.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use wait_timeout::ChildExt;

/// Most output that is kept.
const OUTPUT_MAX: u64 = 16 << 20;

/// What the command prints on its standard output.
///
/// # Errors
/// It cannot be started, takes longer than `limit` (it is then ended), or fails.
pub(crate) fn output(line: &[&str], limit: Duration) -> io::Result<String> {
    let (program, args) = line.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut child = Command::new(program)
        .args(args)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let stdout = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        // A pipe that breaks gives what came before.
        let _ = stdout.map(|s| s.take(OUTPUT_MAX).read_to_end(&mut bytes));
        bytes
    });
    let Some(status) = child.wait_timeout(limit)? else {
        // It may have ended in the same moment; either way nothing is left to wait for but its exit.
        let _ = child.kill();
        let _ = child.wait();
        return Err(io::ErrorKind::TimedOut.into());
    };
    if !status.success() {
        return Err(io::Error::other(format!("{program} ended with {status}")));
    }
    let bytes = reader.join().unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_comes_back_and_a_hanging_command_is_ended() {
        let second = Duration::from_secs(10);
        assert_eq!(output(&["echo", "a line"], second).expect("echo is everywhere"), "a line\n");
        let slow = output(&["sleep", "30"], Duration::from_millis(50)).expect_err("it sleeps longer");
        assert_eq!(slow.kind(), io::ErrorKind::TimedOut);
        assert!(output(&["no-such-command-anywhere"], second).is_err());
        assert!(output(&["false"], second).is_err());
    }
}
