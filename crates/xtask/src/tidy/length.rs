//! Files stay short: from 500 lines on a file is named, at 800 the check fails.

#[cfg(test)]
mod tests;

use super::{Finding, Repo};

const WARN: usize = 500;
const FAIL: usize = 800;

/// Files that may be longer, each with the reason.
const LONGER: &[(&str, &str)] = &[];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    check_with(repo, LONGER)
}

fn check_with(repo: &Repo, longer: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.rust() {
        let lines = file.text.lines().count();
        let excused = longer.iter().any(|(path, _)| *path == file.path);
        if excused && lines <= FAIL {
            let text = "is short enough now: take it off the list of longer files";
            findings.push(Finding::fail(file.path, 0, text));
        } else if lines > FAIL && !excused {
            let text = format!("has {lines} lines, the limit is {FAIL}");
            findings.push(Finding::fail(file.path, 0, text));
        } else if lines > WARN && !excused {
            let text = format!("has {lines} lines, more than {WARN}: split it");
            findings.push(Finding::warn(file.path, 0, text));
        }
    }
    for (path, _) in longer.iter().filter(|(path, _)| !repo.files.contains(path)) {
        findings.push(Finding::fail(path, 0, "is on the list of longer files but is not there"));
    }
    findings
}
