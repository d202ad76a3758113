use super::{
    Activity, DESCRIPTION_MAX, RunningTool, Seen, ShownPause, Situation, State, Task, cut,
    still_held,
};
use gangline_core::{
    agent::AgentPhase,
    id::{ApprovalNumber, MessageId, QuestionNumber},
    pause::{Continue, PauseReason},
    word::Stored,
};
use jiff::tz::{TimeZone, offset};

/// Two hours ahead of UTC.
static EAST: TimeZone = TimeZone::fixed(offset(2));

/// C28, R0-52, R2-40, R4-20: each surface's word for each state.
#[test]
fn every_state_has_its_word_on_every_surface() {
    use Activity::{Idle, Paused, Working};
    let table = [
        (State::Down, Idle, "Idle", "idle", "offline"),
        (State::Starting, Idle, "Idle", "idle", "idle"),
        (State::Idle, Idle, "Idle", "idle", "idle"),
        (State::Thinking, Working, "Thinking", "thinking", "thinking"),
        (State::RunningTool, Working, "Thinking", "running tool", "working"),
        (State::Compacting, Working, "Compacting", "thinking", "thinking"),
        (State::Ending, Working, "Thinking", "thinking", "working"),
        (State::Paused, Paused, "Idle", "idle", "listening"),
        (State::NeedsLogin, Idle, "Idle", "idle", "listening"),
        (State::Draining, Idle, "Idle", "idle", "draining"),
        (State::Parked, Idle, "Idle", "idle", "offline"),
        (State::Unknown, Working, "Thinking", "thinking", "working"),
    ];
    let said: Vec<_> = State::ALL
        .iter()
        .map(|s| (*s, s.activity(), s.turn_state(), s.loop_state(), s.presence()))
        .collect();
    assert_eq!(said, table);
}

#[test]
fn what_happens_counts_before_what_is_ordered() {
    let idle = Seen { phase: Some(AgentPhase::Idle), ..Seen::default() };
    let busy = Seen { phase: Some(AgentPhase::Working), ..Seen::default() };
    let table = [
        (Seen { phase: Some(AgentPhase::Down), ..idle }, State::Down),
        (Seen { phase: Some(AgentPhase::Down), draining: true, ..idle }, State::Draining),
        (Seen { phase: Some(AgentPhase::Starting), ..idle }, State::Starting),
        (Seen { phase: Some(AgentPhase::Starting), paused: true, ..idle }, State::Paused),
        (idle, State::Idle),
        (Seen { paused: true, ..idle }, State::Paused),
        (Seen { paused: true, needs_login: true, ..idle }, State::NeedsLogin),
        (Seen { draining: true, paused: true, ..idle }, State::Draining),
        (Seen { compacting: true, ..idle }, State::Compacting),
        (busy, State::Thinking),
        (Seen { phase: None, ..idle }, State::Unknown),
        (Seen { paused: true, draining: true, ..busy }, State::Thinking),
        (Seen { tool_runs: true, ..busy }, State::RunningTool),
        (Seen { compacting: true, tool_runs: true, ..busy }, State::Compacting),
        (Seen { phase: Some(AgentPhase::Interrupting), tool_runs: true, ..idle }, State::Ending),
        (Seen { phase: Some(AgentPhase::Parked), paused: true, ..idle }, State::Parked),
    ];
    for (seen, state) in table {
        assert_eq!(State::of(seen), state, "{seen:?}");
    }
}

fn task(text: &str) -> Task {
    Task {
        message: Some(MessageId(42)),
        sender: "alice".into(),
        place: "#general".into(),
        since: "2026-11-21T21:33:48.123Z".into(),
        text: text.into(),
    }
}

fn tool(name: &str, what: &str) -> RunningTool {
    let since = "2026-11-21T21:35:00.000Z".to_owned();
    RunningTool { name: name.to_owned(), what: what.to_owned(), since }
}

fn situation(state: State) -> Situation<'static> {
    Situation {
        state,
        task: None,
        tool: None,
        approval: None,
        question: None,
        login: None,
        parked: None,
        waiting: 0,
        paused: false,
        pauses: &[],
        rate_limited: false,
        effort: None,
        degraded: false,
        last_failure: None,
        start_notice: None,
        zone: &EAST,
    }
}

