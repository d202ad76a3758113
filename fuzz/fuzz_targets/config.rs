//! Any text as `agents.yaml`: it is read or refused, and what is said about it is fit for a
//! terminal.
#![no_main]

use std::fmt::Display;


use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match gangline_config::parse(text, "agents.yaml") {
        Ok(read) => {
            read.warnings.iter().for_each(fit_for_a_terminal);
            for agent in &read.agents {
                assert_eq!(read.agent(&agent.nick), Some(agent), "two agents of one nick");
            }
        }
        Err(error) => {
            assert!(!error.problems().is_empty(), "refused without a reason");
            fit_for_a_terminal(&error);
        }
    }
});

fn fit_for_a_terminal(message: &impl Display) {
    let shown = message.to_string();
    let control = shown.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(control, None, "{shown:?}");
}
