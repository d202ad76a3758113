//! Whatever comes in whatever order: each turn has its events in one piece and one end.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Prompt,
    Steer,
    Adopt,
    Interrupt,
    Compact,
    Clear,
    Decide,
    Effort(Effort),
    /// A line about the text of this number, of those that were sent.
    Line(u8, u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => Just(Step::Prompt),
        1 => Just(Step::Steer),
        2 => Just(Step::Adopt),
        1 => Just(Step::Interrupt),
        1 => Just(Step::Compact),
        1 => Just(Step::Clear),
        1 => Just(Step::Decide),
        1 => prop::sample::select(vec![Effort::Raised, Effort::Ground]).prop_map(Step::Effort),
        12 => (0_u8..14, any::<u8>()).prop_map(|(kind, text)| Step::Line(kind, text)),
    ]
}

/// The daemon's view: which turn is open, and what it has seen of each.
#[derive(Default)]
struct Daemon {
    turns: Option<Turns>,
    open: Option<TurnId>,
    began: bool,
    ended: BTreeMap<i64, u32>,
    sent: Vec<String>,
    next: i64,
}

impl Daemon {
    fn see(&mut self, actions: Vec<Action>) {
        for action in &actions {
            match action {
                Action::Report(event) => self.event(event),
                Action::Call { call, .. } => assert_eq!(Some(call.turn), self.open, "{actions:?}"),
                Action::Aside { turn, .. } => assert_eq!(Some(*turn), self.open, "{actions:?}"),
                Action::Write(line) => {
                    let line: Value = serde_json::from_str(line).unwrap();
                    if let Some(uuid) = line["uuid"].as_str() {
                        self.sent.push(uuid.to_owned());
                    }
                }
                Action::Free | Action::WatchLogin => {}
                Action::Turn(_) | Action::Relaunch => panic!("nothing for this program"),
                Action::GiveUp => panic!("nothing of this is hopeless"),
            }
        }
        let ends =
            |action: &&Action| matches!(action, Action::Report(RuntimeEvent::Finished { .. }));
        let frees = actions.iter().filter(|action| **action == Action::Free).count();
        assert_eq!(actions.iter().filter(ends).count(), frees, "{actions:?}");
    }

    fn event(&mut self, event: &RuntimeEvent) {
        if let Some(turn) = event.turn() {
            assert_eq!(Some(turn), self.open, "an event of a turn that is not open: {event:?}");
        }
        match event {
            RuntimeEvent::Finished { turn, .. } => {
                *self.ended.entry(turn.number).or_default() += 1;
                self.open = None;
            }
            RuntimeEvent::Began => {
                assert!(self.open.is_none() && !self.began, "told twice, or in a turn");
                self.began = true;
            }
            _ => {}
        }
    }

    fn take(&mut self, step: &Step) {
        let Some(mut turns) = self.turns.take() else { return };
        let actions = match step {
            Step::Prompt if self.open.is_none() => {
                self.began = false;
                turns.prompt(self.new_prompt())
            }
            Step::Steer if self.open.is_some() => {
                let turn = self.open.unwrap();
                let uuid = uuid::Uuid::from_u128(u128::try_from(self.sent.len()).unwrap());
                turns.steer(Prompt { turn, text: "x".to_owned(), uuid: uuid.to_string() })
            }
            Step::Adopt if self.open.is_none() && self.began => {
                self.began = false;
                let turn = self.new_prompt().turn;
                turns.adopt(turn)
            }
            Step::Prompt | Step::Steer | Step::Adopt => Vec::new(),
            Step::Interrupt => turns.interrupt(),
            Step::Compact => turns.compact(),
            Step::Clear => turns.clear(),
            Step::Effort(effort) => turns.set_effort(*effort),
            Step::Decide => {
                turns.decide(&ApprovalReply { request: "q".to_owned(), answer: Answer::Allow })
            }
            Step::Line(kind, text) => turns.line(self.line(*kind, *text), Now::default()),
        };
        self.turns = Some(turns);
        self.see(actions);
    }

    fn new_prompt(&mut self) -> Prompt {
        self.next += 1;
        self.open = Some(id(self.next));
        let uuid = uuid::Uuid::from_u128(u128::try_from(self.next).unwrap() << 64).to_string();
        prompt(self.next, &uuid)
    }

    fn line(&self, kind: u8, text: u8) -> Line {
        let uuid = match self.sent.len() {
            0 => P1,
            count => &self.sent[usize::from(text) % count],
        };
        match kind {
            0 | 1 => started(uuid),
            2 => over(uuid),
            3 => cancelled(uuid),
            4 => result(&[uuid]),
            5 => result(&[]),
            6 => by_itself(),
            7 | 8 => said("a"),
            9 => may_use("q", "Bash"),
            10 => call("c"),
            11 => status(
                (text.is_multiple_of(2)).then_some("compacting"),
                (text.is_multiple_of(3)).then_some("success"),
            ),
            12 => Line::Idle,
            _ => Line::Response {
                id: format!("gangline-{}", text % 8),
                answer: Ok(json!({"cancelled": text.is_multiple_of(2)})),
            },
        }
    }

    /// The program does all that is left for it to do.
    fn settle(&mut self) {
        for _ in 0..4 {
            let Some(turns) = &mut self.turns else { return };
            let waiting = turns.turn.as_ref().map(|turn| turn.waiting.clone()).unwrap_or_default();
            let uuids: Vec<&str> = waiting.iter().map(String::as_str).collect();
            let mut lines: Vec<Line> = uuids.iter().map(|uuid| started(uuid)).collect();
            lines.push(if uuids.is_empty() { by_itself() } else { result(&uuids) });
            lines.extend(uuids.iter().map(|uuid| over(uuid)));
            lines.push(Line::Idle);
            let actions: Vec<Action> =
                lines.into_iter().flat_map(|line| turns.line(line, Now::default())).collect();
            self.see(actions);
            if self.began && self.open.is_none() {
                self.take(&Step::Adopt);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Each turn that was opened or adopted ends exactly once, and nothing is told of it before or
    /// after.
    #[test]
    fn each_turn_ends_once(steps in prop::collection::vec(step(), 1..40)) {
        let mut daemon = Daemon { turns: Some(fresh()), ..Daemon::default() };
        for step in &steps {
            daemon.take(step);
        }
        daemon.settle();
        prop_assert_eq!(daemon.open, None, "a turn stays open");
        for number in 1..=daemon.next {
            prop_assert_eq!(daemon.ended.get(&number), Some(&1), "turn {}", number);
        }
    }
}
