//! The configuration for every combination of programs.

use gangline_config::{Config, parse};

use super::*;

fn found(program: &'static Program, version: Version) -> Found {
    let path = format!("/usr/bin/{}", program.name).into();
    Found { program, path, version, no_login: None, key: None }
}

fn plan<'a>(found: &'a [Found], has: &'a dyn Fn(&str) -> bool) -> Plan<'a> {
    let (server, directory) = ("oak", "/home/me/src");
    Plan { server, port: 6667, directory, state: None, found, has, native_key: None }
}

/// Reads a text that must have neither fault nor warning.
fn good(text: &str) -> Config {
    let config = parse(text, "agents.yaml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(config.warnings, [], "{text}");
    config
}

fn nicks(config: &Config) -> Vec<&str> {
    config.agents.iter().map(|agent| agent.nick.as_str()).collect()
}

/// Takes the `# ` away from every line that is an agent's.
fn uncommented(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("  # ") {
        Some(rest) if rest.starts_with("- ") || rest.starts_with("  ") => format!("  {rest}\n"),
        _ => format!("{line}\n"),
    };
    let text: String = text.lines().map(line).collect();
    text.replace("agents: []", "agents:")
}

/// Every set of programs, on a build with every backend and on one with none.
#[test]
fn every_combination_of_programs_makes_a_good_configuration() {
    for set in 0..1u32 << PROGRAMS.len() {
        let is_in = |index: usize| set >> index & 1 == 1;
        let found: Vec<Found> = PROGRAMS
            .iter()
            .enumerate()
            .filter(|(index, _)| is_in(*index))
            .map(|(_, program)| found(program, Version::Known("1.2.3".into())))
            .collect();
        let all = plan(&found, &|_| true);
        let names: Vec<String> =
            found.iter().map(|found| format!("oak-{}", found.program.name)).collect();
        assert_eq!(nicks(&good(&all.text())), names);
        assert_eq!(all.nicks(), names);
        let none = plan(&found, &|_| false);
        assert_eq!(nicks(&good(&none.text())), Vec::<&str>::new());
        // What stands in comments is as good, once it stands there no more.
        for text in [all.text(), none.text()] {
            let config = good(&uncommented(&text));
            assert_eq!(config.agents.len(), found.len() + 1, "{text}");
            assert_eq!(
                config.agents.last().unwrap().api_key_env.as_deref(),
                Some("ANTHROPIC_API_KEY")
            );
        }
    }
}

#[test]
fn only_programs_that_can_work_become_agents() {
    let versions = [
        Version::Unknown,
        Version::Known("codex-cli 0.169.0".into()),
        Version::Broken("`opencode --version` ended with code 127".into()),
        Version::Namesake("copilot version: v1".into()),
        Version::Known("3.0.65".into()),
    ];
    let found: Vec<Found> =
        PROGRAMS.iter().zip(versions).map(|(program, version)| found(program, version)).collect();
    let plan = plan(&found, &|backend| backend != "codex");
    assert_eq!(nicks(&good(&plan.text())), ["oak-claude", "oak-cline"]);
    insta::assert_snapshot!(plan.text());
}

#[test]
fn names_of_folders_are_quoted_as_they_need_it() {
    let claude = [found(&PROGRAMS[0], Version::Unknown)];
    for directory in ["/a b", "/#x", "/a: b", "/\"q\"", "/ä/☃", "/a\nb", "/yes", "/a\u{2028}b"] {
        let plan = Plan { directory, state: Some(directory), ..plan(&claude, &|_| true) };
        let config = good(&plan.text());
        assert_eq!(config.agents[0].directory.to_str(), Some(directory));
        assert_eq!(config.state.as_deref().and_then(std::path::Path::to_str), Some(directory));
        assert_eq!(good(&uncommented(&plan.text())).agents.len(), 2);
    }
}

/// A key of this shell stands in for a login; without any program it is our own loop's.
#[test]
fn a_key_that_is_set_is_used_where_there_is_no_login() {
    let claude = [found(&PROGRAMS[0], Version::Unknown)];
    let mut keyed = [found(&PROGRAMS[0], Version::Unknown)];
    keyed[0].key = Some("ANTHROPIC_API_KEY");
    let with_key = |found| Plan { native_key: Some(NATIVE_KEY), ..plan(found, &|_| true) };
    let text = with_key(&claude).text();
    assert_eq!(nicks(&good(&text)), ["oak-claude"], "it has a login: {text}");
    assert_eq!(with_key(&claude).nicks(), ["oak-claude"]);
    assert_eq!(good(&text).agents[0].api_key_env, None, "{text}");
    let config = good(&with_key(&keyed).text());
    assert_eq!(config.agents[0].api_key_env.as_deref(), Some("ANTHROPIC_API_KEY"));
    let alone = with_key(&[]);
    assert_eq!((alone.nicks(), alone.is_native()), (vec!["oak-native".to_owned()], true));
    let config = good(&alone.text());
    assert_eq!(nicks(&config), ["oak-native"]);
    assert_eq!(config.agents[0].api_key_env.as_deref(), Some(NATIVE_KEY));
}
