//! What the kernel says of a peer.

use tokio::net::{TcpListener, TcpStream};

use gangline_core::Tier;
use gangline_irc::server::store::Account;

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
        let trust = AccountTrust { uid, ..AccountTrust::new(accounts.clone(), Path::new("/s")) };
        assert_eq!(trust.origin(local, peer), origin, "{uid:?}");
    }
    drop(near);
    let trust = AccountTrust::new(accounts, Path::new("/s"));
    let gone = "127.0.0.1:1".parse().unwrap();
    assert_eq!(trust.origin(local, gone), Origin::Unknown([127, 0, 0, 1].into()));
}

/// A stolen password of an agent is of no use to another user, and of none by TCP once the agent
/// has come by the socket; a hub that starts anew still knows.
#[test]
fn an_agents_password_counts_by_the_socket_and_by_tcp_only_before() {
    let state = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(state.path().join("agents/oak-ada")).unwrap();
    let credential_sha256 = credentials::hash(&Secret::new("pw"));
    let account = |name: &str, tier| Account {
        name: name.parse().unwrap(),
        tier,
        credential_sha256: credential_sha256.clone(),
        last_nick: None,
    };
    let mut known = Accounts::default();
    known.put(account("oak-ada", Tier::Agent));
    known.put(account("owner", Tier::Owner));
    let (_sender, accounts) = watch::channel(Arc::new(known));
    let address = [127, 0, 0, 1].into();
    let may = |account: &str, origin| {
        let trust = AccountTrust::new(accounts.clone(), state.path());
        assert!(trust.authenticate(origin, account, "wrong").is_none());
        trust.authenticate(origin, account, "pw").is_some()
    };
    for origin in [Origin::User(own_uid() + 1), Origin::Unknown(address)] {
        assert!(!may("oak-ada", origin), "{origin:?}");
        assert!(may("owner", origin), "{origin:?}");
    }
    assert!(may("oak-ada", Origin::Own), "a daemon of an older version");
    assert!(may("oak-ada", Origin::Socket));
    assert!(!may("oak-ada", Origin::Own), "it has come by the socket");
    assert!(may("oak-ada", Origin::Socket));
    assert!(may("owner", Origin::Own));
}

/// Keys are made of the token; a token that is no longer the account's opens nothing.
#[test]
fn the_owner_and_nobody_else_logs_in_by_scram() {
    let (token, stale) = (Secret::new("t0ken"), Secret::new("before"));
    let mut known = Accounts::default();
    for (name, tier) in [("owner", Tier::Owner), ("spark-ada", Tier::Agent)] {
        let credential_sha256 = credentials::hash(&token);
        known.put(Account {
            name: name.parse().unwrap(),
            tier,
            credential_sha256,
            last_nick: None,
        });
    }
    let (_sender, accounts) = watch::channel(Arc::new(known));
    let trust = AccountTrust::new(accounts.clone(), Path::new("/s")).with_owner(token);
    let (principal, _) = trust.scram(Origin::Own, "OWNER").unwrap();
    assert_eq!(principal, Principal { account: "owner".to_owned(), tier: Tier::Owner });
    for other in ["spark-ada", "nobody"] {
        assert!(trust.scram(Origin::Own, other).is_none(), "{other}");
    }
    let trust = AccountTrust::new(accounts.clone(), Path::new("/s")).with_owner(stale);
    assert!(trust.scram(Origin::Own, "owner").is_none());
    assert!(AccountTrust::new(accounts, Path::new("/s")).scram(Origin::Own, "owner").is_none());
}
