//! Waiting for the end of a process that is somebody else's child.

use std::io;

/// The end of one process, whoever its parent is and whether that parent notices it or not.
///
/// On Linux the kernel tells it at once, by a pidfd; elsewhere the process is looked for twice a
/// second.
#[derive(Debug)]
pub struct Ending(Option<os::Watched>);

impl Ending {
    /// Begins to watch the process that has this pid now. One that is gone has ended already. Needs
    /// a tokio runtime.
    ///
    /// # Errors
    /// When the system gives no handle: too many files are open.
    pub fn of(pid: u32) -> io::Result<Self> {
        os::Watched::of(pid).map(Self)
    }

    /// Waits until the process has ended; a zombie has. Cancel-safe: yes; it may be asked again.
    pub async fn ended(&self) {
        if let Some(watched) = &self.0 {
            watched.ended().await;
        }
    }
}

#[cfg(target_os = "linux")]
mod os {
    use std::{io, os::fd::OwnedFd};

    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    use tokio::io::{Interest, unix::AsyncFd};

    #[derive(Debug)]
    pub(super) struct Watched(AsyncFd<OwnedFd>);

    impl Watched {
        #[allow(
            deprecated,
            reason = "its successor is unsafe, which an owned handle has no use of"
        )]
        pub(super) fn of(pid: u32) -> io::Result<Option<Self>> {
            let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
                return Ok(None);
            };
            match pidfd_open(target, PidfdFlags::NONBLOCK) {
                Ok(handle) => AsyncFd::with_interest(handle, Interest::READABLE)
                    .map(|handle| Some(Self(handle))),
                Err(rustix::io::Errno::SRCH | rustix::io::Errno::INVAL) => Ok(None),
                Err(error) => Err(error.into()),
            }
        }

        pub(super) async fn ended(&self) {
            // It stays readable, so what was told is not taken away. It fails only where the
            // runtime ends, and with it whoever waits.
            let _ = self.0.readable().await;
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod os {
    use std::{io, time::Duration};

    const AGAIN: Duration = Duration::from_millis(500);

    #[derive(Debug)]
    pub(super) struct Watched(u32);

    impl Watched {
        #[allow(clippy::unnecessary_wraps, reason = "as where the system can refuse")]
        pub(super) fn of(pid: u32) -> io::Result<Option<Self>> {
            Ok(Some(Self(pid)))
        }

        pub(super) async fn ended(&self) {
            while crate::kill::null_signal(self.0) {
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}
