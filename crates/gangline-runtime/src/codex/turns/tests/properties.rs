//! Whatever comes in whatever order: each prompt is sent once and has one end.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Prompt,
    Steer,
    Interrupt,
    Compact,
    Clear,
    Ask,
    Decide,
    Effort(Effort),
    Line(&'static str, u8),
    Answer(u8, bool),
    Time,
}

fn step() -> impl Strategy<Value = Step> {
    let method = prop::sample::select(vec![
        "turn/started",
        "turn/completed",
        "interrupted",
        "failed",
        "user",
        "text",
        "tool",
        "tool done",
        "compaction",
        "noise",
    ]);
    prop_oneof![
        3 => Just(Step::Prompt),
        1 => Just(Step::Steer),
        1 => Just(Step::Interrupt),
        1 => Just(Step::Compact),
        1 => Just(Step::Clear),
        1 => Just(Step::Ask),
        1 => Just(Step::Decide),
        1 => prop::sample::select(vec![Effort::Raised, Effort::Ground]).prop_map(Step::Effort),
        8 => (method, 0..4_u8).prop_map(|(method, id)| Step::Line(method, id)),
        6 => (0..4_u8, any::<bool>()).prop_map(|(back, good)| Step::Answer(back, good)),
        1 => Just(Step::Time),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever comes in whatever order: each prompt is sent at most once, never while another is
    /// under way, has at most one end, and nothing of it comes after that; each request of ours is
    /// answered by what it asked for only.
    #[test]
    fn a_turn_has_one_prompt_and_one_end(steps in prop::collection::vec(step(), 1..60)) {
        let mut play = Play::open();
        let mut given = 0;
        let mut asked = 100;
        let mut last_ask = None;
        for step in steps {
            let told = play.told.len();
            match step {
                Step::Prompt if play.results().len() == usize::try_from(given).unwrap() => {
                    given += 1;
                    let actions = play.turns.prompt(prompt(given));
                    play.take(actions);
                }
                Step::Prompt => {}
                Step::Steer => {
                    let actions = play.turns.steer(Prompt { uuid: "s".to_owned(), ..prompt(given) });
                    play.take(actions);
                }
                Step::Interrupt => {
                    let actions = play.turns.interrupt();
                    play.take(actions);
                }
                Step::Compact => {
                    let actions = play.turns.compact();
                    play.take(actions);
                }
                Step::Clear => {
                    let actions = play.turns.clear();
                    play.take(actions);
                }
                Step::Ask => {
                    asked += 1;
                    play.line(json!({"id": asked, "method": "item/commandExecution/requestApproval",
                        "params": {"command": "ls"}}));
                    if let Some(RuntimeEvent::ApprovalAsked { ask, .. }) = play.told.last() {
                        last_ask = Some(ask.request.clone());
                    }
                }
                Step::Decide => {
                    if let Some(request) = &last_ask {
                        play.decide(&request.clone(), Answer::Deny { reason: "no".to_owned() });
                    }
                }
                Step::Effort(effort) => {
                    let actions = play.turns.set_effort(effort);
                    play.take(actions);
                }
                Step::Time => play.now += Duration::from_secs(2),
                Step::Line(kind, id) => odd_line(&mut play, kind, i64::from(id)),
                Step::Answer(back, good) => {
                    let ours = |it: &&Value| !it["method"].is_null() && !it["id"].is_null();
                    let requests: Vec<Value> =
                        play.written.iter().filter(ours).cloned().collect();
                    let Some(request) = requests.iter().rev().nth(usize::from(back)) else { continue };
                    let id = request["id"].clone();
                    play.line(if good {
                        json!({"id": id, "result": {"turn": {"id": format!("u{back}")},
                            "thread": {"id": "t"}}})
                    } else {
                        json!({"id": id, "error": {"message": "no"}})
                    });
                }
            }
            for event in &play.told[told..] {
                if let RuntimeEvent::Message { turn: of, .. } | RuntimeEvent::Steered { turn: of, .. } = event {
                    prop_assert_eq!(of.number, given);
                }
            }
            let ends = play.results().len();
            prop_assert!(ends == usize::try_from(given).unwrap() || ends + 1 == usize::try_from(given).unwrap());
            prop_assert_eq!(play.turns.turn.is_some(), ends + 1 == usize::try_from(given).unwrap());
            let frees = play.actions.iter().filter(|action| **action == Action::Free).count();
            prop_assert_eq!(frees, ends);
        }
        let mut sent: Vec<String> = play
            .written
            .iter()
            .filter(|it| it["method"] == "turn/start")
            .map(|it| it["params"]["clientUserMessageId"].to_string())
            .collect();
        let all = sent.len();
        sent.dedup();
        prop_assert_eq!(sent.len(), all, "a prompt was sent twice");
        let answers = |id: i64| {
            play.written.iter().filter(|it| it["id"] == id && it["method"].is_null()).count()
        };
        for id in 101..=asked {
            prop_assert!(answers(id) <= 1, "answered twice");
        }
    }
}

fn odd_line(play: &mut Play, kind: &str, id: i64) {
    let turn = |status: &str| json!({"turn": {"id": format!("u{id}"), "status": status}});
    let command = |status: &str| json!({"type": "commandExecution", "id": "c", "command": "ls", "status": status});
    match kind {
        "turn/started" => play.say(kind, turn("inProgress")),
        "turn/completed" => play.say(kind, turn("completed")),
        "interrupted" | "failed" => play.say("turn/completed", turn(kind)),
        "user" => {
            let item = json!({"type": "userMessage", "id": "x", "clientId": "s"});
            play.item("completed", id, item);
        }
        "text" => play.item("completed", id, text("m")),
        "tool" => play.item("started", id, command("inProgress")),
        "tool done" => play.item("completed", id, command("completed")),
        "compaction" => {
            play.item("started", id, json!({"type": "contextCompaction", "id": "k"}));
        }
        _ => play.say("thread/status/changed", json!({})),
    }
}
