//! Who may use the commands that act for the owner: a person's shell may, the shell of an agent may not,
//! whosever question, reminder, approval or message it is. One table, with no daemon.

use std::path::Path;

use gangline_core::{
    AgentName, Epoch, MessageId, MessageState, Origin, Principal, QuestionNumber, Redacted, Tier,
    TurnId,
    approval::Audience,
    rule::{Form, Offer, Subject},
};
use gangline_os::clock::{self, UnixMicros};
use gangline_store::{
    AskedBy, ChangeKind, ChangeTold, How, NewChange, NewLetter, NewMessage, NewReminder,
    OpenApproval, OpenOptions, Store, Take, Whose,
};
use gangline_testkit::Stage;

const ADA: &str = "oak-ada";
const BOB: &str = "oak-bob";
const TURN: TurnId = TurnId { epoch: Epoch(1), number: 1 };
/// All that a command of the table may change.
const SEEN: [&str; 9] = [
    "SELECT 'question ' || id || ' ' || state FROM questions",
    "SELECT 'reminder ' || id || ' ' || state FROM reminders",
    "SELECT 'approval ' || number || ' ' || state FROM approvals",
    "SELECT 'change ' || number || ' ' || state FROM changes",
    "SELECT 'rule ' || number FROM rules",
    "SELECT 'letter ' || id || ' ' || state FROM letters",
    "SELECT 'message ' || id || ' ' || state FROM messages",
    "SELECT 'token ' || id || ' ' || coalesce(revoked_at, '') FROM tokens",
    "SELECT 'agent ' || agent || ' ' || paused FROM agents",
];
/// The commands, and whether each changes what is stored even though no daemon runs. Of Ada are questions
/// 1 and 2, approvals 3, 4 and 5, change 6, reminders 1 and 2, letters 1 and 2; m2 … m4 wait for her.
const VERBS: [(&[&str], &str); 23] = [
    (&["approve", "3"], "approval 3 allowed"),
    (&["deny", "4"], "approval 4 denied"),
    (&["approve", "5", "--always"], "rule 1"),
    (&["approve", "6"], "change 6 approved"),
    (&["policy", "remove", "1"], "approval 5 allowed"),
    (&["answer", "1", "2"], "question 1 answered"),
    (&["answer", "2", "--cancel"], "question 2 cancelled"),
    (&["remind", "ada", "in 20 min", "look"], "reminder 3 waiting"),
    (&["reminders", "cancel", "1"], "reminder 2 waiting"),
    (&["inbox", "answer", "1", "yes"], "letter 1 answered"),
    (&["inbox", "done", "2"], "letter 2 done"),
    (&["ask", "ada", "which way?"], "message 7 accepted"),
    (&["prompt", "ada", "go on"], "message 8 accepted"),
    (&["cancel", "m2"], "message 2 cancelled"),
    (&["interrupt", "--cause", "m3"], "message 3 cancelled"),
    (&["token", "add", "--scope", "mcp:ada"], "token 1 "),
    (&["pause", "ada"], "agent oak-ada 1"),
    (&["resume", "ada"], "agent oak-ada 0"),
    (&["release", "m4"], ""),
    (&["start", "ada"], ""),
    (&["stop", "--no-wait", "ada"], ""),
    (&["model", "ada", "another"], ""),
    (&["effort", "ada", "high"], ""),
];

/// R1-50, R2-25, R2-27, R2-28, R2-39, C16: with the marks of the agent itself, of a colleague, or of a token
/// alone, none of them does anything; with none, each does.
#[test]
fn the_commands_of_the_owner_are_refused_to_every_agents_shell() {
    let mut stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA, BOB], None, ("", ""));
    fill(&stage.world.state());
    let before = seen(&stage);
    for (name, value) in [
        ("GANGLINE_RUN", "x/oak-ada/1"),
        ("GANGLINE_RUN", "x/oak-bob/1"),
        ("GANGLINE_TOKEN", "glt_x"),
    ] {
        stage.world.set(name, value);
        for (verb, _) in VERBS {
            let ran = stage.world.run(&[&["--config", &stage.config], verb].concat());
            assert!(ran.stderr.contains("an agent cannot"), "{value} {verb:?}: {}", ran.stderr);
            assert_eq!(ran.code, 1, "{value} {verb:?}");
        }
        // It would have services run with what the agent sets.
        let ran = stage.world.run(&["--config", &stage.config, "service", "install"]);
        assert!(ran.stderr.contains("an agent cannot install"), "{value}: {}", ran.stderr);
        assert_eq!(seen(&stage), before, "{value}");
        stage.world.set(name, "");
    }
    for (verb, effect) in VERBS {
        let ran = stage.world.run(&[&["--config", &stage.config], verb].concat());
        assert!(!ran.stderr.contains("an agent cannot"), "{verb:?}: {}", ran.stderr);
        let after = seen(&stage);
        let is_done = effect.is_empty() || after.iter().any(|line| line == effect);
        assert!(is_done, "{verb:?}: {}{}\n{}", ran.stdout, ran.stderr, after.join("\n"));
    }
    let after = seen(&stage);
    for gone in ["rule 1", "reminder 1 waiting"] {
        assert!(!after.contains(&gone.to_owned()), "{gone}");
    }
}

