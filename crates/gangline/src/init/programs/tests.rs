//! What is made of what programs say.

use gangline_os::process::Exit;

use super::*;

fn said(out: &[&str], code: Option<i32>) -> Said {
    let exit = code.map(|code| Exit { code: Some(code), signal: None });
    Said { out: out.iter().map(|line| (*line).to_owned()).collect(), err: Vec::new(), exit }
}

fn program(name: &str) -> &'static Program {
    PROGRAMS.iter().find(|program| program.name == name).unwrap()
}

#[test]
fn a_version_is_the_first_line_of_a_program_that_ended_well() {
    let claude = program("claude");
    let known = |text: &str| Version::Known(text.to_owned());
    for (said, version) in [
        (said(&["2.1.330 (Claude Code)"], Some(0)), known("2.1.330 (Claude Code)")),
        (said(&["", "  0.44\t\u{1b}[0m "], Some(0)), known("0.44 [0m")),
        (said(&["1.0", "more"], None), known("1.0")),
        (said(&[], Some(0)), Version::Unknown),
        (said(&[], None), Version::Unknown),
        (
            said(&[], Some(127)),
            Version::Broken("`claude --version` ended with code 127".to_owned()),
        ),
        (
            said(&["no such option\nagents:"], Some(2)),
            Version::Broken(
                "`claude --version` ended with code 2: no such option agents:".to_owned(),
            ),
        ),
    ] {
        assert_eq!(judge(claude, &said), version, "{said:?}");
    }
    let long = "x".repeat(500);
    assert_eq!(judge(claude, &self::said(&[&long], Some(0))), known(&long[..60]));
}

#[test]
fn a_program_of_the_same_name_is_told_apart() {
    let judge = |name: &str, line: &str| judge(program(name), &said(&[line], Some(0)));
    let namesake = |line: &str| Version::Namesake(line.to_owned());
    assert_eq!(judge("goose", "goose version: v3.24.0"), namesake("goose version: v3.24.0"));
    assert_eq!(judge("copilot", "copilot version: v1.34.0"), namesake("copilot version: v1.34.0"));
    assert_eq!(judge("goose", "1.9.3"), Version::Known("1.9.3".into()));
    assert_eq!(judge("claude", "goose version"), Version::Known("goose version".into()));
}

#[test]
fn no_program_stands_in_the_table_twice() {
    let names: std::collections::BTreeSet<_> = PROGRAMS.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), PROGRAMS.len());
    for program in PROGRAMS {
        let entry = gangline_runtime::registry::built_in(program.backend).unwrap();
        assert_eq!(entry.program, Some(program.name));
    }
}
