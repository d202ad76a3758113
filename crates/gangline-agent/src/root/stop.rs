//! The orderly shutdown: intake, the open turn, the runner, the supervisor, the socket, the outbox, IRC, the store.

use std::time::Duration;

use gangline_core::agent::Drain;
use gangline_irc::client::LinkCommand;
use gangline_os::{
    CancellationToken, clock,
    notify::{self, Word},
    signals::Signals,
};
use tracing::{info, warn};

use super::{
    Why,
    parts::{AGENT_LOOP, BACKEND, CONTROL, HOOKS, JUDGE, LINK, OPEN_CONTROL, Parts, SUPERVISOR},
    tasks::Tasks,
};
use crate::{
    bus::{Fatal, Incoming},
    session::port::KILL_BUDGET,
    settings::Ended,
};

/// How long the open turn may take to end on its own.
const SETTLE_BUDGET: Duration = Duration::from_secs(20);
/// An interrupted turn ends within this: the interrupt's grace, and what follows.
const INTERRUPT_BUDGET: Duration = Duration::from_secs(15);
/// What the agent loop has recorded is written within this, once the backend is gone or given up.
const RECORDS_BUDGET: Duration = Duration::from_secs(15);
/// Hooks that wait run within this; what is left of them is dropped.
const HOOKS_BUDGET: Duration = Duration::from_secs(5);
/// Connections to the socket end within this.
const SHUT_BUDGET: Duration = Duration::from_secs(3);
/// How long the outbox is flushed after the last turn.
const FLUSH_BUDGET: Duration = Duration::from_secs(3);
/// The tasks that are left end within this.
const LEFT_BUDGET: Duration = Duration::from_secs(2);
/// How long the server may take to close the connection.
const QUIT_BUDGET: Duration = Duration::from_secs(3);

impl Parts {
    pub(super) async fn stop(mut self, why: Why, signals: &mut Signals) -> Ended {
        notify::tell(&[Word::Stopping]);
        self.intake.cancel();
        let ended = match why {
            Why::Asked => {
                self.settle(signals).await;
                Ended { code: 0, why: "asked to end".to_owned() }
            }
            Why::Fatal(fatal) => {
                // A loop that still turns begins nothing any more; one that does not is not waited for.
                let _ = self.agent_loop.try_send(Incoming::Drain(Drain::Now));
                end_backend(&mut self.tasks, &self.halt).await;
                fatal_end(&fatal)
            }
        };
        end_supervisor(&mut self.tasks, &self.unwatched).await;
        // What the runner's shells said is answered by now; nobody else is to hear `ok`.
        self.shut.cancel();
        self.tasks.wait_for(CONTROL, SHUT_BUDGET).await;
        self.tasks.wait_for(OPEN_CONTROL, SHUT_BUDGET).await;
        if ended.code == 0 {
            self.flush_outbox().await;
        }
        let _ = self.link.try_send(LinkCommand::Quit { reason: "gangline daemon ends".to_owned() });
        self.tasks.wait_for(LINK, QUIT_BUDGET).await;
        self.flush.cancel();
        self.tasks.stop(LEFT_BUDGET).await;
        if let Err(error) = self.store.close().await {
            warn!(%error, "the store did not close");
        }
        ended
    }

    /// Lets the open turn end, then interrupts it; a second signal does so at once, and so does an
    /// approval that waits: nothing is taken in any more, so nobody could decide it.
    async fn settle(&mut self, signals: &mut Signals) {
        let _ = self.agent_loop.send(Incoming::Drain(Drain::Soft)).await;
        let drained = self.drained.clone();
        let mut view = self.view.clone();
        let in_haste = tokio::select! {
            () = drained.cancelled() => None,
            Ok(_) = view.wait_for(|view| view.approvals > 0) => Some("an approval waits"),
            () = clock::sleep(&self.clock, SETTLE_BUDGET) => Some("its time is over"),
            _ = signals.next() => Some("asked again"),
        };
        if let Some(why) = in_haste {
            info!(why, "interrupting the open turn");
            let _ = self.agent_loop.send(Incoming::Drain(Drain::Now)).await;
            if clock::within(&self.clock, INTERRUPT_BUDGET, drained.cancelled()).await.is_none() {
                warn!("the open turn did not end; the successor recovers it");
                return end_backend(&mut self.tasks, &self.halt).await;
            }
        }
        wind_up(&mut self.tasks, &self.halt).await;
        if self.has_hooks {
            self.tasks.wait_for(HOOKS, HOOKS_BUDGET).await;
        }
    }

    async fn flush_outbox(&self) {
        let flushed = async {
            loop {
                match self.store.outbox_pending(&self.agent, 1).await {
                    Ok(rows) if rows.is_empty() => return,
                    Ok(_) | Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        };
        if clock::within(&self.clock, FLUSH_BUDGET, flushed).await.is_none() {
            info!("lines are left in the outbox; the successor sends them");
        }
    }
}

/// Waits for the end of a loop whose agent is drained. It has ended its backend already and writes
/// what is left, the one beside the other; each has a budget of its own (design note 0019).
async fn wind_up(tasks: &mut Tasks, halt: &CancellationToken) {
    end_backend(tasks, halt).await;
    tasks.wait_for(AGENT_LOOP, RECORDS_BUDGET).await;
}

/// Ends the backend by its kill policy, even if the loop that owned it is gone.
async fn end_backend(tasks: &mut Tasks, halt: &CancellationToken) {
    halt.cancel();
    tasks.wait_for(BACKEND, KILL_BUDGET).await;
}

/// Ends the supervisor, and what runs of its backend.
async fn end_supervisor(tasks: &mut Tasks, unwatched: &CancellationToken) {
    unwatched.cancel();
    tasks.wait_for(SUPERVISOR, KILL_BUDGET).await;
    tasks.wait_for(JUDGE, KILL_BUDGET).await;
}

fn fatal_end(fatal: &Fatal) -> Ended {
    match fatal {
        Fatal::Fenced(why) => Ended { code: Ended::TAKEN, why: why.clone() },
        Fatal::Corrupt(why) => Ended { code: Ended::HOPELESS, why: why.clone() },
        Fatal::TaskEnded(why) => {
            Ended { code: Ended::CRASHED, why: format!("a task ended: {why}") }
        }
        Fatal::Stuck => {
            Ended { code: Ended::CRASHED, why: "the agent loop no longer turns".to_owned() }
        }
    }
}

#[cfg(test)]
mod tests;
