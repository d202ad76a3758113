//! The loop's pauses and escalations: what begins and ends them, what is kept of them.

use gangline_config::OnEscalation;
use gangline_core::{
    AgentName,
    agent::PhaseName,
    alert,
    finding::FindingKind,
    pause::{PauseReason, Schedule, UNNAMED_WAIT},
};
use gangline_runtime::TurnResult;
use gangline_store::{AlertWords, Holds, NewPause, PauseRow};

use gangline_os::clock::Clock as _;

use super::*;
use crate::{
    bus::{Escalation, Word},
    journal::Single,
    settings::Account,
};

/// Ada works on a message of ori's.
fn working() -> Rig {
    Rig::working_on(row(1, ("ori", Tier::Owner), "#lab"), false)
}

fn stuck() -> Incoming {
    Incoming::Escalate(Box::new(Escalation {
        kind: FindingKind::Spiraling,
        task: Redacted::from_store("benchmark nemotron".to_owned()),
        cause: "the same build fails again and again.".to_owned(),
        evidence: "`cmake ..` ended with code 1, 4 times".to_owned(),
        retries: 4,
    }))
}

/// What waits for the store: alerts, and what is kept of pauses.
fn written(rig: &mut Rig) -> (Vec<String>, Vec<String>) {
    let (mut alerts, mut kept) = (Vec::new(), Vec::new());
    for record in rig.agent_loop.journal.take_waiting() {
        match record {
            Record::Entry(Entry::Finding(new)) => {
                let Some(AlertWords { text, room_text }) = new.alert else { continue };
                let event = alert::of_finding(new.kind).unwrap();
                alerts.extend([format!("{event} {text}"), format!("{}", room_text.unwrap())]);
            }
            Record::Single(single) => match *single {
                Single::Pause(pause) => {
                    let NewPause { reason, until, holds, .. } = *pause;
                    let ends = until.map_or("", |_| " with an end");
                    kept.push(format!("{reason}{ends} {holds:?}"));
                }
                Single::Unpause { reason, .. } => kept.push(format!("no {reason}")),
                _ => {}
            },
            Record::Entry(_) => {}
        }
    }
    (alerts, kept)
}

fn held(rig: &Rig) -> Vec<PauseReason> {
    rig.agent_loop.core.view().pauses.iter().map(|held| held.reason).collect()
}

fn comes(rig: &mut Rig, id: i64) {
    let row = row(id, ("ori", Tier::Owner), "#lab");
    rig.agent_loop.message(Waiting { row, said: Vec::new() });
}

/// An escalation alerts people with nobody's private words: neither task nor cause nor evidence.
#[test]
fn an_escalation_in_a_private_conversation_keeps_its_words() {
    let mut rig = Rig::working_on(row(1, ("ori", Tier::Owner), "ori"), false);
    written(&mut rig);
    rig.agent_loop.take(stuck());
    let (alerts, _) = written(&mut rig);
    let short = "agent_spiraling [SPIRALING] oak-ada stuck on task \"(asked in private)\". Retried the \
                 same approach 4 times. Awaiting guidance.";
    assert_eq!(alerts[0], short);
    assert!(alerts[1].contains("task \"(asked in private)\""), "{alerts:?}");
    assert!(alerts[1].contains("Cause: see `gangline attention`. resume:"), "{alerts:?}");
}

/// R0-28, R1-34, R1-35, C1: the open turn ends as it will, intake is held, people are told once with
/// cause, evidence and choices; `resume` has what waits answered, and another escalation may come.
#[test]
fn an_escalation_holds_intake_until_somebody_resumes() {
    let mut rig = working();
    written(&mut rig);
    let turn = rig.turn();
    rig.agent_loop.take(stuck());
    assert_eq!(rig.agent_loop.core.view().phase, PhaseName::Working, "never killed");
    let (alerts, kept) = written(&mut rig);
    let short = "agent_spiraling [SPIRALING] oak-ada stuck on task \"benchmark nemotron\". Retried the \
                 same approach 4 times. Awaiting guidance.";
    let text = "[ESCALATION] Agent oak-ada appears stuck on task \"benchmark \
                nemotron\". Retried same approach 4 times. Awaiting human guidance. Reply @oak-ada \
                resume/abort. Cause: the same build fails again and again. Evidence: `cmake ..` \
                ended with code 1, 4 times. resume: it continues; abort: its turn ends, then it \
                continues. Until then new messages wait";
    assert_eq!(alerts, [short, text]);
    assert_eq!(kept, ["escalation Yes"]);
    rig.agent_loop.take(stuck());
    assert_eq!(written(&mut rig), (vec![], vec![]), "told once");
    comes(&mut rig, 2);
    rig.hears(RuntimeEvent::Finished { turn, result: TurnResult::Completed });
    let view = rig.agent_loop.core.view();
    assert_eq!((view.phase, view.waiting), (PhaseName::Idle, 1));
    let note = rig.showing.borrow().note.clone();
    assert_eq!(note.escalated.as_deref(), Some("the same build fails again and again."));
    assert_eq!(note.pauses.len(), 1);
    written(&mut rig);
    rig.agent_loop.take(Incoming::Operator(Word::Resume));
    assert_eq!(written(&mut rig).1, ["no escalation"]);
    assert_eq!(rig.agent_loop.core.view().messages, [MessageId(2)]);
    assert_eq!(rig.showing.borrow().note.escalated, None, "the supervisor sees it");
    rig.agent_loop.take(stuck());
    assert_eq!(written(&mut rig).0.len(), 2);
}

