//! From hello to an open conversation, and the answers to our requests.

use serde_json::{Value, json};

use super::{Action, Credentials, Login, Order, Sent, Stage, Step, Turn, Turns};
use crate::{
    FailureKind, RuntimeEvent, SessionId, TurnResult,
    codex::{effort, encode},
    program::one_line,
};

impl Turns {
    pub(super) fn response(&mut self, id: u64, answer: Result<Value, String>) {
        let Some(sent) = self.sent.remove(&id) else { return };
        match (sent, answer) {
            (Sent::Initialize, Ok(_)) => self.greeted(),
            (Sent::Initialize, Err(error)) => self.useless("cannot be driven", &error),
            (Sent::Account, answer) => self.account(&answer.unwrap_or_default()),
            (Sent::Start | Sent::Resume, Ok(thread)) => self.opened(&thread),
            (Sent::Start, Err(error)) => self.useless("cannot begin a session", &error),
            (Sent::Resume, Err(error)) => self.not_resumed(&error),
            (Sent::Clear, Ok(thread)) => self.cleared(&thread),
            (Sent::Clear, Err(error)) => {
                self.job = None;
                self.notice(format!("the context was not cleared: {}", one_line(&error)));
            }
            (Sent::Turn(turn), Ok(answer)) => {
                if self.turn.as_ref().is_some_and(|open| open.id == turn) {
                    let remote = answer.pointer("/turn/id").and_then(Value::as_str);
                    self.named(remote.unwrap_or_default());
                }
            }
            (Sent::Turn(turn), Err(error)) => {
                if self.turn.as_ref().is_some_and(|open| open.id == turn) {
                    let why = one_line(&error);
                    self.finish(TurnResult::Failed { kind: FailureKind::Request, why });
                }
            }
            (Sent::Steer(uuid), Err(_)) => {
                if let Some(turn) = &mut self.turn {
                    turn.added.retain(|added| added.prompt.uuid != uuid);
                }
            }
            (Sent::Reason(denial), _) => self.write(denial),
            (Sent::Compact, Err(error)) => self.job_done(Some(one_line(&error))),
            (Sent::Models, Ok(list)) => self.raise(&list),
            (Sent::Models, Err(error)) => {
                self.notice(format!("the effort was not changed: {}", one_line(&error)));
            }
            (Sent::Steer(_) | Sent::Compact | Sent::Aside, _) => {}
        }
    }

    fn useless(&mut self, what: &str, error: &str) {
        self.notice(format!("codex {what}: {}", one_line(error)));
        self.out.push(Action::GiveUp);
    }

    fn greeted(&mut self) {
        self.stage = Stage::Opening;
        self.write(encode::initialized());
        match self.setup.credentials {
            Credentials::OfTheProgram => self.request(Sent::Account, "account/read", &json!({})),
            Credentials::OfTheOptions => self.open(),
        }
    }

    fn account(&mut self, answer: &Value) {
        let needed = answer["requiresOpenaiAuth"] == json!(true);
        if needed && answer["account"].is_null() {
            self.login = Login::Missing;
        }
        self.open();
    }

    fn open(&mut self) {
        let model = self.setup.model.clone();
        let session = match (&self.setup.resume, self.begun) {
            (Some(session), _) => Some(session.clone()),
            (None, true) => Some(SessionId(self.thread.clone())),
            (None, false) => None,
        };
        match session {
            Some(session) => {
                let params = self.setup.thread.resume(&session, model.as_deref());
                self.request(Sent::Resume, "thread/resume", &params);
            }
            None => {
                let params = self.setup.thread.start(model.as_deref());
                self.request(Sent::Start, "thread/start", &params);
            }
        }
    }

    /// A session that is not there begins anew (C7); what else stands in the way may pass, and the
    /// daemon tries again.
    fn not_resumed(&mut self, error: &str) {
        let lower = error.to_lowercase();
        let gone = ["no rollout found", "not found", "invalid session id", "invalid thread id"];
        if !gone.iter().any(|words| lower.contains(words)) {
            return self.useless("cannot continue its session", error);
        }
        let session = self.setup.resume.take().map_or_else(|| self.thread.clone(), |it| it.0);
        self.begun = false;
        self.notice(format!(
            "session {session} is not there (it had no turn, or it was removed); a new one begins"
        ));
        self.open();
    }

    fn opened(&mut self, answer: &Value) {
        let Some(session) = self.take_thread(answer) else {
            return self.useless("cannot begin a session", "it names no thread");
        };
        self.stage = Stage::Open;
        self.begun |= self.setup.resume.take().is_some();
        if self.told_ready {
            return self.tell(RuntimeEvent::Session { session });
        }
        self.told_ready = true;
        self.tell(RuntimeEvent::Ready { session });
    }

    fn cleared(&mut self, answer: &Value) {
        self.job = None;
        let old = self.thread.clone();
        let Some(session) = self.take_thread(answer) else {
            return self.notice("the context was not cleared: codex names no thread".to_owned());
        };
        self.begun = false;
        self.tell(RuntimeEvent::Session { session });
        self.request(Sent::Aside, "thread/unsubscribe", &json!({"threadId": old}));
    }

    fn take_thread(&mut self, answer: &Value) -> Option<SessionId> {
        let thread = answer.pointer("/thread/id")?.as_str()?;
        thread.clone_into(&mut self.thread);
        if let Some(model) = answer.get("model").and_then(Value::as_str) {
            model.clone_into(&mut self.model);
        }
        self.set = answer["reasoningEffort"].as_str().and_then(effort::read);
        Some(SessionId(self.thread.clone()))
    }

    /// The program has begun a turn: ours, or an order's.
    pub(super) fn remote_started(&mut self, thread: &str, remote: String) {
        if thread != self.thread {
            return;
        }
        match (&mut self.job, &self.turn) {
            (Some(job), _) if job.order == Order::Compact => job.remote = Some(remote),
            (_, Some(turn)) if turn.step != Step::Waiting => {
                self.named(&remote);
                self.runs(&remote);
            }
            _ => {}
        }
    }

    /// The turn's id in the program is known.
    fn named(&mut self, remote: &str) {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.step == Step::Sent) else { return };
        turn.step = Step::Named;
        turn.remote = Some(remote.to_owned());
        self.send_added();
    }

    /// The turn has begun in the program.
    fn runs(&mut self, remote: &str) {
        let named =
            |turn: &&mut Turn| turn.step == Step::Named && turn.remote.as_deref() == Some(remote);
        let Some(turn) = self.turn.as_mut().filter(named) else { return };
        turn.step = Step::Running;
        if turn.asked {
            self.interrupt_remote(remote);
        }
    }

    /// A login was refused: it is looked for until the next prompt.
    pub(super) fn login_needed(&mut self) {
        if self.setup.credentials == Credentials::OfTheProgram {
            self.login = Login::Reported;
            self.out.push(Action::WatchLogin);
        }
    }

    pub(super) fn send_added(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        let Some(remote) = &turn.remote else { return };
        let mut requests = Vec::new();
        for added in turn.added.iter_mut().filter(|added| !added.sent) {
            added.sent = true;
            let params = json!({
                "threadId": self.thread,
                "expectedTurnId": remote,
                "clientUserMessageId": added.prompt.uuid,
                "input": encode::input(&added.prompt.text),
            });
            requests.push((Sent::Steer(added.prompt.uuid.clone()), params));
        }
        for (sent, params) in requests {
            self.request(sent, "turn/steer", &params);
        }
    }
}
