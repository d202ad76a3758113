//! Banned crates and the licence allow-list, from the dependency graph itself; and `deny.toml`,
//! which says the same to `cargo deny`, must not say anything else.

mod spdx;
#[cfg(test)]
mod tests;

use super::{Finding, Repo};

/// Crates that must not be anywhere in the graph: the one TLS stack here is rustls with ring.
const BANNED: &[&str] = &["openssl-sys", "native-tls", "aws-lc-sys", "aws-lc-rs"];

/// Licences that need no further thought. A dual licence passes if one of its sides is here.
const ALLOWED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "Unlicense",
    "0BSD",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &repo.metadata.packages {
        let called = format!("{} {}", package.name, package.version);
        if BANNED.contains(&package.name.as_str()) {
            findings.push(Finding::fail("Cargo.lock", 0, format!("{called} is banned")));
        }
        let problem = match package.license.as_deref() {
            None => Some("names no licence".to_owned()),
            Some(text) => match spdx::allowed(text, ALLOWED) {
                Ok(true) => None,
                Ok(false) => Some(format!("has the licence {text}, which is not allowed")),
                Err(error) => Some(format!("has a licence that cannot be read: {text}: {error}")),
            },
        };
        if let Some(problem) = problem {
            findings.push(Finding::fail("Cargo.lock", 0, format!("{called} {problem}")));
        }
    }
    findings.extend(deny_file(repo));
    findings
}

/// Compares both lists with those of `deny.toml`.
fn deny_file(repo: &Repo) -> Vec<Finding> {
    let path = "deny.toml";
    let Some(text) = repo.files.text(path) else {
        return vec![Finding::fail(path, 0, "is missing")];
    };
    let mut findings = Vec::new();
    let lists = [
        ("licence", ALLOWED, strings(text, "licenses", "allow", None)),
        ("ban", BANNED, strings(text, "bans", "deny", Some("crate"))),
    ];
    for (what, here, there) in lists {
        for name in here.iter().filter(|name| !there.iter().any(|other| other == *name)) {
            findings.push(Finding::fail(path, 0, format!("lacks the {what} {name} of tidy")));
        }
        for name in there.iter().filter(|name| !here.contains(&name.as_str())) {
            findings.push(Finding::fail(path, 0, format!("has the {what} {name}, tidy has not")));
        }
    }
    findings
}

/// The strings of `key = [ … ]` in `[section]`; of tables in that array, those under `field`.
fn strings(text: &str, section: &str, key: &str, field: Option<&str>) -> Vec<String> {
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'))
        .skip_while(|line| *line != format!("[{section}]"))
        .skip(1)
        .take_while(|line| !(line.starts_with('[') && line.ends_with(']') && line.len() > 2))
        .skip_while(|line| !line.starts_with(&format!("{key} = [")));
    let mut found = Vec::new();
    for line in lines.by_ref() {
        let line = line.strip_prefix(key).unwrap_or(line);
        let wanted = match field {
            None => line,
            Some(field) => match line.split_once(&format!("{field} = ")) {
                Some((_, rest)) => rest.split(',').next().unwrap_or(rest),
                None => "",
            },
        };
        found.extend(wanted.split('"').skip(1).step_by(2).map(str::to_owned));
        if line.ends_with(']') {
            break;
        }
    }
    found
}
