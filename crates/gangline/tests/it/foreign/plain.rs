//! Servers that offer nothing: every line is confirmed by the PONG to a PING behind it.

use super::*;

/// A mention in the room and one in private are answered, each line once, each confirmed; the
/// trace says so and doubts nothing.
fn answers_and_confirms(kind: Kind, has_ids: bool) {
    let stage = stage();
    let _server = kind.start(&stage);
    let mut alice = person(&stage, "alice");
    let mut hub = up(&stage, &mut alice);
    alice.say("#general", "@fx-ada say exactly kumquat");
    alice.hears(ADA, "#general", "kumquat");
    alice.say(ADA, "say exactly in private");
    alice.hears(ADA, "alice", "in private");
    let open = "SELECT count(*) FROM outbox WHERE state <> 'confirmed'";
    eventually("every line confirmed", || (stage.query(open) == ["0"]).then_some(()));
    for id in ["m1", "m2"] {
        let trace = stage.world.run(&["trace", id, "--json"]).json();
        assert_eq!(trace["message"]["state"], "answered", "{trace:#}");
        let sends = trace["sends"].as_array().unwrap();
        assert_eq!(sends.len(), 1, "{trace:#}");
        assert_eq!(sends[0]["state"], "confirmed", "{trace:#}");
        assert_eq!(sends[0]["may_be_doubled"], false, "{trace:#}");
        assert_eq!(sends[0]["msgid"].is_string(), has_ids, "{trace:#}");
    }
    let text = stage.world.run(&["trace", "m1"]).ok();
    assert!(text.contains("confirmed") && !text.contains("doubled"), "{text}");
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
    assert_eq!(said_by(&alice, ADA, "#general"), ["kumquat"]);
    assert_eq!(said_by(&alice, ADA, "alice"), ["in private"]);
}

/// R1-01, R1-07: a mention on a server without any extension.
#[test]
fn ngircd_without_extensions_confirms_by_pong() {
    if !Kind::Ngircd.is_missing("plain::ngircd") {
        answers_and_confirms(Kind::Ngircd, false);
    }
}

/// R1-01, R1-07.
#[test]
fn inspircd_without_modules_confirms_by_pong() {
    if !Kind::Inspircd.is_missing("plain::inspircd") {
        answers_and_confirms(Kind::Inspircd, false);
    }
}

/// R1-01, R1-07: with all extensions the echo confirms, and brings the line's id.
#[test]
fn inspircd_with_extensions_confirms_by_echo() {
    if !Kind::Ircv3.is_missing("plain::inspircd_with_extensions") {
        answers_and_confirms(Kind::Ircv3, true);
    }
}