/// A pause of a person is a row before the loop hears of it: the loop does not write it once more, so that
/// nothing that it still has to write undoes a later word.
#[test]
fn a_persons_pause_and_resume_are_not_written_twice() {
    let mut rig = working();
    written(&mut rig);
    for (word, paused) in [(Word::Pause { until: None }, true), (Word::Resume, false)] {
        rig.agent_loop.take(Incoming::Operator(word));
        assert_eq!(rig.agent_loop.core.view().paused, paused);
        assert_eq!(written(&mut rig).1, [] as [&str; 0], "{word:?}");
    }
}

/// Somebody has answered an escalation in the store: the loop sees it there. So do the agents that were
/// warned of a limit.
#[test]
fn what_ended_in_the_store_ends_in_the_loop() {
    let mut rig = working();
    let bob: AgentName = "oak-bob".parse().unwrap();
    let account = Account { name: "claude with its own login".to_owned(), others: vec![bob] };
    rig.agent_loop = rig.agent_loop.spends_from(account);
    rig.agent_loop.take(stuck());
    let (turn, result) = (rig.turn(), TurnResult::RateLimited { retry_after: Some(7200) });
    rig.hears(RuntimeEvent::Finished { turn, result });
    assert_eq!(held(&rig), [PauseReason::Escalation, PauseReason::RateLimit]);
    rig.agent_loop.journal.take_waiting();
    let words = rig.agent_loop.words;
    // Read before the loop's own words were written: it is read again.
    rig.agent_loop.written(standing(words - 1));
    assert_eq!(held(&rig).len(), 2);
    let again = rig.agent_loop.journal.take_waiting();
    let again = again.iter().any(|record| {
        matches!(record, Record::Single(single)
            if matches!(**single, Single::LookAtPause { words: read } if read == words))
    });
    assert!(again);
    rig.agent_loop.written(standing(words));
    assert!(held(&rig).is_empty());
    assert_eq!(rig.showing.borrow().note.escalated, None);
    let over = rig.agent_loop.journal.take_waiting();
    assert!(format!("{over:?}").contains("shared_limit/oak-ada"), "{over:?}");
}

/// The other agents of an account are warned of a spent quota, by whom and until when, until it is over.
#[test]
fn the_other_agents_of_an_account_are_warned_of_a_spent_quota() {
    let mut rig = working();
    let bob: AgentName = "oak-bob".parse().unwrap();
    let account = Account { name: "claude with its own login".to_owned(), others: vec![bob] };
    rig.agent_loop = rig.agent_loop.spends_from(account);
    rig.agent_loop = rig.agent_loop.begins_paused(&[]);
    let findings = |rig: &mut Rig| -> Vec<String> {
        let entries = rig.agent_loop.journal.take_waiting().into_iter();
        entries
            .filter_map(|record| match record {
                Record::Entry(Entry::Finding(new)) => {
                    Some(format!("{} {}: {}", new.agent, new.key, new.cause))
                }
                Record::Entry(Entry::FindingResolved(agent, key)) => {
                    Some(format!("{agent} no {key}"))
                }
                Record::Entry(_) | Record::Single(_) => None,
            })
            .collect()
    };
    assert_eq!(
        findings(&mut rig),
        ["oak-bob no shared_limit/oak-ada"],
        "what an earlier daemon said"
    );
    let (turn, result) = (rig.turn(), TurnResult::RateLimited { retry_after: Some(7200) });
    rig.hears(RuntimeEvent::Finished { turn, result });
    let raised = findings(&mut rig);
    let [own, bobs] = &raised[..] else { panic!("{raised:?}") };
    assert!(own.starts_with("oak-ada rate_limit: "), "{own}");
    let begins = "oak-bob shared_limit/oak-ada: oak-ada met a spent quota and waits until ";
    let ends = "; this agent has the same account: claude with its own login";
    assert!(bobs.starts_with(begins) && bobs.ends_with(ends), "{bobs}");
    rig.agent_loop.take(Incoming::Operator(Word::Resume));
    let over = ["oak-ada no rate_limit", "oak-bob no shared_limit/oak-ada"];
    assert_eq!(findings(&mut rig), over);
}

