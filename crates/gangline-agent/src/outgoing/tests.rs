use tokio::sync::mpsc;

use super::*;

/// Style rule (b): the agent loop never awaits a send, and nothing is lost or overtakes.
#[tokio::test]
async fn what_does_not_fit_waits_and_goes_in_order() {
    let (sender, mut receiver) = mpsc::channel(2);
    let mut outgoing = Outgoing::new(sender);
    for number in 0..5 {
        outgoing.push(number);
    }
    assert_eq!(outgoing.waiting(), 3);
    let mut got = vec![receiver.recv().await.unwrap()];
    outgoing.room().await;
    outgoing.push(5);
    while outgoing.waiting() > 0 {
        got.push(receiver.recv().await.unwrap());
        outgoing.room().await;
    }
    while let Ok(number) = receiver.try_recv() {
        got.push(number);
    }
    assert_eq!(got, [0, 1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn a_reader_that_is_gone_holds_up_nobody() {
    let (sender, receiver) = mpsc::channel(1);
    let mut outgoing = Outgoing::new(sender);
    outgoing.push(1);
    outgoing.push(2);
    drop(receiver);
    outgoing.room().await;
    assert_eq!(outgoing.waiting(), 0);
    outgoing.push(3);
    assert_eq!(outgoing.waiting(), 0);
}
