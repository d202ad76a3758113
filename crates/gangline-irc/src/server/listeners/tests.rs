//! Sockets whose accepts fail.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use gangline_os::clock::{Clock, UnixMicros};
use tokio::net::UnixStream;
use tracing::{
    Level, Metadata, Subscriber,
    span::{Attributes, Id, Record},
};

use super::*;

/// EMFILE.
const TOO_MANY_OPEN_FILES: i32 = 24;
/// Far longer than anything here takes.
const DEADLINE: Duration = Duration::from_secs(60);

/// A clock that is moved by hand.
#[derive(Default)]
struct ByHand(Mutex<Duration>);

impl ByHand {
    fn advance(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for ByHand {
    fn now(&self) -> UnixMicros {
        UnixMicros(0).plus(self.monotonic())
    }

    fn monotonic(&self) -> Duration {
        *self.0.lock().unwrap()
    }
}

/// A socket that has descriptors for nobody, and how often it was asked.
#[derive(Default)]
struct Fails(AtomicU32);

impl Fails {
    fn asked(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Accept for &Fails {
    async fn accept(&self) -> io::Result<Arrival> {
        let before = self.0.fetch_add(1, Ordering::SeqCst);
        assert!(before < 1_000, "it is asked without a rest");
        Err(io::Error::from_raw_os_error(TOO_MANY_OPEN_FILES))
    }
}

/// A socket at which somebody always waits.
struct Works;

impl Accept for Works {
    async fn accept(&self) -> io::Result<Arrival> {
        // The other socket is looked at meanwhile.
        tokio::task::yield_now().await;
        let (stream, _) = UnixStream::pair()?;
        Ok(Arrival { stream: Stream::Unix(stream), end: End::Socket { pid: None } })
    }
}

/// How many warnings were logged.
#[derive(Clone, Default)]
struct Warnings(Arc<AtomicU32>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Out of descriptors, it fails 20 times a second.
#[tokio::test]
async fn accepts_that_fail_are_logged_once_a_minute() {
    let by_hand = Arc::new(ByHand::default());
    let clock: SharedClock = by_hand.clone();
    let warnings = Warnings::default();
    let _until_the_end = tracing::subscriber::set_default(warnings.clone());
    let fails = Fails::default();
    let mut listener = Listener::new(&fails);
    let mut logged = Vec::new();
    for _ in 0..130 {
        assert!(listener.arrival(&clock).await.is_none());
        by_hand.advance(Duration::from_secs(1));
        logged.push(warnings.0.load(Ordering::SeqCst));
    }
    assert_eq!((logged[0], logged[59], logged[60], logged[129]), (1, 1, 2, 3));
}

async fn ten_come(
    tcp: &mut Listener<impl Accept>,
    socket: &mut Listener<impl Accept>,
    clock: &SharedClock,
) {
    let come = async {
        for _ in 0..10 {
            first(tcp, socket, clock).await;
        }
    };
    tokio::time::timeout(DEADLINE, come).await.expect("they wait for the broken socket");
}

/// The clock stands still while they come: a rest for both sockets would never end.
#[tokio::test]
async fn a_socket_whose_accept_fails_rests_alone() {
    for tcp_fails in [true, false] {
        let by_hand = Arc::new(ByHand::default());
        let clock: SharedClock = by_hand.clone();
        let fails = Fails::default();
        let (mut broken, mut works) = (Listener::new(&fails), Listener::new(Works));
        for round in 1..=3 {
            if tcp_fails {
                ten_come(&mut broken, &mut works, &clock).await;
            } else {
                ten_come(&mut works, &mut broken, &clock).await;
            }
            assert_eq!(fails.asked(), round, "once a rest; TCP fails: {tcp_fails}");
            by_hand.advance(REST);
        }
    }
}

#[tokio::test]
async fn sockets_that_both_fail_are_asked_again_after_each_rest() {
    let by_hand = Arc::new(ByHand::default());
    let clock: SharedClock = by_hand.clone();
    let (one, other) = (Fails::default(), Fails::default());
    let (mut tcp, mut socket) = (Listener::new(&one), Listener::new(&other));
    let rounds = async {
        for round in 1..=3 {
            while one.asked() < round || other.asked() < round {
                tokio::task::yield_now().await;
            }
            assert_eq!([one.asked(), other.asked()], [round, round]);
            by_hand.advance(REST);
        }
    };
    tokio::select! {
        _ = first(&mut tcp, &mut socket, &clock) => panic!("nobody can come in"),
        done = tokio::time::timeout(DEADLINE, rounds) => done.expect("they are not asked again"),
    }
}
