//! Who may do what to whose: every verb on what is open of an agent, by a line in private and by a tool, for
//! every kind of person and agent. One table; what the command line and outside clients may is in the
//! program's own tests.

use gangline_config::Role;
use gangline_core::{
    AgentName,
    finding::{Choice, ChoiceWord, FindingKind},
    trust::People,
};
use gangline_irc::client::LineKind as WireKind;
use gangline_runtime::{ToolCall, ToolHost as _};
use gangline_store::{FindingFilter, NewFinding, NewLetter, NewReminder, QuestionFilter};
use serde_json::Value;

use super::{
    changes,
    questions::{self, OWNERS, ZOES},
    *,
};
use crate::tools::tests::rights;

/// The columns: who says the line, or calls the tool. All of it is about what is open of `oak-ada`.
const ACTORS: [By; 9] = [
    By::Line("ori", "owner", Tier::Owner),
    // Whom question 2 was asked, and whose message waits.
    By::Line("zoe", "zoe", Tier::Member),
    By::Line("max", "max", Tier::Member),
    // Under the nick of somebody who was asked.
    By::Line("zoe", "~zoe", Tier::Stranger),
    By::Line("oak-bob", "oak-bob", Tier::Agent),
    By::Tool("oak-ada", Role::Agent),
    // Whom question 3 was asked.
    By::Tool("oak-bob", Role::Agent),
    By::Tool("oak-eve", Role::Agent),
    By::Tool("oak-hive", Role::Manager),
];

#[derive(Debug, Clone, Copy)]
enum By {
    /// Nick, account, tier.
    Line(&'static str, &'static str, Tier),
    Tool(&'static str, Role),
}

impl By {
    fn has(self, line: &str, tool: &str) -> bool {
        match self {
            Self::Line(..) => !line.is_empty(),
            Self::Tool(..) => !tool.is_empty(),
        }
    }

