//! The dependency table: which crate may use which of ours, and what some may not use at all.
//! Crates are there to keep parts apart, so the table is checked, not believed.

#[cfg(test)]
mod tests;

use super::{Finding, Repo};

/// One crate of the workspace.
struct Row {
    name: &'static str,
    /// Ours that it may use, dev-dependencies aside.
    may_use: &'static [&'static str],
    /// Foreign crates that it must not know, dev-dependencies aside.
    must_not_know: &'static [&'static str],
}

const IO: &[&str] =
    &["tokio", "tokio-util", "rusqlite", "nix", "rustix", "axum", "reqwest", "tracing-subscriber"];
const HTTP: &[&str] = &["axum", "reqwest"];
const HTTP_AND_SQL: &[&str] = &["axum", "reqwest", "rusqlite"];
const PRODUCT: &[&str] = &[
    "gangline-alerts",
    "gangline-agent",
    "gangline-api",
    "gangline-config",
    "gangline-conformance",
    "gangline-core",
    "gangline-harness",
    "gangline-http",
    "gangline-hub",
    "gangline-irc",
    "gangline-mcp",
    "gangline-os",
    "gangline-relay",
    "gangline-runtime",
    "gangline-standin",
    "gangline-store",
    "gangline-tui",
];

/// The table. A new row, or a new name in a row, needs a note in `docs/design/`.
const TABLE: &[Row] = &[
    Row { name: "gangline-core", may_use: &[], must_not_know: IO },
    Row { name: "gangline-os", may_use: &[], must_not_know: HTTP_AND_SQL },
    Row {
        name: "gangline-irc",
        may_use: &["gangline-core", "gangline-os"],
        must_not_know: HTTP_AND_SQL,
    },
    Row { name: "gangline-store", may_use: &["gangline-core", "gangline-os"], must_not_know: HTTP },
    Row { name: "gangline-mcp", may_use: &[], must_not_know: IO },
    Row { name: "gangline-harness", may_use: &["gangline-os"], must_not_know: &["rusqlite"] },
    Row {
        name: "gangline-runtime",
        may_use: &["gangline-core", "gangline-os", "gangline-harness", "gangline-mcp"],
        must_not_know: HTTP_AND_SQL,
    },
    Row {
        name: "gangline-conformance",
        may_use: &["gangline-core", "gangline-os", "gangline-runtime"],
        must_not_know: HTTP_AND_SQL,
    },
    Row { name: "gangline-config", may_use: &["gangline-core"], must_not_know: IO },
    Row { name: "gangline-api", may_use: &["gangline-core"], must_not_know: IO },
    Row {
        name: "gangline-relay",
        may_use: &["gangline-core", "gangline-os", "gangline-api"],
        must_not_know: &["rusqlite"],
    },
    Row {
        name: "gangline-alerts",
        may_use: &["gangline-core", "gangline-os", "gangline-config", "gangline-store"],
        must_not_know: &["rusqlite", "axum"],
    },
    Row {
        name: "gangline-agent",
        may_use: &[
            "gangline-alerts",
            "gangline-core",
            "gangline-os",
            "gangline-irc",
            "gangline-store",
            "gangline-mcp",
            "gangline-runtime",
            "gangline-api",
            "gangline-config",
            "gangline-relay",
        ],
        must_not_know: HTTP_AND_SQL,
    },
    Row {
        name: "gangline-http",
        may_use: &[
            "gangline-core",
            "gangline-os",
            "gangline-store",
            "gangline-mcp",
            "gangline-api",
        ],
        must_not_know: &["reqwest", "rusqlite"],
    },
    Row {
        name: "gangline-hub",
        may_use: &[
            "gangline-alerts",
            "gangline-core",
            "gangline-os",
            "gangline-irc",
            "gangline-store",
            "gangline-api",
            "gangline-config",
            "gangline-http",
        ],
        must_not_know: &["reqwest"],
    },
    Row { name: "gangline-standin", may_use: &["gangline-os"], must_not_know: &["rusqlite"] },
    Row {
        name: "gangline-tui",
        may_use: &["gangline-api", "gangline-core"],
        must_not_know: &["rusqlite"],
    },
    Row { name: "gangline", may_use: PRODUCT, must_not_know: &["rusqlite"] },
    Row { name: "gangline-testkit", may_use: &["gangline-os"], must_not_know: &[] },
    Row { name: "xtask", may_use: &[], must_not_know: &[] },
];

/// Ours that any crate may use in its tests: the far side and what drives it.
const FOR_TESTS: &[&str] = &[
    "gangline-conformance",
    "gangline-hub",
    "gangline-os",
    "gangline-standin",
    "gangline-testkit",
];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let ours: Vec<_> = repo.metadata.members().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in repo.metadata.members() {
        let path = format!("crates/{}/Cargo.toml", package.name);
        let Some(row) = TABLE.iter().find(|row| row.name == package.name) else {
            findings.push(Finding::fail(&path, 0, "this crate is not in the dependency table"));
            continue;
        };
        for dependency in &package.dependencies {
            let name = dependency.name.as_str();
            let for_tests = dependency.kind.as_deref() == Some("dev");
            let allowed = row.may_use.contains(&name)
                || (for_tests && (FOR_TESTS.contains(&name) || name == package.name));
            if ours.contains(&name) && !allowed {
                let text = format!("{} must not use {name}", package.name);
                findings.push(Finding::fail(&path, 0, text));
            }
            if !for_tests && row.must_not_know.contains(&name) {
                let text = format!("{} must not know {name}", package.name);
                findings.push(Finding::fail(&path, 0, text));
            }
        }
    }
    findings
}
