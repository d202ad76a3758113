//! The task of a manager that tells it of agents whose configuration, or program, is another than the
//! one that they were started with (R2-36). It owns nothing: each news is one row of the inbox, whose
//! key makes it come once.

use std::sync::Arc;

use gangline_core::{AgentName, MessageState, Origin, Principal, Redacted, Tier};
use gangline_os::CancellationToken;
use gangline_store::{Applied, NewMessage, StoreError};
use tokio::sync::{Notify, watch};
use tracing::{debug, info, warn};

use crate::fleet::{Fleet, Marks, News};

/// Who tells it, for the manager.
pub(crate) const SYSTEM: &str = "system";

/// Why the task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UpdatesEnd {
    /// The daemon takes nothing in any more.
    Closed,
}

/// See the module.
pub(crate) struct Updates {
    pub(crate) fleet: Fleet,
    /// The loop looks for messages.
    pub(crate) rescan: Arc<Notify>,
}

impl Updates {
    /// Looks at each tick until `closed`. Cancel-safe: no.
    pub(crate) async fn run(
        self,
        mut ticks: watch::Receiver<u64>,
        closed: CancellationToken,
    ) -> UpdatesEnd {
        let mut known: Option<(String, Marks)> = None;
        loop {
            match self.fleet.text() {
                Ok(text) if known.as_ref().is_some_and(|(before, _)| *before == text) => {}
                Ok(text) => match self.fleet.parsed(&text) {
                    Ok(config) => known = Some((text, config.marks())),
                    // Whoever writes at it may not be done.
                    Err(why) => debug!(why, "the configuration is not looked at"),
                },
                Err(why) => debug!(why, "the configuration is not looked at"),
            }
            if let Some((_, marks)) = &known {
                match self.look(marks).await {
                    Ok(()) => {}
                    Err(StoreError::Fenced { .. }) => {
                        // The successor looks.
                        closed.cancelled().await;
                        return UpdatesEnd::Closed;
                    }
                    Err(error) => warn!(%error, "cannot look for agents that need an update"),
                }
            }
            tokio::select! {
                () = closed.cancelled() => return UpdatesEnd::Closed,
                Ok(()) = ticks.changed() => {}
            }
        }
    }

    async fn look(&self, marks: &Marks) -> Result<(), StoreError> {
        let applied = self.fleet.applied().await?;
        for agent in marks.keys() {
            let news = match self.fleet.news(agent, (marks, &applied)) {
                Ok(Some(news)) => news,
                Ok(None) => continue,
                Err(why) => {
                    debug!(why, "an agent is not looked at");
                    continue;
                }
            };
            let known = applied.iter().find(|it| it.agent == *agent);
            let message = self.message(agent, news, (known, marks.get(agent)));
            let accepted = self.fleet.store.accept(message).await?;
            if !accepted.duplicate {
                info!(%agent, ?news, "needs an update");
                self.rescan.notify_one();
            }
        }
        Ok(())
    }

    fn message(
        &self,
        agent: &AgentName,
        news: News,
        (known, mark): (Option<&Applied>, Option<&String>),
    ) -> NewMessage {
        let since = known.map_or(0, |it| it.epoch.0);
        let (what, key) = match news {
            News::Configuration => (
                "its part of the configuration has changed since it was started",
                format!("{since}/{}", mark.map_or("", String::as_str)),
            ),
            News::Program => {
                let running = self.fleet.running(agent);
                ("the program has changed since it was started", format!("program/{running}"))
            }
        };
        let body =
            format!("[needs_update] {agent}: {what}; the tool `update` restarts it with that");
        NewMessage {
            agent: self.fleet.me.clone(),
            network_id: "local".to_owned(),
            intake_key: Some(format!("needs_update/{agent}/{key}")),
            origin: Origin::System,
            principal: Principal { account: SYSTEM.to_owned(), tier: Tier::Agent },
            sender: SYSTEM.to_owned(),
            target: String::new(),
            body: Redacted::from_store(body),
            in_reply_to: None,
            cause_root: None,
            hops: 0,
            state: MessageState::Accepted,
            cursor: None,
            not_before: None,
            msgid: None,
        }
    }
}
