//! The tools `ask` and `answer` (R2-21 … R2-25, R1-51, R1-52).

use std::time::Duration;

use gangline_core::{
    AgentName, MessageId, MessageState, Origin, Principal, QuestionNumber, SendKey, Target, Tier,
    question::{
        self, AnswerRule, Asked, Choose, Facts, OnTimeout, QuestionState, Where,
        draft::{AskError, Draft},
        may_answer, text,
    },
    split,
    trust::Policy,
};
use gangline_os::{change_notice, clock::UnixMicros};
use gangline_runtime::ToolCall;
use gangline_store::{
    AskedBy, LineKind, NewAnswer, NewMessage, NewQuestion, QuestionPlaced, QuestionRow,
    Send as StoreSend,
};
use serde_json::{Value, json};

use super::{AgentTools, fields};
use crate::{
    bus::{Incoming, taken},
    speech::TurnContext,
};

/// What a call of `ask` says.
struct Asking {
    question: String,
    options: Vec<String>,
    choose: Choose,
    ttl_seconds: Option<u64>,
    asked: Asked,
    rule: AnswerRule,
    on_timeout: OnTimeout,
}

impl AgentTools {
    pub(super) async fn ask(
        &self,
        context: Option<&TurnContext>,
        call: &ToolCall,
    ) -> Result<String, String> {
        let asking = self.asking(&call.input).await?;
        let me = &self.speaker.agent;
        let draft = Draft {
            question: &asking.question,
            options: &asking.options,
            choose: asking.choose,
            ttl_seconds: asking.ttl_seconds,
            asked: &asking.asked,
            rule: asking.rule,
        };
        draft.check(me).map_err(|error| format!("not asked: {error}"))?;
        let home = self.home(context).await?;
        let announced = self.announced_in(&asking.asked, &home).await?;
        let redact = |text: &str| self.speaker.redactor.redact(text);
        let new = NewQuestion {
            agent: me.clone(),
            turn: context.map(|context| context.turn),
            request: request(context, call),
            asked: asking.asked.clone(),
            rule: asking.rule,
            body: redact(&asking.question),
            options: asking.options.iter().map(|option| redact(option)).collect(),
            choose: asking.choose,
            on_timeout: asking.on_timeout,
            expires_at: asking.ttl_seconds.map(|ttl| after(self.clock.now(), ttl)),
            in_reply_to: context.and_then(|context| context.messages.first().copied()),
            reply_target: home,
        };
        let bring = self.bringing(&new, context, announced);
        let to = text::recipient(&asking.asked);
        let asked = self.speaker.store.ask(new, bring).await;
        let asked = asked.map_err(|error| format!("not asked: {error}"))?;
        self.speaker.committed.send_modify(|count| *count += 1);
        self.speaker.outbox.notify_one();
        for agent in &asked.notify {
            change_notice::notify(&self.speaker.paths.change_notice(agent.as_str()));
        }
        self.alarm.notify_one();
        Ok(json!({"id": asked.number, "to": to}).to_string())
    }

    async fn asking(&self, input: &Value) -> Result<Asking, String> {
        let asked = self.asked(fields::maybe_text(input, "to")?.unwrap_or_default()).await?;
        let rule = fields::word(input, "rule")?.unwrap_or_else(|| asked.usual_rule());
        let on_timeout = match fields::word(input, "on_timeout")? {
            // The seed's own name for it (R1-53).
            None => fields::word(input, "timeout_action")?,
            some => some,
        };
        Ok(Asking {
            question: fields::text(input, "question")?.to_owned(),
            options: fields::texts(input, "options")?,
            choose: if fields::flag(input, "multi")? { Choose::Several } else { Choose::One },
            ttl_seconds: fields::number(input, "ttl_seconds", 1..=question::TTL_MAX)?,
            asked,
            rule,
            on_timeout: on_timeout.unwrap_or(OnTimeout::None),
        })
    }

