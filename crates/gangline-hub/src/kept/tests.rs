use std::time::Duration;

use gangline_os::{
    clock::{self, UnixMicros},
    lock::Holder,
    process::{Group, Output, Spawn, Stdin},
};
use gangline_store::{Desired, Order};

use super::{DRAIN_BUDGET, Kept, Reconciler, Slot, Stamp, Standing};

/// No process has this id, so signals to it go nowhere.
const NOBODY: u32 = 1 << 30;

fn kept(name: &str, settings: u64) -> Kept {
    Kept {
        name: name.to_owned(),
        agent: Some(name.parse().unwrap()),
        spawn: Spawn {
            program: "/nowhere/gangline".into(),
            args: Vec::new(),
            cwd: "/".into(),
            env: Vec::new(),
            stdin: Stdin::Null,
            stdout: Output::Null,
            stderr: Output::Null,
            group: Group::Session,
        },
        lock: "/nowhere/lock".into(),
        settings,
    }
}

fn slot() -> Slot {
    Slot::new(kept("oak-ada", 1), Duration::from_secs(60), at(0))
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn holder(start: u64) -> Option<Holder> {
    Some(Holder { pid: Some(NOBODY), start_time: Some(start), note: String::new() })
}

fn order(desired: Desired, at: i64) -> Order {
    Order {
        agent: "oak-ada".parse().unwrap(),
        desired,
        by: "otto".to_owned(),
        at: UnixMicros(at),
        runtime: None,
        restart: None,
    }
}

const UP: Standing = Standing::Up { pid: Some(NOBODY) };

/// R3-17: the backend that was ordered is one of the settings that a start takes.
#[test]
fn another_backend_makes_a_daemon_outdated_until_it_is_started_anew() {
    let mut slot = slot();
    slot.started(7, at(1));
    slot.seen(holder(1), at(1));
    let native = Order { runtime: Some("native".to_owned()), ..order(Desired::Up, 1) };
    slot.obey(Some(&native), at(2));
    assert!(slot.known().outdated);
    assert_eq!(slot.standing, UP, "nobody said that it ends");
    slot.started(8, at(3));
    slot.seen(holder(1), at(3));
    assert!(!slot.known().outdated);
    slot.obey(Some(&order(Desired::Up, 1)), at(4));
    assert!(slot.known().outdated);
}

/// R1-48: who ended because of the configuration is tried again when that is another one, and not
/// before.
#[tokio::test]
async fn a_daemon_that_was_given_up_is_tried_again_when_the_configuration_changes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agents.yaml");
    let write = |text: &str| {
        std::fs::write(&file, text).unwrap();
        Stamp::of(&file)
    };
    let mut reconciler = Reconciler::new(clock::system(), at(60), ("i", vec![kept("oak-ada", 1)]));
    let give_up = |reconciler: &mut Reconciler| {
        reconciler.slots[0].config = reconciler.config;
        reconciler.slots[0].started(7, at(1));
        reconciler.slots[0].child = None;
        reconciler.slots[0].ended(Some(78), at(2));
        assert_eq!(reconciler.slots[0].standing, Standing::GivenUp { code: 78 });
    };
    reconciler.configured(write("broken"));
    give_up(&mut reconciler);
    reconciler.configured(Stamp::of(&file));
    assert_eq!(reconciler.slots[0].standing, Standing::GivenUp { code: 78 }, "nothing is mended");
    assert!(reconciler.patience() <= at(2), "it is looked at now and then");
    reconciler.configured(write("broken still"));
    assert_eq!(reconciler.slots[0].standing, Standing::Waiting);
    give_up(&mut reconciler);
    reconciler.slots[0].want = super::Want::Down;
    reconciler.configured(write("good"));
    assert_eq!(reconciler.slots[0].standing, Standing::GivenUp { code: 78 }, "it is stopped");
    assert_eq!(Stamp::of(&folder.path().join("none")), None);
}

#[test]
fn a_stopped_daemon_is_left_down_until_it_is_ordered_up() {
    let mut slot = slot();
    slot.seen(holder(1), at(1));
    assert_eq!(slot.standing, UP);
    slot.obey(Some(&order(Desired::Down, 1)), at(2));
    slot.ask_to_end(at(2));
    assert_eq!(slot.standing, Standing::Stopping);
    slot.seen(holder(1), at(3));
    assert_eq!(slot.standing, Standing::Stopping, "it still runs");
    slot.seen(None, at(4));
    assert_eq!(slot.standing, Standing::Stopped);
    assert!(!slot.is_due(at(4)) && !slot.runs());
    slot.obey(Some(&order(Desired::Up, 2)), at(5));
    assert!(slot.is_due(at(5)));
}

