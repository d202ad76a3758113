//! What of whose a person's client may take, answer and withdraw: only what the agent that it was made
//! for has sent to the operator. A real store.

use gangline_core::{
    Principal, Redacted, Tier,
    question::{AnswerRule, OnTimeout, QuestionState},
};
use gangline_runtime::toolserver::OUTSIDE;
use gangline_store::{
    AskedBy, LetterState, NewLetter, NewQuestion, NewReminder, OpenOptions, Whose,
};
use tempfile::TempDir;

use super::*;

fn text(text: &str) -> Redacted {
    Redacted::from_store(text.to_owned())
}

struct Rig {
    paths: Paths,
    store: Store,
    inbox: Inbox,
    reader: Reader,
    calls: u32,
    _folder: TempDir,
}

impl Rig {
    /// Questions 1 … 3 of Ada to the operator, to Zoe and to Bob, and 4 of Bob to the operator; of each a
    /// letter and a reminder: Ada's are the first. A message waits for Ada.
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().to_owned();
        let paths = Paths { config_file: at.join("agents.yaml"), state: at.clone(), runtime: at };
        let options = OpenOptions { path: paths.database(), clock: clock::system() };
        let store = Store::open(options).await.unwrap();
        let [ada, bob]: [AgentName; 2] = ["oak-ada", "oak-bob"].map(|it| it.parse().unwrap());
        for agent in [&ada, &bob] {
            let whose = Whose { runtime: "native", configured: "native" };
            store.begin_epoch(agent, (1, "test"), whose).await.unwrap();
        }
        for (at, (agent, to)) in
            [(&ada, "operator"), (&ada, "person:zoe"), (&ada, "agents:oak-bob"), (&bob, "operator")]
                .into_iter()
                .enumerate()
        {
            store.ask(question(agent, (at, to)), |_| AskedBy::default()).await.unwrap();
        }
        for agent in [&ada, &bob] {
            let letter = NewLetter {
                agent: agent.clone(),
                turn: None,
                idem_key: "letter".to_owned(),
                in_reply_to: None,
                body: text(&format!("a letter of {agent}")),
            };
            store.send_letter(letter).await.unwrap();
            store.remind(reminder(agent, "")).await.unwrap();
        }
        let letter = store.letter(1).await.unwrap().unwrap();
        store.accept(owner::answer_to(&letter, ("ori", "hello"))).await.unwrap();
        let (inbox, reader) = (Inbox::default(), Reader::Owner);
        Self { paths, store, inbox, reader, calls: 0, _folder: folder }
    }

    async fn calls(&mut self, tool: Tool, input: Value) -> Result<String, String> {
        self.calls += 1;
        let agent: AgentName = "oak-ada".parse().unwrap();
        let (paths, store, reader) = (&self.paths, &self.store, self.reader);
        let site = Site { paths, store, agent: &agent, reader };
        let (id, name) = (self.calls.to_string(), tool.name().to_owned());
        let call = ToolCall { turn: OUTSIDE, id, name, input };
        self.inbox.call(site, (tool, &call), &CancellationToken::new()).await.unwrap()
    }

    /// The open questions, the letters that nobody has settled, and the reminders that wait.
    async fn open_ones(&self) -> String {
        let store = &self.store;
        let mut open = Vec::new();
        for number in 1..=4 {
            let row = store.question(QuestionNumber(number)).await.unwrap().unwrap();
            if row.state == QuestionState::Open {
                open.push(format!("q{number}"));
            }
        }
        let letters = store.letters(LetterFilter::default(), 9).await.unwrap();
        open.extend(letters.iter().map(|row| format!("l{}", row.id)));
        let reminders = store.reminders(None, 9).await.unwrap();
        open.extend(reminders.iter().map(|row| format!("r{}", row.id)));
        open.join(" ")
    }
}

fn reminder(agent: &AgentName, target: &str) -> NewReminder {
    NewReminder {
        agent: agent.clone(),
        by: Principal { account: agent.to_string(), tier: Tier::Agent },
        turn: None,
        request: format!("reminder {target}"),
        target: target.to_owned(),
        body: text("look"),
        due_at: clock::UnixMicros(i64::MAX / 2),
        repeats: None,
        open_max: 9,
    }
}

fn question(agent: &AgentName, (at, to): (usize, &str)) -> NewQuestion {
    let asked: Asked = to.parse().unwrap();
    NewQuestion {
        agent: agent.clone(),
        turn: None,
        request: at.to_string(),
        rule: asked.usual_rule(),
        asked,
        body: text("where?"),
        options: vec![text("staging"), text("production")],
        choose: Choose::One,
        on_timeout: OnTimeout::None,
        expires_at: None,
        in_reply_to: None,
        reply_target: String::new(),
        waits: None,
    }
}

/// R2-25, R2-27, F.7: each cell is a verb on what is somebody's. What another agent sent, and what somebody
/// else was asked, is not the operator's here.
#[tokio::test]
async fn a_client_of_one_agent_acts_on_nothing_of_another() {
    let all = "q1 q2 q3 q4 l1 l2 r1 r2";
    for (tool, input, left) in [
        (Tool::Answer, json!({"id": 1, "answer": "2"}), "q2 q3 q4 l1 l2 r1 r2"),
        (Tool::Answer, json!({"id": 2, "answer": "2"}), all),
        (Tool::Answer, json!({"id": 3, "answer": "2"}), all),
        (Tool::Answer, json!({"id": 4, "answer": "2"}), all),
        (Tool::Answer, json!({"id": 1, "answer": "no", "kind": "letter"}), "q1 q2 q3 q4 l2 r1 r2"),
        (Tool::Answer, json!({"id": 2, "answer": "no", "kind": "letter"}), all),
        (Tool::CancelLooseEnd, json!({"kind": "question", "id": 1}), "q2 q3 q4 l1 l2 r1 r2"),
        (Tool::CancelLooseEnd, json!({"kind": "question", "id": 3}), "q1 q2 q4 l1 l2 r1 r2"),
        (Tool::CancelLooseEnd, json!({"kind": "question", "id": 4}), all),
        (Tool::CancelLooseEnd, json!({"kind": "reminder", "id": 1}), "q1 q2 q3 q4 l1 l2 r2"),
        (Tool::CancelLooseEnd, json!({"kind": "reminder", "id": 2}), all),
    ] {
        let mut rig = Rig::open().await;
        let told = rig.calls(tool, input.clone()).await;
        assert_eq!(rig.open_ones().await, left, "{tool:?} {input}: {told:?}");
        assert_eq!(told.is_err(), left == all, "{tool:?} {input}: {told:?}");
    }
}

