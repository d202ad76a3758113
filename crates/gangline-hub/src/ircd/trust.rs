//! Who somebody is on the embedded server: accounts by their hash, peers by the kernel.

use std::{
    fs::OpenOptions,
    io,
    net::SocketAddr,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use gangline_core::{Principal, Tier};
use gangline_irc::{
    server::{
        store::{Account, Accounts},
        trust::{End, Origin, Trust, Whose},
    },
    wire::scram::{self, Keys},
};
use gangline_os::{
    descent::{self, Installation},
    dial::own_uid,
    peer::{self, Process},
    secret::{Secret, random_token},
};
use subtle::ConstantTimeEq as _;
use tokio::sync::watch;

use crate::credentials::{self, OWNER, SERVICE};

/// Checks credentials against the accounts of the store.
pub struct AccountTrust {
    accounts: watch::Receiver<Arc<Accounts>>,
    /// Our own user.
    uid: u32,
    /// Where it is kept which agents have come by the socket.
    state: PathBuf,
    owner: Option<OwnerKeys>,
    /// The installation's id.
    installation: Option<String>,
}

/// What the owner logs in with by SCRAM: made of the token when it is first needed.
struct OwnerKeys {
    token: Secret,
    keys: OnceLock<Keys>,
}

impl AccountTrust {
    /// Returns the trust of these accounts; a loopback peer of our own uid is a member. `state` is
    /// the state folder.
    #[must_use]
    pub fn new(accounts: watch::Receiver<Arc<Accounts>>, state: &Path) -> Self {
        Self { accounts, uid: own_uid(), state: state.to_owned(), owner: None, installation: None }
    }

    /// Lets the owner log in by SCRAM, for as long as this is the token of that account.
    #[must_use]
    pub fn with_owner(self, token: Secret) -> Self {
        Self { owner: Some(OwnerKeys { token, keys: OnceLock::new() }), ..self }
    }

    /// Lets agents' processes be known by their run ids too: those of the installation with this id.
    #[must_use]
    pub fn with_installation(self, installation: Option<String>) -> Self {
        Self { installation, ..self }
    }

    /// Returns whether an agent with the right password may come this way: by the socket, and until
    /// it has done so once also by TCP from our own user, as daemons of older versions do. So a
    /// stolen password is of no use to another user.
    fn may_come(&self, origin: Origin, agent: &Account) -> bool {
        // The hub's own client has never come another way, and has no folder for a mark.
        if agent.name.folded() == SERVICE {
            return origin == Origin::Socket;
        }
        let mark = credentials::socket_mark(&self.state, agent.name.folded());
        match origin {
            Origin::Socket => {
                if let Err(error) = marked(&mark) {
                    tracing::warn!(%error, path = %mark.display(), "cannot be written");
                }
                true
            }
            Origin::Own => !mark.exists(),
            Origin::User(_) | Origin::Unknown(_) => false,
        }
    }
}

/// Makes the mark if it is not there; it has no content.
fn marked(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn keys(token: &Secret) -> Keys {
    Keys::derive(token.expose(), random_token().expose().as_bytes(), scram::ITERATIONS)
}

impl Trust for AccountTrust {
    fn authenticate(&self, origin: Origin, account: &str, password: &str) -> Option<Principal> {
        let accounts = Arc::clone(&self.accounts.borrow());
        let given = credentials::hash(&Secret::new(password));
        let known = accounts.get(account)?;
        let right: bool = given.as_bytes().ct_eq(known.credential_sha256.as_bytes()).into();
        let may_come = || match known.tier {
            Tier::Agent => self.may_come(origin, known),
            Tier::Owner | Tier::Member | Tier::Stranger => true,
        };
        if right && !may_come() {
            tracing::warn!(
                account,
                ?origin,
                "an agent's password came over another connection than the agents' socket"
            );
            return None;
        }
        right.then(|| Principal { account: known.name.to_string(), tier: known.tier })
    }

    fn scram(&self, _origin: Origin, account: &str) -> Option<(Principal, Keys)> {
        let known = self.accounts.borrow().get(account).cloned()?;
        let owner = self.owner.as_ref().filter(|_| known.name.folded() == OWNER)?;
        let hash = credentials::hash(&owner.token);
        let valid: bool = hash.as_bytes().ct_eq(known.credential_sha256.as_bytes()).into();
        let keys = valid.then(|| owner.keys.get_or_init(|| keys(&owner.token)).clone())?;
        Some((Principal { account: known.name.to_string(), tier: known.tier }, keys))
    }

    fn whose(&self, end: End) -> Whose {
        let process = match end {
            End::Tcp { local, peer } => peer::tcp_peer_process(local, peer),
            End::Socket { pid } => Ok(pid.map_or(Process::Hidden, Process::Pid)),
        };
        let pid = match process {
            Ok(Process::Pid(pid)) => pid,
            Ok(Process::Hidden) => return Whose::Nobodys,
            Ok(Process::Gone) => return Whose::Unknown,
            Err(error) => {
                tracing::warn!(%error, "the kernel did not say which process a peer is");
                return Whose::Unknown;
            }
        };
        let of = Installation { state: self.state.clone(), id: self.installation.clone() };
        match descent::owner(pid, &of).map(|owner| owner.nick.parse()) {
            Some(Ok(agent)) => Whose::Agents(agent),
            Some(Err(_)) => Whose::Unknown,
            None => Whose::Nobodys,
        }
    }

    fn origin(&self, local: SocketAddr, peer: SocketAddr) -> Origin {
        match peer::tcp_peer_uid(local, peer) {
            Ok(Some(theirs)) if self.uid == theirs => Origin::Own,
            Ok(Some(theirs)) => Origin::User(theirs),
            Ok(None) => Origin::Unknown(peer.ip()),
            Err(error) => {
                tracing::warn!(%error, "the kernel did not say who a peer is");
                Origin::Unknown(peer.ip())
            }
        }
    }
}

#[cfg(test)]
mod tests;
