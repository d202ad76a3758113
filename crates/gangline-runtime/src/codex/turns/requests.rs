//! What the program wants from us: permissions, and the daemon's tools.

use gangline_core::permission;
use gangline_os::json;
use serde_json::{Map, Value, json};

use super::{Action, Ask, Sent, Step, Turns};
use crate::{
    Answer, ApprovalAsk, ApprovalReply, NamedFile, RuntimeEvent, ToolCall, asked,
    codex::{
        decode::{Call, Command, Elicitation, OldCommand, OldPatch, Patch, Request},
        encode::{self, Form},
        items, permit,
    },
};

/// What the model is told when something needs a turn and none is open.
const NO_TURN: &str = "no turn is open, so nobody can be asked; try again when you are prompted";

impl Turns {
    /// Takes a line that cannot be read. Says what is done about it, if something is.
    pub(super) fn unreadable(&mut self, line: &str, why: &str) -> Option<String> {
        let id: Value = serde_json::from_str(json::find(line, &["id"])?).ok()?;
        if let Some(method) = json::find_text(line, &["method"]) {
            self.write(encode::unreadable(&id, why));
            let method = crate::program::one_line(&method);
            return Some(format!(
                "asked something that cannot be read (`{method}`), and was refused"
            ));
        }
        let id = id.as_u64()?;
        self.sent.contains_key(&id).then(|| {
            self.response(id, Err(format!("the answer cannot be read: {why}")));
            "answered with something that cannot be read".to_owned()
        })
    }

    pub(super) fn requested(&mut self, id: &Value, request: Request) {
        match request {
            Request::Command(command) => {
                self.may(id, Form::Decision, permit::SHELL, command_input(command));
            }
            Request::Patch(patch) => self.may_patch(id, patch),
            Request::Permissions { wanted, reason } => {
                let input = json!({"permissions": wanted, "reason": reason});
                self.may(id, Form::Grant(wanted), permit::PERMISSIONS, input);
            }
            Request::OldCommand(OldCommand { command, cwd, reason }) => {
                let line = shlex::try_join(command.iter().map(String::as_str));
                let command = line.map_or_else(|_| command.join(" "), |line| items::script(&line));
                let mut input = json!({"command": command});
                describe(&mut input, cwd, reason);
                self.may(id, Form::Review, permit::SHELL, input);
            }
            Request::OldPatch(OldPatch { file_changes: changes }) => {
                let paths: Vec<&str> = changes.keys().map(String::as_str).collect();
                let moved = changes.values().filter_map(|it| it["move_path"].as_str());
                let files: Vec<&str> = paths.iter().copied().chain(moved).collect();
                let permit = self.setup.gate.permit_of_patch(permit::EDIT, &files);
                let files = self.setup.gate.files(&files);
                let input = json!({"file_path": paths.join(", "), "changes": changes});
                self.settle((id, Form::Review, permit::EDIT), (input, files), permit);
            }
            Request::Elicitation(asked) => self.elicited(id, asked),
            Request::Questions(questions) => {
                self.write(encode::answer(id, &encode::no_choice(&questions)));
            }
            Request::Call(call) => self.call(id, call),
            Request::Other { kind } => {
                tracing::debug!(kind, "codex asks for something that is not served");
                self.write(encode::refusal(id));
            }
            Request::Broken { kind, why } => {
                self.warn(format!("codex wrote a malformed `{kind}` line: {why}"));
                self.write(encode::unreadable(id, &why));
            }
        }
    }

    /// A patch is named by the item that has shown it.
    fn may_patch(&mut self, id: &Value, patch: Patch) {
        let shown = self
            .turn
            .as_ref()
            .and_then(|turn| turn.tools.iter().find(|tool| tool.id == patch.item_id).cloned());
        let (name, mut input) = match shown {
            Some(tool) => (tool.name, tool.input),
            None => (permit::EDIT.to_owned(), json!({})),
        };
        let (permit, files) = {
            let files = items::changed(&input).chain(patch.grant_root.as_deref());
            let files: Vec<&str> = files.collect();
            let gate = &self.setup.gate;
            (gate.permit_of_patch(&name, &files), gate.files(&files))
        };
        if let Some(root) = &patch.grant_root {
            input["also_from_now_on"] = json!(root);
        }
        describe(&mut input, None, patch.reason);
        self.settle((id, Form::Decision, &name), (input, files), permit);
    }

    /// The program asks about a server's tool in this way; what else a server asks, nobody answers.
    fn elicited(&mut self, id: &Value, asked: Elicitation) {
        let meta = asked.meta.unwrap_or_default();
        let tool = meta.get("tool_name").and_then(Value::as_str);
        match (meta["codex_approval_kind"].as_str(), tool) {
            (Some("mcp_tool_call"), Some(tool)) => {
                let tool = permit::of_server(&asked.server_name, tool);
                let empty = || Map::new().into();
                let input = meta.get("tool_params").cloned().unwrap_or_else(empty);
                self.may(id, Form::Elicitation, &tool, input);
            }
            _ => {
                self.write(encode::answer(id, &encode::deny(&Form::Elicitation, "")));
                let (server, text) = (asked.server_name, asked.message);
                self.warn(format!("the tool server {server} asked what nobody can answer: {text}"));
            }
        }
    }

