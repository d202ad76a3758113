//! The backend has no login: nothing is taken until there is one.

use super::*;

/// R2-43: without a login nothing is taken from the inbox; it goes on after the login.
#[test]
fn without_a_login_nothing_is_fed_until_there_is_one() {
    let mut story = Story::working();
    story.is(Input::Message(queued(2)), "");
    story.finish(1, Finish::NeedsLogin, "end t1.1 needs_login m1=accepted; rescan");
    assert!(story.agent.view().needs_login);
    assert_eq!(story.deadline(), None);
    story.after(600).is(Input::Tick, "");
    story.runtime(
        RuntimeInput::LoggedIn { generation: Generation(7) },
        "(LateGeneration { generation: Generation(7) })",
    );
    story.runtime(RuntimeInput::LoggedIn { generation: Generation(1) }, "take t1.2 m2");
    assert!(!story.agent.view().needs_login);
}

/// R2-43: a person may say that there is a login.
#[test]
fn a_human_s_resume_tries_again_without_a_login() {
    let mut story = Story::working();
    story.finish(1, Finish::NeedsLogin, "end t1.1 needs_login m1=accepted; rescan");
    story.is(Input::Message(queued(2)), "");
    story.is(Input::Operator(Operator::Resume), "take t1.2 m2");
}

/// R2-43: a program that is started anew is asked again.
#[test]
fn the_next_life_finds_out_by_itself_whether_there_is_a_login() {
    let mut story = Story::working();
    story.finish(1, Finish::NeedsLogin, "end t1.1 needs_login m1=accepted; rescan");
    story.runtime(RuntimeInput::Exited { generation: Generation(1), by: EndedBy::Itself }, "");
    assert!(!story.agent.view().needs_login);
}
