//! Words that must not stand in this repository: paths of one machine, hosts that a build gets its
//! packages from (the lock file aside), names of tools that are not part of it.

#[cfg(test)]
mod tests;

use super::{Finding, Repo};

/// Absolute folders of somebody's machine; found as whole path components only. Each is put
/// together from pieces, so that this file passes its own rule.
const FOLDERS: &[&str] = &[concat!("/wo", "rk"), concat!("/ro", "ot"), concat!("/tmp/pl", "an")];

/// Texts that must not occur at all.
const TEXTS: &[&str] = &[
    concat!("farm", "-studio"),
    concat!("farm", "-bench"),
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("crates.io", "-index"),
    concat!("registry.npmjs", ".org"),
    concat!("deb.debian", ".org"),
    concat!("files.pythonhosted", ".org"),
    concat!("proxy.golang", ".org"),
];

/// Lock files name where packages come from, as their tools want it.
const LOCKS: &[&str] = &["Cargo.lock", "package-lock.json"];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.iter() {
        let name = file.path.rsplit('/').next().unwrap_or(file.path);
        if LOCKS.contains(&name) {
            continue;
        }
        for (index, line) in file.text.lines().enumerate() {
            let folders = FOLDERS.iter().filter(|folder| names_folder(line, folder));
            let texts = TEXTS.iter().filter(|text| line.contains(**text));
            for word in folders.chain(texts) {
                let text = format!("{word} has no place in this repository");
                findings.push(Finding::fail(file.path, index + 1, text));
            }
        }
    }
    findings
}

/// Whether the line has the folder as an absolute path or the beginning of one.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + folder.len()..].chars().next();
        let part_of_path = |c: char| c.is_alphanumeric() || "._-/~$}".contains(c);
        let part_of_name = |c: char| c.is_alphanumeric() || "_-".contains(c);
        !before.is_some_and(part_of_path) && !after.is_some_and(part_of_name)
    })
}
