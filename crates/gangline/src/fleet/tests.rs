use std::time::Duration;

use gangline_core::{AgentName, Epoch};
use gangline_hub::about::{KeptProcess, StandingWord};
use gangline_os::{clock::UnixMicros, lock::Holder};
use gangline_store::{Desired, Order};

use super::{Member, Report, Said};
use crate::view::tests::{at, row};

fn member() -> Member {
    Member {
        name: "oak-ada".parse().unwrap(),
        holder: Some(Holder { pid: Some(77), start_time: Some(1), note: String::new() }),
        row: Some(row()),
        order: None,
        kept: None,
        given_up: None,
    }
}

fn kept(standing: StandingWord, code: Option<i32>) -> Option<KeptProcess> {
    Some(KeptProcess { standing, code, outdated: false, ordered_at: 0 })
}

fn phase(phase: &str) -> Member {
    let mut member = member();
    if let Some(row) = &mut member.row {
        row.phase = Some(phase.to_owned().into());
        row.ready_at = None;
    }
    member
}

fn waiting(text: &str) -> Report {
    Report::Waiting(text.to_owned())
}

fn failed(text: &str) -> Report {
    Report::Failed(text.to_owned())
}

/// The row of the view's tests is of epoch 3 and ready since 99 s before its time.
#[test]
fn a_start_is_done_when_the_right_daemon_is_ready() {
    let start = |member: &Member| member.start(Epoch(2), UnixMicros(0));
    assert_eq!(start(&member()), Report::Done("ready, process 77".to_owned()));
    assert_eq!(member().start(Epoch(3), UnixMicros(0)), waiting("ends"), "the old one still runs");
    assert_eq!(member().start(Epoch(2), at(-50)), waiting("joining"), "not since then");
    let mut other = member();
    other.holder = Some(Holder { pid: Some(78), start_time: Some(1), note: String::new() });
    assert_eq!(start(&other), waiting("starting"), "the row is of the one before");
    other.row = None;
    assert_eq!(start(&other), waiting("starting"), "there was none before");
    assert_eq!(start(&phase("starting")), waiting("starting"));
    let mut again = phase("starting");
    if let Some(row) = &mut again.row {
        row.status_json = Some(r#"{"last_failure":"not ready in time: no\nprompt"}"#.to_owned());
    }
    let told = "starting again; its last start failed: not ready in time: no ⏎ prompt";
    assert_eq!(start(&again), waiting(told), "why it takes long");
    if let Some(row) = &mut again.row {
        row.status_json =
            Some(r#"{"last_failure":"x","start_notice":"its screen ends with: wait"}"#.to_owned());
    }
    assert_eq!(start(&again), waiting("starting: its screen ends with: wait"));
    let mended = "fix that, then `gangline resume oak-ada`";
    let parked = format!("parked: its backend died too often; {mended}");
    assert_eq!(start(&phase("parked")), failed(&parked));
    let mut told = phase("parked");
    if let Some(row) = &mut told.row {
        row.status_json = Some(r#"{"parked":"cannot start x: no\nsuch file"}"#.to_owned());
    }
    let parked = format!("parked: cannot start x: no ⏎ such file; {mended}");
    assert_eq!(start(&told), failed(&parked));
    let mut ordered = phase("parked");
    if let Some(row) = &mut ordered.row {
        row.status_json =
            Some(r#"{"parked":"no zed","runtime":"zed","configured_runtime":"claude"}"#.to_owned());
    }
    let back =
        "; or `gangline restart oak-ada --runtime claude` goes back to the configured backend";
    assert_eq!(start(&ordered), failed(&format!("parked: no zed; {mended}{back}")));
    let mut login = phase("idle");
    if let Some(row) = &mut login.row {
        row.status_json = Some(r#"{"needs_login":"run x login"}"#.to_owned());
    }
    let needs = failed("its backend needs a login: run x login");
    assert_eq!(start(&login), needs);
    for not_ready in [&mut login, &mut told] {
        if let Some(row) = &mut not_ready.row {
            row.ready_at = member().row.unwrap().ready_at;
        }
    }
    assert_eq!(start(&login), needs, "it was ready before that was found out");
    assert_eq!(start(&told), failed(&parked), "it was ready before its backend died");
}

#[test]
fn what_no_waiting_mends_is_a_failure_once_the_hub_has_seen_the_order() {
    let mut member =
        Member { holder: None, kept: kept(StandingWord::GivenUp, Some(78)), ..member() };
    let told = failed("ended with exit code 78 and is not started again");
    assert_eq!(member.start(Epoch(3), UnixMicros(0)), told);
    let by = "otto".to_owned();
    let agent = member.name.clone();
    let order = Order { agent, desired: Desired::Up, by, at: at(0), runtime: None, restart: None };
    member.order = Some(order);
    assert_eq!(member.start(Epoch(3), UnixMicros(0)), waiting("starting"));
    if let Some(kept) = &mut member.kept {
        kept.ordered_at = at(0).0;
    }
    assert_eq!(member.start(Epoch(3), UnixMicros(0)), told);
    member.given_up = Some("the variable KEY is not set".to_owned());
    assert_eq!(member.start(Epoch(3), UnixMicros(0)), failed("the variable KEY is not set"));
    member.kept = kept(StandingWord::Waiting, Some(1));
    let told = waiting("ended with exit code 1; starts again");
    assert_eq!(member.start(Epoch(3), UnixMicros(0)), told);
}

#[test]
fn an_end_names_the_turn_that_may_settle() {
    let mut working = phase("working");
    if let Some(row) = &mut working.row {
        row.status_json =
            Some(r#"{"task":{"message":"m42","since":"2026-11-21T12:00:00Z"}}"#.to_owned());
    }
    assert_eq!(working.end(), waiting("in a turn on m42, which has 20 s to finish"));
    assert_eq!(member().end(), waiting("ends"));
    let gone = Member { holder: None, ..working };
    assert_eq!(gone.end(), Report::Done("stopped".to_owned()));
    let still = Member { kept: kept(StandingWord::Starting, None), ..gone };
    assert_eq!(still.end(), waiting("ends"), "a daemon that has no lock yet");
    let mut ordered = Member { kept: kept(StandingWord::Stopped, None), ..still };
    let (agent, by) = (ordered.name.clone(), "otto".to_owned());
    let desired = Desired::Down;
    ordered.order = Some(Order { agent, desired, by, at: at(0), runtime: None, restart: None });
    assert_eq!(ordered.end(), waiting("ends"), "its hub may start it: it has not seen the order");
    if let Some(kept) = &mut ordered.kept {
        kept.ordered_at = at(0).0;
    }
    assert_eq!(ordered.end(), Report::Done("stopped".to_owned()));
}

/// Nothing is printed twice, except a wait that lasts: it is printed again, with its duration.
#[test]
fn a_wait_that_lasts_is_said_again() {
    let name: AgentName = "oak-ada".parse().unwrap();
    let mut said = Said::new(std::slice::from_ref(&name));
    let mut news = |told: &Report, seconds| said.news(&name, told, Duration::from_secs(seconds));
    let starting = waiting("starting");
    assert_eq!(news(&starting, 100).as_deref(), Some("starting"));
    assert_eq!(news(&starting, 114), None);
    assert_eq!(news(&starting, 115).as_deref(), Some("starting, for 15 s"));
    assert_eq!(news(&starting, 129), None);
    assert_eq!(news(&starting, 131).as_deref(), Some("starting, for 31 s"));
    assert_eq!(news(&waiting("joining"), 132).as_deref(), Some("joining"));
    let done = Report::Done("ready".to_owned());
    assert_eq!(news(&done, 133).as_deref(), Some("ready"));
    assert_eq!(news(&done, 200), None);
    let late = super::failed((&name, starting), Duration::from_secs(120));
    assert_eq!(late, Some((name.clone(), "not in time (120 s): starting".to_owned())));
}
