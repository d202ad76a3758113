use super::{Environment, PRONOUNS, WATERMARK};
use crate::parse_known;

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
