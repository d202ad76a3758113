//! What is made of what programs say.

use gangline_os::exit::Exit;

use super::*;

fn said(out: &[&str], code: Option<i32>) -> Said {
    let exit = code.map(|code| Exit { code: Some(code), signal: None });
    Said { out: out.iter().map(|line| (*line).to_owned()).collect(), err: Vec::new(), exit }
}

fn of(program: &str, namesake: Option<&'static str>) -> Question {
    let args = vec!["--version".to_owned()];
    Question { program: format!("/opt/{program}").into(), args, env: Vec::new(), namesake }
}

#[test]
fn a_version_is_the_first_line_of_a_program_that_ended_well() {
    let claude = of("claude", None);
    let known = |text: &str| Version::Known(text.to_owned());
    for (said, version) in [
        (said(&["2.1.330 (Claude Code)"], Some(0)), known("2.1.330 (Claude Code)")),
        (said(&["", "  0.44\t\u{1b}[0m "], Some(0)), known("0.44 [0m")),
        (said(&["1.0", "more"], None), known("1.0")),
        (said(&[], Some(0)), Version::Unknown),
        (said(&[], None), Version::Late),
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
        assert_eq!(judge(&claude, &said), version, "{said:?}");
    }
    let long = "x".repeat(500);
    assert_eq!(judge(&claude, &self::said(&[&long], Some(0))), known(&long[..60]));
}

#[test]
fn a_program_of_the_same_name_is_told_apart() {
    let judge = |name: &str, other, line: &str| judge(&of(name, other), &said(&[line], Some(0)));
    let namesake = |line: &str| Version::Namesake(line.to_owned());
    let goose = Some("goose version");
    assert_eq!(judge("goose", goose, "goose version: v3.24.0"), namesake("goose version: v3.24.0"));
    assert_eq!(judge("goose", goose, "1.9.3"), Version::Known("1.9.3".into()));
    assert_eq!(judge("claude", None, "goose version"), Version::Known("goose version".into()));
}
