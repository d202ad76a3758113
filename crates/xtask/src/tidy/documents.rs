//! Documents that name parts of the code keep in step with it: every crate is in the map of
//! `ARCHITECTURE.md` and in the table of `AGENTS.md`, every type in `GLOSSARY.md` is in the code.

#[cfg(test)]
mod tests;

use super::{Finding, Repo};

const MAPS: [&str; 2] = ["ARCHITECTURE.md", "AGENTS.md"];
const GLOSSARY: &str = "GLOSSARY.md";

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in MAPS {
        let Some(text) = repo.files.text(path) else {
            findings.push(Finding::fail(path, 0, "is missing"));
            continue;
        };
        for package in repo.metadata.members() {
            if !text.contains(&format!("`{}`", package.name)) {
                findings.push(Finding::fail(path, 0, format!("does not name {}", package.name)));
            }
        }
    }
    let Some(text) = repo.files.text(GLOSSARY) else {
        findings.push(Finding::fail(GLOSSARY, 0, "is missing"));
        return findings;
    };
    for (index, line) in text.lines().enumerate() {
        let word_cell = line.strip_prefix('|').and_then(|rest| rest.split('|').next());
        let types = word_cell.into_iter().flat_map(|cell| cell.split('`').skip(1).step_by(2));
        for name in types.filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase())) {
            if !is_in_code(repo, name) {
                let text = format!("the code has no {name}");
                findings.push(Finding::fail(GLOSSARY, index + 1, text));
            }
        }
    }
    findings
}

/// Whether the product's sources have this identifier. Definitions may come from a macro, so any
/// occurrence counts.
fn is_in_code(repo: &Repo, name: &str) -> bool {
    repo.files.rust().filter(|file| !file.path.starts_with("crates/xtask/")).any(|file| {
        file.text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
    })
}