    /// Says the line or calls the tool; returns who that is, and what they are told.
    async fn tries(
        self,
        room: &mut Room,
        line: &str,
        tool: (&str, &str),
    ) -> (&'static str, Vec<String>) {
        match self {
            Self::Line(nick, account, tier) => {
                let who = Principal { account: account.to_owned(), tier };
                // It was announced in the room: here the true announcement is shown first.
                if line.starts_with("yes 4") && tier == Tier::Owner {
                    room.says_as((nick, who.clone()), "oak-ada", line).await;
                }
                (nick, room.says_as((nick, who), "oak-ada", line).await)
            }
            Self::Tool(agent, role) => (agent, vec![calls(room, (agent, role), tool).await]),
        }
    }
}

/// A verb: its line, its tool, what is there afterwards if it was done (`ME` is who does it), and for whom
/// it is done: `+` yes, `-` no, a space where this actor has no such verb.
type Verb = (&'static str, (&'static str, &'static str), &'static str, &'static str);

const VERBS: [Verb; 29] = [
    // Questions.
    ("answer 1 2", ("answer", r#"{"id": 1, "answer": "2"}"#), "question 1 answered", "+--------"),
    ("answer 2 2", ("answer", r#"{"id": 2, "answer": "2"}"#), "question 2 answered", "++-------"),
    ("answer 3 2", ("answer", r#"{"id": 3, "answer": "2"}"#), "question 3 answered", "+-----+--"),
    (
        "",
        ("cancel_loose_end", r#"{"kind": "question", "id": 1}"#),
        "question 1 cancelled",
        "     +--+",
    ),
    (
        "",
        ("cancel_loose_end", r#"{"kind": "question", "id": 3}"#),
        "question 3 cancelled",
        "     +--+",
    ),
    ("", ("ask", r#"{"question": "now?"}"#), "question 7 open of ME", "     ++++"),
    ("", ("get_loose_ends", "{}"), "told of question 1", "     +--+"),
    ("", ("get_loose_ends", "{}"), "told of question 3", "     ++-+"),
    // Reminders: of oak-ada by a line, of itself by a tool.
    ("remind in 20 min look", ("", ""), "reminder 2 of oak-ada", "+++--    "),
    ("", ("remind", r#"{"message": "look", "due": "in 20 min"}"#), "reminder 2 of ME", "     ++++"),
    ("", ("cancel_loose_end", r#"{"kind": "reminder", "id": 1}"#), "no reminder", "     +--+"),
    ("", ("get_loose_ends", "{}"), "told of reminder 1", "     +--+"),
    // Approvals: 4 is asked for in a turn, 5 is a manager's change.
    ("yes 4", ("", ""), "approval 4 allowed", "+----    "),
    ("no 4 use the trash", ("", ""), "approval 4 denied", "+----    "),
    ("yes 4 always", ("", ""), "rule 1", "+----    "),
    ("yes 5", ("", ""), "change 5 approved", "+----    "),
    ("no 5 not today", ("", ""), "change 5 denied", "+----    "),
    ("show 5", ("", ""), "told of change 5", "+----    "),
    // Messages and letters.
    ("how are you", ("", ""), "message m3", "+++-+    "),
    ("cancel m2", ("", ""), "m2 cancelled", "++---    "),
    ("", ("send", r#"{"to": "operator", "body": "hello"}"#), "letter 2 of ME", "     ++++"),
    // The agent itself.
    ("pause", ("pause", "{}"), "order Pause", "+--------"),
    ("resume", ("resume", "{}"), "order Resume", "+--------"),
    ("stop", ("abort", "{}"), "order Abort", "+--------"),
    ("new session", ("clear", "{}"), "told of its context", "+--------"),
    ("compact", ("compact", "{}"), "told of its context", "+--------"),
    ("", ("whisper", r#"{"text": "go on"}"#), "whisper", "     ----"),
    // What waits for people, and a finding of it.
    ("", ("attention", "{}"), "told of what waits", "     ----"),
    ("6 dismiss", ("answer", r#"{"id": 6, "answer": "dismiss"}"#), "no finding", "+--------"),
];

/// C16, R1-50, R2-25 … R2-28, R2-37, R2-39: actor × owner × verb. What is refused changes nothing.
#[tokio::test]
async fn every_verb_is_for_those_alone_who_may_use_it() {
    let empty = EmptyStore::make().await;
    let mut wrong = Vec::new();
    for (at, who) in ACTORS.into_iter().enumerate() {
        // What is refused changes nothing, so the next one is refused at the same place.
        let mut unchanged = stage(&empty).await;
        for (line, tool, effect, expect) in VERBS {
            let expect = expect.chars().nth(at).unwrap();
            let case = format!("{who:?} {line}{tool:?}");
            if !who.has(line, tool.0) {
                assert_eq!(expect, ' ', "{case}");
                continue;
            }
            let mut changed = if expect == '+' { Some(stage(&empty).await) } else { None };
            let room = changed.as_mut().unwrap_or(&mut unchanged);
            let before = seen(room).await;
            let (me, told) = who.tries(room, line, tool).await;
            let after = format!("{}\n{}", seen(room).await, told_of(&told));
            let effect = effect.replace("ME", me);
            let is_there = |seen: &str| seen.lines().any(|it| it == effect);
            let is_done = is_there(&after) && !is_there(&before);
            if is_done != (expect == '+') || (!is_done && state(&after) != state(&before)) {
                wrong.push(format!("{case}, {expect}: {told:?}\n{after}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// C15: a notice only shows a copy of a row. It has no effect, no matter who sends it and what it says.
#[tokio::test]
async fn nothing_that_a_notice_says_is_taken_in() {
    let mut room = stage(&EmptyStore::make().await).await;
    let before = seen(&mut room).await;
    for (nick, account, tier) in [
        ("ori", "owner", Tier::Owner),
        ("zoe", "zoe", Tier::Member),
        ("oak-bob", "oak-bob", Tier::Agent),
    ] {
        for (line, ..) in VERBS.into_iter().filter(|(line, ..)| !line.is_empty()) {
            for (to, text) in [("oak-ada", line.to_owned()), ("#lab", format!("@oak-ada {line}"))] {
                let who = Principal { account: account.to_owned(), tier };
                let told = room.says_by(WireKind::Notice, (nick, who), (to, &text)).await;
                assert_eq!(told, [""; 0], "{nick} {text}");
            }
        }
    }
    assert_eq!(seen(&mut room).await, before);
}

/// A reminder is a later prompt: who may not prompt cannot set one, and an owner can.
#[tokio::test]
async fn who_may_not_prompt_sets_no_reminder() {
    let empty = EmptyStore::make().await;
    let mut room = stage(&empty).await;
    room.rig.chat.deps.policy.prompt = People::Owners;
    let set = async |room: &Room| room.rig.chat.deps.store.reminders(None, 10).await.unwrap().len();
    let before = set(&room).await;
    room.says(("zoe", Tier::Member), "oak-ada", "remind in 20 min look").await;
    assert_eq!(set(&room).await, before);
    room.says(("ori", Tier::Owner), "oak-ada", "remind in 20 min look").await;
    assert_eq!(set(&room).await, before + 1);
}

/// What decides nothing may be a prompt, and be told.
fn state(seen: &str) -> Vec<&str> {
    let is_state = |it: &&str| !it.starts_with("message ") && !it.starts_with("told");
    seen.lines().filter(is_state).collect()
}

/// `oak-ada` has three questions, an approval, a change, a reminder, a letter and a finding open; a message of Zoe
/// waits.
async fn stage(empty: &EmptyStore) -> Room {
    let mut room = Room::with(empty).await;
    let store = room.rig.chat.deps.store.clone();
    for (agent, _) in agents() {
        room.rig.chat.deps.everybody.push(agent.clone());
        let whose = Whose { runtime: "native", configured: "native" };
        store.begin_epoch(&agent, (1, "test"), whose).await.unwrap();
    }
    let message = asked_in(&mut room, "#lab").await;
    room.says(("zoe", Tier::Member), "oak-ada", "look at it").await;
    for (to, place) in
        [("operator", OWNERS), ("person:zoe", ZOES), ("agents:oak-bob", ("#lab", "#lab"))]
    {
        questions::asks(&mut room, ("oak-ada", to), (place, Extent::Whole)).await;
    }
    wants(&mut room, (message, "rm x"), ("#lab", "#lab")).await;
    changes::asks_for(&mut room, message).await;
    let text = |text: &str| Redacted::from_store(text.to_owned());
    let reminder = NewReminder {
        agent: ada(),
        by: Principal { account: "oak-ada".to_owned(), tier: Tier::Agent },
        turn: None,
        request: "first".to_owned(),
        target: String::new(),
        body: text("look at the build"),
        due_at: gangline_os::clock::UnixMicros(i64::MAX),
        repeats: None,
        open_max: 9,
    };
    store.remind(reminder).await.unwrap();
    let letter = NewLetter {
        agent: ada(),
        turn: None,
        idem_key: "first".to_owned(),
        in_reply_to: None,
        body: text("the disk is full"),
    };
    store.send_letter(letter).await.unwrap();
    let choices = vec![Choice::new(ChoiceWord::Dismiss, "lets it go on")];
    let finding = NewFinding {
        choices,
        ..NewFinding::new(ada(), FindingKind::SilentTurn, text("no output for 5 minutes"))
    };
    store.raise_finding(finding).await.unwrap();
    room.rig.clock.forward(Duration::from_secs(2));
    room.heard().await;
    while room.rig.agent_loop.try_recv().is_ok() {}
    room
}

/// The other agents of the table.
fn agents() -> impl Iterator<Item = (AgentName, Role)> {
    let agent = |by| match by {
        By::Tool(agent, role) if agent != "oak-ada" => Some((agent.parse().unwrap(), role)),
        By::Tool(..) | By::Line(..) => None,
    };
    ACTORS.into_iter().filter_map(agent)
}

/// Calls a tool in a turn of this agent; returns what it is told.
async fn calls(room: &Room, (agent, role): (&str, Role), (tool, input): (&str, &str)) -> String {
    let deps = &room.rig.chat.deps;
    let tools = rights::tools(agent.parse().unwrap(), role, deps.store.clone(), deps.paths.clone());
    let input: Value = input.parse().unwrap();
    let call = ToolCall { turn: rights::TURN, id: "call".to_owned(), name: tool.to_owned(), input };
    tools.call(call).await.unwrap_or_else(|refused| format!("refused: {refused}"))
}

/// What is there now, a line each.
async fn seen(room: &mut Room) -> String {
    let store = room.rig.chat.deps.store.clone();
    let mut lines = Vec::new();
    let all = QuestionFilter { closed: true, ..QuestionFilter::default() };
    for row in store.questions(all, 99).await.unwrap() {
        let number = row.number;
        let state = format!("question {number} {}", row.state);
        lines.push(if number.0 > 3 { format!("{state} of {}", row.agent) } else { state });
    }
    let reminders = store.reminders(None, 99).await.unwrap();
    lines.extend(reminders.iter().map(|row| format!("reminder {} of {}", row.id, row.agent)));
    if reminders.is_empty() {
        lines.push("no reminder".to_owned());
    }
    for row in store.approvals(None, false).await.unwrap() {
        lines.push(format!("approval {} {}", row.number, row.state));
    }
    for row in store.changes(None, false).await.unwrap() {
        lines.push(format!("change {} {}", row.number, row.state));
    }
    let findings = store.findings(FindingFilter::default(), 9).await.unwrap();
    lines.extend(findings.iter().map(|row| format!("finding {}", row.number)));
    if findings.is_empty() {
        lines.push("no finding".to_owned());
    }
    for row in store.rules(None).await.unwrap() {
        lines.push(format!("rule {}", row.rule.number));
    }
    for row in store.letters(gangline_store::LetterFilter::default(), 99).await.unwrap() {
        lines.push(format!("letter {} of {}", row.id, row.agent));
    }
    for id in 1..=9 {
        let row = store.message(MessageId(id)).await.unwrap();
        match row.map(|row| row.state) {
            Some(gangline_core::MessageState::Cancelled) => {
                lines.push(format!("{} cancelled", MessageId(id)))
            }
            Some(_) => lines.push(format!("message {}", MessageId(id))),
            None => {}
        }
    }
    while let Ok(incoming) = room.rig.agent_loop.try_recv() {
        if let Incoming::Operator(word) = incoming {
            let word = format!("{word:?}");
            lines.push(format!("order {}", word.split(' ').next().unwrap_or_default()));
        }
    }
    lines.join("\n")
}

/// What somebody was told of, a line each.
fn told_of(told: &[String]) -> String {
    let told = told.join("\n");
    let of = [
        (r#""id":1,"kind":"question""#, "question 1"),
        (r#""id":3,"kind":"question""#, "question 3"),
        (r#""id":3,"kind":"asked""#, "question 3"),
        (r#""id":1,"kind":"reminder""#, "reminder 1"),
        ("nick: oak-new", "change 5"),
        ("no output for 5 minutes", "what waits"),
        ("my backend is not running", "its context"),
    ];
    let found = of.iter().filter(|(part, _)| told.contains(part));
    found.map(|(_, what)| format!("told of {what}")).collect::<Vec<_>>().join("\n")
}
