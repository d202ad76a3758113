//! Each text by which people learn of an approval, a change or a decision is one that no agent can say
//! unmarked ([`gangline_core::forged`]).

use std::time::Duration;

use gangline_core::{
    ApprovalNumber, Epoch, Redacted, Target, TurnId,
    approval::{ApprovalState, Audience, Decision, Reach, Unclear},
    forged::looks_like_ours,
};
use gangline_os::clock::UnixMicros;
use gangline_store::{ApprovalRow, ChangeKind, ChangeRow, ChangeState, Stored};

use crate::texts::{self, approvals, changes};

/// Functions that return a piece of a line, or a reply that tells of nothing to decide on.
const PIECES: &[&str] = &["card", "is_question", "no_page", "standing", "unknown"];

const TURN: TurnId = TurnId { epoch: Epoch(1), number: 1 };

fn text(text: &str) -> Redacted {
    Redacted::from_store(text.to_owned())
}

fn approval(state: ApprovalState) -> ApprovalRow {
    ApprovalRow {
        number: ApprovalNumber(5),
        agent: "oak-ada".parse().unwrap(),
        turn: TURN,
        message: None,
        request: String::new(),
        tool: "Bash".to_owned(),
        args_hash: String::new(),
        summary: text("ls"),
        detail: text("{}"),
        audience: Audience::Everybody,
        state,
        decision: None,
        decided_by: None,
        decided_as: Some("ori".to_owned()),
        note: None,
        folder: None,
        said_before: None,
        delivered: false,
        announced_at: None,
        announced_msgid: None,
        opened_at: UnixMicros(0),
        closed_at: None,
    }
}

fn change(state: ChangeState) -> ChangeRow {
    ChangeRow {
        number: ApprovalNumber(5),
        agent: "oak-ada".parse().unwrap(),
        turn: TURN,
        kind: ChangeKind::Spawn,
        subject: "oak-bob".parse().unwrap(),
        commit: None,
        before: None,
        epoch: 0,
        entry: None,
        summary: text("a new agent oak-bob"),
        detail: text("- nick: oak-bob"),
        reason: text(""),
        message: None,
        reply_target: "#lab".to_owned(),
        state,
        decision: None,
        decided_by: None,
        decided_as: Some("ori".to_owned()),
        note: None,
        outcome: None,
        asked_at: UnixMicros(0),
        decided_at: None,
        applying_at: None,
    }
}

fn of_approvals() -> Vec<(&'static str, String)> {
    let (number, agent) = (ApprovalNumber(5), "oak-ada".parse().unwrap());
    let mut lines = Vec::new();
    for why in [Unclear::Elsewhere, Unclear::Cut, Unclear::TooSoon, Unclear::Old] {
        lines.push(("unclear", approvals::unclear("yes", &[number], Decision::Allow, why)));
    }
    let two = [number, ApprovalNumber(6)];
    lines.push(("unclear", approvals::unclear("yes", &two, Decision::Allow, Unclear::Several)));
    lines.push(("not_here", approvals::not_here(number, &agent)));
    lines.push(("owners_only", approvals::owners_only(number, &agent)));
    for target in ["#lab", "ori"].map(|it| it.parse::<Target>().unwrap()) {
        for reach in [Reach::Once, Reach::Always] {
            lines.push(("not_shown", approvals::not_shown(number, reach, &target)));
        }
    }
    for state in ApprovalState::ALL {
        let row = approval(*state);
        lines.push(("of_another", approvals::of_another(&row, Some(Decision::Allow))));
        lines.push(("ended", approvals::ended(&row, Duration::from_secs(60))));
        if !matches!(state, ApprovalState::Open | ApprovalState::Void) {
            lines.push(("closed", approvals::closed(&row)));
        }
    }
    let nothing = Stored::Nothing("it is long".to_owned());
    lines.push(("always", approvals::always(number, &nothing)));
    lines.push(("always", approvals::always(number, &Stored::Rules(Vec::new()))));
    // Its first line is the announcement that it is given.
    let line = "oak-ada wants to run: `ls`. Owner: `@ada yes 5` or `no 5 REASON`".to_owned();
    lines.push(("asked", approvals::asked(line, None).remove(0)));
    let said = approvals::for_next_attempt("approval 5: allowed by ori");
    lines.push(("for_next_attempt", said));
    lines
}

fn of_changes() -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for state in ChangeState::ALL {
        let row = change(*state);
        for target in ["#lab", "ori"] {
            lines.push(("asked", changes::asked(&row, target)));
            lines.push(("waits", changes::waits(&row, target, Duration::from_secs(60))));
        }
        lines.push(("decided", changes::decided(&row)));
        lines.push(("closed", changes::closed(&row)));
        lines.push(("of_another", changes::of_another(&row, Decision::Deny)));
        lines.push(("card", changes::card(&row)[0].clone()));
    }
    lines.push(("no_always", changes::no_always(ApprovalNumber(5))));
    lines.push(("only_owners", changes::only_owners(ApprovalNumber(5))));
    lines
}

#[test]
fn no_agent_can_say_what_tells_of_a_decision_unmarked() {
    for (source, lines) in [
        (include_str!("../approvals.rs"), of_approvals()),
        (include_str!("../changes.rs"), of_changes()),
    ] {
        for (name, line) in &lines {
            assert!(looks_like_ours(line), "{name}: {line}");
        }
        let public = source.replace("pub(crate) fn ", "pub fn ");
        for name in public.split("pub fn ").skip(1) {
            let name = name.split(['(', '<']).next().unwrap();
            let known = PIECES.contains(&name) || lines.iter().any(|(known, _)| *known == name);
            assert!(known, "{name} is new: is it a line of ours?");
        }
    }
    let agent = "oak-ada".parse().unwrap();
    for line in [
        texts::budget_alert(&agent, "the day is spent", "raise it"),
        texts::alert_parked(&agent, 3, "no key"),
        texts::approval_taken_back("5"),
        texts::restarted(("notes.md", "/w"), true),
    ] {
        assert!(looks_like_ours(&line), "{line}");
    }
}
