//! What is known of programs fits to the backends, and a release is judged by it.

use super::*;
use crate::registry::{built_in, dialect::DIALECTS};

fn judge(backend: &str, version: Version, on_screen: bool) -> Judged {
    let entry = built_in(backend).unwrap();
    entry.known.judge(version, tested(entry), on_screen)
}

#[test]
fn releases_are_judged_as_a_table() {
    let claude = Version(2, 1, 330);
    for (backend, version, wanted) in [
        ("claude", claude, Judged::Tested),
        ("claude", Version(2, 1, 331), Judged::Newer(claude)),
        ("claude", Version(2, 1, 270), Judged::Older(claude)),
        ("claude", Version(2, 1, 269), Judged::TooOld(CLAUDE_OLDEST)),
        ("claude", Version(2, 1, 83), Judged::TooOld(CLAUDE_OLDEST)),
        ("codex", Version(0, 168, 9), Judged::TooOld(CODEX_OLDEST)),
        ("opencode", Version(0, 0, 1), Judged::Older(Version(1, 18, 33))),
        ("kiro", Version(1, 24, 9), Judged::TooOld(Version(1, 25, 0))),
        ("kiro", Version(2, 0, 0), Judged::Untried),
        ("gemini", Version(0, 61, 0), Judged::Tested),
    ] {
        assert_eq!(judge(backend, version, false), wanted, "{backend} {version}");
    }
    let npm = judge("claude", Version(2, 1, 197), false);
    assert!(matches!(npm, Judged::Bad(why) if why.contains("npm")), "{npm:?}");
}

#[test]
fn from_a_terminal_other_releases_are_bad() {
    let blank = judge("claude", Version(2, 1, 83), true);
    assert!(matches!(blank, Judged::Bad(why) if why.contains("screen")), "{blank:?}");
    assert_eq!(judge("claude", Version(2, 1, 197), true), Judged::Older(Version(2, 1, 330)));
    assert_eq!(judge("claude", Version(1, 0, 0), true), Judged::Older(Version(2, 1, 330)));
}

#[test]
fn a_program_is_known_by_whichever_path_it_is_started() {
    let entry = |name: &str| built_in(name).unwrap();
    for (backend, program, install) in [
        ("acp", "/opt/bin/opencode", "npm install -g opencode-ai@1.18.33"),
        ("acp", "codex-acp", "npm install -g @agentclientprotocol/codex-acp@2.6.0"),
        ("acp", "mine", ""),
        ("tmux", "claude", "npm install -g @anthropic-ai/claude-code@2.1.330"),
        ("claude", "/opt/claude-next", "npm install -g @anthropic-ai/claude-code@2.1.330"),
    ] {
        assert_eq!(known(entry(backend), program).install, install, "{backend} {program}");
    }
    let old = known(entry("acp"), "codex-acp").judge(Version(0, 16, 0), None, false);
    assert!(matches!(old, Judged::Bad(_)), "{old:?}");
}

/// What is said of a program to install is the release that the tests drive.
#[test]
fn the_releases_that_are_named_are_those_of_the_tests() {
    for dialect in DIALECTS.iter().filter(|it| !it.tested.is_empty()) {
        let entry = built_in(dialect.backend).unwrap();
        let version = tested(entry).unwrap();
        let tail = format!("@{version}");
        assert!(entry.known.install.ends_with(&tail), "{}", entry.known.install);
        assert!(entry.known.oldest.is_none_or(|oldest| oldest <= version), "{}", entry.name);
        assert_eq!(entry.program, Some(dialect.program));
    }
}