/// A backend that names no time for its limits is asked again soon, and after five minutes without success
/// counts as one whose quota is spent.
#[test]
fn limits_without_a_time_pause_the_agent_in_the_end() {
    let mut rig = working();
    let mut asked = 0;
    while held(&rig).is_empty() {
        let (turn, result) = (rig.turn(), TurnResult::RateLimited { retry_after: None });
        rig.hears(RuntimeEvent::Finished { turn, result });
        asked += 1;
        rig.clock.forward(UNNAMED_WAIT);
        comes(&mut rig, 1 + asked);
        let Some(turn) = rig.agent_loop.core.view().turn else { continue };
        let attempts = vec![(MessageId(1 + asked), 1)];
        rig.agent_loop.written(Reply::Taken { turn, attempts, gone: Vec::new(), pending: 0 });
        rig.hears(RuntimeEvent::Accepted { turn });
    }
    assert_eq!((held(&rig), asked), (vec![PauseReason::RateLimit], 11), "30 s each, for 5 minutes");
}

/// R1-35: `abort` ends the turn and lifts the escalation; what waits is taken after it.
#[test]
fn abort_ends_the_turn_and_the_escalation() {
    let mut rig = working();
    let turn = rig.turn();
    rig.agent_loop.take(stuck());
    comes(&mut rig, 2);
    written(&mut rig);
    rig.agent_loop.take(Incoming::Operator(Word::Abort { turn: Some(turn) }));
    assert_eq!(rig.agent_loop.core.view().phase, PhaseName::Interrupting);
    assert_eq!(written(&mut rig).1, ["no escalation"]);
    assert!(held(&rig).is_empty());
    rig.hears(RuntimeEvent::Finished { turn, result: TurnResult::Interrupted });
    assert_eq!(rig.agent_loop.core.view().messages, [MessageId(2)]);
    // Also where the turn had ended before.
    let mut rig = working();
    let turn = rig.turn();
    rig.agent_loop.take(stuck());
    rig.hears(RuntimeEvent::Finished { turn, result: TurnResult::Completed });
    rig.agent_loop.take(Incoming::Operator(Word::Abort { turn: None }));
    assert!(held(&rig).is_empty());
}

/// C1: `notify` is S0's rule: people are told, and the agent works on.
#[test]
fn under_notify_the_agent_works_on() {
    let mut rig = working();
    rig.agent_loop = rig.agent_loop.rests(None, OnEscalation::Notify);
    written(&mut rig);
    rig.agent_loop.take(stuck());
    let (alerts, kept) = written(&mut rig);
    assert!(alerts[1].ends_with("Meanwhile it continues to work"), "{alerts:?}");
    let Incoming::Escalate(it) = stuck() else { unreachable!("see stuck") };
    let affects = |then| crate::texts::pauses::affected(&it, then);
    assert_eq!(affects(OnEscalation::Notify), "its task: benchmark nemotron");
    assert_eq!(affects(OnEscalation::Hold), "new messages wait; its task: benchmark nemotron");
    assert_eq!(kept, ["escalation No"]);
    assert!(held(&rig).is_empty());
    assert!(rig.showing.borrow().note.escalated.is_some());
    rig.agent_loop.take(Incoming::Operator(Word::Resume));
    assert_eq!(rig.showing.borrow().note.escalated, None);
}

