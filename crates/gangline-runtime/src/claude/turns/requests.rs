//! Requests on the pipe: the program's to us, and the answers to ours.

use gangline_core::{TurnId, effort::EffortLevel, permission};
use gangline_os::json;
use serde_json::{Value, json};

use super::{
    Action, Caller, Turns,
    state::{EffortStep, Held, Out, Owner, Sent},
};
use crate::{
    Answer, ApprovalAsk, ApprovalReply, RuntimeEvent, ToolCall, TurnResult, asked,
    claude::{
        decode::Request,
        effort,
        encode::{self, AFTER_TOOL},
        mcp::{self, Reply},
        turn_result::{self, Asked},
    },
};

/// What the model is told when something needs a turn and none is open.
const NO_TURN: &str = "no turn is open, so nobody can be asked; try again when you are prompted";

impl Turns {
    pub(super) fn requested(&mut self, id: &str, request: Request) {
        match request {
            Request::MayUse { tool, input } => self.may_use(id, &tool, input),
            Request::Hook { event, tool, input, cwd, .. } if event == "PreToolUse" => {
                self.setup.gate.works_in(&cwd);
                let permit = self.setup.gate.permit(&tool, &input);
                self.write(encode::answer(id, &encode::before_tool(&permit)));
            }
            Request::Hook { event, inner: false, .. } if AFTER_TOOL.contains(&event.as_str()) => {
                self.tool_ran(id, event);
            }
            Request::Hook { .. } => self.write(encode::answer(id, &json!({}))),
            Request::Mcp { server, message } if server == self.setup.gate.server() => {
                match mcp::reply(id, &message, &self.setup.tools) {
                    Reply::Now(message) => self.write(encode::mcp(id, &message)),
                    Reply::Call(call) => self.called(call),
                }
            }
            Request::Mcp { server, .. } => {
                self.write(encode::refusal(id, &format!("there is no server {server} here")));
            }
            Request::Other { kind } => {
                tracing::debug!(kind, "claude asks for something that is not served");
                self.write(encode::refusal(id, "not supported"));
            }
        }
    }

    /// Takes a line that cannot be read. Says what is done about it, if something is.
    pub(super) fn unreadable(&mut self, line: &str, why: &str) -> Option<String> {
        match json::find_text(line, &["type"])?.as_str() {
            "control_request" => {
                let id = json::find_text(line, &["request_id"])?;
                let kind = json::find_text(line, &["request", "subtype"]);
                let kind = turn_result::one_line(&kind.unwrap_or_default());
                self.write(encode::unreadable(&id, line, why));
                Some(format!("asked something that cannot be read (`{kind}`), and was refused"))
            }
            "control_response" => {
                let id = json::find_text(line, &["response", "request_id"])?;
                self.sent.contains_key(&id).then(|| {
                    self.response(&id, Err(format!("the answer cannot be read: {why}")));
                    "answered with something that cannot be read".to_owned()
                })
            }
            _ => None,
        }
    }

    /// A tool of the turn has run: the model may be told something before it goes on.
    fn tool_ran(&mut self, id: &str, event: String) {
        match self.place() {
            Place::Turn(turn) => {
                let caller = Caller::Hook { request: id.to_owned(), event };
                self.out.push(Action::Aside { turn, caller });
            }
            Place::Held | Place::None => self.write(encode::answer(id, &json!({}))),
        }
    }

    fn may_use(&mut self, id: &str, tool: &str, input: Value) {
        match self.setup.gate.permit(tool, &input) {
            permission::Permit::Allow => self.write(encode::answer(id, &encode::allow(&input))),
            permission::Permit::Deny(reason) => {
                self.write(encode::answer(id, &encode::deny(&reason)));
            }
            permission::Permit::Ask => self.ask(id, tool, input),
        }
    }

    fn ask(&mut self, id: &str, tool: &str, input: Value) {
        let (shown, files) = self.setup.gate.shown(tool, &input);
        let ask = ApprovalAsk {
            request: id.to_owned(),
            tool: self.setup.gate.name(tool).to_owned(),
            input: shown,
            presumed: false,
            files: files.clone(),
        };
        match self.place() {
            Place::Turn(turn) => self.tell(Out::Ask(ask).of(turn)),
            Place::Held => self.give(Out::Ask(ask)),
            Place::None => return self.write(encode::answer(id, &encode::deny(NO_TURN))),
        }
        self.asks.insert(id.to_owned(), (input, files));
    }

    pub(super) fn answer_ask(&mut self, reply: &ApprovalReply) {
        let Some((input, files)) = self.asks.remove(&reply.request) else { return };
        self.running.decided(self.now);
        let response = match &reply.answer {
            Answer::Allow => match asked::moved(&files) {
                Some(why) => {
                    self.notice(why.clone());
                    encode::deny(&why)
                }
                None => encode::allow(&input),
            },
            Answer::Deny { reason } => encode::deny(reason),
        };
        self.write(encode::answer(&reply.request, &response));
    }

