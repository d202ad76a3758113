use super::{Environment, PROFILE, PRONOUNS, WATERMARK};
use crate::{Profile, RestartNote, parse_known};

const FILE: &str = "server: {name: oak}\nagents:\n  - nick: oak-ada\n    directory: /w\n";

/// The agent's pronouns and watermark, and the warnings, with these variables and further keys.
fn read(variables: &[(&str, &str)], keys: &str) -> (String, f64, Vec<String>) {
    let environment = Environment::read(|name| {
        variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    });
    let names = |_: Option<&std::path::Path>| Vec::new();
    let config = parse_known(&format!("{FILE}{keys}"), "a", &names, &environment).unwrap();
    let warnings = config.warnings.iter().map(|warning| warning.problem().message.clone());
    let agent = &config.agents[0];
    (agent.operator_pronouns.clone(), agent.compact_watermark, warnings.collect())
}

/// R2-09, R2-15: hyperhive's variables are the defaults, and the file wins.
#[test]
fn the_environment_speaks_where_the_file_is_silent() {
    let set = [(PRONOUNS, " they/them "), (WATERMARK, "150000")];
    assert_eq!(read(&[], ""), ("she/her".to_owned(), 0.75, vec![]));
    assert_eq!(read(&set, ""), ("they/them".to_owned(), 150_000.0, vec![]));
    let keys = "    operator_pronouns: he/him\n    compact_watermark: 0.75\n";
    assert_eq!(read(&set, keys), ("he/him".to_owned(), 0.75, vec![]));
    assert_eq!(read(&[(PRONOUNS, " "), (WATERMARK, "")], "").2, [""; 0]);
    assert_eq!(read(&[(WATERMARK, "0")], "").1, 0.0);
    assert_eq!(read(&[(WATERMARK, "100000000")], "").1, 100_000_000.0);
}

/// C30, C32: the profile of every agent whose own part of the file names none.
#[test]
fn the_environment_may_say_that_all_agents_are_in_containers() {
    let profile = |variable: &str, keys: &str| {
        let environment = Environment::read(|name| (name == PROFILE).then(|| variable.to_owned()));
        let names = |_: Option<&std::path::Path>| Vec::new();
        let config = parse_known(&format!("{FILE}{keys}"), "a", &names, &environment).unwrap();
        let warnings: Vec<_> =
            config.warnings.iter().map(|warning| warning.problem().message.clone()).collect();
        (config.agents[0].profile, config.agents[0].restart_note(), warnings)
    };
    let (host, container) = (Profile::Host, Profile::Container);
    assert_eq!(profile("", ""), (host, RestartNote::Inbox, vec![]));
    assert_eq!(profile("container", ""), (container, RestartNote::Wake, vec![]));
    assert_eq!(profile("container", "    profile: host\n"), (host, RestartNote::Inbox, vec![]));
    let keys = "    profile: container\n    restart_note: off\n";
    assert_eq!(profile("", keys), (container, RestartNote::Off, vec![]));
    let told = "GANGLINE_PROFILE is `pod`, not `host` or `container`: it has no effect";
    assert_eq!(profile("pod", ""), (host, RestartNote::Inbox, vec![told.to_owned()]));
}

/// C30: nine characters, in this profile only.
#[test]
fn a_container_takes_names_of_at_most_nine_characters() {
    let parse = |name: &str, profile: &str| {
        let file = format!(
            "server: {{name: oak}}\nagents:\n  - nick: oak-{name}\n    directory: /w\n    \
             profile: {profile}\n"
        );
        crate::parse(&file, "a").map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(parse("ninechars", "container"), Ok(()));
    assert_eq!(parse("tenletters", "host"), Ok(()));
    let refused = parse("tenletters", "container").unwrap_err();
    let why = "`tenletters` has 10 characters; under `profile: container` a name has at most 9";
    assert!(refused.contains(why), "{refused}");
}

#[test]
fn a_variable_that_cannot_be_used_is_told_and_has_no_effect() {
    for bad in ["1", "-5", "0.75", "100000001", "many\u{1b}", "99999999999999999999"] {
        let (_, watermark, warnings) = read(&[(WATERMARK, bad)], "");
        assert_eq!(watermark, 0.75, "{bad}");
        let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert!(warning.contains("0, or 2 to 100000000"), "{warning}");
        assert!(!warning.contains('\u{1b}'), "{warning}");
    }
}
