use std::collections::BTreeMap;

use super::{AgentListing, Desired, Keeping, Standing};
use crate::status::{Activity, AgentStatus};

fn status(phase: &str, pid: Option<u32>) -> AgentStatus {
    AgentStatus {
        nick: "oak-ada".parse().unwrap(),
        running: pid.is_some() && phase != "parked",
        paused: false,
        circuit_open: phase == "parked",
        turn_count: 4,
        last_activation: None,
        activity: Activity::Idle,
        description: "waits to be asked".to_owned(),
        phase: phase.to_owned().into(),
        epoch: None,
        pid,
        session: None,
        tool: None,
        task: None,
        pending: 0,
        waiting_for: Vec::new(),
        needs_login: false,
        rate_limited: false,
        pauses: Vec::new(),
        escalated: false,
        degraded: false,
        compacting: false,
        context_tokens: None,
        context_window: None,
        unread: BTreeMap::new(),
        channels: Vec::new(),
        version: Some("0.1.0".to_owned()),
        model: None,
        effort: None,
        whispers: 0,
        runtime: None,
        configured_runtime: None,
        permissions: None,
        unasked: None,
        spent: Vec::new(),
        supervisor: None,
    }
}

/// C28: one word for each of what `ps` must tell apart.
#[test]
fn each_state_has_its_word() {
    let up = |phase: &str| status(phase, Some(7));
    let check = |status: &AgentStatus, desired, keeping, expect: &str| {
        let word = Standing::of(status, desired, keeping).word();
        assert_eq!(word, expect, "{} {desired:?} {keeping:?}", status.phase);
    };
    use Desired::{Down, Up};
    use Keeping::{GivenUp, Quiet, Starts};
    check(&status("down", None), Down, Quiet, "stopped");
    check(&status("down", None), Down, GivenUp, "stopped");
    check(&up("working"), Down, Quiet, "stopping");
    check(&status("down", None), Up, Quiet, "down");
    check(&status("down", None), Up, Starts, "restarting");
    check(&status("down", None), Up, GivenUp, "failed");
    check(&status("down", None), Up, Keeping::Off, "off");
    check(&up("idle"), Up, Keeping::Off, "idle");
    check(&AgentStatus { paused: true, ..up("down") }, Up, Quiet, "paused");
    check(&status("parked", None), Up, Starts, "parked");
    check(&up("galloping"), Up, Quiet, "unknown");
    check(&up("parked"), Up, Quiet, "parked");
    check(&up("starting"), Up, Quiet, "starting");
    check(&up("idle"), Up, Quiet, "idle");
    check(&up("working"), Up, Quiet, "working");
    check(&up("interrupting"), Up, Quiet, "interrupting");
    check(&AgentStatus { paused: true, ..up("idle") }, Up, Quiet, "paused");
    check(&AgentStatus { paused: true, ..up("working") }, Up, Quiet, "working");
    check(&AgentStatus { needs_login: true, ..up("idle") }, Up, Quiet, "needs login");
    let limited = AgentStatus { rate_limited: true, ..up("idle") };
    check(&limited, Up, Quiet, "idle");
    check(&AgentStatus { pending: 1, ..limited }, Up, Quiet, "rate limited");
    check(&AgentStatus { degraded: true, ..up("idle") }, Up, Quiet, "degraded");
    check(&AgentStatus { compacting: true, ..up("working") }, Up, Quiet, "compacting");
}

/// The listing is the status with more beside it: what reads the one reads the other.
#[test]
fn a_listing_is_read_as_a_status_as_well() {
    let mut status = status("idle", Some(7));
    status.channels = vec!["#general".parse().unwrap()];
    let listing = AgentListing {
        status: status.clone(),
        standing: Standing::NeedsLogin,
        desired: Desired::Up,
        stopped_by: None,
        turn: None,
        turn_started_at: None,
        started_at: Some("2026-11-21T12:00:00.000000Z".to_owned()),
        replaced: true,
        outdated: false,
        failed_because: None,
    };
    let json = serde_json::to_value(&listing).unwrap();
    let words = ["standing", "desired", "started_at", "replaced", "channels", "nick"];
    let told: Vec<_> = words.iter().map(|word| json[word].to_string()).collect();
    let expect = [
        "\"needs_login\"",
        "\"up\"",
        "\"2026-11-21T12:00:00.000000Z\"",
        "true",
        "[\"#general\"]",
        "\"oak-ada\"",
    ];
    assert_eq!(told, expect);
    assert_eq!(serde_json::from_value::<AgentStatus>(json.clone()).unwrap(), status);
    assert_eq!(serde_json::from_value::<AgentListing>(json).unwrap(), listing);
}
