//! Begins and ends: which run is whose, and when a turn is over.

use gangline_core::TurnId;

use super::{
    Action, Now, Turns,
    state::{Bundle, Held, Order, Out, Owner, Run},
};
use crate::{
    FailureKind, RuntimeEvent, SessionId, TurnResult,
    claude::{
        decode::{Fate, Init, Outcome},
        turn_result::{self, Asked, Signs},
    },
};

impl Turns {
    pub(super) fn init(&mut self, init: Init) {
        if init.session_id != self.setup.session.0 && !init.session_id.is_empty() {
            self.setup.session = SessionId(init.session_id);
            let session = self.setup.session.clone();
            self.tell(RuntimeEvent::Session { session });
        }
        if let Some(run) = &mut self.run {
            run.model = init.model;
        }
    }

    pub(super) fn lifecycle(&mut self, uuid: &str, fate: Fate) {
        let ours = self.turn.as_ref().is_some_and(|turn| turn.waiting.iter().any(|it| it == uuid));
        let job = self.jobs.iter().any(|job| job.uuid == uuid);
        match fate {
            Fate::Started if ours => self.started(uuid),
            Fate::Started if job => self.begin(Owner::Job(uuid.to_owned())),
            Fate::Completed | Fate::Cancelled if ours => self.gone(uuid, fate),
            Fate::Completed | Fate::Cancelled if job => {
                if !self.owned_by(&Owner::Job(uuid.to_owned())) {
                    self.job_done(uuid, &Outcome::default(), "");
                }
            }
            Fate::Queued | Fate::Started | Fate::Completed | Fate::Cancelled | Fate::Other => {}
        }
    }

    /// A text of the open turn is worked on.
    pub(super) fn started(&mut self, uuid: &str) {
        if !self.owned_by(&Owner::Turn) {
            self.begin(Owner::Turn);
        }
        let Some(turn) = &mut self.turn else { return };
        if let Some(place) = turn.added.iter().position(|(it, _)| it == uuid) {
            let (_, given) = turn.added.remove(place);
            self.give(Out::Steered(given));
        } else if !turn.accepted {
            turn.accepted = true;
            self.give(Out::Accepted);
        }
    }

    pub(super) fn begin(&mut self, owner: Owner) {
        if let Some(before) = self.run.replace(Run::of(owner)) {
            self.without_result(before);
        }
    }

    /// Words without a run: the program has begun by itself.
    pub(super) fn begin_unasked(&mut self) {
        if self.turn.is_some() {
            return self.begin(Owner::Aside);
        }
        self.begin(Owner::Unasked);
        self.names.clear();
        self.running.clear();
        match &mut self.bundle {
            // It was told of already and nobody has adopted it: it goes on.
            Some(bundle) => bundle.result = None,
            None => {
                self.bundle = Some(Bundle::default());
                self.tell(RuntimeEvent::Began);
            }
        }
    }

    /// A prompt was given: what nobody has adopted by now will be nobody's.
    pub(super) fn set_aside(&mut self) {
        let Some(bundle) = self.bundle.take() else { return };
        if bundle.result.is_some() {
            return self.said_aside(&bundle.said);
        }
        if let Some(run) = &mut self.run {
            run.owner = Owner::Aside;
        }
        let Some(id) = self.turn.as_ref().map(|turn| turn.id) else { return };
        for held in bundle.held {
            match held {
                // Somebody waits for these; the rest is told in one line at the end.
                Held::Call(call) => self.call(id, call),
                Held::Out(Out::Ask(ask)) => self.tell(Out::Ask(ask).of(id)),
                Held::Out(_) => {}
            }
        }
    }

    pub(super) fn said_aside(&mut self, said: &str) {
        let said = turn_result::one_line(said);
        self.notice(format!("claude began a turn by itself, before the prompt; it said: {said}"));
    }

    /// A text of the turn will not be worked on any more, or has been.
    pub(super) fn gone(&mut self, uuid: &str, fate: Fate) {
        let running = self.owned_by(&Owner::Turn);
        let Some(turn) = &mut self.turn else { return };
        if turn.prompt.as_deref() == Some(uuid) && running {
            // The result says more; if it never comes, idleness ends the turn.
            turn.fate = Some(fate);
            return;
        }
        turn.waiting.retain(|it| it != uuid);
        if turn.prompt.as_deref() == Some(uuid) && turn.result.is_none() {
            turn.result = Some(result_of_fate(fate, turn.asked));
        }
        if !running {
            self.finish_if_done();
        }
    }

    pub(super) fn finish_if_done(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if turn.waiting.is_empty()
            && let Some(result) = turn.result.take()
        {
            let id = turn.id;
            self.end(id, result);
        }
    }

    pub(super) fn end(&mut self, id: TurnId, result: TurnResult) {
        let login = matches!(result, TurnResult::NeedsLogin { .. });
        self.turn = None;
        self.asks.clear();
        self.last_alive = None;
        self.out.push(Action::Free);
        self.tell(Out::Finished(result).of(id));
        if login {
            self.out.push(Action::WatchLogin);
        }
    }

