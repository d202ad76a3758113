use gangline_api::status::{Activity, WaitingFor};
use gangline_core::{MessageId, TurnId};
use gangline_os::clock::{local_minute, parse_rfc3339};

use super::*;

fn view(phase: PhaseName) -> View {
    View {
        phase,
        turn: None,
        messages: Vec::new(),
        approvals: 0,
        waiting: 0,
        paused: false,
        pauses: Vec::new(),
        draining: false,
        rate_limited: false,
        degraded: false,
        needs_login: false,
    }
}

fn status(showing: &Showing, around: Around) -> AgentStatus {
    showing.clone().status((&"oak-ada".parse().unwrap(), Epoch(3)), around)
}

/// R0-52, C28: `activity` tells the truth, idleness included.
#[test]
fn the_status_says_what_is_so() {
    let mut showing = Showing::new(view(PhaseName::Idle));
    showing.session = Some("s1".into());
    let idle = status(&showing, Around::default());
    assert_eq!((idle.activity, idle.description.as_str()), (Activity::Idle, "waits to be asked"));
    assert_eq!((idle.running, idle.circuit_open, idle.epoch), (true, false, Some(Epoch(3))));
    assert_eq!((idle.pid, idle.session), (Some(std::process::id()), Some("s1".into())));

    showing.view.phase = PhaseName::Taking;
    showing.view.turn = Some(TurnId { epoch: Epoch(3), number: 1 });
    showing.note.task = Some(Task {
        message: Some(MessageId(42)),
        sender: "alice".into(),
        place: "#general".into(),
        since: "2026-11-21T21:33:48.123Z".into(),
        text: "do the tests pass?".into(),
    });
    showing.tool = Some(RunningTool {
        name: "Bash".into(),
        what: "npm test".into(),
        since: "2026-11-21T21:35:00.000Z".into(),
    });
    let busy = status(&showing, Around { pending: 2, ..Around::default() });
    assert_eq!(
        (busy.activity, busy.phase.as_str(), busy.pending),
        (Activity::Working, "working", 2)
    );
    let local = |at: &str| local_minute(parse_rfc3339(at).unwrap()).1;
    let sentence = format!(
        "runs Bash `npm test` since {}, on m42 for alice in #general since {} (`do the tests \
         pass?`), 2 messages wait",
        local("2026-11-21T21:35:00.000Z"),
        local("2026-11-21T21:33:48.123Z")
    );
    assert_eq!(busy.description, sentence);
    assert_eq!((busy.tool, busy.task), (showing.tool, showing.note.task));
}

/// R0-53, R2-43.
#[test]
fn troubles_are_told() {
    let mut showing = Showing::new(view(PhaseName::Parked));
    let parked = status(&showing, Around::default());
    assert_eq!((parked.running, parked.circuit_open), (false, true));
    showing.note.parked = Some("no such file".into());
    let parked = status(&showing, Around::default());
    assert_eq!(parked.waiting_for, [WaitingFor::Resume { why: "no such file".into() }]);
    assert_eq!(parked.description, "parked until `resume`: no such file");
    showing.note.parked = None;
    showing.view = View { needs_login: true, degraded: true, ..view(PhaseName::Idle) };
    showing.note.needs_login = Some("run `claude` once".into());
    let told =
        status(&showing, Around { unread: [("#general".into(), 7)].into(), ..Around::default() });
    assert_eq!(told.waiting_for, [WaitingFor::Login { hint: "run `claude` once".into() }]);
    assert!(told.needs_login && told.degraded);
    assert_eq!(told.unread["#general"], 7);
    let sentence = "waits for a login: run `claude` once, the store cannot write";
    assert_eq!(told.description, sentence);
}
