//! Tests of how fail points are read and counted. That they kill is tested with real processes.

use super::*;

#[track_caller]
fn check(text: &str, name: &str, expect: [Option<Action>; 3]) {
    let armed = parse(text);
    assert_eq!([(); 3].map(|()| pass(&armed, name)), expect, "{text}");
}

#[test]
fn an_action_is_due_at_the_passing_that_is_named() {
    check("a=kill", "a", [Some(Action::Kill), None, None]);
    check("a=kill@2", "a", [None, Some(Action::Kill), None]);
    check(" b=stop ; a = exit@3;", "a", [None, None, Some(Action::Exit)]);
    check("a=error", "a", [Some(Action::Error); 3]);
    check("a=error@2", "a", [None, Some(Action::Error), None]);
    check("a=error@1;a=kill@3", "a", [Some(Action::Error), None, Some(Action::Kill)]);
}

#[test]
fn other_names_and_texts_that_nobody_understands_do_nothing() {
    for text in ["", ";;", "a", "a=", "a=explode", "a=kill@", "a=kill@x", "a=kill@0", "b=kill"] {
        check(text, "a", [None; 3]);
    }
}

#[test]
fn nothing_is_armed_without_the_variable() {
    hit("never.armed");
    assert!(!fails("never.armed"));
}
