use super::check;
use crate::metadata::Metadata;
use crate::tidy::{Repo, Tree, said};

fn findings(architecture: &str, glossary: &str) -> Vec<String> {
    let json = serde_json::json!({
        "packages": [{"id": "a", "name": "gangline-core", "license": "MIT"}],
        "workspace_members": ["a"],
    });
    let metadata: Metadata = serde_json::from_value(json).unwrap();
    let files = Tree::of(&[
        ("AGENTS.md", "| `gangline-core` | rules |"),
        ("ARCHITECTURE.md", architecture),
        ("GLOSSARY.md", glossary),
        ("crates/gangline-core/src/id.rs", "pub struct TurnId(i64);"),
    ]);
    said(&check(&Repo { files, metadata }))
}

#[test]
fn documents_in_step_with_the_code_pass() {
    assert_eq!(findings("**`gangline-core`**: x", "| **turn**, `TurnId` | as `m42` |"), [""; 0]);
}

#[test]
fn a_crate_that_the_map_lacks_is_named() {
    assert_eq!(
        findings("gangline-core without its mark", ""),
        ["ARCHITECTURE.md: fail: does not name gangline-core"]
    );
}

#[test]
fn a_type_that_is_gone_is_named() {
    assert_eq!(
        findings("`gangline-core`", "# Glossary\n| **turn**, `Turn` | x |"),
        ["GLOSSARY.md:2: fail: the code has no Turn"]
    );
}
