//! The folder's instructions, read by Gangline for programs whose switch leaves them out too (R1-05).

use gangline_harness::instructions::{self, Places};

use crate::{Purpose, StartOptions};

/// Returns the system prompt with what the project's files say behind it, and what was left out of
/// them. What the user's own files say, the program reads itself. It blocks its thread.
#[must_use]
pub fn with_instructions(options: &StartOptions) -> (String, Vec<String>) {
    let prompt = options.system_prompt.clone();
    if options.purpose == Purpose::Judge {
        return (prompt, Vec::new());
    }
    let closed = options.resolved_bounds().closed;
    let places = Places { cwd: options.workdir.clone(), home: None, config: None, closed };
    let mut found = instructions::gather(&places);
    // Skills are the program's own affair.
    found.notices.retain(|notice| !notice.contains("SKILL.md") && !notice.contains("skill"));
    let between = if prompt.is_empty() || found.text.is_empty() { "" } else { "\n\n" };
    (format!("{prompt}{between}{}", found.text), found.notices)
}