/// R0-52: hours of sleep begin and end by the clock; a person wakes the agent until they begin anew.
#[test]
fn an_agent_sleeps_by_the_clock_and_is_woken() {
    let mut rig = Rig::starting(false);
    let day = Duration::from_secs(86_400);
    // Asleep at every time of day but one minute, which lies twelve hours ahead.
    let now = jiff::Timestamp::from_microsecond(rig.clock.now().0).unwrap();
    let noon = now.to_zoned(jiff::tz::TimeZone::system()) + jiff::Span::new().hours(12);
    let minute = |at: &jiff::Zoned| at.strftime("%H:%M").to_string().parse().unwrap();
    let (end, start) = (minute(&noon), minute(&(&noon + jiff::Span::new().minutes(1))));
    let schedule = Schedule::new(start, end).ok();
    rig.agent_loop = rig.agent_loop.rests(schedule, OnEscalation::Hold);
    rig.agent_loop = rig.agent_loop.begins_paused(&[]);
    assert_eq!(held(&rig), [PauseReason::Schedule]);
    assert_eq!(written(&mut rig).1, ["schedule with an end Yes"]);
    rig.agent_loop.take(Incoming::Operator(Word::Resume));
    assert!(held(&rig).is_empty());
    rig.agent_loop.take(Incoming::Tick(1));
    assert!(held(&rig).is_empty(), "it was woken for this night");
    rig.clock.forward(day);
    rig.agent_loop.take(Incoming::Tick(2));
    assert_eq!(held(&rig), [PauseReason::Schedule], "the next one");
}

/// Whatever the loop hears first: an agent that was paused before starts no backend.
#[test]
fn an_agent_that_begins_paused_starts_no_backend() {
    let mut rig = Rig::starting(false);
    let at = rig.clock.now();
    let (reason, until, holds, note) = (PauseReason::Operator, None, Holds::Yes, None);
    rig.agent_loop = rig.agent_loop.begins_paused(&[PauseRow { reason, until, holds, note, at }]);
    rig.agent_loop.message(Waiting { row: row(1, ("ori", Tier::Owner), "#lab"), said: Vec::new() });
    assert_eq!(rig.showing.borrow().view.phase, PhaseName::Down);
    rig.agent_loop.take(Incoming::Operator(Word::Resume));
    assert_eq!(rig.showing.borrow().view.phase, PhaseName::Starting);
}

/// What was over while no daemon ran is forgotten; the rest holds, with its end.
#[test]
fn a_daemon_begins_with_the_pauses_that_still_hold() {
    let mut rig = Rig::starting(false);
    let now = rig.clock.now();
    let hour = Duration::from_secs(3600);
    let row = |reason, until, holds| PauseRow { reason, until, holds, note: None, at: now };
    rig.agent_loop = rig.agent_loop.begins_paused(&[
        row(PauseReason::Operator, Some(now), Holds::Yes),
        row(PauseReason::RateLimit, Some(now.plus(hour)), Holds::Yes),
        row(PauseReason::Escalation, None, Holds::No),
    ]);
    assert_eq!(held(&rig), [PauseReason::RateLimit]);
    assert_eq!(written(&mut rig).1, ["no operator"]);
    assert!(rig.showing.borrow().note.escalated.is_some());
    // Somebody sets the wall clock back: the pause ends by it.
    rig.clock.set_back(hour);
    rig.agent_loop.take(Incoming::Tick(1));
    rig.clock.forward(hour);
    rig.agent_loop.think(Input::Tick);
    assert_eq!(held(&rig), [PauseReason::RateLimit]);
    rig.clock.forward(hour);
    rig.agent_loop.think(Input::Tick);
    assert!(held(&rig).is_empty());
    assert_eq!(written(&mut rig).1, ["no rate_limit"]);
}

/// R0-22, R1-35: the answer `resume` to a finding is a row. A backend that is parked is tried again by it, once,
/// and not by a row that is older than a later word.
#[test]
fn a_parked_backend_is_tried_again_when_the_order_is_read() {
    let mut rig = Rig::starting(false);
    let first = row(1, ("ori", Tier::Owner), "#lab");
    rig.agent_loop.message(Waiting { row: first, said: Vec::new() });
    rig.parks();
    rig.agent_loop.journal.take_waiting();
    let read = |rig: &mut Rig, resume, words| {
        let orders = StandingOrders { pauses: Vec::new(), resume };
        rig.agent_loop.written(Reply::Standing { orders, words });
        let records = format!("{:?}", rig.agent_loop.journal.take_waiting());
        (records.contains("Resumed("), records.contains("LookAtPause"))
    };
    let words = rig.agent_loop.words;
    assert_eq!(read(&mut rig, None, words), (false, false));
    assert_eq!(read(&mut rig, Some(4), words + 1), (false, true), "it is read again");
    assert_eq!(rig.agent_loop.core.view().phase, PhaseName::Parked);
    assert_eq!(read(&mut rig, Some(4), words), (true, true));
    assert_ne!(rig.agent_loop.core.view().phase, PhaseName::Parked);
    // Its end is not written yet.
    let words = rig.agent_loop.words;
    assert_eq!(read(&mut rig, Some(4), words), (false, false));
    assert_eq!(read(&mut rig, Some(5), words), (true, true), "another one");
}
