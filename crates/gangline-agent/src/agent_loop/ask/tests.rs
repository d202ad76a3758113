use gangline_core::block::Block;
use gangline_runtime::{AssistantMessage, RuntimeEvent};
use serde_json::json;

use super::*;
use crate::{
    agent_loop::tests::{Rig, row},
    journal::Record,
};

/// A decision counts for the next attempt only if its arguments are the same, hidden ones too.
#[test]
fn arguments_that_differ_in_what_is_hidden_are_not_the_same() {
    let redactor = Redactor::default();
    let ask = |command: &str| {
        let (request, tool) = ("r1".to_owned(), "Bash".to_owned());
        let ask = ApprovalAsk {
            request,
            tool,
            input: json!({ "command": command }),
            presumed: false,
            files: Vec::new(),
        };
        Ask::of(ask, "/srv", &redactor)
    };
    let (one, other) = (ask("deploy --token=abc123def"), ask("deploy --token=zzz999yyy"));
    assert_eq!(one.ask.input, json!({ "command": "deploy --token=‹9 characters›" }));
    assert_eq!(one.ask.input, other.ask.input, "the same of both is hidden");
    assert_ne!(one.args_hash, other.args_hash);
    assert_eq!(one.args_hash, ask("deploy --token=abc123def").args_hash);
}

/// C5: what was only presumed is decided anew each time, whatever was decided about the same call.
#[test]
fn a_presumed_call_has_no_decision_from_before() {
    let hash = |request: &str, presumed: bool| {
        let (request, tool) = (request.to_owned(), "Bash".to_owned());
        let input = json!({"command": "ls"});
        args_hash(&ApprovalAsk { request, tool, input, presumed, files: Vec::new() })
    };
    assert_eq!(hash("a", false), hash("b", false));
    assert_ne!(hash("a", true), hash("a", false));
    assert_ne!(hash("a", true), hash("b", true));
}

/// Everything that is written down of an approval: the approval itself, its event and its alert.
fn asks(target: &str, tier: Tier, command: &str) -> (OpenApproval, String) {
    let mut rig = Rig::working_on(row(1, ("ori", tier), target), false);
    rig.agent_loop.journal.take_waiting();
    let (turn, request) = (rig.turn(), "r1".to_owned());
    let (tool, input) = ("Bash".to_owned(), json!({ "command": command }));
    let ask =
        ApprovalAsk { request: request.clone(), tool, input, presumed: false, files: Vec::new() };
    rig.hears(RuntimeEvent::ApprovalAsked { turn, ask });
    let records = rig.agent_loop.journal.take_waiting();
    let open = records.into_iter().find_map(|record| match record {
        Record::Single(single) => match *single {
            Single::Approval(open) => Some(*open),
            _ => None,
        },
        Record::Entry(_) => None,
    });
    rig.agent_loop.opened(ApprovalNumber(5), (turn, request), None);
    let told =
        rig.agent_loop.journal.take_waiting().into_iter().filter_map(|record| match record {
            Record::Entry(Entry::Events(events)) => {
                Some(events.iter().map(|it| it.payload.to_string()).collect())
            }
            Record::Entry(Entry::Alert(alert)) => Some(alert.text.to_string()),
            Record::Entry(_) | Record::Single(_) => None,
        });
    let told: Vec<String> = told.collect();
    assert_eq!(told.len(), 2, "{told:?}");
    (open.unwrap(), told.join("\n"))
}

