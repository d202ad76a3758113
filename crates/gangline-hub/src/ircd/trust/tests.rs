//! What the kernel says of a peer.

use tokio::net::{TcpListener, TcpStream};

use super::*;

#[tokio::test]
async fn a_peer_is_our_own_only_under_our_uid() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (_far, peer) = listener.accept().await.unwrap();
    let local = listener.local_addr().unwrap();
    assert_eq!(near.local_addr().unwrap(), peer);
    let (_sender, accounts) = watch::channel(Arc::default());
    let ours = own_uid();
    let theirs = Origin::User(ours);
    for (uid, origin) in [(ours, Origin::Own), (ours + 1, theirs)] {
        let trust = AccountTrust { accounts: accounts.clone(), uid };
        assert_eq!(trust.origin(local, peer), origin, "{uid:?}");
    }
    drop(near);
    let trust = AccountTrust::new(accounts);
    let gone = "127.0.0.1:1".parse().unwrap();
    assert_eq!(trust.origin(local, gone), Origin::Unknown([127, 0, 0, 1].into()));
}
