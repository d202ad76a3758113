//! Machines' names, and what becomes of them.

use gangline_config::parse;

use super::{check, of_machine};

#[test]
fn a_machines_name_becomes_a_servers() {
    for (machine, server) in [
        ("oak", "oak"),
        ("Oak.example.org\n", "oak"),
        ("Adas-MacBook-Pro.local", "adas_macbook_pro"),
        ("ip-10-0-0-12", "ip_10_0_0_12"),
        ("3f2a9b", "m3f2a9b"),
        ("-x--y-", "x_y"),
        ("a-very-long-name-of-a-machine", "a_very_long_name_of"),
        ("", "spark"),
        ("...", "spark"),
        ("ß☃", "spark"),
        ("\u{1b}[31mred", "m31mred"),
    ] {
        assert_eq!(of_machine(machine), server, "{machine:?}");
    }
}

/// What is made here, and what is let through, the configuration takes.
#[test]
fn the_configuration_agrees_about_names() {
    let takes = |name: &str| {
        let text = format!("server: {{name: {}}}\n", serde_json::to_string(name).unwrap());
        parse(&text, "agents.yaml").is_ok()
    };
    let long = "x".repeat(33);
    for name in ["oak", "o", "oak-1_b", &long[..32], &long, "", "Oak", "1oak", "-oak", "o k", "o\n"]
    {
        assert_eq!(check(name).is_ok(), takes(name), "{name:?}");
        assert!(takes(&of_machine(name)), "{name:?}");
    }
}
