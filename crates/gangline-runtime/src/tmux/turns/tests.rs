//! Deliveries and turns, screen by screen.

use std::path::Path;

use gangline_core::Epoch;
use serde_json::json;

use super::*;

mod hook_events;

const TURN: TurnId = TurnId { epoch: Epoch(1), number: 1 };

/// A session whose screen is what the test says, looked at as often as it asks for.
struct Story {
    turns: Turns,
    now: Duration,
    screen: Screen,
    told: Vec<String>,
}

impl Story {
    fn of(like: &str) -> Self {
        let screen = json!({"like": like, "warm_up_ms": 1000, "deliver_within_ms": 10_000});
        let profile = Profile::of(Path::new("x"), Some(&screen)).unwrap();
        let session = SessionId("s".to_owned());
        let turns = Turns::new(profile, session, Duration::ZERO);
        Self { turns, now: Duration::ZERO, screen: Screen::default(), told: Vec::new() }
    }

    fn shows(&mut self, rows: &[&str], cursor: (usize, usize)) -> &mut Self {
        self.screen.rows = rows.iter().map(|row| (*row).to_owned()).collect();
        self.screen.cursor = cursor;
        self
    }

    /// Looks for so long, or until something is done.
    fn until(&mut self, millis: u64) -> Vec<String> {
        let end = self.now + Duration::from_millis(millis);
        while self.now < end {
            self.now += self.turns.next_look().unwrap_or(LOOK_MOST);
            let actions = self.turns.see(self.screen.clone(), self.now);
            let words = words(&actions);
            if !words.is_empty() {
                self.told.extend(words.clone());
                return words;
            }
        }
        Vec::new()
    }

    fn says(&mut self, text: &str) -> &mut Self {
        let prompt = Prompt { turn: TURN, text: text.to_owned(), uuid: "u".to_owned() };
        assert_eq!(words(&self.turns.prompt(prompt, self.now)), [""; 0]);
        self
    }

    fn ready(like: &str, rows: &[&str], cursor: (usize, usize)) -> Self {
        let mut story = Self::of(like);
        assert_eq!(story.shows(rows, cursor).until(3000), ["ready"]);
        story
    }
}

/// What is done, in words; signs of life aside.
fn words(actions: &[Action]) -> Vec<String> {
    let word = |action: &Action| match action {
        Action::Report(RuntimeEvent::Alive { .. }) => None,
        Action::Report(RuntimeEvent::Ready { .. }) => Some("ready".to_owned()),
        Action::Report(RuntimeEvent::Accepted { .. }) => Some("accepted".to_owned()),
        Action::Report(RuntimeEvent::Notice { text }) => Some(format!("notice {text}")),
        Action::Report(RuntimeEvent::Finished { result, .. }) => Some(match result {
            TurnResult::Failed { why, .. } => format!("failed {why}"),
            other => format!("{other:?}"),
        }),
        Action::Report(other) => Some(format!("{other:?}")),
        Action::Keys(keys) => Some(format!("keys {}", keys.join(" "))),
        Action::Paste(text) => Some(format!("paste {text}")),
        other => Some(format!("{other:?}")),
    };
    actions.iter().filter_map(word).collect()
}

#[test]
fn a_message_is_pasted_seen_sent_off_and_seen_to_be_gone() {
    let mut story = Story::ready("shell", &["$"], (2, 0));
    assert_eq!(story.says("ls").until(500), ["paste ls"]);
    assert_eq!(story.until(1500), [""; 0], "nothing is sent off unseen");
    assert_eq!(story.shows(&["$ ls"], (4, 0)).until(500), ["keys Enter"]);
    assert_eq!(story.until(500), [""; 0], "nothing is accepted that is still in the input");
    assert_eq!(story.shows(&["$ ls", "a"], (0, 2)).until(500), ["accepted"]);
    assert_eq!(story.until(5000), [""; 0], "no prompt, no end");
    assert_eq!(story.shows(&["$ ls", "a", "$"], (2, 2)).until(2000), ["Read(1)"]);
}

/// What only turns proves that the program lives: a tool may run, and that has a limit.
#[test]
fn a_spinner_keeps_a_turn_for_half_an_hour_and_words_begin_it_anew() {
    let mut story = Story::ready("shell", &["$"], (2, 0));
    story.says("ls").until(500);
    story.shows(&["$ ls"], (4, 0)).until(500);
    assert_eq!(story.shows(&["$ ls", "|"], (0, 2)).until(500), ["accepted"]);
    let begun = story.now;
    let mut lives = |minutes: u64, row: &str| {
        let now = begun + Duration::from_secs(minutes * 60);
        story.shows(&["$ ls", row], (0, 2));
        let actions = story.turns.see(story.screen.clone(), now);
        actions.iter().any(|it| matches!(it, Action::Report(RuntimeEvent::Alive { .. })))
    };
    assert!(lives(1, "/ 60 s"));
    assert!(!lives(2, "/ 60 s"), "nothing moves");
    assert!(lives(29, "- 1740 s"));
    assert!(!lives(33, "| 1980 s"));
    assert!(lives(34, "compiling x"));
    assert!(lives(63, "compiling x 99 %"));
    assert!(!lives(65, "compiling x 100 %"));
}