    /// Reads whom a question is for.
    async fn asked(&self, to: &str) -> Result<Asked, String> {
        let mut agents = Vec::new();
        for name in to.split(',').map(|name| name.trim().trim_start_matches('@')) {
            let Ok(agent) = name.to_lowercase().parse::<AgentName>() else { continue };
            let row = self.speaker.store.agent(&agent).await;
            agents.extend(row.map_err(|error| error.to_string())?.map(|row| row.agent));
        }
        let is_agent =
            |name: &str| agents.iter().find(|agent| agent.folded() == name.to_lowercase()).cloned();
        Asked::parse(to, &is_agent).map_err(|error: AskError| format!("not asked: {error}"))
    }

    /// Returns where the turn's conversation is: its answer goes there, and so does what the agent
    /// says once its question is answered.
    pub(super) async fn home(&self, context: Option<&TurnContext>) -> Result<String, String> {
        let first = context.and_then(|context| context.messages.first());
        let Some(first) = first else { return Ok(String::new()) };
        let row = self.speaker.store.message(*first).await.map_err(|error| error.to_string())?;
        Ok(row.map(|row| row.target).unwrap_or_default())
    }

    /// Returns where people are asked: where the question is for, or where the agent was asked itself.
    async fn announced_in(&self, asked: &Asked, home: &str) -> Result<Option<Target>, String> {
        Ok(match asked {
            Asked::Room(room) => {
                let room = Target::Channel(room.clone());
                self.whereabouts.must_be_in(&room).map_err(|nobody| {
                    format!("not asked: {nobody}; run `gangline channel join {room}` first")
                })?;
                Some(room)
            }
            Asked::Person(nick) => {
                let person = Target::Nick(nick.clone());
                let there = self.whereabouts.must_be_somebody(&self.speaker, &person, None).await;
                there.map_err(|nobody| format!("not asked: {nobody}"))?;
                Some(person)
            }
            Asked::Operator => match home.parse() {
                Ok(Target::Nick(nick)) if self.speaker.is_colleague(&nick).await => None,
                Ok(home) => Some(home),
                Err(_) => None,
            },
            Asked::Agents(_) => None,
        })
    }