    pub(super) fn result(&mut self, outcome: &Outcome, now: Now) {
        if !self.ready {
            let why = turn_result::why(outcome);
            self.notice(format!("claude did not begin: {why}"));
            return;
        }
        let named = outcome.user_message_uuids.as_deref().unwrap_or_default();
        let names = |uuid: &String| named.contains(uuid);
        let ours = self.turn.as_ref().is_some_and(|turn| turn.waiting.iter().any(names));
        let job = self.jobs.iter().find(|job| names(&job.uuid)).map(|job| job.uuid.clone());
        let owner = match (job, &self.run) {
            _ if ours => Owner::Turn,
            (Some(uuid), _) => Owner::Job(uuid),
            // It names a text that is none of the open turn's.
            (None, Some(_)) if !named.is_empty() && self.prompt_runs() => return,
            (None, Some(run)) => run.owner.clone(),
            (None, None) if outcome.origin.is_some() => Owner::Unasked,
            // A late word about something that is over.
            (None, None) => return,
        };
        // A result that names another than the run under way leaves that one alone.
        let run = self.run.take_if(|run| run.owner == owner);
        let run = run.unwrap_or_else(|| Run::of(owner.clone()));
        let signs = self.signs(&run, now);
        match owner {
            Owner::Turn => {
                self.usage(outcome, &run);
                let Some(turn) = &mut self.turn else { return };
                turn.waiting.retain(|uuid| !names(uuid));
                if named.is_empty()
                    && let Some(prompt) = &turn.prompt
                {
                    turn.waiting.retain(|uuid| uuid != prompt);
                }
                turn.result = Some(turn_result::of(outcome, &signs));
                self.finish_if_done();
            }
            Owner::Job(uuid) => self.job_done(&uuid, outcome, &run.said),
            Owner::Unasked => self.unasked_done(outcome, &run, &signs),
            Owner::Aside => self.said_aside(&run.said),
        }
    }

    pub(super) fn unasked_done(&mut self, outcome: &Outcome, run: &Run, signs: &Signs) {
        if self.bundle.is_none() {
            self.begin_unasked();
        }
        self.run = None;
        self.usage(outcome, run);
        if let Some(bundle) = &mut self.bundle {
            bundle.said.clone_from(&run.said);
            bundle.result = Some(turn_result::of(outcome, signs));
        }
    }

    pub(super) fn job_done(&mut self, uuid: &str, outcome: &Outcome, said: &str) {
        let Some(place) = self.jobs.iter().position(|job| job.uuid == uuid) else { return };
        let job = self.jobs.remove(place);
        let failed =
            if said.is_empty() { turn_result::why(outcome) } else { turn_result::one_line(said) };
        match job.order {
            Order::Compact if !job.told => self.compacted(Some(failed)),
            Order::Clear if outcome.is_error => {
                self.notice(format!("the context was not cleared: {failed}"));
            }
            Order::Compact | Order::Clear => {}
        }
    }

    /// Nothing is under way in the program: what is open here has lost its result.
    pub(super) fn idle(&mut self) {
        // The turn of a prompt is closed by what became of its texts, and by nothing else.
        let known =
            self.turn.as_ref().is_some_and(|turn| turn.fate.is_some() || turn.waiting.is_empty());
        if (known || !self.prompt_runs())
            && let Some(run) = self.run.take()
        {
            self.without_result(run);
        }
    }

    /// Whether the run under way is that of a prompt of ours.
    fn prompt_runs(&self) -> bool {
        self.owned_by(&Owner::Turn) && self.turn.as_ref().is_some_and(|turn| turn.prompt.is_some())
    }

    /// A run is over, and its result was not seen.
    fn without_result(&mut self, run: Run) {
        match run.owner {
            Owner::Turn => {
                let Some(turn) = &mut self.turn else { return };
                let result = match (turn.fate, &turn.prompt) {
                    (Some(fate), _) => Some(result_of_fate(fate, turn.asked)),
                    (None, None) => Some(TurnResult::Completed),
                    (None, Some(_)) => None,
                };
                if result.is_some() {
                    turn.waiting.clear();
                    turn.result = result;
                }
                self.finish_if_done();
            }
            Owner::Job(uuid) => {
                self.job_done(&uuid, &Outcome::default(), "it ended without a result");
            }
            Owner::Unasked => {
                if let Some(bundle) = &mut self.bundle {
                    bundle.result = Some(TurnResult::Completed);
                }
            }
            Owner::Aside => self.said_aside(&run.said),
        }
    }

    pub(super) fn signs(&self, run: &Run, now: Now) -> Signs {
        let asked = self.turn.as_ref().map(|turn| turn.asked).unwrap_or_default();
        let left = |until: i64| u64::try_from(until.saturating_sub(now.unix)).ok();
        let limit = self.limited_until.and_then(left);
        Signs {
            asked: if run.owner == Owner::Turn { asked } else { Asked::No },
            error: run.error.clone(),
            retry_after: limit.or(run.retry_after),
            login: self.setup.login.clone(),
        }
    }
}

fn result_of_fate(fate: Fate, asked: Asked) -> TurnResult {
    match (fate, asked) {
        (Fate::Completed, _) => TurnResult::Completed,
        (_, Asked::Yes) => TurnResult::Interrupted,
        (Fate::Queued | Fate::Started | Fate::Cancelled | Fate::Other, Asked::No) => {
            TurnResult::Failed {
                kind: FailureKind::Other,
                why: "claude dropped the prompt".to_owned(),
            }
        }
    }
}
