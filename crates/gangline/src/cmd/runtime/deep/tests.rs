//! Versions are found in what the programs really say.

use super::version_in;

#[test]
fn a_version_is_found_in_the_words_of_each_program() {
    let told = [
        ("2.1.330 (Claude Code)", Some("2.1.330")),
        ("codex-cli 0.169.0", Some("0.169.0")),
        ("v1.18.33", Some("1.18.33")),
        ("GitHub Copilot CLI 1.0.102.", None),
        ("no version at all 1.2", None),
    ];
    for (line, version) in told {
        assert_eq!(version_in(line).as_deref(), version, "{line}");
    }
}
