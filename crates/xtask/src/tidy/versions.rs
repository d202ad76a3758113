//! Versions of dependencies stand in the root manifest only, and every crate takes the workspace's
//! lints; so one line changes a version, and no crate has laxer rules than the others.

#[cfg(test)]
mod tests;

use super::{Finding, Repo};

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.iter() {
        if file.path.starts_with("crates/") && file.path.ends_with("/Cargo.toml") {
            manifest(file.path, file.text, &mut findings);
        }
    }
    findings
}

fn manifest(path: &str, text: &str, findings: &mut Vec<Finding>) {
    let mut section = String::new();
    let mut lints = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.trim().clone_into(&mut section);
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        lints |= section == "lints" && key == "workspace" && value == "true";
        let text = if section == "package" && key == "version" {
            "the version of the workspace is taken with version.workspace = true".to_owned()
        } else if is_dependencies(&section) && names_a_source(key, value) {
            let name = key.split('.').next().unwrap_or(key);
            format!("{name} is not taken from [workspace.dependencies]")
        } else {
            continue;
        };
        findings.push(Finding::fail(path, index + 1, text));
    }
    if !lints {
        findings.push(Finding::fail(path, 0, "[lints] workspace = true is missing"));
    }
}

/// `dependencies`, `dev-dependencies`, `target.….dependencies` or a table for one of them.
fn is_dependencies(section: &str) -> bool {
    section.split('.').any(|part| part == "dependencies" || part.ends_with("-dependencies"))
}

/// A version by itself, or a table or key that gives version, path or repository.
fn names_a_source(key: &str, value: &str) -> bool {
    const SOURCES: [&str; 3] = ["version", "path", "git"];
    if SOURCES.contains(&key.rsplit('.').next().unwrap_or(key)) {
        return true;
    }
    if key.ends_with(".workspace") {
        return false;
    }
    let in_table = |source| {
        value
            .split(['{', ','])
            .any(|part| part.split_once('=').is_some_and(|(name, _)| name.trim() == source))
    };
    value.starts_with('"') || (value.starts_with('{') && SOURCES.iter().any(|name| in_table(*name)))
}