/// R2-20, R2-26, F.7: a client is given the operator's, once; what waits for the agent is listed and stays.
#[tokio::test]
async fn a_client_is_given_what_is_the_operators_and_takes_nothing_of_the_agents() {
    let mut rig = Rig::open().await;
    let listed = rig.calls(Tool::LooseEnds, json!({})).await.unwrap();
    let listed: Value = listed.parse().unwrap();
    let rows = listed["loose_ends"].as_array().unwrap();
    let kinds: Vec<String> = rows.iter().map(|it| format!("{} {}", it["kind"], it["id"])).collect();
    let expect = [r#""asked" 1"#, r#""letter" 1"#, r#""message" 1"#, r#""reminder" 1"#];
    assert_eq!(kinds, expect, "{listed}");
    let got = rig.calls(Tool::Recv, json!({"max": 32})).await.unwrap();
    let got: Value = got.parse().unwrap();
    let given: Vec<String> = got["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{} {}", it["origin"], it["id"]))
        .collect();
    assert_eq!(given, [r#""question" "1""#, r#""letter" "1""#], "{got}");
    let again = rig.calls(Tool::Recv, json!({"max": 32})).await.unwrap();
    assert_eq!(again, r#"{"messages":[],"pending":0}"#);
    let letters = rig.store.letters(LetterFilter::default(), 9).await.unwrap();
    let states: Vec<LetterState> = letters.iter().map(|row| row.state).collect();
    assert_eq!(states, [LetterState::Read, LetterState::New], "Bob's stays unread");
    let waits = rig.store.message(MessageId(1)).await.unwrap().unwrap();
    assert_eq!(waits.state, MessageState::Accepted, "the agent's own row is not taken");
    let rule = AnswerRule::Humans;
    let row = rig.store.question(QuestionNumber(1)).await.unwrap().unwrap();
    assert_eq!((row.state, row.rule), (QuestionState::Open, rule));
}

/// Returns what was listed or given, as kinds and numbers.
fn kinds(told: &str, list: &str, kind: &str) -> Vec<String> {
    let told: Value = told.parse().unwrap();
    let rows = told[list].as_array().unwrap().clone();
    let number = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    rows.iter().map(|it| format!("{} {}", it[kind].as_str().unwrap(), number(&it["id"]))).collect()
}

/// A program with a token for one agent is shown what was said in rooms and what it said itself. A letter
/// that it is not given stays unread.
#[tokio::test]
async fn a_program_is_shown_what_was_said_in_rooms_and_nothing_private() {
    let mut rig = Rig::open().await;
    rig.reader = Reader::Others;
    let ada: AgentName = "oak-ada".parse().unwrap();
    for tool in [Tool::LooseEnds, Tool::Recv] {
        let told = rig.calls(tool, json!({"max": 32})).await.unwrap();
        for private in ["where?", "staging", "a letter", "hello", "look"] {
            assert!(!told.contains(private), "{tool:?}: {told}");
        }
    }
    let unread = LetterFilter { unread: true, ..LetterFilter::default() };
    assert_eq!(rig.store.letters(unread, 9).await.unwrap().len(), 2);
    for (at, place) in ["#lab", "ori", ""].into_iter().enumerate() {
        let new = question(&ada, (at + 9, "operator"));
        let new = NewQuestion { reply_target: place.to_owned(), ..new };
        rig.store.ask(new, |_| AskedBy::default()).await.unwrap();
        if !place.is_empty() {
            rig.store.remind(reminder(&ada, place)).await.unwrap();
            let letter = rig.store.letter(1).await.unwrap().unwrap();
            let said = owner::answer_to(&letter, ("ori", place));
            let intake_key = Some(place.to_owned());
            let said = NewMessage { target: place.to_owned(), intake_key, ..said };
            rig.store.accept(said).await.unwrap();
        }
    }
    let asked = rig.calls(Tool::Ask, json!({"question": "ready?"})).await.unwrap();
    let asked: Value = asked.parse().unwrap();
    assert_eq!(asked["id"], "m4", "{asked}");
    rig.calls(Tool::Remind, json!({"message": "tea", "due": "in 2 hours"})).await.unwrap();
    let listed = rig.calls(Tool::LooseEnds, json!({})).await.unwrap();
    let expect = ["asked 5", "message 2", "message 4", "reminder 5", "reminder 3"];
    assert_eq!(kinds(&listed, "loose_ends", "kind"), expect, "{listed}");
    let got = rig.calls(Tool::Recv, json!({"max": 32})).await.unwrap();
    assert_eq!(kinds(&got, "messages", "origin"), ["question 5"], "{got}");
    assert_eq!(rig.store.letters(unread_of(&ada), 9).await.unwrap().len(), 1);
}

fn unread_of(agent: &AgentName) -> LetterFilter {
    LetterFilter { agent: Some(agent.clone()), unread: true, ..LetterFilter::default() }
}
