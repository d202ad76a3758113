//! The store, as another process has it: what is asked of it, waited for and put into it.

use std::{fs, ops::RangeInclusive, os::unix::net::UnixDatagram};

use futures::future::join_all;
use gangline_agent::effort;
use gangline_core::{
    MessageId, MessageState, Origin, Principal, Tier, effort::EffortLevel, redact::Redacted,
};
use gangline_os::{change_notice, clock};
use gangline_store::{MessageFilter, NewMessage, OpenOptions, Store};
use gangline_testkit::{database, eventually_seeing};
use tokio::runtime::Builder;

use super::{ADA, Rig};

impl Rig {
    /// Asks the store.
    pub(crate) fn query(&self, sql: &'static str) -> Vec<String> {
        database::query(&self.paths.database(), sql)
    }

    /// Waits until the store answers so.
    pub(crate) fn sees(&self, sql: &'static str, expect: &[&str]) {
        eventually_seeing(&format!("{expect:?} of {sql}"), || {
            let rows = self.query(sql);
            if rows == expect { Ok(()) } else { Err(format!("{rows:?}")) }
        });
    }

    /// Puts messages into the store as another process does, and notifies the daemon.
    pub(crate) fn asked_at_the_command_line(&self, texts: &[String]) {
        let all: Vec<NewMessage> = texts.iter().map(|text| of_the_owner(text)).collect();
        self.outside(async |store| {
            let all = all.into_iter().map(|message| store.accept(message));
            join_all(all)
                .await
                .into_iter()
                .for_each(|accepted| assert!(accepted.is_ok(), "{accepted:?}"));
        });
        self.notify();
    }

    /// Keeps the daemon from writing until the result is dropped.
    pub(crate) fn hold_store(&self) -> database::Held {
        database::hold(&self.paths.database())
    }

    /// Rings as another process does that has written something.
    pub(crate) fn notify(&self) {
        change_notice::notify(&self.paths.change_notice(ADA));
    }

    /// Takes the place of Ada's daemon, which must not run, as the one that is notified.
    pub(crate) fn notices_to_ada(&self) -> Notices {
        let path = self.paths.change_notice(ADA);
        fs::remove_file(&path).unwrap();
        let socket = UnixDatagram::bind(path).unwrap();
        socket.set_nonblocking(true).unwrap();
        Notices(socket)
    }

    /// Chooses an effort for Ada's native loop as another process does; `None` is that of the configuration.
    pub(crate) fn chooses_effort(&self, level: Option<EffortLevel>) {
        effort::choose(&self.paths, &ADA.parse().unwrap(), "native", level).unwrap();
        self.notify();
    }

    /// Takes every message in once more, as the same line that comes again is, and notifies the daemon.
    pub(crate) fn taken_in_again(&self) {
        self.outside(async |store| {
            let filter = MessageFilter::default();
            for row in store.messages(filter, gangline_store::PAGE_MAX).await.unwrap() {
                let again = NewMessage {
                    agent: row.agent,
                    network_id: row.network_id,
                    intake_key: row.intake_key,
                    origin: row.origin,
                    principal: row.principal,
                    sender: row.sender,
                    target: row.target,
                    body: row.body,
                    in_reply_to: None,
                    cause_root: None,
                    hops: 0,
                    state: MessageState::Accepted,
                    cursor: None,
                    not_before: None,
                    msgid: row.msgid,
                };
                assert!(store.accept(again).await.unwrap().duplicate);
            }
        });
        self.notify();
    }

    /// Takes messages back as another process does.
    pub(crate) fn cancel(&self, ids: RangeInclusive<i64>) {
        self.outside(async |store| {
            let all = ids.map(|id| store.cancel(MessageId(id), "owner"));
            join_all(all).await.into_iter().for_each(|done| assert!(done.is_ok(), "{done:?}"));
        });
    }

    /// Works with the store as another process does.
    pub(crate) fn outside(&self, work: impl AsyncFnOnce(&Store)) {
        let (path, clock) = (self.paths.database(), clock::system());
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let store = Store::open(OpenOptions { path, clock }).await.unwrap();
            work(&store).await;
            store.close().await.unwrap();
        });
    }

    /// Waits until the agent's row says so.
    pub(crate) fn sees_phase(&self, phase: &str) {
        eventually_seeing(&format!("the phase {phase}"), || {
            let rows = self.query("SELECT phase FROM agents");
            if rows == [phase] { Ok(()) } else { Err(format!("{rows:?}")) }
        });
    }
}

/// What Ada's daemon is notified of while it does not run.
pub(crate) struct Notices(UnixDatagram);

impl Notices {
    /// Returns how many notices have come since the last call.
    pub(crate) fn count(&self) -> usize {
        std::iter::from_fn(|| self.0.recv(&mut [0]).ok()).count()
    }
}

/// A message of the owner's to Ada, as the command line stores it.
pub(crate) fn of_the_owner(text: &str) -> NewMessage {
    NewMessage {
        agent: ADA.parse().unwrap(),
        network_id: "local".to_owned(),
        intake_key: None,
        origin: Origin::Cli,
        principal: Principal { account: "owner".to_owned(), tier: Tier::Owner },
        sender: "owner".to_owned(),
        target: String::new(),
        body: Redacted::from_store(text.to_owned()),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    }
}
