//! The effects of the state machine, carried out.

use gangline_core::{
    MessageId, Origin, Target, TurnId,
    agent::{Deadline, Effect, Notice, StartWith},
    name::fold,
};
use gangline_irc::client::{LinkCommand, TypingState};
use gangline_runtime::{Answer, Prompt, StopReason};
use gangline_store::{How, MessageRow};
use tracing::{debug, error, warn};
use uuid::Uuid;

use super::AgentLoop;
use crate::{
    checkpoint::{self, Why},
    journal::Single,
    looks::Waiting,
    prompt::{self, Around},
    rooms::RoomsCommand,
    session::port::Next,
    speech::TurnContext,
    texts,
};

impl AgentLoop {
    #[allow(clippy::too_many_lines, reason = "a line or a few for each effect")]
    pub(super) fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::StartRuntime { generation, with } => {
                self.shown.effort = None;
                self.session_starts(with);
                // Where there was no session, nothing is forgotten.
                if with == StartWith::Fresh && self.restart.had_session() {
                    self.record_notice(None, "fresh_session", texts::FRESH_SESSION.to_owned());
                }
                if with == StartWith::Renewed {
                    self.record_notice(None, checkpoint::RENEWED, texts::RENEWED.to_owned());
                    self.owes_checkpoint(Why::Renewed);
                }
                let resume = with == StartWith::Resume;
                self.generations.start(Next { generation, resume });
            }
            Effect::KillRuntime { generation } => {
                debug!(?generation, "ending the runtime");
                self.session_ends(texts::ENDED_BY_US);
                self.generations.end(StopReason::Stuck);
            }
            Effect::EndRuntime { generation } => {
                debug!(?generation, "ending the runtime for another generation");
                self.session_ends(texts::ENDED_BY_US);
                self.generations.end(StopReason::Restart);
            }
            Effect::Take { turn, messages } => self.open_turn(turn, messages),
            Effect::AdoptTurn { turn, .. } => self.generations.adopt(turn),
            Effect::Join { turn, messages } => {
                self.messages_taken(turn, &messages);
                self.join(turn, messages, How::Read);
            }
            Effect::Steer { turn, messages } => self.join(turn, messages, How::Steered),
            Effect::SendSteer { turn, messages } => self.steer(turn, messages),
            Effect::SendPrompt { turn } => self.send_prompt(turn),
            Effect::AskNotes { turn } => self.ask_notes(turn),
            Effect::Prime { turn } => self.generations.prime(turn, self.prompt_uuid.clone()),
            Effect::PromptAgain { turn } => {
                self.reports.failure = None;
                self.prompt_again(turn);
            }
            Effect::Compact { .. } => {
                // The next prompt may be given before its end is heard.
                self.owes_checkpoint(Why::Shortened);
                self.compacts();
                self.generations.compact();
            }
            Effect::Clear { .. } => {
                self.is_cleared();
                self.generations.clear();
            }
            Effect::SetModel { .. } => self.generations.set_model(),
            Effect::SetEffort { effort, .. } => self.generations.set_effort(effort),
            Effect::SendInterrupt { turn } => {
                debug!(%turn, "interrupting");
                match self.takes_prompt_back() {
                    true => self.generations.never_prompted(turn),
                    false => self.generations.interrupt(),
                }
            }
            Effect::AskHuman { turn, request } => self.ask_human(turn, &request),
            Effect::Decide { request, decision, .. } => self.notify_decision(request, decision),
            Effect::ApprovalTakenBack { turn, request } => self.taken_back(turn, &request),
            Effect::WithdrawApprovals { requests, .. } => {
                for request in requests {
                    let reason = texts::WITHDRAWN.to_owned();
                    self.reply(request, Answer::Deny { reason });
                }
            }
            Effect::EndTurn { turn, outcome, settle } => self.end_turn(turn, &outcome, settle),
            Effect::Rescan => self.looks.want(),
            Effect::MissedDeadline { deadline, turn } => self.missed(deadline, turn),
            Effect::Parked { deaths, suspects } => {
                error!(deaths, "circuit open: the runtime died too often");
                self.parked(deaths, &suspects);
                // Who waits is told: what waits comes once more.
                self.rows.clear();
                self.looks.want();
            }
            Effect::PauseBegun { held } => self.keep_pause(held),
            Effect::PauseOver { held } => self.pause_over(held),
            Effect::Notice(notice) => self.core_notice(&notice),
            Effect::Drained => self.ports.drained.cancel(),
        }
    }

    fn open_turn(&mut self, turn: TurnId, messages: Vec<MessageId>) {
        let rows = messages.iter().filter_map(|id| self.rows.get(id)).map(|waiting| &waiting.row);
        let context = TurnContext {
            turn,
            cause_root: rows.clone().find_map(|row| row.cause_root),
            hops: rows.map(|row| row.hops).max().unwrap_or(0),
            messages: messages.clone(),
        };
        self.ports.context.send_replace(Some(context));
        self.given(&messages);
        let prompt_uuid = Uuid::new_v4().to_string();
        self.prompt_uuid.clone_from(&prompt_uuid);
        self.reports.failure = None;
        self.journal.push(Single::Take { turn, messages, prompt_uuid });
    }

    /// Messages become part of the open turn, for its tools too.
    fn join(&mut self, turn: TurnId, messages: Vec<MessageId>, how: How) {
        let hops = messages.iter().filter_map(|id| self.rows.get(id)).map(|it| it.row.hops).max();
        self.ports.context.send_if_modified(|context| match context {
            Some(open) if open.turn == turn => {
                open.messages.extend(&messages);
                open.hops = open.hops.max(hops.unwrap_or(0));
                true
            }
            Some(_) | None => false,
        });
        self.given(&messages);
        let prompt_uuid = self.prompt_uuid.clone();
        self.journal.push(Single::Join { turn, messages, prompt_uuid, how });
    }

    fn steer(&mut self, turn: TurnId, messages: Vec<MessageId>) {
        let rows = messages.iter().filter_map(|id| self.rows.get(id));
        let texts: Vec<String> = match self.bare {
            true => rows.map(|waiting| prompt::bare(&waiting.row)).collect(),
            false => rows.map(prompt::text).collect(),
        };
        let uuid = Uuid::new_v4().to_string();
        self.steers.insert(uuid.clone(), messages);
        let text = texts.join("\n\n");
        self.generations.steer(Prompt { turn, text, uuid });
    }

    fn send_prompt(&mut self, turn: TurnId) {
        let messages = self.core.view().messages;
        let rows: Vec<_> = messages.iter().filter_map(|id| self.rows.get(id)).collect();
        let Some(first) = rows.first() else { return };
        let cut_off = self.reports.cut_off.remove(&first.row.id);
        let text = if self.bare {
            prompt::bare(&first.row)
        } else {
            let around = Around { pending: self.pending, unread: self.unread(&first.row) };
            let told = self.restart.take_report().unwrap_or_default();
            let waking = prompt::waking(first, around, cut_off.as_deref());
            let attached = rows.iter().skip(1).filter(|it| it.row.is_restart_note());
            let notes: String = attached.map(|it| format!("\n{}", it.row.body)).collect();
            waking + &notes + &told
        };
        let typing = first.row.target.parse::<Target>().ok();
        let (uuid, text) = (self.prompt_uuid.clone(), self.with_whispers(turn, text));
        self.prompt(Prompt { turn, text, uuid });
        if let Some(target) = typing {
            self.typing(target, TypingState::Active);
        }
    }

    /// These messages need not be read any more.
    pub(super) fn given(&mut self, messages: &[MessageId]) {
        for waiting in messages.iter().filter_map(|id| self.rows.get(id)) {
            let (row, message) = (&waiting.row, waiting.row.id);
            if let Ok(place) = row.target.parse()
                && is_line(row)
            {
                self.rooms.push(RoomsCommand::Given { place, message });
            }
        }
    }

    /// Returns how many other lines of the message's place the agent can read: those that were only
    /// heard, and messages that wait.
    fn unread(&self, row: &MessageRow) -> usize {
        let target = fold(&row.target);
        let unread = self.ports.unread.borrow();
        let heard = unread.iter().find(|(place, _)| fold(place) == target).map_or(0, |it| *it.1);
        let open = self.core.view().messages;
        let waits = |waiting: &&Waiting| {
            let row = &waiting.row;
            is_line(row) && fold(&row.target) == target && !open.contains(&row.id)
        };
        let waiting = self.rows.values().filter(waits).count();
        usize::try_from(heard).unwrap_or(usize::MAX).saturating_add(waiting)
    }

    /// Shows or ends the typing mark; a link that is busy or down misses nothing.
    pub(super) fn typing(&self, target: Target, state: TypingState) {
        let _ = self.ports.link.try_send(LinkCommand::Typing { target, state });
    }

    fn missed(&mut self, deadline: Deadline, turn: Option<TurnId>) {
        let (code, text) = match deadline {
            Deadline::Start => {
                ("start_timeout", texts::start_timeout(self.shown.start_notice.as_deref()))
            }
            Deadline::TurnOutput => {
                self.reports.waited = self.shown.waits.as_ref().map(|it| it.name.clone());
                ("turn_timeout", texts::turn_timeout(self.reports.waited.as_deref()))
            }
            Deadline::InterruptGrace => ("interrupt_timeout", texts::INTERRUPT_TIMEOUT.to_owned()),
        };
        warn!(code, ?turn, "missed a deadline");
        if deadline == Deadline::Start {
            self.died(&text);
        }
        self.record_notice(turn, code, text);
    }

    fn core_notice(&mut self, notice: &Notice) {
        match notice {
            Notice::Paused(reason) => {
                self.record_notice(None, "paused", texts::pauses::paused(*reason));
            }
            Notice::Resumed | Notice::Unparked => {
                self.reports.parked.clear();
                self.record_notice(None, "resumed", texts::RESUMED.to_owned());
            }
            Notice::WatermarkPassed { turn, tokens } => {
                self.notes.turn = Some((*turn, *tokens));
                let text = texts::watermark(*tokens, self.shown.context.1);
                self.record_notice(Some(*turn), "watermark", text);
            }
            Notice::NotesFailed { turn, outcome } => {
                self.record_notice(Some(*turn), "notes_failed", texts::notes_failed(outcome));
            }
            Notice::ColdReset { tokens } => {
                self.record_notice(None, "cold_reset", texts::cold_reset(*tokens));
            }
            Notice::ShortenedInVain { tokens } => {
                self.record_notice(None, "shortened_in_vain", texts::shortened_in_vain(*tokens));
            }
            Notice::ModelChanges => {
                let model = self.generations.model().map(str::to_owned);
                self.record_notice(None, "runtime", texts::model(model.as_deref()));
                self.model(model);
            }
            Notice::EffortChanges => {
                let text = texts::effort(self.generations.effort());
                self.record_notice(None, "effort", text);
            }
            Notice::NothingToInterrupt => debug!("there is no turn to interrupt"),
            Notice::Late { turn } => debug!(%turn, "something came late"),
            Notice::LateGeneration { generation } => {
                debug!(?generation, "something came from an older generation")
            }
        }
    }
}

/// Returns whether the message was said on the network.
fn is_line(row: &MessageRow) -> bool {
    matches!(row.origin, Origin::Mention | Origin::Direct)
}