/// R0-52: the status says what ends a pause, whatever its reason.
#[test]
fn a_pause_says_what_ends_it() {
    let nick = "oak-ada".parse().unwrap();
    let helps = |reason: PauseReason| {
        ShownPause { reason: reason.into(), until: None, note: None }.helps(&nick)
    };
    let resume = "`gangline resume oak-ada` ends it";
    for reason in [PauseReason::Operator, PauseReason::Schedule, PauseReason::RateLimit] {
        assert_eq!(helps(reason), resume);
    }
    let raise = "raise it with `gangline budget raise`, or wait until then";
    assert_eq!(helps(PauseReason::Budget), raise);
    assert_eq!(helps(PauseReason::Fleet), "`gangline budget release` ends it");
    let both = "`gangline resume oak-ada` or `gangline interrupt oak-ada` ends it";
    assert_eq!(helps(PauseReason::Escalation), both);
    let unknown =
        ShownPause { reason: Stored::from("of_tomorrow".to_owned()), until: None, note: None };
    assert_eq!(unknown.helps(&nick), resume);
}

/// R0-52: the status names every reason of a pause, and its end in the reader's time zone.
#[test]
fn a_pause_says_why_and_until_when() {
    let pause = |reason: PauseReason, until: Option<&str>, note: Option<&str>| ShownPause {
        reason: reason.into(),
        until: until.map(str::to_owned),
        note: note.map(str::to_owned),
    };
    let nine = Some("2026-11-26T09:00:00.000Z");
    for (pause, told) in [
        (pause(PauseReason::Operator, None, None), "paused"),
        (pause(PauseReason::Operator, nine, None), "paused until 2026-11-26 11:00"),
        (pause(PauseReason::Question, None, None), "paused: nobody answered its question"),
        (
            pause(PauseReason::Escalation, None, Some("the same call 4 times")),
            "held until `resume` or `abort`: it was escalated: the same call 4 times",
        ),
        (pause(PauseReason::Schedule, nine, None), "asleep until 2026-11-26 11:00"),
        (pause(PauseReason::Budget, None, None), "held: its budget is spent"),
        (
            pause(PauseReason::RateLimit, nine, None),
            "waiting until 2026-11-26 11:00 for its provider's quota",
        ),
        (
            pause(PauseReason::Fleet, None, None),
            "held: the limit of the whole installation is reached",
        ),
    ] {
        let paused = Situation { paused: true, pauses: &[pause], ..situation(State::Paused) };
        assert_eq!(paused.describe(), told);
    }
    let two = [pause(PauseReason::Operator, None, None), pause(PauseReason::Schedule, nine, None)];
    let paused = Situation { paused: true, pauses: &two, ..situation(State::Paused) };
    assert_eq!(paused.describe(), "paused; asleep until 2026-11-26 11:00");
}

/// If `resume` does not end the hold, the reply says what holds the agent, until when, and what helps.
#[test]
fn what_resume_does_not_end_is_told_with_what_does() {
    let pause = |reason: PauseReason, until: Option<&str>, note: Option<&str>| ShownPause {
        reason: reason.into(),
        until: until.map(str::to_owned),
        note: note.map(str::to_owned),
    };
    let night = Some("2026-11-27T00:00:00.000Z");
    let budget = pause(PauseReason::Budget, night, Some("the budget of oak-ada, 21 of 10 tokens"));
    let told = still_held("oak-ada", Continue::Resume, std::slice::from_ref(&budget), &EAST);
    let expected = "oak-ada is still held until 2026-11-27 02:00: its budget is spent: the budget of \
                    oak-ada, 21 of 10 tokens. `resume` does not end this: raise it with `gangline budget \
                    raise`, or wait until then";
    assert_eq!(told.as_deref(), Some(expected));
    let fleet = pause(PauseReason::Fleet, None, None);
    let all = [pause(PauseReason::Operator, None, None), budget, fleet];
    let told = still_held("oak-ada", Continue::Resume, &all, &EAST).unwrap();
    assert!(told.contains("10 tokens; held: the limit of the whole installation"), "{told}");
    assert!(told.ends_with("until then; `gangline budget release` ends it"), "{told}");
    assert_eq!(still_held("oak-ada", Continue::Resume, &all[..1], &EAST), None);
    let escalation = pause(PauseReason::Escalation, None, None);
    let two = [escalation, pause(PauseReason::Operator, None, None)];
    let told = still_held("oak-ada", Continue::Abort, &two, &EAST);
    let expected = "oak-ada is still paused. `abort` does not end this: `resume` ends it";
    assert_eq!(told.as_deref(), Some(expected));
    assert_eq!(still_held("oak-ada", Continue::Abort, &two[..1], &EAST), None);
}