    fn may(&mut self, id: &Value, form: Form, tool: &str, input: Value) {
        let permit = self.setup.gate.permit(tool);
        self.settle((id, form, tool), (input, Vec::new()), permit);
    }

    fn settle(
        &mut self,
        (id, form, tool): (&Value, Form, &str),
        (input, files): (Value, Vec<NamedFile>),
        permit: permission::Permit,
    ) {
        match permit {
            permission::Permit::Allow => {
                self.write(encode::answer(id, &encode::allow(&form)));
            }
            permission::Permit::Deny(reason) => self.refuse(id, &form, tool, &reason),
            permission::Permit::Ask => {
                let Some(turn) = &self.turn else {
                    return self.refuse(id, &form, tool, NO_TURN);
                };
                let turn = turn.id;
                let request = uuid::Uuid::new_v4().to_string();
                let ask = ApprovalAsk {
                    request: request.clone(),
                    tool: tool.to_owned(),
                    input,
                    presumed: false,
                    files: files.clone(),
                };
                self.tell(RuntimeEvent::ApprovalAsked { turn, ask });
                let ask = Ask { id: id.clone(), form, tool: tool.to_owned(), files };
                self.asks.insert(request, ask);
            }
        }
    }

    pub(super) fn answer_ask(&mut self, reply: &ApprovalReply) {
        let Some(ask) = self.asks.remove(&reply.request) else { return };
        self.running.decided(self.now);
        match &reply.answer {
            Answer::Allow => match asked::moved(&ask.files) {
                Some(why) => {
                    self.notice(why.clone());
                    self.refuse(&ask.id, &ask.form, &ask.tool, &why);
                }
                None => self.write(encode::answer(&ask.id, &encode::allow(&ask.form))),
            },
            Answer::Deny { reason } => self.refuse(&ask.id, &ask.form, &ask.tool, reason),
        }
    }

    /// The program wants no answer to this request any more; it says so of answered ones too.
    pub(super) fn took_back(&mut self, id: &Value) {
        let gone: Vec<String> =
            self.asks.extract_if(|_, ask| ask.id == *id).map(|(request, _)| request).collect();
        let Some(turn) = self.turn.as_ref().map(|turn| turn.id) else { return };
        for request in gone {
            self.tell(RuntimeEvent::ApprovalWithdrawn { turn, request });
        }
    }

    /// Refuses it. The program tells the model no reason, so that is added to the turn, and first:
    /// then it stands right behind what the tool returned. The denial waits until the program has
    /// answered for the reason: it serves requests side by side, and a denial that came first would
    /// let the model go on without the reason.
    fn refuse(&mut self, id: &Value, form: &Form, tool: &str, reason: &str) {
        let denial = encode::answer(id, &encode::deny(form, reason));
        let running = self.turn.as_ref().filter(|it| it.step == Step::Running && !it.asked);
        let remote = running.and_then(|turn| turn.remote.clone());
        match remote {
            Some(remote) if *form != Form::Review => {
                let params = json!({
                    "threadId": self.thread,
                    "expectedTurnId": remote,
                    "input": encode::input(&encode::reason(tool, reason)),
                });
                self.request(Sent::Reason(denial), "turn/steer", &params);
            }
            _ => self.write(denial),
        }
    }

    fn call(&mut self, id: &Value, call: Call) {
        let refusal = match &self.turn {
            None => Some(NO_TURN.to_owned()),
            Some(_) if !self.setup.tools.contains(&call.tool.as_str()) => {
                Some(format!("there is no tool {}", call.tool))
            }
            Some(_) => None,
        };
        if let Some(refusal) = refusal {
            return self.write(encode::called(id, &Err(refusal)));
        }
        let Some(turn) = &self.turn else { return };
        let Call { call_id, tool, arguments } = call;
        let call = ToolCall { turn: turn.id, id: call_id, name: tool, input: arguments };
        self.out.push(Action::Call { call, caller: id.clone() });
    }
}

fn command_input(command: Command) -> Value {
    let script = command.command.as_deref().map(items::script);
    let mut input = json!({"command": script.unwrap_or_else(|| "reach the network".to_owned())});
    if let Some(network) = command.network_approval_context {
        input["network"] = network;
    }
    if let Some(more) = command.additional_permissions {
        input["permissions"] = more;
    }
    describe(&mut input, command.cwd, command.reason);
    input
}

fn describe(input: &mut Value, cwd: Option<String>, reason: Option<String>) {
    if let Some(cwd) = cwd {
        input["cwd"] = json!(cwd);
    }
    if let Some(reason) = reason {
        input["reason"] = json!(reason);
    }
}
