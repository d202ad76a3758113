use anstream::adapter::strip_str;
use gangline_agent::log::{asked, is_shown, record as event};
use gangline_core::ApprovalNumber;
use jiff::tz::TimeZone;

use super::{Depth, list};
use crate::view::tests::{TAKEN, happened, life};

#[test]
fn logs_tell_each_event_on_a_line() {
    let mut events = life().events;
    events.push(happened(
        8,
        "turn_ended",
        r#"{"turn":"t3.7","outcome":"failed","reason":"refused\nby\u0007 it","messages":["m42"]}"#,
    ));
    let events: Vec<_> = events.iter().map(event).collect();
    insta::assert_snapshot!(strip_str(&list(&events, Depth::All, &TimeZone::UTC)).to_string(), @r#"
    2026-11-21 12:00:01.000 oak-ada t3.7   turn        started for m42, attempt 2
    2026-11-21 12:00:01.000 oak-ada t3.7   tool        Bash {"command":"ls"}
    2026-11-21 12:00:06.000 oak-ada t3.7   result      Bash: a ⏎ b
    2026-11-21 12:00:07.000 oak-ada t3.7   of_tomorrow {"x":1}
    2026-11-21 12:00:08.000 oak-ada t3.7   turn        ended: failed (refused ⏎ by<U+0007> it)
    "#);
}

/// What people ask `logs` for: who asked what, what was done, and what went wrong. The rest is there
/// with `--all`.
#[test]
fn logs_show_the_work_and_leave_out_the_programs_own_steps() {
    let hook = |event: &str, data: &str| {
        format!(
            r#"{{"event":"{event}","runtime":"native","workdir":"/w","actor":"oak-ada",
                "timestamp":"2026-11-21T12:00:00Z","data":{data}}}"#
        )
    };
    let all = [
        ("start_step", r#"{"step":"runner","state":"done"}"#.to_owned(), false),
        ("phase", r#"{"from":"starting","to":"idle"}"#.to_owned(), false),
        ("session_start", hook("SessionStart", r#"{"message":""}"#), true),
        ("turn_started", r#"{"turn":"t3.7","messages":["m1"],"attempt":1}"#.to_owned(), false),
        ("turn_started", r#"{"turn":"t3.8","messages":["m1"],"attempt":2}"#.to_owned(), true),
        ("turn_started", r#"{"turn":"t3.9","messages":[],"attempt":1}"#.to_owned(), true),
        (
            "on_message",
            hook("OnMessage", r#"{"message":"run\nls","id":"m1","sender":"ori"}"#),
            true,
        ),
        (
            "assistant",
            r#"{"type":"assistant","model":"x","content":[{"type":"thinking","thinking":"hm"}]}"#
                .to_owned(),
            false,
        ),
        (
            "alert",
            r#"{"event":"agent_complete","severity":"info","text":"[COMPLETE] x"}"#.to_owned(),
            false,
        ),
        (
            "alert",
            r#"{"event":"agent_question","severity":"info","text":"[QUESTION] x"}"#.to_owned(),
            true,
        ),
        ("on_error", hook("OnError", r#"{"message":"broken"}"#), false),
        ("notice", r#"{"code":"login","text":"no login"}"#.to_owned(), true),
        ("session_stop", hook("SessionStop", r#"{"message":"ended with code 7"}"#), true),
        ("of_tomorrow", "{}".to_owned(), true),
    ];
    let records: Vec<_> =
        all.iter().map(|(kind, payload, _)| event(&happened(1, kind, payload))).collect();
    let shown: Vec<_> = records.iter().map(|it| is_shown(it, Depth::Work)).collect();
    let expect: Vec<_> = all.iter().map(|(.., shown)| *shown).collect();
    assert_eq!(shown, expect);
    insta::assert_snapshot!(strip_str(&list(&records, Depth::Work, &TimeZone::UTC)).to_string(), @r#"
    2026-11-21 12:00:01.000 oak-ada t3.7   start       native takes prompts
    2026-11-21 12:00:01.000 oak-ada t3.7   turn        started for m1, attempt 2
    2026-11-21 12:00:01.000 oak-ada t3.7   turn        started by the backend itself
    2026-11-21 12:00:01.000 oak-ada t3.7   message     m1 from ori: run ⏎ ls
    2026-11-21 12:00:01.000 oak-ada t3.7   alert       agent_question: [QUESTION] x
    2026-11-21 12:00:01.000 oak-ada t3.7   notice      login: no login
    2026-11-21 12:00:01.000 oak-ada t3.7   end         native has ended: ended with code 7
    2026-11-21 12:00:01.000 oak-ada t3.7   of_tomorrow {}
    "#);
    let everything = list(&records, Depth::All, &TimeZone::UTC);
    // Of a failure an alert or a notice tells.
    assert_eq!(everything.lines().count(), all.len() - 1, "{everything}");
}

#[test]
fn a_damaged_payload_is_shown_as_it_is() {
    let text = list(
        &[event(&happened(1, "notice", "[no json")), event(&happened(1, "notice", TAKEN))],
        Depth::Work,
        &TimeZone::UTC,
    );
    let text = strip_str(&text).to_string();
    assert!(text.contains("notice      \"[no json\"\n"), "{text}");
    assert!(text.contains(r#"notice      {"turn""#) || text.contains(r#""t3.7""#), "{text}");
}

/// What does not fit, here or where it was recorded, says where all of it is.
#[test]
fn a_cut_approval_points_to_all_of_it() {
    let long = "x".repeat(200);
    for (summary, points) in
        [("ls", false), (long.as_str(), true), ("ls …[20 more]… -l", true), ("ls\n-l", false)]
    {
        let told = asked(ApprovalNumber(7), ("Bash", summary));
        let pointer = "; `gangline approvals 7` shows all of it";
        assert_eq!(told.ends_with(pointer), points, "{told}");
    }
}
