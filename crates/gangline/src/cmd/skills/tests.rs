use super::{ALL, CODEX, Found, SkillProgram, judge, signed, text};

/// What stands there is told apart: ours of any version, ours but edited, somebody's own.
#[test]
fn what_is_there_is_known_for_what_it_is() {
    let now = text(SkillProgram::Claude);
    assert_eq!(judge(&now, &now), Found::Current);
    let older = signed("---\nname: gangline-irc\n---\nold words\n", "0.0.1");
    assert_eq!(judge(&older, &now), Found::Older);
    assert_eq!(judge(&older.replace("old words", "my words"), &now), Found::Edited);
    assert_eq!(judge(&now.replace("0.1.0", "0.1.0 "), &now), Found::Older);
    assert_eq!(judge(&format!("{now}mine\n"), &now), Found::Edited);
    assert_eq!(judge("---\nname: gangline-irc\n---\nmine\n", &now), Found::Foreign);
}

/// R0-57, R0-58, R0-59, R0-60: each program's text documents every command.
#[test]
fn every_command_is_documented_for_every_program() {
    for program in ALL {
        let text = text(program);
        for command in [
            "send '#channel' 'text'",
            "read '#channel' [LIMIT]",
            "ask '#channel' [--timeout SECONDS] 'question'",
            "join '#channel'",
            "part '#channel'",
            "channels ",
            "who '#channel'",
            "topic '#channel' ['text']",
            "compact ",
            "clear ",
        ] {
            assert!(text.contains(&format!("    gangline channel {command}")), "{command}");
        }
        assert!(
            text.starts_with("---\nname: gangline-irc\ndescription: ")
                && text.contains("CULTURE_NICK")
        );
        assert!(!text.contains("{more}"));
        assert_eq!(text.contains(CODEX.trim()), program == SkillProgram::Codex);
    }
}
