//! The adapter for agents of the Agent Client Protocol meets the contract of
//! [`gangline_runtime::Runtime`]: with real programs, and with a script in the place of others.

mod cline;
mod copilot;
mod hostile;
mod opencode;
mod others;
mod rig;

use std::collections::BTreeMap;

use gangline_runtime::{Runtime, acp::Acp, tmux::Tmux};
use serde_json::json;

/// R0-63, R0-66: what an adapter of any program can do depends on the program that it is given.
#[test]
fn what_any_program_can_do_depends_on_the_program() {
    let command = |words: &[&str]| -> Vec<String> { words.iter().map(|it| (*it).into()).collect() };
    let none = BTreeMap::new();
    let acp = |words: &[&str]| Acp::plain().capabilities(Some(&command(words)), &none).unwrap();
    assert!(!acp(&["mine", "acp"]).compact);
    let usual = Acp::plain().capabilities(None, &none).unwrap();
    assert_eq!(
        acp(&["opencode", "acp"]),
        usual,
        "what the configuration has where it says nothing"
    );
    assert!(acp(&["/usr/local/bin/opencode", "acp"]).compact);
    assert_eq!(acp(&["cline", "--acp"]), Acp::cline().capabilities(None, &none).unwrap());
    let tmux = |words: &[&str]| Tmux::default().capabilities(Some(&command(words)), &none).unwrap();
    let seen = ["bash", "aider", "claude", "mine"].map(|word| {
        let can = tmux(&[word]);
        (can.bare, can.steer)
    });
    assert_eq!(seen, [(true, false), (false, false), (false, true), (false, false)]);
    let screen = BTreeMap::from([("screen".to_owned(), json!({"bare": true, "steer": true}))]);
    let can = Tmux::default().capabilities(Some(&command(&["mine"])), &screen).unwrap();
    assert!(can.bare && can.steer);
}
