//! Each source begins with a `//!` line that says what it is. Tests need none: their names say it.

#[cfg(test)]
mod tests;

use super::{Finding, Repo};

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    repo.files
        .rust()
        .filter(|file| !is_test(file.path) && !is_generated(file.text))
        .filter(|file| {
            let first = file.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            first.strip_prefix("//!").is_none_or(|rest| rest.trim().is_empty())
        })
        .map(|file| Finding::fail(file.path, 1, "does not begin with a //! line"))
        .collect()
}

/// A sibling file of unit tests, or a module of an integration test below `main.rs`.
fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/") && !path.ends_with("/main.rs")
}

fn is_generated(text: &str) -> bool {
    text.lines().take(3).any(|line| line.contains("@generated"))
}