fn seen(stage: &Stage) -> Vec<String> {
    SEEN.iter().flat_map(|sql| stage.query(sql)).collect()
}

fn text(text: &str) -> Redacted {
    Redacted::from_store(text.to_owned())
}

fn message(agent: &AgentName, key: &str) -> NewMessage {
    NewMessage {
        agent: agent.clone(),
        network_id: "local".to_owned(),
        intake_key: Some(key.to_owned()),
        origin: Origin::Cli,
        principal: Principal { account: "owner".to_owned(), tier: Tier::Owner },
        sender: "owner".to_owned(),
        target: String::new(),
        body: text("look"),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    }
}

fn approval(agent: &AgentName, request: &str) -> OpenApproval {
    let form = Form::Command(vec!["make".to_owned(), request.to_owned()]);
    OpenApproval {
        agent: agent.clone(),
        turn: TURN,
        message: Some(MessageId(1)),
        request: request.to_owned(),
        tool: "Bash".to_owned(),
        args_hash: request.to_owned(),
        summary: text("make"),
        detail: text("{}"),
        audience: Audience::Everybody,
        folder: text("/srv"),
        said_before: text(""),
        offer: Some(Offer {
            tool: "Bash".to_owned(),
            directory: "/srv".to_owned(),
            subject: Subject::Forms(vec![form]),
        }),
        announce: None,
    }
}

/// A manager's request for another agent.
fn change(agent: &AgentName) -> NewChange {
    NewChange {
        agent: agent.clone(),
        turn: TURN,
        request: "first".to_owned(),
        kind: ChangeKind::Spawn,
        subject: "oak-new".parse().unwrap(),
        commit: None,
        entry: Some("- nick: oak-new".to_owned()),
        summary: text("a new agent oak-new"),
        detail: text("- nick: oak-new"),
        reason: text(""),
        message: None,
        reply_target: String::new(),
    }
}

/// Stores what is open of Ada.
fn fill(state: &Path) {
    let ada: AgentName = ADA.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let path = state.join("gangline.db");
        let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        for agent in [&ada, &BOB.parse().unwrap()] {
            let whose = Whose { runtime: "native", configured: "native" };
            store.begin_epoch(agent, (1, "test"), whose).await.unwrap();
        }
        for number in ["m1", "m2", "m3", "m4"] {
            store.accept(message(&ada, number)).await.unwrap();
        }
        let take = Take {
            agent: ada.clone(),
            turn: TURN,
            messages: vec![MessageId(1)],
            prompt_uuid: "u".to_owned(),
            how: How::Woke,
            turns_per_cause: 30,
        };
        store.take(take).await.unwrap();
        for request in ["one", "two"] {
            let new = super::inbox::question(&ada, request);
            store.ask(new, |_: QuestionNumber| AskedBy::default()).await.unwrap();
        }
        for request in ["a", "b", "c"] {
            store.open_approval(approval(&ada, request)).await.unwrap();
        }
        store.request_change(change(&ada), |_| ChangeTold::default()).await.unwrap();
        for request in ["one", "two"] {
            let reminder = NewReminder {
                agent: ada.clone(),
                by: Principal { account: ADA.to_owned(), tier: Tier::Agent },
                turn: None,
                request: request.to_owned(),
                target: String::new(),
                body: text("look"),
                due_at: UnixMicros(i64::MAX / 2),
                repeats: None,
                open_max: 9,
            };
            store.remind(reminder).await.unwrap();
            let letter = NewLetter {
                agent: ada.clone(),
                turn: None,
                idem_key: request.to_owned(),
                in_reply_to: None,
                body: text("hello"),
            };
            store.send_letter(letter).await.unwrap();
        }
        store.close().await.unwrap();
    });
}