    /// Returns what makes the rows and lines of a question, once it has its number.
    fn bringing(
        &self,
        new: &NewQuestion,
        context: Option<&TurnContext>,
        announced: Option<Target>,
    ) -> impl FnOnce(QuestionNumber) -> AskedBy + Send + 'static {
        let (speaker, new, context) = (self.speaker.clone(), new.clone(), context.cloned());
        move |number| {
            let facts = Facts { number, asker: &new.agent, asked: &new.asked, rule: new.rule };
            let options: Vec<String> = new.options.iter().map(ToString::to_string).collect();
            let choices = (options.as_slice(), new.choose);
            let body = new.body.as_str();
            let deliver = |agent: &AgentName| {
                let text = text::asked(facts, body, choices);
                let context = context.as_ref();
                let hops = context.map_or(0, |context| context.hops) + 1;
                let too_far = hops > speaker.max_hops;
                let root = context.and_then(|it| it.cause_root.or(it.messages.first().copied()));
                NewMessage {
                    agent: agent.clone(),
                    network_id: "local".to_owned(),
                    intake_key: Some(format!("question/{number}/asks")),
                    origin: Origin::Agent,
                    principal: myself(&new.agent),
                    sender: new.agent.to_string(),
                    target: new.agent.to_string(),
                    body: speaker.redactor.redact(&text),
                    in_reply_to: None,
                    cause_root: root,
                    hops,
                    state: if too_far { MessageState::Held } else { MessageState::Accepted },
                    cursor: None,
                    not_before: None,
                    msgid: None,
                }
            };
            let announce = announced.map(|target| {
                let to = match &target {
                    Target::Channel(_) => format!("@{} ", new.agent),
                    Target::Nick(_) => String::new(),
                };
                let lines = text::announce(facts, body, choices, &to).join("\n");
                let lines = speaker.redactor.redact(&lines);
                let turn = context.as_ref().map(|context| context.turn);
                let split = split::redacted_lines(&lines, |left| format!("… (+{left} lines)"));
                QuestionPlaced {
                    place: target.folded().to_owned(),
                    send: StoreSend {
                        agent: new.agent.clone(),
                        turn,
                        // As a tool's line, so that the next attempt is told of it.
                        idem_key: SendKey::of_call(turn, &format!("ask-{number}")),
                        target: target.to_string(),
                        lines: split.lines,
                        kind: LineKind::Privmsg,
                        in_reply_to: None,
                        deliver: None,
                    },
                    question: None,
                }
            });
            AskedBy {
                deliver: new.asked.agents().iter().map(deliver).collect(),
                announce: announce.into_iter().collect(),
            }
        }
    }

    pub(super) async fn answer(
        &self,
        context: Option<&TurnContext>,
        call: &ToolCall,
    ) -> Result<String, String> {
        let number = fields::number(&call.input, "id", 1..=u64::from(u32::MAX))?;
        let number = number.ok_or("`id` is missing")?;
        let number = QuestionNumber(i64::try_from(number).unwrap_or(i64::MAX));
        let said = fields::text(&call.input, "answer")?;
        let store = &self.speaker.store;
        let row = store.question(number).await.map_err(|error| error.to_string())?;
        let row = row.ok_or_else(|| format!("there is no question {number}"))?;
        let me = myself(&self.speaker.agent);
        let facts = Facts { number, asker: &row.agent, asked: &row.asked, rule: row.rule };
        let standing = may_answer(facts, &me, Where::Direct, &Policy::default());
        let standing = standing.map_err(|error| error.to_string())?;
        let answer = question::resolve(&row.options, row.choose, said);
        let answer = answer.map_err(|error| error.to_string())?;
        let new = NewAnswer {
            known_as: me.account.clone(),
            by: me,
            standing,
            text: self.speaker.redactor.redact(&answer),
        };
        let closed = store.answer_question(number, new).await;
        let closed = closed.map_err(|error| error.to_string())?;
        self.speaker.committed.send_modify(|count| *count += 1);
        if let Some(context) = context {
            self.answered_in(context, &row).await?;
        }
        if closed.message.is_some() {
            change_notice::notify(&self.speaker.paths.change_notice(row.agent.as_str()));
        }
        let state = closed.row.state;
        let counted = if state == QuestionState::Open { "counted" } else { state.as_str() };
        Ok(json!({"id": number, "state": counted, "answer": answer}).to_string())
    }

    /// The message that asked has its answer: nothing more is said to it.
    async fn answered_in(&self, context: &TurnContext, row: &QuestionRow) -> Result<(), String> {
        let mut asked: Option<MessageId> = None;
        for message in &context.messages {
            let of = self.speaker.store.question_of(*message).await;
            let of = of.map_err(|error| error.to_string())?;
            if of.is_some_and(|of| of.number == row.number) {
                asked = Some(*message);
            }
        }
        if asked.is_some() {
            let (turn, to) = (context.turn, row.agent.to_string());
            let sent = |heard| Incoming::Sent { turn, to, in_reply_to: asked, heard };
            taken(&self.speaker.agent_loop, sent).await.map_err(|ending| ending.to_string())?;
        }
        Ok(())
    }
}

/// Returns what makes a repeated call the same question or reminder.
pub(super) fn request(context: Option<&TurnContext>, call: &ToolCall) -> String {
    match context {
        Some(context) => format!("{}/{}", context.turn, call.id),
        None => format!("outside/{}", call.id),
    }
}

/// Returns the agent as a principal.
pub(super) fn myself(agent: &AgentName) -> Principal {
    Principal { account: agent.to_string(), tier: Tier::Agent }
}

fn after(now: UnixMicros, seconds: u64) -> UnixMicros {
    let wait = Duration::from_secs(seconds);
    UnixMicros(now.0.saturating_add(i64::try_from(wait.as_micros()).unwrap_or(i64::MAX)))
}
