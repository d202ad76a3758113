//! How the agent asks: by the tool `ask`, and by `irc_ask` of its shell.
//!
//! The question, the messages to the agents that are asked, and the lines by which people hear of it
//! are one commit. Start at [`Asker::ask`].

use std::{collections::HashSet, sync::Arc, time::Duration};

use gangline_core::{
    AgentName, Epoch, MessageState, Origin, Principal, QuestionNumber, Redactor, SendKey, Target,
    Tier,
    act::ActKind,
    alert,
    approval::view::Extent,
    forged,
    hook::WebhookEvent,
    name::{ChannelName, fold},
    privacy::Said,
    question::{
        AnswerRule, Asked, Choose, Facts, OnTimeout,
        draft::Draft,
        text::{self, Announcement},
    },
    split,
    trust::OWNER,
};
use gangline_os::{
    change_notice,
    clock::{SharedClock, UnixMicros},
};
use gangline_store::{
    AskedBy, LineKind, MessageRow, NewAct, NewAlert, NewMessage, NewQuestion, QuestionPlaced,
    QuestionRow, Send as StoreSend, StoreError,
};
use tokio::sync::Notify;

use crate::{
    acts::waiting,
    alerts::Raised,
    place,
    speech::Doing,
    speech::{Speaker, TurnContext},
    whereabouts::Whereabouts,
};

/// What is to be asked.
#[derive(Debug, Clone)]
pub(crate) struct Asking {
    pub(crate) question: String,
    pub(crate) options: Vec<String>,
    pub(crate) choose: Choose,
    pub(crate) ttl_seconds: Option<u64>,
    pub(crate) asked: Asked,
    /// Whose answer counts, if the asker says so.
    pub(crate) rule: Option<AnswerRule>,
    pub(crate) on_timeout: OnTimeout,
    pub(crate) goes: Goes,
}

/// Where the answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goes {
    /// Into the inbox.
    ToInbox,
    /// To the call that asks, which is held open.
    ToCall,
}

/// Asks for the agent.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(crate) speaker: Speaker,
    pub(crate) whereabouts: Whereabouts,
    pub(crate) clock: SharedClock,
    /// The task that looks at the time has something new to look at.
    pub(crate) alarm: Arc<Notify>,
    /// Whether the server is the installation's own: it knows who an owner is.
    pub(crate) own: bool,
    /// The rooms that the agent is configured to be in.
    pub(crate) rooms: HashSet<ChannelName>,
    /// How much agents' answers may decide, if that is configured (R1-52).
    pub(crate) agent_answers: Option<AnswerRule>,
    /// The daemon's.
    pub(crate) epoch: Epoch,
    /// Told when an alert was raised.
    pub(crate) alerts: Raised,
}

/// A place in which a question is shown.
struct Place {
    target: Target,
    key: String,
    reader: Reader,
}

/// Who reads it there.
enum Reader {
    /// People, who can answer it there. For a private conversation: the place where the agent itself was
    /// asked, if that is another one.
    People(Option<String>),
    /// An agent, which gets the question as a row of its own: this is the visible copy (C15).
    Agent,
}

impl Asker {
    /// Returns the question that an attempt that died has asked by this call, if one has.
    pub(crate) async fn asked_before(
        &self,
        context: Option<&TurnContext>,
        asking: &Asking,
        request: &str,
    ) -> Result<Option<QuestionRow>, String> {
        let act = self.act(context, asking, request);
        let failed = |error: StoreError| format!("not asked: {error}");
        let Some(before) = self.speaker.done_before(act.as_ref()).await.map_err(failed)? else {
            return Ok(None);
        };
        self.speaker.store.question(QuestionNumber(before.number)).await.map_err(failed)
    }

    fn act(&self, context: Option<&TurnContext>, asking: &Asking, request: &str) -> Option<NewAct> {
        let asked = asking.asked.to_string();
        let ttl = asking.ttl_seconds.map(|ttl| ttl.to_string()).unwrap_or_default();
        let choose = if asking.choose == Choose::Several { "several" } else { "one" };
        let rule = asking.rule.map(|rule| rule.as_str()).unwrap_or_default();
        let on_timeout = asking.on_timeout.as_str();
        let mut arguments = vec![&*asked, &*asking.question, choose, rule, on_timeout, &*ttl];
        arguments.extend(asking.options.iter().map(String::as_str));
        let (kind, arguments) = (ActKind::Question, &*arguments);
        let doing = Doing { kind, arguments, request, in_reply_to: None };
        let act = self.speaker.act(context, doing)?;
        Some(match asking.goes {
            Goes::ToInbox => act,
            Goes::ToCall => waiting(act, self.epoch),
        })
    }

