//! Inputs of the loop from other tasks, the journal and the looks.

use std::sync::atomic::Ordering;

use gangline_core::{
    MessageId, TurnId,
    agent::{Abilities, Input, ModelChange, Needs, PhaseName, Queued, RuntimeInput},
    outcome::EndedBy,
};
use gangline_runtime::Capabilities;
use gangline_store::{AgentUpdate, MessageRow, NewPause};
use tracing::warn;

use super::AgentLoop;
use crate::{
    bus::{Heard, Incoming},
    journal::Reply,
    looks::{Decided, Found, Waiting},
    session::SessionEvent,
    texts,
};

impl AgentLoop {
    pub(super) fn take(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Begin => {
                self.ordered_before();
                self.think(Input::StoreOk);
            }
            Incoming::Accepted(row) => self.accepted(*row),
            Incoming::Cancelled { message } => self.cancelled(message),
            Incoming::Sent { turn, to, in_reply_to, heard } => {
                self.think(Input::Sent { turn, to, in_reply_to });
                log_heard(heard);
            }
            Incoming::NoReply { turn, message, heard } => {
                self.think(Input::NoReply { turn, message });
                log_heard(heard);
            }
            Incoming::Operator(word) => self.operator(word),
            Incoming::Pause { reason, until, note } => {
                let agent = self.me.agent.clone();
                self.pause_with(NewPause { note, ..NewPause::new(agent, reason, until) });
            }
            Incoming::Unpause(reason) => self.unpause(reason),
            Incoming::Escalate(escalation) => self.escalate(&escalation),
            Incoming::Irc(trouble) => {
                self.shown.irc = trouble;
                self.show();
            }
            Incoming::Ready => {
                self.journal.agent(AgentUpdate { ready: true, ..AgentUpdate::default() });
            }
            Incoming::EndTurn { turn } => self.end_one(turn),
            Incoming::Looked => self.looked(),
            Incoming::Watched(status) => self.watched(*status),
            Incoming::Read { messages, rows, heard } => {
                self.looked();
                self.think(Input::Read { messages });
                // What the loop was not told of joins here: the turn may end before it is.
                for row in rows
                    .into_iter()
                    .filter(|row| self.core.looks_out_for(row.id))
                    .collect::<Vec<_>>()
                {
                    self.message(Waiting { row, said: Vec::new() });
                }
                log_heard(heard);
            }
            Incoming::Change { change, order } => self.change_ordered(change, order),
            Incoming::Finding(new) => self.finding(*new),
            Incoming::FindingResolved { key } => self.finding_resolved(key),
            Incoming::Whisper(whisper) => self.whisper(whisper),
            Incoming::TakeWhispers(taking) => self.take_whispers(taking),
            Incoming::Drain(drain) => self.think(Input::Drain(drain)),
            Incoming::Tick(beat) => {
                self.ports.beat.store(beat, Ordering::SeqCst);
                self.tick();
                self.look_for_trouble();
            }
        }
    }

    /// Takes what the backend reports, or what becomes of it.
    pub(super) fn hear_backend(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::KnownAs { session } => self.shown.known_as = Some(session),
            SessionEvent::Empty { generation } => {
                self.think(Input::Runtime(RuntimeInput::Primes { generation }));
            }
            SessionEvent::Started { generation, can } => {
                let abilities = abilities(can);
                self.think(Input::Runtime(RuntimeInput::Can { generation, abilities }));
            }
            SessionEvent::Runtime { generation, event } => self.runtime(generation, event),
            SessionEvent::Unusable { generation } => {
                self.think(Input::Runtime(RuntimeInput::Unusable { generation }));
            }
            SessionEvent::Exited { generation, by, how } => {
                self.gone(by, &how);
                self.think(Input::Runtime(RuntimeInput::Exited { generation, by }));
            }
            SessionEvent::Ended { generation } => {
                match self.core.ends_well(self.now(), generation) {
                    true => self.ended_well(),
                    false => self.gone(EndedBy::Itself, &texts::exited(0)),
                }
                self.think(Input::Runtime(RuntimeInput::Ended { generation }));
            }
        }
    }

    /// Takes a row at its commit. What follows from it is a write of this process, which is synced
    /// with the row. Where more waits than the loop knows of, the row is a change notice only: a
    /// look returns all of it in its order. A row beyond those that may wait is not held: the store
    /// has it, and the next look after a turn returns it.
    fn accepted(&mut self, row: MessageRow) {
        if self.change_notices.closed() {
            return;
        }
        if !self.looks.is_settled() {
            self.looks.want();
        } else if !self.core.passes_over() {
            let id = row.id;
            self.message(Waiting { row, said: Vec::new() });
            if self.core.passes_over() {
                self.rows.remove(&id);
            }
        }
    }

    /// Takes the journal's reply about a record.
    pub(super) fn written(&mut self, reply: Reply) {
        match reply {
            Reply::Taken { turn, attempts, gone, pending } => {
                self.pending = pending;
                self.taken(turn, &attempts, gone);
            }
            Reply::TakeFailed { turn } => {
                self.ports.context.send_replace(None);
                self.think(Input::TakeFailed { turn, gone: Vec::new() });
            }
            Reply::Joined { turn, messages } => {
                self.messages_taken(turn, &messages);
                self.think(Input::Joined { turn, messages });
            }
            Reply::JoinFailed { turn, messages } => {
                self.think(Input::JoinFailed { turn, messages });
            }
            Reply::Opened { number, turn, request, decided } => {
                self.opened(number, (turn, request), decided);
            }
            Reply::Delivered { number } => self.may_deliver(number),
            Reply::Standing { orders, words } => self.standing(&orders, words),
            Reply::Rescan => self.looks.want(),
            Reply::Degraded(why) => {
                warn!(why, "degraded: no new turns");
                self.think(Input::StoreDegraded);
            }
            Reply::Healthy => self.think(Input::StoreOk),
            // The loop ends with it.
            Reply::Fatal(_) => {}
        }
    }

    /// Takes what a look into the store found.
    pub(super) fn found(&mut self, found: Found) {
        for waiting in found.messages {
            self.message(waiting);
        }
        for Decided { number, turn, request, ruled } in found.decided {
            self.decided(number, (turn, request), ruled);
        }
        if let Some(undelivered) = found.whispers {
            self.whispers_found(undelivered);
        }
        for turn in found.ended {
            self.end_one(turn);
        }
        self.asks.allowed_before(found.allowed);
    }

    pub(super) fn message(&mut self, waiting: Waiting) {
        let row = &waiting.row;
        let queued = Queued {
            id: row.id,
            asker: row.sender.clone(),
            target: row.target.clone(),
            origin: row.origin,
            attempt: row.attempt,
            in_reply_to: row.in_reply_to,
            cause: row.cause_root.unwrap_or(row.id),
            needs: if row.is_restart_note() { self.restart.needs() } else { Needs::Turn },
        };
        let view = self.core.view();
        if view.phase == PhaseName::Parked {
            // Parked agents hold nothing: the store does.
            self.notify_parked(row);
        } else if !view.messages.contains(&row.id) {
            self.rows.insert(row.id, waiting);
        }
        self.think(Input::Message(queued));
    }

    fn taken(&mut self, turn: TurnId, attempts: &[(MessageId, i64)], gone: Vec<MessageId>) {
        for id in &gone {
            self.rows.remove(id);
        }
        if !gone.is_empty() {
            // Room for what was passed over.
            self.looks.want();
        }
        if attempts.is_empty() && !gone.is_empty() {
            self.ports.context.send_replace(None);
            self.think(Input::TakeFailed { turn, gone });
            return;
        }
        for (id, attempt) in attempts {
            if let Some(waiting) = self.rows.get_mut(id) {
                waiting.row.attempt = *attempt;
                waiting.row.takes += 1;
            }
        }
        let taken: Vec<_> = attempts.iter().map(|(id, _)| *id).collect();
        self.messages_taken(turn, &taken);
        self.think(Input::Taken { turn });
    }
}

/// Returns what the state machine has to know of what a backend can do.
fn abilities(can: Capabilities) -> Abilities {
    let model = match (can.set_model, can.default_model) {
        (true, Some(_)) => ModelChange::Any,
        (true, None) => ModelChange::Named,
        (false, _) => ModelChange::Restart,
    };
    Abilities { compact: can.compact, clear: can.clear, model, effort: can.effort }
}

/// Reports that it was heard. The one who asked may have gone since.
fn log_heard(heard: Heard) {
    let _ = heard.send(());
}
