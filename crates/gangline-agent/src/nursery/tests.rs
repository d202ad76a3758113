//! Tests of the nursery.

use gangline_os::task::TaskEnd;
use tokio::sync::oneshot;

use super::*;

/// Runs a nursery in a group; why it ended comes by the receiver.
fn run(
    group: &mut TaskGroup,
    nursery: Nursery,
    halt: CancellationToken,
) -> oneshot::Receiver<NurseryEnd> {
    let (tell, told) = oneshot::channel();
    group.spawn("nursery", async move { _ = tell.send(nursery.run(halt).await) });
    told
}

fn end(name: &str, how: HowEnded) -> TaskEnd {
    TaskEnd { name: name.to_owned(), how }
}

#[tokio::test]
async fn a_nursery_outlives_its_spawners_until_its_tasks_are_done() {
    let (spawner, nursery) = Nursery::new("nursery", 1);
    let mut group = TaskGroup::new("root");
    let why = run(&mut group, nursery, CancellationToken::new());
    let (go, gone) = oneshot::channel::<()>();
    let (wild, began) = oneshot::channel::<()>();
    spawner
        .spawn("wild", async move {
            let _began = wild;
            panic!("a bug")
        })
        .unwrap();
    assert!(began.await.is_err());
    spawner.spawn("slow", async move { drop(gone.await) }).unwrap();
    drop(spawner);
    tokio::select! {
        biased;
        end = group.next_end() => panic!("{end:?}"),
        () = tokio::task::yield_now() => {}
    }
    go.send(()).unwrap();
    assert_eq!(group.next_end().await, Some(end("nursery", HowEnded::Finished)));
    assert_eq!(why.await, Ok(NurseryEnd::Deserted));
}

#[tokio::test]
async fn a_task_for_a_nursery_that_is_gone_is_refused() {
    let (spawner, nursery) = Nursery::new("nursery", 1);
    drop(nursery);
    let refused = spawner.spawn("late", async {}).unwrap_err();
    assert_eq!(refused.to_string(), "the task late cannot be started");
}

#[tokio::test]
async fn a_halted_nursery_ends_with_its_last_task() {
    let (spawner, nursery) = Nursery::new("nursery", 1);
    let halt = CancellationToken::new();
    let mut group = TaskGroup::new("root");
    let why = run(&mut group, nursery, halt.clone());
    let (go, gone) = oneshot::channel::<()>();
    let (begun, begins) = oneshot::channel::<()>();
    spawner
        .spawn("slow", async move {
            let _ = begun.send(());
            drop(gone.await);
        })
        .unwrap();
    begins.await.unwrap();
    halt.cancel();
    tokio::select! {
        biased;
        end = group.next_end() => panic!("{end:?}"),
        () = tokio::task::yield_now() => {}
    }
    go.send(()).unwrap();
    assert_eq!(group.next_end().await, Some(end("nursery", HowEnded::Finished)));
    assert_eq!(why.await, Ok(NurseryEnd::Halted));
    assert!(spawner.spawn("late", async {}).is_err());
}