    /// Asks; returns the question's number once it is committed. The same request again is the same
    /// question. Dropped half-way it may have been asked.
    ///
    /// # Errors
    /// Says why it was not asked; for the model.
    pub(crate) async fn ask(
        &self,
        context: Option<&TurnContext>,
        asking: Asking,
        request: String,
    ) -> Result<QuestionNumber, String> {
        let act = self.act(context, &asking, &request);
        let me = &self.speaker.agent;
        let rule = asking.asked.rule(asking.rule, self.agent_answers);
        let draft = Draft {
            question: &asking.question,
            options: &asking.options,
            choose: asking.choose,
            ttl_seconds: asking.ttl_seconds,
            asked: &asking.asked,
            rule,
        };
        draft.check(me).map_err(|error| format!("not asked: {error}"))?;
        // A question is a prompt.
        let mut asked = asking.asked.agents().iter();
        if let Some(agent) = asked.find(|agent| self.speaker.owners_only.contains(agent)) {
            return Err(format!("not asked: only the owner of {agent} prompts it"));
        }
        let home = self.home(context).await?;
        let places = self.places((&asking.asked, rule), home.as_ref()).await?;
        let redact = |text: &str| self.speaker.redactor.redact(text);
        let reply_target = match (&home, &asking.asked) {
            (Some(home), _) => home.target.clone(),
            (None, Asked::Room(room)) => room.to_string(),
            (None, Asked::Operator | Asked::Person(_) | Asked::Agents(_)) => String::new(),
        };
        let new = NewQuestion {
            agent: me.clone(),
            turn: context.map(|context| context.turn),
            request,
            asked: asking.asked,
            rule,
            body: redact(&asking.question),
            options: asking.options.iter().map(|option| redact(option)).collect(),
            choose: asking.choose,
            on_timeout: asking.on_timeout,
            expires_at: asking.ttl_seconds.map(|ttl| after(self.clock.now(), ttl)),
            in_reply_to: home.map(|home| home.id),
            reply_target,
            waits: (asking.goes == Goes::ToCall).then_some(self.epoch),
        };
        let ttl = asking.ttl_seconds.map(Duration::from_secs);
        // A question to agents alerts no people, unless a call waits for its answer (R0-41).
        let only_agents = matches!(new.asked, Asked::Agents(_)) && !rule.is_for_people();
        let people = !only_agents || asking.goes == Goes::ToCall;
        let alert = people.then(|| self.alert(&new));
        let bring = self.bringing(&new, context, (places, ttl, alert));
        let asked = self.speaker.store.ask_once(new, act, bring).await;
        let asked = asked.map_err(|error| format!("not asked: {error}"))?;
        self.speaker.committed.send_modify(|count| *count += 1);
        self.speaker.outbox.notify_one();
        for agent in &asked.notify {
            change_notice::notify(&self.speaker.paths.change_notice(agent.as_str()));
        }
        self.alarm.notify_one();
        self.alerts.tell();
        Ok(asked.number)
    }

    /// Returns the alert of a question (R1-39), which repeats while the question is open. It leaves out the
    /// words of a private conversation, since others read alerts too.
    fn alert(&self, new: &NewQuestion) -> NewAlert {
        let Speaker { agent, redactor, .. } = &self.speaker;
        let question = match Said::of_question(&new.asked, &new.reply_target) {
            Said::InPrivate => place::IN_PRIVATE,
            Said::InARoom => new.body.as_str(),
        };
        let text = redactor.redact(&alert::text::question(agent, question));
        NewAlert::new(agent.clone(), WebhookEvent::AgentQuestion, text)
    }

    /// Reads whom a question is for.
    pub(crate) async fn asked(&self, to: &str) -> Result<Asked, String> {
        let mut agents = Vec::new();
        for name in to.split(',').map(|name| name.trim().trim_start_matches('@')) {
            let Ok(agent) = name.to_lowercase().parse::<AgentName>() else { continue };
            let row = self.speaker.store.agent(&agent).await;
            agents.extend(row.map_err(|error| error.to_string())?.map(|row| row.agent));
        }
        let is_agent =
            |name: &str| agents.iter().find(|agent| agent.folded() == name.to_lowercase()).cloned();
        Asked::parse(to, &is_agent).map_err(|error| format!("not asked: {error}"))
    }

    /// Returns the message that the turn is about: its answer goes where that was said, and so does
    /// what the agent says once its question is answered.
    pub(crate) async fn home(
        &self,
        context: Option<&TurnContext>,
    ) -> Result<Option<MessageRow>, String> {
        match context.and_then(|context| context.messages.first()) {
            Some(first) => {
                self.speaker.store.message(*first).await.map_err(|error| error.to_string())
            }
            None => Ok(None),
        }
    }

