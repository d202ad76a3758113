//! Connections from a listener that the test plays. Time is paused: a pause lasts until nothing else can run.

use std::sync::Mutex;

use tokio::{sync::mpsc, time::Instant};

use super::*;

/// Gives what it was told to give, the last first; then nothing more comes.
struct Script(Mutex<Vec<io::Result<u32>>>);

impl Listener for Script {
    type Stream = u32;

    async fn take(&self) -> io::Result<u32> {
        let next = self.0.lock().unwrap().pop();
        match next {
            Some(result) => result,
            None => std::future::pending().await,
        }
    }
}

/// Serves these; every connection tells its number and waits until it is told how to end.
struct Served {
    begun: mpsc::Receiver<(u32, mpsc::Sender<How>)>,
    group: TaskGroup,
}

enum How {
    Ends,
    Panics,
}

impl Served {
    fn by(most: usize, mut script: Vec<io::Result<u32>>) -> Self {
        script.reverse();
        let (begin, begun) = mpsc::channel(16);
        let mut group = TaskGroup::new("test");
        group.spawn("each", async move {
            let listener = Script(Mutex::new(script));
            each(listener, Connections { most, of: "test" }, |number| {
                let begin = begin.clone();
                async move {
                    let (tell, mut told) = mpsc::channel(1);
                    begin.send((number, tell)).await.unwrap();
                    match told.recv().await {
                        Some(How::Panics) => panic!("connection {number}"),
                        Some(How::Ends) | None => {}
                    }
                }
            })
            .await;
        });
        Self { begun, group }
    }

    /// Returns which connections have begun since the last look, once nothing else can run.
    async fn since(&mut self) -> Vec<(u32, mpsc::Sender<How>)> {
        // sleep: paused time moves when every task waits
        sleep(Duration::from_secs(1)).await;
        std::iter::from_fn(|| self.begun.try_recv().ok()).collect()
    }
}

fn numbers(begun: &[(u32, mpsc::Sender<How>)]) -> Vec<u32> {
    begun.iter().map(|(number, _)| *number).collect()
}

#[tokio::test(start_paused = true)]
async fn one_more_than_the_bound_waits_until_another_has_ended() {
    let mut served = Served::by(2, (1..=4).map(Ok).collect());
    let mut open = served.since().await;
    assert_eq!(numbers(&open), [1, 2]);
    assert_eq!(numbers(&served.since().await), [0; 0]);
    open.remove(0).1.send(How::Ends).await.unwrap();
    open.extend(served.since().await);
    assert_eq!(numbers(&open), [2, 3]);
    // A panic gives its place back too, and ends no other connection.
    open.remove(0).1.send(How::Panics).await.unwrap();
    open.extend(served.since().await);
    assert_eq!(numbers(&open), [3, 4]);
    assert!(open.iter().all(|(_, tell)| !tell.is_closed()));
    assert_eq!(served.group.len(), 1);
}

#[tokio::test(start_paused = true)]
#[allow(clippy::disallowed_methods, reason = "the time that is paused")]
async fn a_failed_accept_is_tried_again_and_takes_no_place() {
    let failed = || Err(io::Error::other("too many open files"));
    let script = vec![failed(), failed(), failed(), Ok(1)];
    let mut served = Served::by(1, script);
    let from = Instant::now();
    let (number, _open) = served.begun.recv().await.unwrap();
    assert_eq!((number, from.elapsed()), (1, 3 * AGAIN));
}

#[tokio::test(start_paused = true)]
async fn dropping_it_ends_every_connection() {
    let mut served = Served::by(2, vec![Ok(1), Ok(2)]);
    let open = served.since().await;
    assert_eq!(numbers(&open), [1, 2]);
    drop(served.group);
    // sleep: paused time moves when every task waits
    sleep(Duration::from_secs(1)).await;
    assert!(open.iter().all(|(_, tell)| tell.is_closed()));
}
