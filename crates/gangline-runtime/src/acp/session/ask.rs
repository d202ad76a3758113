//! Questions of the program: may this tool run?

use gangline_core::permission;
use serde_json::{Value, json};

use super::{
    Session,
    state::{Ask, Choosable},
};
use crate::{
    Answer, ApprovalAsk, ApprovalReply, RuntimeEvent,
    acp::{update, wire},
    asked,
};

impl Session {
    pub(super) fn asked(&mut self, id: &Value, params: &Value) {
        let mut ask = Ask { id: id.clone(), options: options(params), files: Vec::new() };
        // Nobody can be asked outside of a turn, or about one that is being ended.
        let Some(turn) = self.turn.as_ref().filter(|turn| !turn.asked).map(|turn| turn.id) else {
            return self.write(wire::answer(id, &cancelled()));
        };
        let patch = match update::patch(&params["toolCall"]) {
            Ok(patch) => patch,
            Err(error) => {
                let (name, why) = (self.setup.recipe.name, error.to_string());
                self.notice(format!(
                    "{name} asked about a call that cannot be read, and was refused: {why}"
                ));
                return self.write(wire::unreadable(id, &why));
            }
        };
        self.answers();
        self.accepted();
        self.flush();
        let (call, news) = self.calls.asked(&patch);
        self.running.begin(&patch.id, self.outside.now);
        self.report_calls(news);
        let name = self.setup.gate.name(&call);
        match self.setup.gate.permit(&call) {
            permission::Permit::Allow => self.allow(&ask),
            permission::Permit::Deny(reason) => self.deny(&ask, reason),
            permission::Permit::Ask => {
                // Numbers of the program begin anew with each process; this name is not met again.
                let request = uuid::Uuid::new_v4().to_string();
                let (input, files) = self.setup.gate.shown(self.setup.recipe.name, &call);
                ask.files.clone_from(&files);
                let told = ApprovalAsk {
                    request: request.clone(),
                    tool: name,
                    input,
                    presumed: call.presumed,
                    files,
                };
                self.tell(RuntimeEvent::ApprovalAsked { turn, ask: told });
                self.asks.insert(request, ask);
            }
        }
    }

    pub(super) fn answer_ask(&mut self, reply: &ApprovalReply) {
        let Some(ask) = self.asks.remove(&reply.request) else { return };
        self.running.decided(self.outside.now);
        match &reply.answer {
            Answer::Allow => match asked::moved(&ask.files) {
                Some(why) => {
                    self.notice(why.clone());
                    self.deny(&ask, why);
                }
                None => self.allow(&ask),
            },
            Answer::Deny { reason } => self.deny(&ask, reason.clone()),
        }
    }

    /// Allows this one call. What would allow more is not chosen.
    fn allow(&mut self, ask: &Ask) {
        match ask.options.iter().find(|option| option.kind == "allow_once") {
            Some(option) => {
                let answer = selected(&option.id);
                self.write(wire::answer(&ask.id, &answer));
            }
            None => {
                let name = self.setup.recipe.name;
                self.notice(format!("{name} offers no way to allow this once; it was refused"));
                self.deny(ask, "this call cannot be allowed once".to_owned());
            }
        }
    }

    fn deny(&mut self, ask: &Ask, reason: String) {
        let kinds = ["reject_once", "reject_always"];
        let option = kinds.iter().find_map(|kind| ask.options.iter().find(|it| it.kind == *kind));
        let answer = option.map_or_else(cancelled, |option| selected(&option.id));
        self.write(wire::answer(&ask.id, &answer));
        if let Some(turn) = &mut self.turn {
            turn.refused.push(reason);
        }
    }

    pub(super) fn withdraw_asks(&mut self) {
        let asks: Vec<Ask> = self.asks.drain().map(|(_, ask)| ask).collect();
        for ask in asks {
            self.write(wire::answer(&ask.id, &cancelled()));
        }
    }
}

fn options(params: &Value) -> Vec<Choosable> {
    let option = |option: &Value| {
        let text = |name: &str| option[name].as_str().map(str::to_owned);
        Some(Choosable { id: text("optionId")?, kind: text("kind")? })
    };
    params["options"].as_array().into_iter().flatten().filter_map(option).collect()
}

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}
