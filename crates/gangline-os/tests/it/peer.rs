//! Who is at the other end of real connections.

use std::net::SocketAddr;

use gangline_os::peer::{Process, tcp_listener_uid, tcp_peer_process, tcp_peer_uid, unix_peer_uid};
use gangline_os::process::Spawn;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};

use crate::support::{NOT_ROOT, sh, skip, soon, start};

fn us() -> u32 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").unwrap().uid()
}

#[tokio::test]
async fn the_peer_of_a_unix_socket_is_known() {
    let (one, _other) = UnixStream::pair().unwrap();
    assert_eq!(unix_peer_uid(&one).unwrap(), us());
}

async fn check(listen: &str, dial: &str) {
    let listener = TcpListener::bind(listen).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = TcpStream::connect((dial, port)).await.unwrap();
    let (server, peer) = soon(listener.accept()).await.unwrap();
    let local = server.local_addr().unwrap();
    assert_eq!(tcp_peer_uid(local, peer).unwrap(), Some(us()), "{listen} {dial}");
    assert_eq!(tcp_peer_process(local, peer).unwrap(), Process::Pid(std::process::id()));
    let nobody: SocketAddr = (peer.ip(), 1).into();
    assert_eq!(tcp_peer_uid(local, nobody).unwrap(), None);
    assert_eq!(tcp_peer_process(local, nobody).unwrap(), Process::Gone);
    drop(client);
}

#[tokio::test]
async fn the_peer_of_a_tcp_connection_within_the_machine_is_known() {
    check("127.0.0.1:0", "127.0.0.1").await;
    if TcpListener::bind("[::1]:0").await.is_ok() {
        check("[::1]:0", "::1").await;
        check("[::]:0", "127.0.0.1").await;
    }
}

#[tokio::test]
async fn a_peer_that_has_closed_its_end_is_nobody() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (server, peer) = soon(listener.accept()).await.unwrap();
    drop(client);
    soon(server.readable()).await.unwrap();
    assert_eq!(tcp_peer_uid(server.local_addr().unwrap(), peer).unwrap(), None);
}

/// A client that shuts its sending side down is still a process with a name.
#[tokio::test]
async fn a_peer_that_has_closed_one_direction_is_known() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (mut server, peer) = soon(listener.accept()).await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(soon(server.read(&mut [0])).await.unwrap(), 0);
    assert_eq!(tcp_peer_uid(server.local_addr().unwrap(), peer).unwrap(), Some(us()));
}

#[tokio::test]
async fn the_listener_of_a_port_is_known() {
    for listen in ["127.0.0.1:0", "0.0.0.0:0"] {
        let listener = TcpListener::bind(listen).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let address: SocketAddr = ([127, 0, 0, 1], port).into();
        assert_eq!(tcp_listener_uid(address).unwrap(), Some(us()), "{listen}");
        drop(listener);
        assert_eq!(tcp_listener_uid(address).unwrap(), None, "{listen}");
    }
}

const NOBODY: u32 = 65_534;

/// Runs a script of bash as another user, who has no rights. Only root can.
fn as_nobody(script: &str) -> Spawn {
    let args = ["--reuid=65534", "--clear-groups", "bash", "-c", script].map(Into::into).into();
    Spawn { program: "setpriv".into(), args, ..sh("") }
}

/// Only root can play another user; others have nothing to see here.
#[tokio::test]
async fn another_users_connection_is_told_apart() {
    if us() != 0 {
        return skip("another_users_connection_is_told_apart", NOT_ROOT);
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; read -r line");
    let _client = start(as_nobody(&script));
    let (server, peer) = soon(listener.accept()).await.unwrap();
    assert_eq!(tcp_peer_uid(server.local_addr().unwrap(), peer).unwrap(), Some(NOBODY));
}
