//! Lines that cannot be read: whoever waits for an answer gets one.

use super::*;

#[test]
fn a_request_that_cannot_be_read_is_refused_with_the_reason() {
    let mut play = Play::open();
    play.running(1);
    for id in [json!("q"), json!(0)] {
        let line = format!(
            r#"{{"id":{id},"method":"item/commandExecution/requestApproval","params":{{"command": broken"#
        );
        let unread = play.turns.unread(&line, "no good").unwrap();
        assert!(unread.what.contains("requestApproval`), and was refused"), "{}", unread.what);
        play.take(unread.actions);
        let answer = play.written.last().unwrap();
        assert_eq!(answer["id"], id);
        assert!(answer["error"]["message"].as_str().unwrap().contains("no good"), "{answer}");
    }
    for nothing in ["a banner", r#"{"id":99,"result":"#, r#"{"method":"x/y","params":"#] {
        assert!(play.turns.unread(nothing, "no good").is_none(), "{nothing}");
    }
}

#[test]
fn an_answer_that_cannot_be_read_ends_the_turn_that_waits_for_it() {
    let mut play = Play::open();
    let actions = play.turns.prompt(prompt(1));
    play.take(actions);
    let line = format!(r#"{{"id":{},"result": broken"#, play.id_of("turn/start"));
    let unread = play.turns.unread(&line, "no good").unwrap();
    play.take(unread.actions);
    let [TurnResult::Failed { why, .. }] = &play.results()[..] else { panic!("{:?}", play.told) };
    assert!(why.contains("no good"), "{why}");
}
