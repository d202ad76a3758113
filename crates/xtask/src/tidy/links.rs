//! Links in Markdown to files of this repository lead to files of this repository, and a link to a
//! heading to a heading that is there. The index of the documentation has a link to every page.

#[cfg(test)]
mod tests;

use super::{Finding, Repo};

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.iter().filter(|file| file.path.ends_with(".md")) {
        for (line, target) in links(file.text) {
            if let Some(problem) = problem(repo, file.path, &target) {
                findings.push(Finding::fail(file.path, line, format!("{target}: {problem}")));
            }
        }
    }
    findings.extend(unlisted(repo));
    findings
}

/// The list of all pages, in reading order.
const INDEX: &str = "docs/README.md";

/// Returns the pages of `docs/` that the index does not list.
fn unlisted(repo: &Repo) -> Vec<Finding> {
    let Some(index) = repo.files.text(INDEX) else { return Vec::new() };
    let listed: Vec<String> =
        links(index).into_iter().filter_map(|(_, target)| resolve(INDEX, &target)).collect();
    let is_page = |path: &str| {
        let name = path.strip_prefix("docs/").filter(|name| !name.contains('/'));
        name.is_some_and(|name| name.ends_with(".md")) && path != INDEX
    };
    let pages = repo.files.iter().map(|file| file.path).filter(|path| is_page(path));
    let missing = pages.filter(|path| !listed.iter().any(|it| it == path));
    let text = |path: &str| format!("does not list {path}: add it where a reader needs it");
    missing.map(|path| Finding::fail(INDEX, 0, text(path))).collect()
}

fn problem(repo: &Repo, from: &str, target: &str) -> Option<&'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let Some(path) = resolve(from, path) else {
        return Some("leads out of the repository");
    };
    if !repo.files.contains(&path) && !repo.files.has_folder(&path) {
        return Some("no such file");
    }
    let text = repo.files.text(&path).unwrap_or_default();
    let there = heading.is_empty()
        || !path.ends_with(".md")
        || text.lines().filter(|line| line.starts_with('#')).any(|line| slug(line) == heading);
    (!there).then_some("no such heading")
}

/// The path from the root, or nothing when it would lie outside.
fn resolve(from: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The anchor that a heading gets where Markdown is shown.
fn slug(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// Targets of inline links with their lines, code left out.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in prose.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            found.push((index + 1, target.to_owned()));
        }
    }
    found
}
