//! The bound on what waits for one reader.

use super::*;

#[tokio::test]
async fn a_queue_is_bounded_in_bytes_and_has_room_again_once_they_are_written() {
    let shared = Arc::new(Shared {
        wanted: AtomicBool::new(false),
        queued: AtomicUsize::new(0),
        written: AtomicU64::new(0),
        proven: AtomicU64::new(0),
        exempt: AtomicBool::new(false),
        credit: Arc::new(Semaphore::new(1)),
        closing: CancellationToken::new(),
        kill: CancellationToken::new(),
    });
    let lines = Arc::new(Outbox::default());
    let queue = SendQueue::new(Arc::clone(&lines), Arc::clone(&shared), 100);
    let line = Bytes::from(vec![b'x'; 60]);
    assert!(queue.push(line.clone()).is_ok());
    assert!(queue.push(line.clone()).is_err());
    shared.queued.store(0, Ordering::Relaxed);
    let mut written = Vec::new();
    assert!(lines.take(&mut written).await);
    assert_eq!(std::mem::take(&mut written), std::slice::from_ref(&line));
    assert!(queue.push(line.clone()).is_ok());
    // What is queued is written after the server has let go, and then there is an end.
    drop(queue);
    assert!(lines.take(&mut written).await);
    assert_eq!(std::mem::take(&mut written), [line]);
    assert!(!lines.take(&mut written).await);
}
