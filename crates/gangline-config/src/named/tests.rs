//! What a configuration names.

use super::*;

/// Every way in which a file is named: a key of its own, a word of a command, a variable, a text.
#[test]
fn every_file_that_the_configuration_names_is_found() {
    let text = r#"
server: {name: oak}
hooks: {command: [sh, -c, "exec ./hooks/told.sh >/dev/null"]}
agents:
  - nick: oak-ada
    directory: ~/work
    mcp_servers_file: extra.json
    system_prompt_file: /srv/conf/prompts/b.md
    pinned: ["read docs/RULES.md."]
  - nick: oak-bob
    directory: work
    command: [../tool, --config=x.toml]
    env: {BASH_ENV: /real/conf/env.sh}
"#;
    let config = crate::parse(text, "agents.yaml").unwrap();
    let roots = ["/srv/conf", "/real/conf"].map(PathBuf::from);
    let folders = Folders {
        roots: &roots,
        configuration: Path::new("/srv/conf"),
        home: Some(Path::new("/home/ori")),
    };
    let found = named(&config, folders);
    for (path, by) in [
        ("hooks/told.sh", "hooks"),
        ("extra.json", "oak-ada: mcp_servers_file"),
        ("prompts/b.md", "oak-ada: system_prompt_file"),
        ("docs/RULES.md", "oak-ada: pinned"),
        ("tool", "oak-bob: command"),
        ("work/x.toml", "oak-bob: command"),
        ("env.sh", "oak-bob: env"),
    ] {
        let wanted = Named { path: path.into(), by: by.to_owned() };
        assert!(found.contains(&wanted), "{path}: {found:?}");
    }
    assert!(found.iter().all(|it| it.path.is_relative()), "{found:?}");
}

/// A link is the file that it points to as well, also a folder that is one.
#[test]
fn a_link_is_followed() {
    let link = |path: &Path| match path.to_str() {
        Some("a") => Some(PathBuf::from("b")),
        Some("b") => Some(PathBuf::from("dir/../real.json")),
        Some("conf") => Some(PathBuf::from("old/conf")),
        Some("round") => Some(PathBuf::from("round")),
        Some("out") => Some(PathBuf::from("../../x")),
        _ => None,
    };
    let of = |path: &str| {
        let all = behind_links(Path::new(path), &link);
        all.iter().map(|it| it.display().to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of("a"), "a b real.json");
    assert_eq!(of("conf/x.json"), "conf/x.json old/conf/x.json");
    assert_eq!(of("round"), "round");
    assert_eq!(of("out"), "out");
    assert_eq!(of("plain"), "plain");
}
