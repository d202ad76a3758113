use super::check;
use crate::tidy::{repo_of, said};

fn findings(text: &str) -> Vec<String> {
    said(&check(&repo_of(&[("CHANGELOG.md", text)])))
}

#[test]
fn a_changelog_with_an_unreleased_section_passes() {
    assert_eq!(findings("# Changes\n\n## Unreleased\n\n### Added\n\n- x\n\n## 0.1.0\n"), [""; 0]);
}

#[test]
fn the_unreleased_section_must_be_there_and_first() {
    let what = "CHANGELOG.md: fail: its first section is not ## Unreleased";
    assert_eq!(findings("# Changes\n"), [what]);
    assert_eq!(findings("# Changes\n## 0.1.0\n## Unreleased\n"), [what]);
    assert_eq!(said(&check(&repo_of(&[]))), ["CHANGELOG.md: fail: is missing"]);
}

#[test]
fn an_invented_group_is_found() {
    assert_eq!(findings("## Unreleased\n### Stuff\n").len(), 1);
}
