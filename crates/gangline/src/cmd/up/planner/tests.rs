//! What a running hub takes over.

use super::*;

#[test]
fn sections_that_only_a_new_hub_uses_are_named() {
    let check = |new: &str, expected: &[&str]| {
        let read = |more: &str| {
            let text = format!("agents: []\nserver: {{name: oak{more}\n");
            gangline_config::parse(&text, "agents.yaml").unwrap()
        };
        assert_eq!(unapplied(&read("}"), &read(new)), expected, "{new}");
    };
    check("}", &[]);
    check(", guests: read}", &[]);
    check(", port: 7000}", &["server"]);
    check("}\nhttp: {enabled: true}\nnetwork: {embedded: false}", &["network", "http"]);
    check("}\nwebhooks: {irc_channel: null}\nsleep_start: '1:00'\nsleep_end: '2:00'", &[]);
}