#[test]
fn a_paste_that_is_not_seen_is_taken_out_and_pasted_again_until_the_time_is_over() {
    let mut story = Story::ready("shell", &["$"], (2, 0));
    story.says("ls");
    let mut pastes = 0;
    let end = loop {
        let done = story.until(20_000);
        pastes += usize::from(done == ["paste ls"]);
        if done.iter().any(|word| word.starts_with("failed")) {
            break done;
        }
    };
    assert!((2..=4).contains(&pastes), "{pastes}");
    assert_eq!(story.told[1..4], ["paste ls", "keys C-u", "paste ls"], "it may be there unseen");
    assert_eq!(end[0], "keys C-u", "it is not left for the next message");
    assert!(end[2].contains("could not be seen to arrive within 10 s"), "{end:?}");
    assert!(!story.told.contains(&"accepted".to_owned()));
    assert!(!story.turns.busy());
}

#[test]
fn what_somebody_left_is_cleared_and_a_hint_is_not_pressed_at_for_ever() {
    let mut story = Story::ready("shell", &["$"], (2, 0));
    story.shows(&["$ half"], (6, 0)).says("ls");
    assert_eq!(story.until(500), ["keys C-u"]);
    assert_eq!(story.shows(&["$"], (2, 0)).until(500), ["paste ls"]);
    let mut story = Story::ready("shell", &["$"], (2, 0));
    story.shows(&["$ hint"], (6, 0)).says("ls");
    let mut presses = 0;
    while story.until(2000) == ["keys C-u"] {
        presses += 1;
    }
    assert_eq!((presses, story.told.last().unwrap().as_str()), (3, "paste ls"));
}

#[test]
fn an_enter_that_was_lost_is_pressed_again() {
    let mut story = Story::ready("codex", &["› Ask Codex"], (2, 0));
    assert_eq!(story.says("hi").until(500), ["paste hi"]);
    assert_eq!(story.shows(&["› hi"], (4, 0)).until(500), ["keys Enter"]);
    assert_eq!(story.until(2000), ["keys Enter"]);
    assert_eq!(story.shows(&["› hi", "", "› Ask"], (2, 2)).until(500), ["accepted"]);
}

#[test]
fn a_box_that_is_always_there_is_no_end_by_itself() {
    let mut story = Story::ready("codex", &["› Ask Codex"], (2, 0));
    story.says("hi").until(500);
    story.shows(&["› hi"], (4, 0)).until(500);
    assert_eq!(story.shows(&["› hi", "", "› Ask"], (2, 2)).until(500), ["accepted"]);
    let working = ["› hi", "", "◦ Working (1s • esc to interrupt)", "", "› Ask"];
    assert_eq!(story.shows(&working, (2, 4)).until(30_000), [""; 0]);
    assert_eq!(story.shows(&["› hi", "", "• hello", "", "› Ask"], (2, 4)).until(3000), ["Read(1)"]);
    let lines = ["› hi", "", "• hello", "", "› Ask"].map(ToOwned::to_owned).into();
    let actions = story.turns.read(&Captured { lines, overflowed: false }, story.now);
    assert!(
        words(&actions)[0].contains("hello") && words(&actions)[2] == "Completed",
        "{actions:?}"
    );
}

#[test]
fn a_program_that_asks_a_human_is_told_of_once_and_waited_for() {
    let mut story = Story::ready("codex", &["› Ask Codex"], (2, 0));
    story.says("hi").until(500);
    story.shows(&["› hi"], (4, 0)).until(500);
    story.shows(&["› hi", "", "› Ask"], (2, 2)).until(500);
    let asks = ["Would you like to run this?", "› 1. Yes", "  2. No"];
    let told = story.shows(&asks, (0, 1)).until(3000);
    assert!(told[0].contains("gangline attach"), "{told:?}");
    assert_eq!(story.until(60_000), [""; 0]);
}

#[test]
fn an_answer_that_asks_something_is_an_end() {
    let mut story = Story::ready("claude", &["❯ Try"], (2, 0));
    story.says("hi").until(500);
    assert_eq!(story.shows(&["❯ hi"], (4, 0)).until(500), ["keys Enter"]);
    assert_eq!(story.shows(&["❯ hi", "", "❯"], (2, 2)).until(500), ["accepted"]);
    let answer = ["❯ hi", "", "● Do you want to see the tests?", "", "❯"];
    assert_eq!(story.shows(&answer, (2, 4)).until(5000), ["Read(1)"]);
    // A session goes on that ended so.
    Story::ready("claude", &answer, (2, 4));
}

