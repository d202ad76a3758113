use super::check;
use crate::metadata::Metadata;
use crate::tidy::{Repo, Tree, said};

/// A workspace of packages, each with `(name, dependencies as name:kind)`.
fn workspace(packages: &[(&str, &[&str])]) -> Repo {
    let packages: Vec<_> = packages
        .iter()
        .map(|(name, uses)| {
            let uses: Vec<_> = uses
                .iter()
                .map(|entry| match entry.split_once(':') {
                    Some((name, kind)) => serde_json::json!({"name": name, "kind": kind}),
                    None => serde_json::json!({"name": entry, "kind": null}),
                })
                .collect();
            serde_json::json!({"id": name, "name": name, "license": "MIT", "dependencies": uses})
        })
        .collect();
    let members: Vec<_> = packages.iter().map(|package| package["id"].clone()).collect();
    let json = serde_json::json!({"packages": packages, "workspace_members": members});
    let metadata: Metadata = serde_json::from_value(json).unwrap();
    Repo { files: Tree::of(&[]), metadata }
}

#[test]
fn edges_of_the_table_are_accepted() {
    let repo = workspace(&[
        ("gangline-core", &["serde"]),
        ("gangline-os", &["tokio"]),
        ("gangline-store", &["gangline-core", "gangline-os", "rusqlite", "gangline-testkit:dev"]),
        ("gangline-testkit", &["gangline-os"]),
    ]);
    assert_eq!(said(&check(&repo)), [""; 0]);
}

#[test]
fn a_forbidden_edge_is_named() {
    let repo = workspace(&[("gangline-hub", &["gangline-agent"]), ("gangline-agent", &[])]);
    assert_eq!(
        said(&check(&repo)),
        ["crates/gangline-hub/Cargo.toml: fail: gangline-hub must not use gangline-agent"]
    );
}

#[test]
fn tests_may_use_the_testkit_but_not_another_layer() {
    let repo = workspace(&[
        ("gangline-irc", &["gangline-testkit:dev", "gangline-store:dev"]),
        ("gangline-store", &[]),
        ("gangline-testkit", &[]),
    ]);
    assert_eq!(
        said(&check(&repo)),
        ["crates/gangline-irc/Cargo.toml: fail: gangline-irc must not use gangline-store"]
    );
}

#[test]
fn the_core_must_not_know_tokio_even_if_its_tests_may() {
    let repo = workspace(&[("gangline-core", &["tokio", "rusqlite:dev"])]);
    assert_eq!(
        said(&check(&repo)),
        ["crates/gangline-core/Cargo.toml: fail: gangline-core must not know tokio"]
    );
}

#[test]
fn a_crate_without_a_row_is_named() {
    let repo = workspace(&[("gangline-util", &[])]);
    assert_eq!(
        said(&check(&repo)),
        ["crates/gangline-util/Cargo.toml: fail: this crate is not in the dependency table"]
    );
}
