//! How a process ended.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a process ended: a code, or the signal that killed it. Neither is known when the system
/// would not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The exit code.
    pub code: Option<i32>,
    /// The number of the signal.
    pub signal: Option<i32>,
}

impl Exit {
    /// Says whether it ended by itself with code 0.
    #[must_use]
    pub fn success(self) -> bool {
        self.code == Some(0)
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        Self { code: status.code(), signal: status.signal() }
    }
}
