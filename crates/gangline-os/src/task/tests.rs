//! Tests of task groups.

use super::*;
use std::sync::mpsc;
use tokio::sync::oneshot;

fn end(name: &str, how: HowEnded) -> TaskEnd {
    TaskEnd { name: name.to_owned(), how }
}

#[tokio::test]
async fn a_panic_is_reported_by_the_name_of_its_task() {
    let mut group = TaskGroup::new("test");
    group.spawn("calm", std::future::pending());
    group.spawn("wild", async { panic!("number {}", 7) });
    assert_eq!(group.next_end().await, Some(end("wild", HowEnded::Panicked("number 7".into()))));
    assert_eq!(group.len(), 1);
}

#[tokio::test]
async fn an_empty_group_has_no_next_end() {
    let mut group = TaskGroup::new("test");
    assert_eq!(group.next_end().await, None);
    group.spawn("one", async {});
    assert_eq!(group.next_end().await, Some(end("one", HowEnded::Finished)));
    assert_eq!(group.next_end().await, None);
    assert!(group.is_empty());
}

#[tokio::test]
async fn an_end_is_not_lost_when_the_wait_for_it_is_dropped() {
    let mut group = TaskGroup::new("test");
    let (go, gone) = oneshot::channel::<()>();
    group.spawn("late", async move { drop(gone.await) });
    tokio::select! {
        biased;
        _ = group.next_end() => panic!("it cannot have ended"),
        () = std::future::ready(()) => {}
    }
    go.send(()).unwrap();
    assert_eq!(group.next_end().await, Some(end("late", HowEnded::Finished)));
}

#[tokio::test]
async fn stop_waits_for_the_willing_and_names_those_it_aborted() {
    let mut group = TaskGroup::new("test");
    // sleep: a task that takes its time is what is tested
    group.spawn("willing", async { tokio::time::sleep(Duration::from_millis(20)).await });
    let (held, mut released) = oneshot::channel::<()>();
    group.spawn("stubborn", async move {
        let _held = held;
        std::future::pending::<()>().await;
    });
    let ends = group.stop(Duration::from_secs(2)).await;
    assert_eq!(released.try_recv(), Err(oneshot::error::TryRecvError::Closed), "it is gone by now");
    assert_eq!(ends, [end("willing", HowEnded::Finished), end("stubborn", HowEnded::Cancelled)]);
}

#[tokio::test]
async fn stop_does_not_wait_for_ever_for_blocking_work_and_names_it() {
    let mut group = TaskGroup::new("test");
    let (go, gone) = mpsc::channel::<()>();
    let (started, has_started) = oneshot::channel::<()>();
    group.spawn_blocking("blocked", move || {
        let _ = started.send(());
        let _ = gone.recv();
    });
    has_started.await.unwrap();
    let ends = group.stop(Duration::ZERO).await;
    assert_eq!(ends, [end("blocked", HowEnded::Cancelled)]);
    drop(go);
}

#[tokio::test]
async fn dropping_the_group_drops_what_its_tasks_hold() {
    let mut group = TaskGroup::new("test");
    let (held, released) = oneshot::channel::<()>();
    group.spawn("holder", async move {
        let _held = held;
        std::future::pending::<()>().await;
    });
    tokio::task::yield_now().await;
    drop(group);
    assert!(tokio::time::timeout(Duration::from_secs(60), released).await.unwrap().is_err());
}

#[test]
fn a_thread_has_the_name_it_was_given() {
    let (tell, told) = mpsc::channel();
    let handle = thread("store", move || {
        tell.send(std::thread::current().name().map(str::to_owned)).unwrap();
    });
    assert_eq!(told.recv().unwrap().as_deref(), Some("store"));
    handle.unwrap().join().unwrap();
}
