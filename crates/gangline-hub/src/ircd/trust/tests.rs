//! What the kernel says of a peer.

use tokio::net::{TcpListener, TcpStream};

use super::*;

#[tokio::test]
async fn a_peer_is_a_member_only_under_our_own_uid() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (_far, peer) = listener.accept().await.unwrap();
    let local = listener.local_addr().unwrap();
    assert_eq!(near.local_addr().unwrap(), peer);
    let (_sender, accounts) = watch::channel(Arc::default());
    let ours = own_uid().unwrap();
    for (uid, tier) in
        [(Some(ours), Tier::Member), (Some(ours + 1), Tier::Stranger), (None, Tier::Stranger)]
    {
        let trust = AccountTrust { accounts: accounts.clone(), uid };
        assert_eq!(trust.peer(local, peer), tier, "{uid:?}");
    }
    drop(near);
    let trust = AccountTrust::new(accounts);
    assert_eq!(trust.peer(local, "127.0.0.1:1".parse().unwrap()), Tier::Stranger);
}
