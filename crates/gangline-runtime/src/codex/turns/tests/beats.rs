//! What keeps a turn open, and words outside of turns.

use super::*;

impl Play {
    /// Whether this keeps the turn open after so many minutes.
    fn lives(&mut self, minutes: u64, method: &str, params: Value) -> bool {
        self.now = Duration::from_secs(minutes * 60);
        self.told.clear();
        self.say(method, params);
        self.told.iter().any(|event| matches!(event, RuntimeEvent::Alive { .. }))
    }
}

fn notices(play: &Play) -> Vec<String> {
    let text = |event: &RuntimeEvent| match event {
        RuntimeEvent::Notice { text } => Some(text.clone()),
        _ => None,
    };
    play.told.iter().filter_map(text).collect()
}

#[test]
fn what_a_tool_prints_keeps_the_turn_until_the_tool_s_limit() {
    let mut play = Play::open();
    play.running(1);
    let user = json!({"type": "userMessage", "id": "i", "clientId": "p1"});
    play.item("completed", 1, user);
    let prints = || json!({"turnId": "u1", "itemId": "c", "delta": "."});
    let output = "item/commandExecution/outputDelta";
    assert!(!play.lives(1, output, prints()), "nothing runs");
    let command =
        json!({"type": "commandExecution", "id": "c", "command": "make", "status": "inProgress"});
    play.item("started", 1, command.clone());
    assert!(play.lives(20, output, prints()));
    assert!(play.lives(21, "thread/status/changed", json!({})), "a tool runs");
    assert!(!play.lives(31, output, prints()), "its limit is over");
    assert!(!play.lives(32, "hook/started", json!({"turnId": "u1"})));
    assert!(!play.lives(33, "account/rateLimits/updated", json!({})));
    // The model itself.
    let delta = json!({"turnId": "u1", "itemId": "m", "delta": "word"});
    assert!(play.lives(34, "item/agentMessage/delta", delta.clone()));
    assert!(play.lives(35, "turn/plan/updated", json!({"turnId": "u1"})));
    let other = json!({"turnId": "u0", "itemId": "m", "delta": "word"});
    assert!(!play.lives(36, "item/agentMessage/delta", other));
    let done = json!({"type": "commandExecution", "id": "c", "command": "make", "status": "completed", "exitCode": 0});
    play.item("completed", 1, done);
    assert!(!play.lives(38, output, prints()), "it is over");
}

#[test]
fn words_behind_the_end_of_a_turn_are_in_no_answer_and_are_counted() {
    let mut play = Play::open();
    play.running(1);
    play.end(1, "completed");
    play.told.clear();
    for _ in 0..10 {
        play.item("completed", 1, json!({"type": "agentMessage", "id": "m", "text": "a secret"}));
    }
    let told = notices(&play);
    assert!(told.len() == 2 && told[1].ends_with("(10 texts so far)"), "{told:?}");
    assert!(!format!("{:?}", play.told).contains("secret"));
    play.running(2);
    play.told.clear();
    play.item("completed", 1, json!({"type": "agentMessage", "id": "m", "text": "a secret"}));
    assert!(!format!("{:?}", play.told).contains("secret"), "{:?}", play.told);
}