#[test]
fn an_idle_agent_says_which_question_waits() {
    let asks = Situation { question: Some(QuestionNumber(7)), ..situation(State::Idle) };
    assert_eq!(asks.describe(), "waits for an answer to question 7");
}

/// A start that takes long says why: what the backend says meanwhile counts before the last failure.
#[test]
fn a_start_says_why_it_takes_long() {
    let starting = situation(State::Starting);
    assert_eq!(starting.describe(), "starting");
    let again = Situation { last_failure: Some("not ready in time"), ..starting };
    assert_eq!(again.describe(), "starts again after a failure: not ready in time");
    let said = Situation { start_notice: Some("its screen ends with: wait"), ..again };
    assert_eq!(said.describe(), "starting: its screen ends with: wait");
}

/// R0-52: what it works on, for whom, since when; or what it waits for.
#[test]
fn the_sentence_says_what_it_works_on_or_waits_for() {
    let asked = task("@oak-ada do the tests pass?\nsecond line");
    let private = Task { place: "alice".into(), ..task("x") };
    let by_itself = Task { message: None, sender: String::new(), place: String::new(), ..task("") };
    let busy = Situation { task: Some(&asked), ..situation(State::Thinking) };
    let bash = tool("Bash", "npm test");
    let unknown = tool("Bash", "");
    let table = [
        (situation(State::Idle), "waits to be asked"),
        (
            Situation { rate_limited: true, waiting: 1, ..situation(State::Idle) },
            "waits because of the model's rate limit; it will try again, 1 message waits",
        ),
        (
            Situation { waiting: 2, paused: true, ..situation(State::Paused) },
            "paused, 2 messages wait",
        ),
        (busy, "works on m42 for alice in #general since 23:33 (`@oak-ada do the tests pass?`)"),
        (Situation { task: Some(&private), ..busy }, "works on m42 for alice since 23:33 (`x`)"),
        (Situation { task: Some(&by_itself), ..busy }, "works since 23:33"),
        (
            Situation { tool: Some(&bash), state: State::RunningTool, waiting: 1, ..busy },
            "runs Bash `npm test` since 23:35, on m42 for alice in #general since 23:33 \
             (`@oak-ada do the tests pass?`), 1 message waits",
        ),
        (
            Situation { tool: Some(&unknown), state: State::RunningTool, ..busy },
            "runs Bash since 23:35, on m42 for alice in #general since 23:33 (`@oak-ada do \
             the tests pass?`)",
        ),
        (
            Situation { approval: Some((ApprovalNumber(12), "Bash")), tool: Some(&bash), ..busy },
            "waits for approval 12 (Bash), on m42 for alice in #general since 23:33 (`@oak-ada do \
             the tests pass?`)",
        ),
        (
            Situation { paused: true, degraded: true, waiting: 9, ..busy },
            "works on m42 for alice in #general since 23:33 (`@oak-ada do the tests pass?`), the \
             store cannot write, paused, 9 messages wait",
        ),
        (
            Situation { login: Some("run `claude` once"), ..situation(State::NeedsLogin) },
            "waits for a login: run `claude` once",
        ),
        (situation(State::Down), "its daemon is not running"),
        (situation(State::Parked), "parked until `resume`: its backend died too often"),
        (
            Situation { parked: Some("cannot start x"), waiting: 1, ..situation(State::Parked) },
            "parked until `resume`: cannot start x, 1 message waits",
        ),
    ];
    for (situation, sentence) in table {
        assert_eq!(situation.describe(), sentence);
    }
}

#[test]
fn a_description_is_one_short_line_whatever_it_quotes() {
    let long = "ä\u{1b}[2J".repeat(500);
    let endless =
        Task { sender: long.clone(), place: format!("#{long}"), text: long.clone(), ..task("") };
    let endless_tool = tool(&long, &long);
    for state in State::ALL {
        let told = Situation {
            task: Some(&endless),
            tool: Some(&endless_tool),
            approval: Some((ApprovalNumber(i64::MAX), &long)),
            question: None,
            login: Some(&long),
            parked: Some(&long),
            waiting: u64::MAX,
            rate_limited: true,
            effort: Some(&long),
            paused: true,
            pauses: &[],
            degraded: true,
            state: *state,
            last_failure: Some(&long),
            start_notice: None,
            zone: &EAST,
        };
        let text = told.describe();
        assert!(text.chars().count() <= DESCRIPTION_MAX, "{text}");
        assert!(!text.contains(char::is_control), "{text:?}");
    }
    assert_eq!(cut("  one two\nthree", 100), "one two");
    assert_eq!(cut("one two", 5), "one…");
}
