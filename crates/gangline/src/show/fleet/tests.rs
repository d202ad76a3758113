use anstream::adapter::strip_str;
use gangline_api::{
    listing::{AgentListing, Desired, Keeping, Standing},
    status::{Activity, ShownPause, WaitingFor},
};
use gangline_core::pause::PauseReason;
use gangline_os::clock::{UnixMicros, local_minute, rfc3339};

use super::{Columns, list};
use crate::view::{
    status,
    tests::{approval, at, facts, turn},
};

fn listing(nick: &str) -> AgentListing {
    let mut facts = facts();
    facts.nick = nick.parse().unwrap();
    let mut status = status(&facts);
    status.version = Some("0.1.0".to_owned());
    status.runtime = Some("claude".to_owned());
    status.channels = vec!["#general".parse().unwrap(), "#dev".parse().unwrap()];
    AgentListing {
        standing: Standing::of(&status, Desired::Up, Keeping::Quiet),
        status,
        desired: Desired::Up,
        stopped_by: None,
        turn: None,
        turn_started_at: None,
        started_at: Some(rfc3339(at(-7200))),
        replaced: false,
        outdated: false,
        failed_because: None,
    }
}

/// Pain 20: who works on what for how long, who waits for a human, who is not there and why.
#[test]
fn ps_has_one_aligned_line_an_agent() {
    let idle = listing("oak-ada");
    let mut busy = listing("oak-bartholomew");
    busy.turn = Some(turn());
    busy.turn_started_at = Some(rfc3339(at(2)));
    busy.status.pending = 3;
    busy.status.waiting_for = vec![
        WaitingFor::Approval {
            number: approval().number,
            tool: "Ba\nsh".to_owned(),
            summary: "ls".to_owned(),
            asked_at: rfc3339(at(5)),
        },
        WaitingFor::Login { hint: "log in".to_owned() },
        WaitingFor::Resume { why: "no such file".to_owned() },
    ];
    busy.standing = Standing::Working;
    busy.status.activity = Activity::Working;
    busy.status.description = "runs Bash `npm test`, on m6 for ori".to_owned();
    busy.replaced = true;
    busy.status.runtime = Some("native".to_owned());
    busy.status.configured_runtime = Some("claude".to_owned());
    let mut stopped = listing("oak-cleo");
    stopped.status.pid = None;
    stopped.status.last_activation = None;
    stopped.started_at = None;
    stopped.desired = Desired::Down;
    stopped.stopped_by = Some("otto".to_owned());
    stopped.standing = Standing::Stopped;
    stopped.status.channels = Vec::new();
    let all = [idle, busy, stopped];
    let text = list(&all, Columns::Wide, at(50));
    insta::assert_snapshot!(strip_str(&text).to_string(), @r"
    NICK             STATUS   TURN  AGE  QUEUE  PID  UP  VERSION    RUNTIME             WAITING-FOR                           CHANNELS
    oak-ada          idle     -     59s  -      77   2h  0.1.0      claude              -                                     #general #dev
    oak-bartholomew  working  t3.7  48s  3      77   2h  0.1.0 old  native (--runtime)  approval 12 (Ba ⏎ sh), login, resume  #general #dev
    oak-cleo         stopped  -     -    -      -    -   -          -                   start (stopped by otto)               -

    oak-bartholomew: runs Bash `npm test`, on m6 for ori
    ");
    let text = strip_str(&list(&all, Columns::Usual, at(50))).to_string();
    assert!(text.lines().take(4).all(|line| line.chars().count() <= 80), "{text}");
    let at = |line: usize| text.lines().nth(line).unwrap();
    assert!(at(0).ends_with("UP  RUNTIME             WAITING-FOR"), "{text}");
    assert!(at(2).ends_with("native (--runtime)  approval 12…"), "{text}");
    let old = "oak-bartholomew runs an old program: `gangline restart oak-bartholomew` uses";
    assert!(text.contains(old), "{text}");
}

/// R0-52: what holds an agent, until when by the clocks here, and what helps.
#[test]
fn ps_says_what_holds_an_agent_and_what_helps() {
    let held = |nick: &str, reason: PauseReason, until: Option<UnixMicros>| {
        let mut held = listing(nick);
        let note = Some("21 of 10 tokens".to_owned());
        held.status.pauses =
            vec![ShownPause { reason: reason.into(), until: until.map(rfc3339), note }];
        held.status.paused = true;
        held.status.activity = Activity::Paused;
        held.standing = Standing::Paused;
        held
    };
    let budget = held("oak-ada", PauseReason::Budget, Some(at(3600)));
    let person = held("oak-bartholomew", PauseReason::Operator, None);
    let mut failed = listing("oak-cleo");
    failed.standing = Standing::Starting;
    failed.status.description = "starts again after a failure: no such file".to_owned();
    let mut starting = failed.clone();
    starting.status.nick = "oak-dan".parse().unwrap();
    starting.status.description = "starting".to_owned();
    let all = [budget, person, failed, starting];
    let text = strip_str(&list(&all, Columns::Usual, at(50))).to_string();
    let line = |at: usize| text.lines().nth(at).unwrap();
    assert!(line(1).ends_with("  its budget") && line(2).ends_with("  resume"), "{text}");
    let (date, minute) = local_minute(at(3600));
    let below = format!(
        "\noak-ada: held until {date} {minute}: its budget is spent: 21 of 10 tokens; raise it \
         with `gangline budget raise`, or wait until then\noak-bartholomew: paused; `gangline \
         resume oak-bartholomew` ends it\noak-cleo: starts again after a failure: no such file\n"
    );
    assert!(text.ends_with(&below), "{text}");
}

/// C5: an agent whose tools run unasked is known at a glance, whoever decided it.
#[test]
fn ps_is_loud_about_tools_that_run_unasked() {
    let mut bypass = listing("oak-ada");
    bypass.status.permissions = Some("bypass".to_owned());
    let mut unasked = listing("oak-bartholomew");
    unasked.status.permissions = Some("ask".to_owned());
    unasked.status.unasked = Some("Bash `touch a`".to_owned());
    let mut asks = listing("oak-cleo");
    asks.status.permissions = Some("allowlist".to_owned());
    let text = strip_str(&list(&[bypass, unasked, asks], Columns::Usual, at(50))).to_string();
    let said = |at: usize| text.lines().nth(at).unwrap().to_owned();
    assert!(said(1).contains("claude BYPASS"), "{text}");
    assert!(said(2).contains("claude UNASKED"), "{text}");
    assert!(!said(3).contains("BYPASS") && !said(3).contains("UNASKED"), "{text}");
}

#[test]
fn a_fleet_of_nobody_says_so() {
    assert_eq!(list(&[], Columns::Usual, at(0)), "no agents yet\n");
}
