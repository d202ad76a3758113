//! Names that look like ours, or like somebody's: `0wner`, `system1`, `oak_a` beside `oak-a`.

use crate::lookalike::folded;

/// Names by which people would take a line for ours, or for that of a person in charge.
const OURS: &[&str] = &[
    "answer",
    "approval",
    "gangline",
    "human",
    "operator",
    "owner",
    "question",
    "reminder",
    "supervisor",
    "system",
];

/// Returns how a name looks at a glance: without case, punctuation and invisible characters, and with
/// one letter for those that look alike.
#[must_use]
pub fn look(name: &str) -> String {
    folded(name).filter(|c| c.is_alphanumeric()).collect()
}

/// Returns whether a name looks like one of ours, with or without a number behind it.
#[must_use]
pub fn is_like_ours(name: &str) -> bool {
    let is_last = |c: char| c.is_ascii_digit() || !c.is_alphanumeric();
    let looks = [look(name), look(name.trim_end_matches(is_last))];
    OURS.iter().any(|ours| looks.contains(&look(ours)))
}

/// Returns whether two names look the same.
#[must_use]
pub fn is_like(name: &str, other: &str) -> bool {
    look(name) == look(other)
}

/// Returns whether a name looks like an agent's of a server: the server's name, then a mark.
#[must_use]
pub fn is_like_agent_of(server: &str, name: &str) -> bool {
    let server = look(server);
    let mut marks = name.char_indices().filter(|(_, c)| !c.is_ascii_alphanumeric());
    marks.any(|(at, c)| look(&name[..at]) == server && at + c.len_utf8() < name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_like_ours_are_known() {
        for name in [
            "owner",
            "0wner",
            "Owner.",
            "OWNER2",
            "o-w-n-e-r",
            "operator",
            "0perator",
            "supervisor",
            "Supervis0r",
            "reminder",
            "system1",
            "gangline1",
            "gangIine",
            "gang_line",
            "answer-1",
            "human",
            "approval",
            "question7",
        ] {
            assert!(is_like_ours(name), "{name}");
        }
        for name in ["ori", "owners-portal", "matrix", "system-tests", "ops", "1", "-", "gang"] {
            assert!(!is_like_ours(name), "{name}");
        }
    }

    #[test]
    fn names_that_look_like_an_agents_are_known() {
        for name in ["oak-a", "oak_a", "0ak-a", "OAK|a", "oak.a", "o_ak-a"] {
            assert!(is_like_agent_of("oak", name), "{name}");
        }
        for name in ["oak", "oak-", "oaka", "oaks-a", "ada", "a-oak"] {
            assert!(!is_like_agent_of("oak", name), "{name}");
        }
        assert!(
            is_like("oak_a", "oak-a") && is_like("0ak-a", "OAK-A") && !is_like("oak-b", "oak-a")
        );
    }
}
