//! `CHANGELOG.md` keeps a place for what the next release changes.

#[cfg(test)]
mod tests;

use super::{Finding, Repo};

const PATH: &str = "CHANGELOG.md";
const GROUPS: [&str; 5] = ["### Added", "### Changed", "### Fixed", "### Removed", "### Security"];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let Some(text) = repo.files.text(PATH) else {
        return vec![Finding::fail(PATH, 0, "is missing")];
    };
    let mut findings = Vec::new();
    let first = text.lines().find(|line| line.starts_with("## "));
    if first != Some("## Unreleased") {
        findings.push(Finding::fail(PATH, 0, "its first section is not ## Unreleased"));
    }
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("### ") && !GROUPS.contains(&line.trim_end()) {
            let text = format!("{line} is none of {}", GROUPS.join(", "));
            findings.push(Finding::fail(PATH, index + 1, text));
        }
    }
    findings
}
