//! The command that is recorded: started with everything it would have without the recorder, signals passed on, its end
//! passed back.
//!
//! It does not know what is recorded.

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{self, Command, ExitCode, ExitStatus};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

/// Signals that are passed on. Those that stop and continue act on the whole group by themselves.
const FORWARDED: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT];

/// Why the command could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// There is no such program.
    #[error("there is no command “{0}”")]
    Missing(String),
    /// It is there but cannot be executed.
    #[error("“{0}” cannot be executed: {1}")]
    Refused(String, io::Error),
}

impl StartError {
    /// The status that a shell ends with in this case.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::Missing(_) => 127,
            Self::Refused(..) => 126,
        }
    }
}

/// A running command.
#[derive(Debug)]
pub(crate) struct Child {
    child: process::Child,
}

/// How the command ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended(Option<ExitStatus>);

impl Child {
    /// Starts the command with variables added to its environment. It stays in this process group and on this terminal.
    ///
    /// # Errors
    /// It is not there, or may not be executed.
    pub(crate) fn start(command: &[String], variables: &[(String, String)]) -> Result<Self, StartError> {
        let (program, args) = command.split_first().ok_or_else(|| StartError::Missing(String::new()))?;
        // Before the command starts: it may be told to end in its first moment.
        let signals = listen();
        let started = Command::new(program).args(args).envs(variables.iter().map(|(k, v)| (k, v))).spawn();
        let child = started.map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => StartError::Missing(program.clone()),
            _ => StartError::Refused(program.clone(), e),
        })?;
        let child = Self { child };
        if let Some(signals) = signals {
            child.forward(signals);
        }
        Ok(child)
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> Ended {
        loop {
            match self.child.wait() {
                Ok(status) => return Ended(Some(status)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Ended(None),
            }
        }
    }

    fn forward(&self, mut signals: SignalsInfo<WithOrigin>) {
        let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) else { return };
        thread::spawn(move || {
            for origin in &mut signals {
                // Ctrl-C on the terminal reaches the whole group, the command too: passing it on would send it twice.
                if matches!(origin.cause, Cause::Kernel) {
                    continue;
                }
                if let Some(signal) = Signal::from_named_raw(origin.signal) {
                    // It may have ended meanwhile; then nobody is left to tell.
                    let _ = kill_process(pid, signal);
                }
            }
        });
    }
}

/// Listens to the signals that are passed on, but for those that are ignored here (under `nohup`): the command inherits
/// that they are ignored, and a listener would take that away.
fn listen() -> Option<SignalsInfo<WithOrigin>> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|l| u64::from_str_radix(l.strip_prefix("SigIgn:")?.trim(), 16).ok());
    let heard = FORWARDED.into_iter().filter(|signal| ignored.unwrap_or(0) >> (signal - 1) & 1 == 0);
    SignalsInfo::new(heard).ok()
}

impl Ended {
    /// The exit status as shells count: 128 + n for signal n.
    pub(crate) fn status(self) -> i32 {
        match self.0 {
            Some(status) => status.code().or_else(|| status.signal().map(|s| 128 + s)).unwrap_or(1),
            None => 1,
        }
    }

    /// Ends this process as the command ended: by the same signal, or with the same status.
    pub(crate) fn exit(self) -> ExitCode {
        if let Some(signal) = self.0.and_then(|s| s.signal()) {
            // Returns only for signals that cannot end a process; the status below says the same then.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
        ExitCode::from(u8::try_from(self.status() & 0xff).unwrap_or(1))
    }
}

/// Runs a command that something else records.
pub(crate) fn plain(command: &[String]) -> ExitCode {
    plain_with(command, &[])
}

/// Runs a command with variables added, without recording it.
pub(crate) fn plain_with(command: &[String], variables: &[(String, String)]) -> ExitCode {
    match Child::start(command, variables) {
        Ok(mut child) => child.wait().exit(),
        Err(e) => {
            eprintln!("sextant: {e}");
            ExitCode::from(e.status())
        }
    }
}