    /// Returns where the question is shown. Owners are also told in private, wherever the question is.
    async fn places(
        &self,
        (asked, rule): (&Asked, AnswerRule),
        home: Option<&MessageRow>,
    ) -> Result<Vec<Place>, String> {
        let reader = Reader::People(None);
        let only = |target: Target, key: String| vec![Place { target, key, reader }];
        Ok(match asked {
            Asked::Room(room) => {
                let target = Target::Channel(room.clone());
                self.whereabouts.must_be_in(&target).map_err(|nobody| {
                    format!("not asked: {nobody}; run `gangline channel join {room}` first")
                })?;
                only(target, room.folded().to_owned())
            }
            Asked::Person(nick) => {
                let target = Target::Nick(nick.clone());
                let there = self.whereabouts.must_be_somebody(&self.speaker, &target, None).await;
                there.map_err(|nobody| format!("not asked: {nobody}"))?;
                only(target, place::private(nick.as_str()))
            }
            Asked::Operator => self.owners_places(home).await,
            Asked::Agents(agents) => {
                // An owner decides, so the owners are told.
                let mut places = match rule.is_for_people() {
                    true => self.owners_places(home).await,
                    false => Vec::new(),
                };
                let copy = |agent: &AgentName| {
                    let key = place::private(agent.as_str());
                    let target = Target::Nick(agent.as_str().parse().ok()?);
                    Some(Place { target, key, reader: Reader::Agent })
                };
                places.extend(agents.iter().filter_map(copy));
                places
            }
        })
    }

    /// The room or conversation that the agent was asked in, and the owners' private one, unless one of
    /// them is in that room. Where nobody knows who an owner is, a room has to do.
    async fn owners_places(&self, home: Option<&MessageRow>) -> Vec<Place> {
        let mut places = Vec::new();
        let target = home.and_then(|home| home.target.parse::<Target>().ok());
        if let (Some(home), Some(target)) = (home, target) {
            let is_colleague = match &target {
                Target::Nick(nick) => self.speaker.is_colleague(nick).await,
                Target::Channel(_) => false,
            };
            if !is_colleague {
                let key = place::of_row(home);
                places.push(Place { target, key, reader: Reader::People(None) });
            }
        }
        let owners = place::private(OWNER);
        let is_told = match places.first().map(|it| (&it.key, &it.target)) {
            Some((key, _)) if *key == owners => true,
            Some((_, Target::Channel(room))) => {
                self.own && self.whereabouts.owner_is_in(room).await
            }
            Some((_, Target::Nick(_))) | None => false,
        };
        if self.own && !is_told {
            if let Ok(nick) = OWNER.parse() {
                let reader = Reader::People(Some(asked_in(home)));
                places.push(Place { target: Target::Nick(nick), key: owners, reader });
            }
        } else if !self.own && places.is_empty() {
            let room = self.rooms.iter().min_by_key(|it| it.folded());
            places.extend(room.map(|room| Place {
                target: Target::Channel(room.clone()),
                key: room.folded().to_owned(),
                reader: Reader::People(Some(asked_in(home))),
            }));
        }
        places
    }

    /// Returns what makes the rows and lines of a question, once it has its number.
    fn bringing(
        &self,
        new: &NewQuestion,
        context: Option<&TurnContext>,
        (places, expires_in, alert): (Vec<Place>, Option<Duration>, Option<NewAlert>),
    ) -> impl FnOnce(QuestionNumber) -> AskedBy + Send + 'static {
        let (speaker, new, context) = (self.speaker.clone(), new.clone(), context.cloned());
        move |number| {
            let options: Vec<String> = new.options.iter().map(ToString::to_string).collect();
            let told = Announcement {
                question: Facts { number, asker: &new.agent, asked: &new.asked, rule: new.rule },
                body: new.body.as_str(),
                choices: (&options, new.choose),
                to: "",
                asked_in: None,
                expires_in,
            };
            let deliver = |agent: &AgentName| message_to(agent, told, (&speaker, context.as_ref()));
            let announce = |(at, place): (usize, &Place)| {
                announced(told, (at, place), (&speaker, context.as_ref()))
            };
            AskedBy {
                deliver: new.asked.agents().iter().map(deliver).collect(),
                announce: places.iter().enumerate().map(announce).collect(),
                alert: alert.map(|alert| reply_to(alert, (number, &new), &speaker.redactor)),
            }
        }
    }
}

