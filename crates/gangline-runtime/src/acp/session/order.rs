//! What is done between turns: another model, a shorter context, an empty one.

use serde_json::{Value, json};

use super::{
    Session,
    state::{Order, Sent, When, Words},
};
use crate::{
    RuntimeEvent, TurnResult,
    acp::{
        turn_result::{self, Signs},
        wire::Refusal,
    },
};

impl Session {
    pub(super) fn begin_order(&mut self, order: Order) {
        self.order = Some(order.clone());
        match order {
            Order::Model(model) => self.ask_for_model(model, When::Ordered),
            Order::Clear => self.begin_anew(),
            Order::Compact => self.begin_compacting(),
        }
    }

    fn begin_compacting(&mut self) {
        let recipe = self.setup.recipe;
        self.tell(RuntimeEvent::Compacting);
        let Some(command) = recipe.compact else {
            let why = format!("{} cannot do it", recipe.name);
            self.tell(RuntimeEvent::Compacted { failed: Some(why) });
            return self.order_done();
        };
        self.order_words = Words::None;
        let text = format!("/{command}");
        let params = json!({"sessionId": self.id, "prompt": [{"type": "text", "text": text}]});
        self.request(Sent::Compact, "session/prompt", &params);
    }

    pub(super) fn compacted(&mut self, outcome: Result<Value, Refusal>) {
        let said = match std::mem::take(&mut self.order_words) {
            Words::Text { text, .. } => text,
            Words::None | Words::Thought(_) => String::new(),
        };
        // These are the program's words, not the model's.
        let error = said.starts_with("Failed").then(|| said.clone());
        let signs =
            Signs { asked: false, busy: true, spoke: true, error, login: self.login.clone() };
        let reason =
            outcome.as_ref().map(|answer| answer["stopReason"].as_str().unwrap_or_default());
        let failed = match turn_result::of(self.setup.recipe, reason, &signs) {
            TurnResult::Completed => None,
            TurnResult::Failed { why, .. } | TurnResult::NeedsLogin { hint: why } => Some(why),
            TurnResult::RateLimited { .. } => Some("the provider wants us to wait".to_owned()),
            TurnResult::Interrupted => Some("it was interrupted".to_owned()),
        };
        self.tell(RuntimeEvent::Compacted { failed });
        self.order_done();
    }

    pub(super) fn order_done(&mut self) {
        self.order = None;
        self.go_on();
    }
}
