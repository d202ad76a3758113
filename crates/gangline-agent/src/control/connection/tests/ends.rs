//! Why connections end, and the socket.

use super::*;
use crate::control::{self, ControlEnd, socket::Socket};

/// Style, *Errors*: a connection says why it ended.
#[tokio::test]
async fn a_connection_says_why_it_ended() {
    let mut fixture = Fixture::open().await;
    let (client, _end, ended) = fixture.connect_and_follow();
    drop(client);
    assert_eq!(ended.await, Ok(ConnectionEnd::HungUp));

    let (mut client, _end, ended) = fixture.connect_and_follow();
    client.send(&"x".repeat(LINE_MAX + 1)).await;
    assert_eq!(ended.await, Ok(ConnectionEnd::BadLine));

    let (_client, end, ended) = fixture.connect_and_follow();
    end.cancel();
    assert_eq!(ended.await, Ok(ConnectionEnd::Stopped));
}

/// The same of the socket: a connection that writes to a client who does not read is cut.
#[tokio::test]
async fn the_socket_says_why_it_is_no_longer_served() {
    let fixture = Fixture::open().await;
    for (chunk, expect) in [(0, ControlEnd::Stopped), (CHUNK, ControlEnd::Cut(1))] {
        let path = fixture.folder.path().join("run/ada.sock");
        let socket =
            Socket::bind(&path, Some(&fixture.folder.path().join("culture/ada.sock"))).unwrap();
        let (stop, (_ticks, ticks)) = (CancellationToken::new(), watch::channel(0));
        let mut client =
            Client { stream: BufReader::new(UnixStream::connect(&path).await.unwrap()) };
        let follow = async {
            // One chunk; its answers are more than the socket holds.
            client.send(&format!("x\n{}", "x\n".repeat(chunk / 2))).await;
            assert_eq!(client.line().await, BROKEN);
            stop.cancel();
        };
        let run = control::run(socket, Arc::clone(&fixture.requests), ticks, stop.clone());
        let (end, ()) = tokio::join!(run, follow);
        assert_eq!(end, expect);
    }
}
