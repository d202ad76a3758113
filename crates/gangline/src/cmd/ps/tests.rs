//! Tests of what `ps` says of a hub.

use serde_json::json;

use super::*;

#[test]
fn what_starts_a_hub_again_is_named() {
    let told = hub(None, "gangline demo", UnixMicros(0));
    assert_eq!(told, "no hub runs: `gangline demo` starts one");
}

/// What a hub of an older version has written has no socket in it.
#[test]
fn a_hub_without_a_socket_is_said_to_need_a_restart() {
    let mut text = json!({
        "pid": 1, "version": "0.0.9", "program": "/g", "config": "/c", "irc": "127.0.0.1:6667",
        "since": "2026-11-22T10:00:00Z", "keeps_agents": true, "leaves_agents": false,
        "supervised": false, "draining": false, "ready": true, "loads": 0, "refused": null,
        "options": [], "kept": {}
    });
    let about: About = serde_json::from_value(text.clone()).unwrap();
    let told = older(&about, true).unwrap();
    assert!(told.contains("0.0.9") && told.contains("`gangline restart --hub`"), "{told}");
    assert_eq!(older(&about, false), None, "its agents are on a server elsewhere");
    text["socket"] = "/s/irc.sock".into();
    let about: About = serde_json::from_value(text).unwrap();
    assert_eq!(older(&about, true), None);
}