#[test]
fn an_interrupt_takes_back_what_was_not_sent_off_and_ends_what_was() {
    let mut story = Story::ready("shell", &["$"], (2, 0));
    story.says("ls").until(500);
    let actions = story.turns.interrupt(story.now);
    assert_eq!(words(&actions), ["keys C-u", "Free", "Interrupted"]);
    story.says("ls").until(500);
    story.shows(&["$ ls"], (4, 0)).until(500);
    story.shows(&["$ ls", ""], (0, 1)).until(500);
    assert_eq!(words(&story.turns.interrupt(story.now)), ["keys C-c"]);
    assert_eq!(words(&story.turns.interrupt(story.now)), [""; 0]);
    assert_eq!(story.until(3000), ["keys C-c"]);
    assert_eq!(story.until(3000), ["keys C-c"]);
    assert_eq!(story.until(30_000), [""; 0]);
    assert_eq!(story.shows(&["$ ls", "^C", "$"], (2, 2)).until(3000), ["Read(1)"]);
    let actions = story.turns.read(&Captured::default(), story.now);
    assert_eq!(words(&actions), ["Free", "Interrupted"]);
    // Sent off and not yet seen to be gone: the program may have it.
    let mut story = Story::ready("shell", &["$"], (2, 0));
    story.says("ls").until(500);
    assert_eq!(story.shows(&["$ ls"], (4, 0)).until(500), ["keys Enter"]);
    assert_eq!(words(&story.turns.interrupt(story.now)), ["keys C-c"]);
}

#[test]
fn a_copy_mode_is_left_before_anything_else() {
    let mut story = Story::ready("shell", &["$"], (2, 0));
    story.screen.in_mode = true;
    assert_eq!(story.says("ls").until(500), ["LeaveMode"]);
    story.screen.in_mode = false;
    assert_eq!(story.until(500), ["paste ls"]);
}

#[test]
fn a_line_that_the_terminal_would_cut_is_not_typed() {
    let mut story = Story::of("plain");
    story.screen.line_mode = true;
    assert_eq!(story.shows(&[""], (0, 0)).until(3000), ["ready"]);
    let done = story.says(&"z".repeat(5000)).until(30_000);
    assert!(done[1].contains("longer than a line"), "{done:?}");
}

#[test]
fn a_question_at_the_start_is_answered_and_one_that_stays_is_given_up() {
    let mut story = Story::of("claude");
    let dialog = [" ❯ No, exit", "   Yes, I trust this folder"];
    assert_eq!(story.shows(&dialog, (1, 0)).until(2000), ["keys Down", "keys Enter"]);
    for _ in 0..2 {
        assert_eq!(story.until(2000), ["keys Down", "keys Enter"]);
    }
    let slow = story.until(10_000);
    let text = "notice not ready for prompts yet; its screen ends with: ";
    assert!(slow[0].starts_with(text) && slow[0].contains("Yes, I trust this folder"), "{slow:?}");
    assert_eq!(story.now.as_secs(), SLOW_START.as_secs());
    let last = story.until(120_000);
    assert!(last[0].contains("Yes, I trust this folder") && last[1] == "GiveUp", "{last:?}");
}

const CODEX_INPUT: [&str; 1] = ["› "];
const CODEX_DIALOG: [&str; 4] = [
    "  Folder access",
    "  follow your permission settings. Opening will not change saved trust.",
    "› 1. Open restricted",
    "  enter continue · esc back",
];

/// Codex shows its input before it says how the folder is opened; on a slow machine long before.
#[test]
fn a_question_of_the_start_that_comes_after_the_input_is_answered() {
    let mut story = Story::ready("codex", &CODEX_INPUT, (2, 0));
    assert_eq!(story.says("hi").until(500), ["paste hi"]);
    assert_eq!(story.shows(&CODEX_DIALOG, (0, 3)).until(2000), ["keys Enter"]);
    // What was pasted is gone with the first input.
    story.shows(&CODEX_INPUT, (2, 0));
    assert_eq!(story.until(5000), ["keys C-u"]);
    assert_eq!(story.until(5000), ["paste hi"]);
}

/// The same once the text was sent off: the program keeps it until its start is over.
#[test]
fn a_question_of_the_start_is_no_answer_to_what_was_sent_before() {
    let mut story = Story::ready("codex", &CODEX_INPUT, (2, 0));
    assert_eq!(story.says("hi").until(500), ["paste hi"]);
    assert_eq!(story.shows(&["› hi"], (4, 0)).until(500), ["keys Enter"]);
    let waits = ["  Waiting for startup · esc cancel", "› "];
    assert_eq!(story.shows(&waits, (2, 1)).until(500), ["accepted"]);
    let dialog: Vec<_> = waits.iter().take(1).chain(&CODEX_DIALOG).copied().collect();
    assert_eq!(story.shows(&dialog, (0, 4)).until(2000), ["keys Enter"]);
    assert_eq!(story.shows(&waits, (2, 1)).until(10_000), [""; 0]);
}

#[test]
fn the_words_of_such_a_question_in_an_answer_press_no_keys() {
    let mut story = Story::ready("codex", &CODEX_INPUT, (2, 0));
    assert_eq!(story.says("hi").until(500), ["paste hi"]);
    assert_eq!(story.shows(&["› hi"], (4, 0)).until(500), ["keys Enter"]);
    let answer = ["• Trust this folder? Codex can read it.", "› "];
    assert_eq!(story.shows(&answer, (2, 1)).until(500), ["accepted"]);
    assert_eq!(story.until(20_000), ["Read(1)"]);
}
