//! A part of a story on a thread of its own, which the test can hold, end and kill.

use std::{
    future::Future,
    sync::mpsc::{self as blocking, Receiver, SyncSender},
    thread::JoinHandle,
};

use gangline_os::CancellationToken;
use tokio::{runtime::Builder, sync::mpsc};

/// How many threads a part has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// One, as in the program: held, all of the part stands still.
    One,
    /// Two: what the part itself does has one, and all tasks that it starts have the other. A task
    /// that blocks its thread does not hold up the part.
    Two,
}

impl Threads {
    /// Runs it to its end. Nothing is waited for then: a process that is killed does not wait either.
    fn run<T: Send>(self, part: impl Future<Output = T>) -> T {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let ended = match self {
            Self::One => runtime.block_on(part),
            Self::Two => {
                let over = CancellationToken::new();
                let tasks = runtime.handle().clone();
                let until = over.clone().cancelled_owned();
                let driver = std::thread::spawn(move || {
                    runtime.block_on(until);
                    runtime.shutdown_background();
                });
                let ended = tasks.block_on(part);
                over.cancel();
                driver.join().unwrap();
                return ended;
            }
        };
        runtime.shutdown_background();
        ended
    }
}

/// See the file. Dropped, it is killed: all that it owns is gone at once, whatever it was doing.
pub(crate) struct Part<T> {
    holds: mpsc::Sender<Hold>,
    kill: CancellationToken,
    thread: Option<JoinHandle<Option<T>>>,
}

/// Asks a part to stand still.
struct Hold {
    stands: SyncSender<()>,
    release: Receiver<()>,
}

/// A part that stands still until this is dropped.
pub(crate) struct Held {
    _release: SyncSender<()>,
}

impl<T: Send + 'static> Part<T> {
    /// Starts a thread that runs what `make` makes, within an async runtime.
    pub(crate) fn run<F: Future<Output = T>>(
        name: &str,
        threads: Threads,
        make: impl FnOnce() -> F + Send + 'static,
    ) -> Self {
        let (holds, asked) = mpsc::channel(1);
        let kill = CancellationToken::new();
        let killed = kill.clone();
        let work = move || threads.run(serve(make, asked, killed));
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work).unwrap();
        Self { holds, kill, thread: Some(thread) }
    }

    /// Makes the part stand still; returns when it does.
    pub(crate) fn hold(&self) -> Held {
        let (stands, stood) = blocking::sync_channel(1);
        let (go_on, release) = blocking::sync_channel(1);
        let asked = self.holds.blocking_send(Hold { stands, release });
        assert!(asked.is_ok(), "the part has ended");
        stood.recv().expect("the part has ended");
        Held { _release: go_on }
    }

    /// Kills it as soon as it goes on.
    pub(crate) fn is_to_die(&self) {
        self.kill.cancel();
    }

    /// Returns whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for its end; nothing if it was killed.
    pub(crate) fn join(mut self) -> Option<T> {
        self.thread.take().unwrap().join().unwrap()
    }
}

impl<T> Drop for Part<T> {
    fn drop(&mut self) {
        self.kill.cancel();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "a part has panicked");
        }
    }
}

async fn serve<T, F: Future<Output = T>>(
    make: impl FnOnce() -> F,
    mut asked: mpsc::Receiver<Hold>,
    killed: CancellationToken,
) -> Option<T> {
    let mut part = std::pin::pin!(make());
    loop {
        tokio::select! {
            biased;
            () = killed.cancelled() => return None,
            Some(hold) = asked.recv() => {
                let _ = hold.stands.send(());
                // Ends when the test drops the other end.
                let _ = hold.release.recv();
            }
            ended = &mut part => return Some(ended),
        }
    }
}
