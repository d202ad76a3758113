//! Which test dies at which failpoint: the story of [`super::one_failpoint`], or another test by name.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The store's writes that the story makes.
const WRITES: &[&str] = &[
    "accept",
    "append",
    "begin_epoch",
    "confirm",
    "decide",
    "end_turn",
    "mark_sent",
    "open_approval",
    "send",
    "set_agent",
    "take",
    "void_older",
];

/// What else it passes.
const OTHERS: &[&str] = &[
    "chat.after_say",
    "chat.before_confirm",
    "chat.before_say",
    "harness.log.synced",
    "harness.log.written",
];

/// A test that kills processes at each failpoint of the store.
const STORE: (&str, &str) =
    ("gangline-store/tests/it/crashes.rs", "a_killed_process_loses_nothing_that_was_acknowledged");

/// The store's other writes and all other failpoints: the file of the test that dies or stops there,
/// and the test.
const ELSEWHERE: &[(&str, (&str, &str))] = &[
    ("add_token", STORE),
    ("add_usage", STORE),
    ("alert", STORE),
    ("answer", STORE),
    ("applied", STORE),
    ("ask", STORE),
    ("cancel", STORE),
    ("cancel_question", STORE),
    ("claim_delivery", STORE),
    ("decide_change", STORE),
    ("decide_finding", STORE),
    ("end_delivery", STORE),
    ("tell_alert", STORE),
    ("end_cause", STORE),
    ("expire_questions", STORE),
    ("fire_reminder", STORE),
    ("mark_delivered", STORE),
    ("may_be_doubled", STORE),
    ("move_cursor", STORE),
    ("note_restart", STORE),
    ("order", STORE),
    ("order_turn", STORE),
    ("pause", STORE),
    ("probe", STORE),
    ("hold_fleet", STORE),
    ("put_account", STORE),
    ("raise_budget", STORE),
    ("raise_finding", STORE),
    ("relay_begins", STORE),
    ("relayed", STORE),
    ("read_letters", STORE),
    ("release", STORE),
    ("remind", STORE),
    ("remove_reminder", STORE),
    ("remove_rule", STORE),
    ("repeat_act", STORE),
    ("revoke_token", STORE),
    ("request_change", STORE),
    ("resolve_finding", STORE),
    ("retry", STORE),
    ("see_finding", STORE),
    ("send_letter", STORE),
    ("settle_letter", STORE),
    ("step_change", STORE),
    ("stop_waiting", STORE),
    ("trust_folder", STORE),
    ("undeliverable", STORE),
    ("use_token", STORE),
    ("void_rules", STORE),
    ("wake", STORE),
    ("whisper", STORE),
    ("whispers_delivered", STORE),
    ("withdraw_approval", STORE),
    (
        "change.applying",
        (
            "gangline/tests/it/manager.rs",
            "a_hub_killed_at_each_step_of_a_change_goes_on_where_it_was",
        ),
    ),
    (
        "change.checked_out",
        (
            "gangline/tests/it/manager.rs",
            "a_hub_killed_at_each_step_of_a_change_goes_on_where_it_was",
        ),
    ),
    (
        "change.rolling_back",
        ("gangline/tests/it/manager.rs", "a_hub_killed_while_it_undoes_a_change_goes_on_undoing"),
    ),
    (
        "change.step",
        (
            "gangline/tests/it/manager.rs",
            "a_hub_killed_at_each_step_of_a_change_goes_on_where_it_was",
        ),
    ),
    (
        "change.undone",
        ("gangline/tests/it/manager.rs", "a_hub_killed_while_it_undoes_a_change_goes_on_undoing"),
    ),
    (
        "hub.begins",
        ("gangline/tests/it/fleet/background.rs", "up_d_gives_up_a_hub_that_does_not_begin"),
    ),
    (
        "ircd.append.after_commit",
        (
            "gangline/tests/it/bad_input/storage.rs",
            "a_hub_killed_after_a_lines_commit_has_it_answered_once",
        ),
    ),
    (
        "ircd.append.before_commit",
        (
            "gangline/tests/it/bad_input/storage.rs",
            "a_hub_killed_before_a_lines_commit_has_not_taken_it",
        ),
    ),
];

/// Returns the failpoints at which the story's daemons die, one each.
pub(super) fn of_the_story() -> Vec<&'static str> {
    let of_it = |point: &&&str| WRITES.contains(&write(point));
    gangline_store::FAILPOINTS.iter().filter(of_it).chain(OTHERS).copied().collect()
}

/// The write of one of the store's failpoints.
fn write(point: &str) -> &str {
    point.split('.').next().unwrap()
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names in calls like `failpoint::hit("name")` of all code below a folder.
fn named_in(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            named_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            for call in ["failpoint::hit(\"", "failpoint::fails(\""] {
                let names = text.split(call).skip(1).filter_map(|rest| rest.split('"').next());
                found.extend(names.map(str::to_owned));
            }
        }
    }
}

/// Every failpoint of the product has a test that dies there, and no list names one that is gone.
#[test]
fn every_failpoint_has_its_test() {
    let mut all: BTreeSet<String> =
        gangline_store::FAILPOINTS.iter().map(|point| write(point).to_owned()).collect();
    for entry in fs::read_dir(crates()).unwrap().map(Result::unwrap) {
        let source = entry.path().join("src");
        if source.is_dir() {
            named_in(&source, &mut all);
        }
    }
    let elsewhere = ELSEWHERE.iter().map(|(point, _)| point);
    let listed: Vec<&str> = WRITES.iter().chain(OTHERS).chain(elsewhere).copied().collect();
    let once: BTreeSet<String> = listed.iter().map(|point| (*point).to_owned()).collect();
    assert_eq!(once, all);
    assert_eq!(listed.len(), once.len(), "each is listed once: {listed:?}");
    for (point, (file, test)) in ELSEWHERE {
        let text = fs::read_to_string(crates().join(file)).unwrap();
        assert!(text.contains(&format!("fn {test}(")), "{point}: no {test} in {file}");
        let armed = if file.starts_with("gangline-store/") { "FAILPOINTS" } else { *point };
        assert!(text.contains(armed), "{point}: {file} does not name it");
    }
}