    /// The program wants no answer to its question any more, if it was one.
    pub(super) fn took_back(&mut self, id: String) {
        if self.asks.remove(&id).is_none() {
            return;
        }
        match self.place() {
            Place::Turn(turn) => self.tell(Out::TakenBack(id).of(turn)),
            Place::Held => self.give(Out::TakenBack(id)),
            Place::None => {}
        }
    }

    fn called(&mut self, call: mcp::Call) {
        match self.place() {
            Place::Turn(turn) => self.call(turn, call),
            Place::Held => {
                if let Some(bundle) = &mut self.bundle {
                    bundle.held.push(Held::Call(call));
                }
            }
            Place::None => {
                let message = mcp::called(&call.rpc, &Err(NO_TURN.to_owned()));
                self.write(encode::mcp(&call.request, &message));
            }
        }
    }

    pub(super) fn call(&mut self, turn: TurnId, call: mcp::Call) {
        let mcp::Call { request, rpc, id, name, input } = call;
        let caller = Caller::Tool { request, rpc };
        self.out.push(Action::Call { call: ToolCall { turn, id, name, input }, caller });
    }

    /// Where a question or a call of the run that is under way belongs.
    fn place(&self) -> Place {
        match (self.run.as_ref().map(|run| &run.owner), &self.turn, &self.bundle) {
            (Some(Owner::Turn | Owner::Aside), Some(turn), _) => Place::Turn(turn.id),
            (Some(Owner::Unasked), _, Some(_)) => Place::Held,
            _ => Place::None,
        }
    }

    pub(super) fn response(&mut self, id: &str, answer: Result<Value, String>) {
        let Some(sent) = self.sent.remove(id) else { return };
        match (sent, answer) {
            (Sent::Initialize, Ok(_)) => {
                self.ready = true;
                let session = self.setup.session.clone();
                self.tell(RuntimeEvent::Ready { session });
            }
            (Sent::Initialize, Err(error)) => {
                self.notice(format!("claude cannot be driven: {error}"));
                self.out.push(Action::GiveUp);
            }
            (Sent::Withdraw(uuid), Ok(answer)) if answer["cancelled"] == json!(true) => {
                self.withdrawn(&uuid);
            }
            (Sent::Withdraw(uuid), _) => self.not_withdrawn(&uuid),
            (Sent::SetModel(model), Err(error)) => {
                self.notice(format!("the model was not changed to {model}: {error}"));
            }
            (Sent::Effort(step), answer) => self.effort_step(step, answer),
            (Sent::Interrupt | Sent::SetModel(_), _) => {}
        }
        if !self.is_changing() {
            let held = std::mem::take(&mut self.held);
            held.into_iter().for_each(|line| self.write(line));
        }
    }

    /// Takes the answer about the effort, and asks on.
    fn effort_step(&mut self, step: EffortStep, answer: Result<Value, String>) {
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return self.notice(format!("the effort was not changed: {error}")),
        };
        match step {
            EffortStep::Ask => {
                let before = effort::applied(&answer);
                if let Some((before, above)) = before.and_then(|it| Some((it, effort::above(it)?)))
                {
                    let apply = effort::apply(Some(above));
                    self.request(Sent::Effort(EffortStep::Raise(before)), &apply);
                }
            }
            EffortStep::Raise(before) => {
                self.request(Sent::Effort(EffortStep::Look(before)), &effort::ask());
            }
            EffortStep::Look(before) => {
                let raised = effort::applied(&answer).filter(|now| *now > before);
                self.effort_is(raised);
            }
            EffortStep::Lower => self.effort_is(None),
        }
    }

    fn effort_is(&mut self, raised: Option<EffortLevel>) {
        if std::mem::replace(&mut self.raised, raised) != raised {
            self.tell(RuntimeEvent::Effort { raised });
        }
    }

    pub(super) fn withdrawn(&mut self, uuid: &str) {
        let running = self.owned_by(&Owner::Turn);
        let Some(turn) = &mut self.turn else { return };
        turn.waiting.retain(|it| it != uuid);
        if turn.prompt.as_deref() == Some(uuid) && turn.result.is_none() {
            turn.result = Some(TurnResult::Interrupted);
        }
        if !running {
            self.finish_if_done();
        }
    }

    /// It was begun meanwhile: then it is interrupted.
    fn not_withdrawn(&mut self, uuid: &str) {
        let Some(turn) = &self.turn else { return };
        let wanted = turn.asked == Asked::Yes && turn.prompt.as_deref() == Some(uuid);
        if wanted && turn.waiting.iter().any(|it| it == uuid) {
            self.request(Sent::Interrupt, &json!({"subtype": "interrupt"}));
        }
    }
}

enum Place {
    Turn(TurnId),
    /// Until somebody adopts the turn.
    Held,
    None,
}
