use super::*;

/// An entry's two forms have no declaration of their own: the table is compared with the schema.
#[test]
fn every_key_of_an_entry_is_in_the_schema_or_another_spelling_of_one() {
    let schema = schemars::schema_for!(McpServerConfig).to_value();
    let forms = schema["anyOf"].as_array().unwrap().iter().chain([&schema]);
    let keys = forms.flat_map(|form| form["properties"].as_object().unwrap().keys());
    let keys: BTreeSet<&str> = keys.map(String::as_str).chain(["allowedTools"]).collect();
    assert_eq!(keys, SERVER.known.iter().copied().collect());
}

fn server(args: &[&str], env: &[(&str, &str)]) -> McpServerConfig {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    McpServerConfig {
        place: McpPlaceConfig::Program {
            command: "${HOME}/bin/probe".to_owned(),
            args: args.iter().map(|text| (*text).to_owned()).collect(),
            env: env.collect(),
        },
        allowed_tools: vec!["echo".to_owned()],
    }
}

fn look(name: &str) -> Option<String> {
    match name {
        "HOME" => Some("/home/a".to_owned()),
        "T" => Some("very-secret".to_owned()),
        "API_KEY" => Some("also-secret".to_owned()),
        _ => None,
    }
}

/// R2-34: what names a variable gets its value, in every text of an entry; anything else stays.
#[test]
fn references_are_replaced() {
    let given = server(&["--in=${HOME}/x${HOME}", "$HOME", "$", "a}b", ""], &[("A_TOKEN", "${T}")]);
    let expected =
        server(&["--in=/home/a/x/home/a", "$HOME", "$", "a}b", ""], &[("A_TOKEN", "very-secret")]);
    let resolved = given.resolved(look).unwrap();
    let McpPlaceConfig::Program { command, args, env } = resolved.place else { panic!() };
    assert_eq!(command, "/home/a/bin/probe");
    let McpPlaceConfig::Program { args: wanted, env: wanted_env, .. } = expected.place else {
        panic!()
    };
    assert_eq!((args, env), (wanted, wanted_env));
    assert_eq!(given.variables(), ["HOME", "T"].into());
    let missing = server(&["${NOT_SET}"], &[]).resolved(look);
    assert_eq!(missing, Err(NotSet("NOT_SET".to_owned())));
    let header = McpServerConfig {
        place: McpPlaceConfig::Address {
            url: "${T}".to_owned(),
            headers: BTreeMap::from([("A".to_owned(), "x ${T}".to_owned())]),
        },
        allowed_tools: Vec::new(),
    };
    let place = McpPlaceConfig::Address {
        url: "very-secret".to_owned(),
        headers: BTreeMap::from([("A".to_owned(), "x very-secret".to_owned())]),
    };
    assert_eq!(header.resolved(look), Ok(McpServerConfig { place, allowed_tools: Vec::new() }));
}

/// What is put in is a secret if its place or its variable is called so; a home directory is none.
#[test]
fn what_is_put_in_is_a_secret_by_its_name() {
    let given = server(&["${API_KEY}", "${HOME}"], &[("A_TOKEN", "x${T}"), ("PLACE", "${HOME}")]);
    let expect = [("API_KEY", "also-secret"), ("T", "very-secret")];
    assert_eq!(given.secrets(look), expect.map(|(name, value)| KnownSecret::new(name, value)));
}

#[test]
fn names_of_secrets() {
    for name in ["API_KEY", "GITHUB_TOKEN", "Authorization", "X-Api-Key", "DB_PASSWORD", "TOKEN"] {
        assert!(names_a_secret(name), "{name}");
    }
    for name in ["AUTHOR", "KEY_FILE", "TOKENIZERS_PARALLELISM", "KEYBOARD", "X-Probe", ""] {
        assert!(!names_a_secret(name), "{name}");
    }
}