/// Returns the alert of a question with its number, and in the channel how it is answered.
fn reply_to(
    alert: NewAlert,
    (number, new): (QuestionNumber, &NewQuestion),
    redactor: &Redactor,
) -> NewAlert {
    // An answer to a private question belongs there too.
    let to = match Said::of_question(&new.asked, &new.reply_target) {
        Said::InPrivate => format!("/msg {}", alert.agent),
        Said::InARoom => format!("@{}", alert.agent),
    };
    let text = format!("{} Reply `{to} answer {number} …`.", alert.text);
    NewAlert { room_text: Some(redactor.redact(&text)), ..alert.about(number.0) }
}

/// Returns the message by which an agent is asked.
fn message_to(
    agent: &AgentName,
    told: Announcement<'_>,
    (speaker, context): (&Speaker, Option<&TurnContext>),
) -> NewMessage {
    let (number, asker) = (told.question.number, told.question.asker);
    let text = text::asked(told.question, told.body, told.choices);
    let hops = context.map_or(0, |context| context.hops) + 1;
    let too_far = hops > speaker.max_hops;
    let root = context
        .and_then(|context| context.cause_root.or_else(|| context.messages.first().copied()));
    NewMessage {
        agent: agent.clone(),
        network_id: "local".to_owned(),
        intake_key: Some(format!("question/{number}/asks")),
        origin: Origin::Agent,
        principal: myself(asker),
        sender: asker.to_string(),
        target: asker.to_string(),
        body: speaker.redactor.redact(&text),
        in_reply_to: None,
        cause_root: root,
        hops,
        state: if too_far { MessageState::Held } else { MessageState::Accepted },
        cursor: None,
        not_before: None,
        msgid: None,
    }
}

/// Returns the lines that show a question in the `at`-th place.
fn announced(
    told: Announcement<'_>,
    (at, place): (usize, &Place),
    (speaker, context): (&Speaker, Option<&TurnContext>),
) -> QuestionPlaced {
    let (number, agent) = (told.question.number, told.question.asker);
    let to = format!("@{agent} ");
    let (lines, cut) = match (&place.target, &place.reader) {
        (_, Reader::Agent) => (told.copy(), false),
        (Target::Channel(_), Reader::People(_)) => {
            let told = Announcement { to: &to, ..told };
            (told.in_room(), told.is_cut())
        }
        (Target::Nick(_), Reader::People(asked_in)) => {
            (Announcement { asked_in: asked_in.as_deref(), ..told }.whole(), false)
        }
    };
    let lines = speaker.redactor.redact(&lines.join("\n"));
    let split =
        split::redacted_lines(&lines, |left| format!("… (+{left} lines: `answer {number}`)"));
    let cut = cut || split.cut != split::Cut::Whole;
    let lines = split.lines.into_iter().map(forged::continued).collect();
    // A copy does not count as an answer to what its reader asked in this turn.
    let (turn, kind) = match place.reader {
        Reader::People(_) => (context.map(|context| context.turn), LineKind::Privmsg),
        Reader::Agent => (None, LineKind::Notice),
    };
    let call = if at == 0 { format!("ask-{number}") } else { format!("ask-{number}-{at}") };
    let idem_key = match (at, kind) {
        // Keyed like a tool's line: the next attempt is shown it.
        (0, LineKind::Privmsg) => SendKey::of_call(turn, &call),
        (_, LineKind::Privmsg | LineKind::Notice) => {
            format!("qa-{}-{call}", fold(agent.as_str())).into()
        }
    };
    QuestionPlaced {
        place: place.key.clone(),
        extent: if cut { Extent::Cut } else { Extent::Whole },
        send: StoreSend {
            agent: agent.clone(),
            turn,
            idem_key,
            target: place.target.to_string(),
            lines,
            kind,
            in_reply_to: None,
            deliver: None,
        },
        question: None,
    }
}

/// Says where the agent was asked itself.
fn asked_in(home: Option<&MessageRow>) -> String {
    match home {
        Some(home) if home.target.starts_with('#') => format!("in {}", home.target),
        Some(home) if !home.target.is_empty() => format!("for {}", home.sender),
        Some(home) => match home.origin {
            Origin::Cli => "at the command line".to_owned(),
            origin @ (Origin::Mention
            | Origin::Direct
            | Origin::Http
            | Origin::Agent
            | Origin::Answer
            | Origin::Reminder
            | Origin::Wake
            | Origin::System) => format!("by {origin}"),
        },
        None => "outside of a turn".to_owned(),
    }
}

/// Returns the agent as a principal.
pub(crate) fn myself(agent: &AgentName) -> Principal {
    Principal { account: agent.to_string(), tier: Tier::Agent }
}

fn after(now: UnixMicros, seconds: u64) -> UnixMicros {
    let wait = Duration::from_secs(seconds);
    UnixMicros(now.0.saturating_add(i64::try_from(wait.as_micros()).unwrap_or(i64::MAX)))
}
