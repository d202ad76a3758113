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
    let (lines, mut written) = mpsc::channel(100);
    let queue = SendQueue::new(lines, Arc::clone(&shared), 100);
    let line = Bytes::from(vec![b'x'; 60]);
    assert!(queue.push(line.clone()).is_ok());
    assert!(queue.push(line.clone()).is_err());
    shared.queued.store(0, Ordering::Relaxed);
    assert_eq!(written.recv().await, Some(line.clone()));
    assert!(queue.push(line).is_ok());
}
