//! What a turn is begun with, and what it waits for.

use gangline_core::effort::EffortLevel;

use super::{
    super::{
        Credentials,
        tests::{Play, prompt},
    },
    *,
};
use crate::program::protocol::Protocol as _;

/// A model with these levels, of which it has the first by itself.
fn models(name: &str, levels: &[&str]) -> Value {
    let all = levels.iter().map(|level| json!({"reasoningEffort": level}));
    let model = json!({
        "id": name,
        "model": name,
        "defaultReasoningEffort": levels[0],
        "supportedReasoningEfforts": all.collect::<Vec<_>>(),
    });
    json!({ "data": [model] })
}

fn set_effort(play: &mut Play, effort: Effort) {
    let actions = play.turns.set_effort(effort);
    play.take(actions);
}

/// The effort with which the turn of this number is begun.
fn begun_with(play: &mut Play, number: i64) -> Value {
    play.running(number);
    play.end(number, "completed");
    play.params("turn/start").unwrap()["effort"].clone()
}

/// R1-11: the program is told with each turn from the first raise on, since it remembers; before that
/// it is told nothing. A turn waits for the list of models.
#[test]
fn a_turn_waits_for_the_levels_of_its_model() {
    let mut play = Play::open();
    assert_eq!(begun_with(&mut play, 1), Value::Null);
    set_effort(&mut play, Effort::Raised);
    let actions = play.turns.prompt(prompt(2));
    play.take(actions);
    assert_eq!(play.params("turn/start").unwrap()["clientUserMessageId"], "p1");
    play.told.clear();
    play.answer("model/list", models("m", &["low", "medium", "high"]));
    assert_eq!(play.told, [RuntimeEvent::Effort { raised: Some(EffortLevel::High) }]);
    assert_eq!(play.params("turn/start").unwrap()["clientUserMessageId"], "p2");
    assert_eq!(play.params("turn/start").unwrap()["effort"], "high");
    play.answer("turn/start", json!({"turn": {"id": "u2"}}));
    play.say("turn/started", json!({"turn": {"id": "u2", "status": "inProgress"}}));
    play.end(2, "completed");
    play.told.clear();
    set_effort(&mut play, Effort::Ground);
    set_effort(&mut play, Effort::Ground);
    assert_eq!(play.told, [RuntimeEvent::Effort { raised: None }]);
    assert_eq!(begun_with(&mut play, 3), "low");
    set_effort(&mut play, Effort::Raised);
    play.answer("model/list", models("m", &["low", "medium", "high"]));
    assert_eq!(begun_with(&mut play, 4), "high");
}

/// R1-11: the level that somebody has set is the ground level; without one, a model that is not listed
/// stays as it is, and so does one whose list does not come.
#[test]
fn an_effort_is_raised_only_if_it_is_known_what_to_go_back_to() {
    let opened = |set: Value| {
        let mut play = Play::new(None, Credentials::OfTheOptions);
        play.answer("initialize", json!({}));
        let thread = json!({"thread": {"id": "t"}, "model": "m", "reasoningEffort": set});
        play.answer("thread/start", thread);
        set_effort(&mut play, Effort::Raised);
        play
    };
    let mut play = opened(json!("medium"));
    play.answer("model/list", models("other", &["low", "high"]));
    assert_eq!(begun_with(&mut play, 1), "high");
    set_effort(&mut play, Effort::Ground);
    assert_eq!(begun_with(&mut play, 2), "medium");
    let mut play = opened(Value::Null);
    play.answer("model/list", models("other", &["low", "high"]));
    assert_eq!(begun_with(&mut play, 1), Value::Null);
    let mut play = opened(json!("low"));
    play.refuse("model/list", "no");
    let text = "the effort was not changed: no".to_owned();
    assert_eq!(play.told.last(), Some(&RuntimeEvent::Notice { text }));
    assert_eq!(begun_with(&mut play, 1), Value::Null);
    // It is too late for a raise that was taken back.
    let mut play = opened(json!("low"));
    set_effort(&mut play, Effort::Ground);
    play.answer("model/list", models("m", &["low", "high"]));
    assert_eq!(begun_with(&mut play, 1), Value::Null);
}