/// Announced = stored = run: nothing masks it again on its way.
#[test]
fn what_is_announced_and_stored_is_what_runs() {
    for command in [
        "git ls-remote https://ci:x;touch${IFS}pwn;@localhost:1/team/repo.git",
        ": -----BEGIN PRIVATE KEY-----; id > PROOF; : -----END PRIVATE KEY-----",
        "TOKEN=abcdef1234 curl -H 'Authorization: Bearer 0123456789abcdefXYZ' h",
    ] {
        let (open, told) = asks("#lab", Tier::Member, command);
        assert_eq!(open.audience, Audience::Everybody);
        assert_eq!(open.summary.as_str(), command);
        assert_eq!(open.detail.as_str(), json!({ "command": command }).to_string());
        let announce = open.announce.unwrap();
        let line = announce.send.lines[0].text.to_string();
        assert!(line.contains(&format!("`{command}`")), "{line}");
        assert_eq!(announce.extent, Extent::Whole);
        assert_eq!(told.matches(command).count(), 2, "{told}");
    }
    let command = "login --password=hunter2hunter2";
    let shown = "login --password=hunt…‹14 characters›";
    let (open, told) = asks("#lab", Tier::Member, command);
    let announce = open.announce.unwrap();
    assert_eq!(announce.extent, Extent::Cut, "nobody has seen what is hidden");
    for text in [announce.send.lines[0].text.as_str(), open.detail.as_str(), &told] {
        assert!(text.contains(shown) && !text.contains("hunter2"), "{text}");
    }
}

#[test]
fn what_does_not_parse_is_announced_to_an_owner_in_private_alone() {
    let command = "echo \"--token=abcdef1234";
    for (target, tier, sees) in
        [("#lab", Tier::Owner, false), ("ori", Tier::Member, false), ("ori", Tier::Owner, true)]
    {
        let (open, told) = asks(target, tier, command);
        assert_eq!(open.audience, Audience::Owners);
        assert_eq!(open.detail.as_str(), json!({ "command": command }).to_string());
        let announce = open.announce.unwrap();
        assert_eq!(announce.extent, Extent::Cut);
        let line = announce.send.lines[0].text.as_str();
        assert_eq!(line.contains(command), sees, "{target}: {line}");
        for text in [open.summary.as_str(), &told] {
            assert!(!text.contains("abcdef1234"), "{text}");
        }
    }
}

/// What ran is shown and recorded as it would have been announced, by all who tell of it.
#[test]
fn what_runs_is_recorded_as_it_would_be_announced() {
    let plain = "git ls-remote https://ci:x;touch${IFS}pwn;@localhost:1/team/repo.git";
    let broken = "echo \"--token=abcdef1234";
    for (command, what) in [(plain, plain), (broken, "")] {
        let mut rig = Rig::working_on(row(1, ("ori", Tier::Owner), "#lab"), false);
        rig.agent_loop.journal.take_waiting();
        let (turn, input) = (rig.turn(), json!({ "command": command }));
        let call =
            Block::ToolUse { id: "c1".to_owned(), name: "Bash".to_owned(), input: input.clone() };
        let text = Block::Text { text: "token: hunter22".to_owned() };
        let message = AssistantMessage { model: "m".to_owned(), content: vec![text, call] };
        rig.hears(RuntimeEvent::Message { turn, message });
        let tool = rig.agent_loop.tool().unwrap();
        assert_eq!((tool.name.as_str(), tool.what.as_str()), ("Bash", what));
        rig.hears(RuntimeEvent::Unasked { turn, tool: "Bash".to_owned(), input });
        let records = rig.agent_loop.journal.take_waiting();
        let said = records.iter().flat_map(|record| match record {
            Record::Entry(Entry::Events(events)) => {
                events.iter().map(|it| it.payload.to_string()).collect()
            }
            Record::Entry(Entry::Alert(alert)) => vec![alert.text.to_string()],
            Record::Entry(Entry::Send(send)) => {
                send.lines.iter().map(|it| it.text.to_string()).collect()
            }
            Record::Entry(_) | Record::Single(_) => Vec::new(),
        });
        let said: Vec<String> = said.collect();
        let with = |text: &str| said.iter().filter(|it| it.contains(text)).count();
        let written = serde_json::to_string(command).unwrap();
        assert_eq!(with(&written), 1, "its record has all of it: {said:?}");
        assert_eq!(with("token: [masked]"), 1, "{said:?}");
        // The record, the notice, the line and the alert.
        assert_eq!(
            with("ran Bash `git ls-remote"),
            if what.is_empty() { 0 } else { 3 },
            "{said:?}"
        );
        assert_eq!(with("ran Bash unasked"), if what.is_empty() { 3 } else { 0 }, "{said:?}");
    }
}
