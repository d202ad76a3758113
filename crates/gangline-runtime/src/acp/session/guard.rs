//! Choices of a session that must not be otherwise, or the program asks nobody (C5).

use serde_json::{Value, json};

use super::{
    Action, Session,
    state::{Sent, Stage},
};
use crate::acp::{recipe::Guard, turn_result, update, wire::Refusal};

impl Session {
    /// Sets back whatever would let tools run unasked; then the mode.
    pub(super) fn guard(&mut self) {
        while let Some(guard) = self.setup.recipe.guards.get(self.guards) {
            self.guards += 1;
            if self.lets_through(guard) {
                return self.set_back(guard, Sent::Guard);
            }
        }
        self.ask_first();
    }

    /// Says whether this choice stands so that tools run unasked.
    fn lets_through(&self, guard: &Guard) -> bool {
        let choice = self.choices.iter().find(|choice| choice.id == guard.choice);
        choice.is_some_and(|choice| choice.current_value != must(guard))
    }

    fn set_back(&mut self, guard: &Guard, sent: Sent) {
        let mut params =
            json!({"sessionId": self.id, "configId": guard.choice, "value": must(guard)});
        if guard.must.is_none() {
            params["type"] = "boolean".into();
        }
        self.request(sent, "session/set_config_option", &params);
    }

    /// Sets back what was changed in an open session, be it by a command in somebody's prompt.
    pub(super) fn guard_again(&mut self) {
        let under_way = self.sent.values().any(|sent| *sent == Sent::GuardAgain);
        if self.stage != Stage::Open || under_way {
            return;
        }
        let guards = self.setup.recipe.guards;
        if let Some(guard) = guards.iter().find(|guard| self.lets_through(guard)) {
            let name = self.setup.recipe.name;
            self.notice(format!("{name} began to let tools run unasked; it is told not to"));
            self.set_back(guard, Sent::GuardAgain);
        }
    }

    pub(super) fn guarded_again(&mut self, outcome: Result<Value, Refusal>) {
        match outcome {
            Ok(answer) => {
                // Without choices in it, the answer says that it is done.
                let choices = update::choices(&answer);
                if !choices.is_empty() {
                    self.choices = choices;
                    if self.setup.recipe.guards.iter().any(|guard| self.lets_through(guard)) {
                        self.unguarded("it did not change");
                    }
                }
            }
            Err(refusal) => self.unguarded(&turn_result::one_line(&refusal.words())),
        }
    }

    fn unguarded(&mut self, why: &str) {
        let name = self.setup.recipe.name;
        self.notice(format!("{name} lets tools run unasked, and cannot be told not to: {why}"));
        self.out.push(Action::GiveUp);
    }

    /// A program that cannot be made to ask is not used.
    pub(super) fn guarded(&mut self, outcome: Result<Value, Refusal>) {
        match outcome {
            Ok(_) => self.guard(),
            Err(refusal) => self.unguarded(&turn_result::one_line(&refusal.words())),
        }
    }
}

/// Returns the value that a guard wants.
fn must(guard: &Guard) -> Value {
    guard.must.map_or(Value::Bool(false), Value::from)
}