#[test]
fn a_daemon_that_was_asked_to_end_and_shall_run_starts_at_once() {
    let mut slot = slot();
    slot.seen(holder(1), at(1));
    slot.ask_to_end(at(2));
    slot.seen(None, at(3));
    assert_eq!(slot.standing, Standing::Waiting);
    assert!(slot.is_due(at(3)), "its end was no death");
}

#[test]
fn a_successor_that_somebody_else_started_is_not_the_one_that_was_asked() {
    let mut slot = slot();
    slot.seen(holder(1), at(1));
    slot.ask_to_end(at(2));
    slot.seen(holder(2), at(3));
    assert_eq!(slot.standing, UP);
}

#[test]
fn a_death_waits_and_an_order_cuts_the_wait_short() {
    let mut slot = slot();
    slot.seen(holder(1), at(0));
    slot.seen(None, at(1));
    assert_eq!((slot.standing, slot.is_due(at(1))), (Standing::Waiting, false));
    assert!(slot.is_due(at(2)), "the first wait is a second");
    slot.obey(Some(&order(Desired::Up, 1)), at(1));
    assert!(slot.is_due(at(1)));
}

#[test]
fn what_was_given_up_is_tried_again_when_it_is_ordered_and_only_once() {
    let mut slot = slot();
    slot.started(NOBODY, at(0));
    slot.child = None;
    slot.ended(Some(78), at(1));
    assert_eq!(slot.standing, Standing::GivenUp { code: 78 });
    slot.obey(None, at(2));
    assert!(!slot.is_due(at(2)), "no order is no news");
    slot.obey(Some(&order(Desired::Up, 1)), at(3));
    assert!(slot.is_due(at(3)));
    slot.started(NOBODY, at(3));
    slot.child = None;
    slot.ended(Some(78), at(4));
    slot.obey(Some(&order(Desired::Up, 1)), at(5));
    assert!(!slot.is_due(at(5)), "the same order is no news either");
    assert_eq!(slot.known().code, Some(78));
}

/// Exit code 3: another daemon has the agent, and is adopted once its lock is seen.
#[test]
fn a_daemon_that_found_its_agent_taken_makes_way_for_the_holder() {
    let mut slot = slot();
    slot.started(7, at(0));
    slot.child = None;
    slot.ended(Some(3), at(1));
    assert_eq!(slot.standing, Standing::Waiting);
    slot.seen(holder(5), at(1));
    assert_eq!(slot.standing, UP);
}

#[test]
fn a_daemon_that_does_not_end_is_killed_when_its_time_is_over() {
    let mut slot = slot();
    slot.seen(holder(1), at(0));
    slot.ask_to_end(at(1));
    assert!(!slot.was_killed());
    slot.ask_to_end(at(1) + DRAIN_BUDGET);
    assert!(!slot.was_killed());
    slot.ask_to_end(at(2) + DRAIN_BUDGET);
    assert!(slot.was_killed());
}

#[test]
fn new_settings_are_told_of_until_the_next_start() {
    let mut slot = slot();
    slot.seen(holder(1), at(1));
    slot.kept.settings = 2;
    assert!(!slot.known().outdated, "what an adopted daemon was started with is unknown");
    slot.seen(None, at(2));
    slot.started(NOBODY, at(3));
    slot.kept.settings = 3;
    assert!(slot.known().outdated);
    slot.child = None;
    slot.ended(Some(0), at(4));
    slot.started(NOBODY, at(5));
    assert!(!slot.known().outdated);
}

#[tokio::test]
async fn what_is_not_configured_any_more_is_forgotten_and_what_is_new_is_kept() {
    let all = vec![kept("oak-ada", 1), kept("oak-bob", 1)];
    let mut reconciler = Reconciler::new(clock::system(), Duration::from_secs(60), ("i", all));
    reconciler.replace(vec![kept("oak-bob", 1), kept("oak-cleo", 1)]);
    reconciler.look();
    let names: Vec<&str> = reconciler.known().map(|known| known.name).collect();
    assert_eq!(names, ["oak-bob", "oak-cleo"]);
    assert!(reconciler.known().all(|known| known.standing == Standing::Waiting));
}
