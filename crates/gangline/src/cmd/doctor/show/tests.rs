//! How the lines look, broken for a terminal and not.

use anstream::adapter::strip_str;

use super::*;

fn group() -> Group {
    Group {
        about: About::Agent,
        name: Some("oak-ada".to_owned()),
        title: "Agent oak-ada: claude".to_owned(),
        checks: vec![
            Check::ok("backend", "claude (built in)"),
            Check::warn("login", "/home/ada/.claude/.credentials.json is not there").remedy(
                "log in by `CLAUDE_CONFIG_DIR=/home/ada/accounts/work claude`, then `/login`",
            ),
            Check::fail("mcp git", "\u{1b}[31m`nosuch`\nis not on the PATH")
                .detail("4 | x\u{7}\n  | ^"),
            Check::note("directory", "-"),
        ],
    }
}

#[test]
fn lines_are_broken_between_words_and_never_in_a_command() {
    let text = text(&[group()], Some(60));
    insta::assert_snapshot!(strip_str(&text).to_string(), @r#"
    Agent oak-ada: claude
      ok    backend    claude (built in)
      warn  login      /home/ada/.claude/.credentials.json is
                       not there
                       -> log in by
                          `CLAUDE_CONFIG_DIR=/home/ada/accounts/work claude`,
                          then `/login`
      fail  mcp git    <U+001B>[31m`nosuch` ⏎ is not on the PATH
            4 | x<U+0007>
              | ^
      note  directory  -
    "#);
}

#[test]
fn without_a_terminal_nothing_is_broken() {
    let text = strip_str(&text(&[group()], None)).to_string();
    assert!(text.contains("-> log in by `CLAUDE_CONFIG_DIR=/home/ada/accounts/work claude`, then"));
    assert_eq!(text.lines().count(), 9, "{text}");
    assert!(!text.contains('\u{7}'), "{text}");
}

#[test]
fn a_terminal_of_no_width_still_shows_all() {
    let wide = strip_str(&text(&[group()], None)).to_string();
    let narrow = strip_str(&text(&[group()], Some(1))).to_string();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&wide), words(&narrow));
}

#[test]
fn what_was_found_is_counted() {
    let counts = Counts::of(&[group()]);
    assert_eq!(counts, Counts { ok: 1, note: 1, warn: 1, fail: 1 });
    assert_eq!(sum(counts), "1 failure, 1 warning, 1 note, 1 ok");
    assert_eq!(sum(Counts { ok: 3, fail: 2, ..Counts::default() }), "2 failures, 3 ok");
}

/// The form for programs is lasting: a change raises `version`.
#[test]
fn the_wire_is_flat() {
    let checks = [Check::fail("hooks", "gone").remedy("mend it")];
    let group = Group { checks: checks.into(), ..group() };
    let json = serde_json::to_value(wire(&[group])).unwrap();
    assert_eq!(
        json,
        serde_json::json!([{
            "about": "agent", "name": "oak-ada", "check": "hooks", "result": "fail",
            "found": "gone", "do": ["mend it"],
        }])
    );
}
