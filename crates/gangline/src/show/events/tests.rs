use anstream::adapter::strip_str;
use gangline_core::ApprovalNumber;
use jiff::tz::TimeZone;

use super::{asked, list};
use crate::view::{
    event,
    tests::{TAKEN, happened, life},
};

#[test]
fn logs_tell_each_event_on_a_line() {
    let mut events = life().events;
    events.push(happened(
        8,
        "turn_ended",
        r#"{"turn":"t3.7","outcome":"failed","reason":"refused\nby\u0007 it","messages":["m42"]}"#,
    ));
    let events: Vec<_> = events.iter().map(event).collect();
    insta::assert_snapshot!(strip_str(&list(&events, &TimeZone::UTC)).to_string(), @r#"
    2026-11-21 12:00:01.000 oak-ada t3.7   turn        started for m42, attempt 2
    2026-11-21 12:00:01.000 oak-ada t3.7   tool        Bash {"command":"ls"}
    2026-11-21 12:00:06.000 oak-ada t3.7   result      Bash: a ⏎ b
    2026-11-21 12:00:07.000 oak-ada t3.7   of_tomorrow {"x":1}
    2026-11-21 12:00:08.000 oak-ada t3.7   turn        ended: failed (refused ⏎ by<U+0007> it)
    "#);
}

#[test]
fn a_damaged_payload_is_shown_as_it_is() {
    let text = list(
        &[event(&happened(1, "notice", "[no json")), event(&happened(1, "notice", TAKEN))],
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
