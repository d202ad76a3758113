//! Who somebody is on the embedded server: accounts by their hash, peers by the kernel.

use std::{net::SocketAddr, sync::Arc};

use gangline_core::Principal;
use gangline_irc::server::{
    store::Accounts,
    trust::{Origin, Trust},
};
use gangline_os::{dial::own_uid, secret::Secret};
use subtle::ConstantTimeEq as _;
use tokio::sync::watch;

use crate::credentials;

/// Checks credentials against the accounts of the store.
pub struct AccountTrust {
    accounts: watch::Receiver<Arc<Accounts>>,
    /// Our own user.
    uid: u32,
}

impl AccountTrust {
    /// Returns the trust of these accounts; a loopback peer of our own uid is a member.
    #[must_use]
    pub fn new(accounts: watch::Receiver<Arc<Accounts>>) -> Self {
        Self { accounts, uid: own_uid() }
    }
}

impl Trust for AccountTrust {
    fn authenticate(&self, _origin: Origin, account: &str, password: &str) -> Option<Principal> {
        let accounts = Arc::clone(&self.accounts.borrow());
        let given = credentials::hash(&Secret::new(password));
        let known = accounts.get(account)?;
        let right: bool = given.as_bytes().ct_eq(known.credential_sha256.as_bytes()).into();
        right.then(|| Principal { account: known.name.to_string(), tier: known.tier })
    }

    fn origin(&self, local: SocketAddr, peer: SocketAddr) -> Origin {
        match gangline_os::peer::tcp_peer_uid(local, peer) {
            Ok(Some(theirs)) if self.uid == theirs => Origin::Own,
            Ok(Some(theirs)) => Origin::User(theirs),
            Ok(None) => Origin::Unknown(peer.ip()),
            Err(error) => {
                tracing::warn!(%error, "the kernel did not tell who a peer is");
                Origin::Unknown(peer.ip())
            }
        }
    }
}

#[cfg(test)]
mod tests;
