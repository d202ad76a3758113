//! Logging: to standard error, at the level of `GANGLINE_LOG`.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::output;

/// The variable that holds the levels, such as `debug` or `warn,gangline_agent=trace`.
pub(crate) const VARIABLE: &str = "GANGLINE_LOG";

/// How much a command logs where nobody says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    /// What happens: it stays.
    Talkative,
    /// Warnings.
    Usual,
    /// Errors alone: its own lines tell what is wrong, and what it tries on purpose is no warning.
    Errors,
}

/// Begins to log.
pub(crate) fn begin(voice: Voice) {
    // A person in front of a terminal is told in plain lines what happens.
    let in_front = std::io::stderr().is_terminal();
    let usual = match voice {
        Voice::Talkative if in_front => "warn",
        Voice::Talkative => "warn,gangline=info",
        Voice::Usual => "warn",
        Voice::Errors => "error",
    };
    let filter = match std::env::var(VARIABLE) {
        Ok(asked) if !asked.trim().is_empty() => EnvFilter::try_new(&asked).unwrap_or_else(|why| {
            output::note(&format!(
                "warning: {VARIABLE} is not understood ({why}): {usual} is used"
            ));
            EnvFilter::new(usual)
        }),
        Ok(_) | Err(_) => EnvFilter::new(usual),
    };
    let coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let logging = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(coloured)
        // A terminal that was closed is no reason to panic.
        .log_internal_errors(false)
        .try_init();
    if let Err(error) = logging {
        output::note(&format!("warning: cannot log: {error}"));
    }
}
