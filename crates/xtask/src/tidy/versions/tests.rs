use super::check;
use crate::tidy::{repo_of, said};

fn findings(manifest: &str) -> Vec<String> {
    said(&check(&repo_of(&[("crates/x/Cargo.toml", manifest)])))
}

const HEAD: &str = "[package]\nname = \"x\"\nversion.workspace = true\n[lints]\nworkspace = true\n";

#[test]
fn dependencies_of_the_workspace_pass() {
    let tail = "[dependencies]\ntokio.workspace = true\n\
                serde = { workspace = true, features = [\"rc\"] }\n\
                [features]\ndefault = [\"path\"]\n";
    assert_eq!(findings(&format!("{HEAD}{tail}")), [""; 0]);
}

#[test]
fn every_way_to_write_a_source_is_found() {
    let cases = [
        "[dependencies]\ntokio = \"1\"\n",
        "[dependencies]\ntokio = { version = \"1\", features = [] }\n",
        "[dev-dependencies]\ntokio.version = \"1\"\n",
        "[dependencies]\ntokio = { path = \"../tokio\" }\n",
        "[target.'cfg(unix)'.dependencies]\ntokio = { git = \"x\" }\n",
    ];
    for tail in cases {
        let line = HEAD.lines().count() + 2;
        assert_eq!(
            findings(&format!("{HEAD}{tail}")),
            [format!(
                "crates/x/Cargo.toml:{line}: fail: tokio is not taken from [workspace.dependencies]"
            )],
            "{tail}"
        );
    }
    let table = format!("{HEAD}[dependencies.tokio]\nversion = \"1\"\n");
    assert_eq!(findings(&table).len(), 1);
}

#[test]
fn a_crate_with_its_own_version_or_without_the_lints_is_found() {
    assert_eq!(
        findings("[package]\nversion = \"0.1.0\"\n"),
        [
            "crates/x/Cargo.toml:2: fail: the version of the workspace is taken with \
             version.workspace = true",
            "crates/x/Cargo.toml: fail: [lints] workspace = true is missing"
        ]
    );
}
