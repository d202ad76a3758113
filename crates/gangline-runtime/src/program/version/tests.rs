use super::*;

#[test]
fn the_line_of_a_program_holds_its_version() {
    assert_eq!(Version::in_line("2.1.330 (Claude Code)"), Some(Version(2, 1, 330)));
    assert_eq!(Version::in_line("2.2.0-beta.1 (Claude Code)"), Some(Version(2, 2, 0)));
    assert_eq!(Version::in_line("codex-cli 0.169.0"), Some(Version(0, 169, 0)));
    assert_eq!(Version::in_line("v1.18.33"), Some(Version(1, 18, 33)));
    assert_eq!(Version::in_line("GitHub Copilot CLI 1.0.102."), Some(Version(1, 0, 102)));
    assert_eq!(Version::in_line("copilot (1.0.102)"), Some(Version(1, 0, 102)));
    for line in ["", "hello", "2.1", "Claude Code", "a.b.c"] {
        assert_eq!(Version::in_line(line), None, "{line}");
    }
    assert!(Version(2, 1, 270) > Version(2, 1, 197) && Version(2, 2, 0) > Version(2, 1, 999));
    assert_eq!(Version(0, 169, 0).to_string(), "0.169.0");
}
