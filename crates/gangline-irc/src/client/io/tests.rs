//! Tests of the loop around the session.

use std::task::{Context, Poll};

use gangline_os::clock;
use tokio::io::AsyncWrite;

use super::*;
use crate::client::session::register::MaySendPassword;

/// What takes nothing: the other side has closed it.
struct Closed;

impl AsyncWrite for Closed {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A server that closes while something of ours is on its way has said why before.
#[tokio::test]
async fn what_a_server_said_before_it_closed_is_told_although_nothing_can_be_sent() {
    // Which of the two is noticed first is chance.
    for _ in 0..32 {
        let (_commands, taken) = mpsc::channel(1);
        let (told, mut events) = mpsc::channel(8);
        let config = LinkConfig::new("nowhere:0", "ada".parse().unwrap(), clock::system());
        let mut runner = Runner::new(config, taken, told);
        runner.connected(Ok(Dialled {
            reading: Box::new(&b"ERROR :Excess Flood\r\n"[..]),
            writing: Box::new(Closed),
            password: MaySendPassword::No,
        }));
        let stop = CancellationToken::new();
        let event = tokio::select! {
            event = events.recv() => event.unwrap(),
            _ = runner.run(stop) => panic!("nobody has stopped it"),
        };
        let LinkEvent::Down { why, .. } = event else { panic!("{event:?}") };
        assert_eq!(why, "the server closed the connection: Excess Flood");
    }
}
