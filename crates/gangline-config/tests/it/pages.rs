//! The pages for users say the numbers that the program has.

use gangline_config::CLAUDE_MODEL;
use gangline_core::{
    agent::WATERMARK_TOKENS,
    cause::TURNS_PER_CAUSE,
    watch::{Limits, Verdict},
};

fn says(page: &str, parts: &[String]) {
    // Lines are broken anywhere.
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(page.contains(part.as_str()), "`{part}` is not in the page");
    }
}

/// R1-55: the words of a verdict, and what the supervisor does without further settings.
#[test]
fn the_page_of_the_supervisor_is_what_the_program_does() {
    let page = include_str!("../../../../docs/supervisor.md");
    let Limits { window_size, eval_interval, escalation_threshold } = Limits::default();
    says(
        page,
        &[
            format!("`window_size` ({window_size})"),
            format!("`eval_interval` ({eval_interval})"),
            "(`escalation_threshold`) is an escalation".to_owned(),
            format!("`{CLAUDE_MODEL}`"),
        ],
    );
    assert_eq!(escalation_threshold.get(), 3, "the page says: the third");
    for verdict in Verdict::ALL {
        let row = format!("\n| `{verdict}");
        assert_eq!(page.matches(&row).count(), 1, "{verdict}");
    }
}

/// R1-55: limits that are named without their key.
#[test]
fn the_pages_of_contexts_and_of_behaviour_have_the_programs_limits() {
    let text = "server: {name: oak}\nagents:\n  - nick: oak-ada\n    directory: /w\n";
    let config = gangline_config::parse(text, "agents.yaml").unwrap();
    says(
        include_str!("../../../../docs/context-management.md"),
        &[format!("watermark is {WATERMARK_TOKENS} tokens"), "three quarters".to_owned()],
    );
    let attempts = match config.agents[0].max_attempts {
        5 => "five",
        other => panic!("{other} attempts are not what the page says"),
    };
    says(
        include_str!("../../../../docs/overview.md"),
        &[
            format!("at most {attempts} times in all (`max_attempts`)"),
            format!("a limit of turns over all agents ({TURNS_PER_CAUSE})"),
        ],
    );
}
