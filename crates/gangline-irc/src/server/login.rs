//! Credentials: whether one is right, and what follows.

use std::{sync::atomic::Ordering, time::Duration};

use gangline_core::{AgentName, Principal, Tier};

use super::{
    caps::Caps, client::Identity, client_id::ClientId, outgoing::Outgoing, state::State,
    trust::Whose,
};
use crate::wire::numeric as n;

/// Wrong credentials after which a connection is closed.
pub(super) const MAX_FAILURES: u32 = 3;

/// Whether a credential was right.
pub(super) enum Proof {
    Right,
    Wrong,
    /// It was not looked at: there were too many wrong ones.
    TooSoon {
        wait: Duration,
    },
    /// It was not looked at: an agent's process logs in as nobody.
    Agents(AgentName),
    /// It was not looked at: it is not known whose process this is, though it is of this user.
    Unknown,
}

impl Proof {
    /// Returns why nobody was logged in.
    pub(super) fn refusal(&self) -> Option<String> {
        match self {
            Self::Right => None,
            Self::Wrong => Some("Password incorrect; connect again with the right one".to_owned()),
            Self::Agents(agent) => Some(format!(
                "This was started by {agent}: what an agent starts cannot log in. Connect without a \
                 password, or speak by gangline channel"
            )),
            Self::Unknown => {
                Some("The system does not say which program you are; connect again".to_owned())
            }
            Self::TooSoon { wait } => {
                let seconds = wait.as_secs() + 1;
                Some(format!("Too many wrong passwords; try again in {seconds} s"))
            }
        }
    }
}

impl State {
    /// Checks a credential; a right one puts the client into the account.
    pub(super) fn prove(&mut self, id: ClientId, account: &str, password: &str) -> Proof {
        let checked = self.check(id, account, password);
        self.enter_account(id, checked)
    }

    /// Checks a credential, and does nothing else if it is right.
    ///
    /// # Errors
    /// Why nobody is proved.
    pub(super) fn check(
        &mut self,
        id: ClientId,
        account: &str,
        password: &str,
    ) -> Result<Principal, Proof> {
        if let Some(refused) = self.unlooked(id) {
            return Err(refused);
        }
        let Some(origin) = self.client(id).map(|client| client.origin) else {
            return Err(Proof::Wrong);
        };
        let found = self.trust.authenticate(origin, account, password);
        self.checked(id, found)
    }

    /// Returns why no credential of the client is looked at now, if there is a reason.
    pub(super) fn unlooked(&mut self, id: ClientId) -> Option<Proof> {
        let client = self.client_mut(id)?;
        let refused = match &client.whose {
            Whose::Nobodys => return self.too_soon(id).map(|wait| Proof::TooSoon { wait }),
            Whose::Agents(agent) => Proof::Agents(agent.clone()),
            Whose::Unknown => Proof::Unknown,
        };
        client.failures += 1;
        tracing::warn!(client = id.0, whose = ?client.whose, "a login was not looked at");
        Some(refused)
    }

    /// Returns how long the client must wait before a credential of it is looked at; that counts
    /// as a failure of this connection.
    fn too_soon(&mut self, id: ClientId) -> Option<Duration> {
        let now = self.config.clock.monotonic();
        let wait = self.throttle.pause(self.client(id)?.origin, now)?;
        self.client_mut(id)?.failures += 1;
        Some(wait)
    }

    /// Takes the outcome of a check.
    pub(super) fn proved(&mut self, id: ClientId, found: Option<Principal>) -> Proof {
        let checked = self.checked(id, found);
        self.enter_account(id, checked)
    }

    fn enter_account(&mut self, id: ClientId, checked: Result<Principal, Proof>) -> Proof {
        match checked {
            Ok(principal) => {
                self.log_in(id, principal);
                Proof::Right
            }
            Err(proof) => proof,
        }
    }

    fn checked(&mut self, id: ClientId, found: Option<Principal>) -> Result<Principal, Proof> {
        let now = self.config.clock.monotonic();
        let Some(client) = self.client_mut(id) else { return Err(Proof::Wrong) };
        let origin = client.origin;
        let Some(principal) = found else {
            client.failures += 1;
            tracing::warn!(client = id.0, ?origin, "a wrong credential was given");
            self.throttle.wrong(origin, now);
            return Err(Proof::Wrong);
        };
        client.failures = 0;
        self.throttle.right(origin);
        Ok(principal)
    }

    fn log_in(&mut self, id: ClientId, principal: Principal) {
        let account = principal.account.clone();
        let (is_agent, is_owner) = (principal.tier == Tier::Agent, principal.tier == Tier::Owner);
        self.identify(id, Identity::Account(principal));
        let Some(client) = self.client_mut(id) else { return };
        client.oper |= is_owner;
        // Their own link paces agents; a whole answer must not take a minute.
        client.queue.shared().exempt.store(is_agent, Ordering::Relaxed);
        let (source, ready) = (client.source(), client.is_ready());
        let text = format!("You are now logged in as {account}");
        self.numeric(id, n::RPL_LOGGEDIN, &[&source, &account], &text);
        if ready {
            let now = self.now();
            let line = Outgoing::new(&source, "ACCOUNT", &[&account], None).at(now);
            let mut ids = self.audience(id);
            ids.insert(id);
            self.send_capable(ids, Caps::ACCOUNT_NOTIFY, &line);
            self.note_last_nick(id);
            self.hand_over(id);
            self.is_somebody_else(id);
        }
    }
}
