//! What is said of culture's files that cannot be imported: every text, as a person sees it.

use gangline_config::{
    MAX_CONFIG_BYTES,
    import::{ImportError, Look, Source, import},
};

use crate::import::{Files, check, run};

/// Shows each set of files and what is said about it.
fn told(cases: &[(&str, &[(&str, &str)])]) -> String {
    let mut out = String::new();
    for (what, files) in cases {
        let named: Vec<&str> =
            files.iter().map(|(path, _)| *path).filter(|path| path.starts_with("/c/")).collect();
        let said = match run(&named, &Files::from_iter(files.iter().copied())) {
            Ok(import) => format!("accepted\n{}", import.text),
            Err(error) => error.to_string(),
        };
        out.push_str(&format!("### {what}\n{}\n\n", said.trim_end()));
    }
    out
}

const AGENTS: &str = "/c/agents.yaml";

#[test]
fn faults_of_one_file_are_quoted_with_their_line() {
    check(told(&[
        (
            "bad nick",
            &[(AGENTS, "server: {name: oak}\nagents:\n  - nick: oak-Ada\n    directory: /\n")],
        ),
        ("a path as nick", &[(AGENTS, "agents:\n  - {nick: oak-../etc, directory: /}\n")]),
        ("bad suffix", &[("/c/culture.yaml", "suffix: \"a b\"\n")]),
        (
            "one nick twice",
            &[(
                AGENTS,
                "agents:\n  - {nick: oak-a, directory: /}\n  - {nick: oak-a, directory: /b}\n",
            )],
        ),
        (
            "one nick twice after the server's name was added",
            &[(
                AGENTS,
                "server: {name: oak}\nagents:\n  - {nick: a, directory: /}\n  - {nick: oak-a, directory: /}\n",
            )],
        ),
        ("no nick", &[(AGENTS, "agents:\n  - {nick: oak-a, directory: /}\n  - directory: /b\n")]),
        ("no directory", &[(AGENTS, "agents:\n  - nick: oak-a\n")]),
        ("no suffix", &[("/c/culture.yaml", "agents:\n  - suffix: a\n  - backend: codex\n")]),
        ("nick as list", &[(AGENTS, "agents:\n  - {nick: [a], directory: /}\n")]),
        (
            "wrong kinds",
            &[(
                AGENTS,
                "server: {name: oak, port: many}\nbuffer_size: big\nagents:\n  - nick: oak-a\n    \
                 directory: 3\n    model: 4.6\n    channels: \"#a\"\n    tags: x\n    \
                 turn_timeout_seconds: soon\n    thinking: [x]\n    backend: 3\n",
            )],
        ),
        ("server name", &[(AGENTS, "server: {name: Oak!}\nagents: []\n")]),
        ("agents as text", &[(AGENTS, "agents: oak-a\n")]),
        ("agent as text", &[(AGENTS, "agents: [oak-a]\n")]),
        ("server as text", &[(AGENTS, "server: oak\nagents: []\n")]),
        (
            "bare channel",
            &[(AGENTS, "agents:\n  - nick: oak-a\n    directory: /\n    channels: #general\n")],
        ),
        ("no YAML", &[(AGENTS, "agents: [\n")]),
        ("empty", &[(AGENTS, "# nothing\n")]),
        ("a list at the top", &[(AGENTS, "- a\n")]),
        ("no agents", &[(AGENTS, "server: {name: oak}\n")]),
        ("another program's file", &[("/c/compose.yaml", "services: {web: {image: x}}\n")]),
        (
            "only backends that are not here",
            &[("/c/culture.yaml", "suffix: a\nbackend: colleague\n")],
        ),
    ]));
}

#[test]
fn faults_between_files_name_both_places() {
    check(told(&[
        (
            "one nick, two directories",
            &[
                (AGENTS, "server: {name: oak}\nagents:\n  - {nick: oak-a, directory: /a}\n"),
                ("/c/mesh.yaml", "agents:\n  - {nick: a, type: claude, workdir: /b}\n"),
            ],
        ),
        (
            "two servers",
            &[
                (AGENTS, "server: {name: oak}\nagents:\n  - {nick: oak-a, directory: /a}\n"),
                ("/c/mesh.yaml", "server:\n  name: elm\nagents: []\n"),
            ],
        ),
        (
            "faults in a folder's file",
            &[
                ("/c/server.yaml", "agents: {a: /a, b: /b}\n"),
                ("/a/culture.yaml", "suffix: a\nmodel: 4.6\n"),
                ("/b/culture.yaml", "suffix: [b\n"),
            ],
        ),
        ("a folder that is no text", &[("/c/server.yaml", "agents: {a: 3}\n")]),
    ]));
}

fn one(text: String) -> Result<(), ImportError> {
    import(&[Source::new("/c/agents.yaml".into(), text)], &|_| Look::Absent).map(drop)
}

#[test]
fn the_limits_of_the_configuration_hold() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let before = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    let error = one(bomb).unwrap_err().to_string();
    assert!(error.contains("the file is too large after its aliases are expanded"), "{error}");

    let error = one(" ".repeat(MAX_CONFIG_BYTES + 1)).unwrap_err().to_string();
    assert_eq!(error, "/c/agents.yaml: the file has 1048577 bytes; at most 1048576 are read");

    let nested = |depth: usize| {
        let value = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        format!("agents:\n  - {{nick: oak-a, directory: /, engine: {value}}}\n")
    };
    one(nested(24)).unwrap();
    let error = one(nested(25)).unwrap_err().to_string();
    assert!(error.contains("2:12: a field of `oak-a` is nested too deeply to import"), "{error}");
    let error = one(nested(200)).unwrap_err().to_string();
    assert!(error.contains("nests deeper than 32 levels"), "{error}");

    let half = |name: &str| {
        let path = format!("/c/{name}.yaml");
        let prompt = "x".repeat(600 << 10);
        let text =
            format!("agents:\n  - {{nick: oak-{name}, directory: /, system_prompt: {prompt}}}\n");
        Source::new(path.into(), text)
    };
    import(&[half("a")], &|_| Look::Absent).unwrap();
    let error = import(&[half("a"), half("b")], &|_| Look::Absent).unwrap_err().to_string();
    assert!(
        error.starts_with("together the files are too large for one configuration: "),
        "{error}"
    );
}

#[test]
fn a_folders_file_that_cannot_be_read_is_named_with_the_reason() {
    let said = |look: Look| {
        let source = Source::new("/c/server.yaml".into(), "agents: {a: /src/a}\n".into());
        import(&[source], &|path| {
            assert_eq!(path.to_str().unwrap(), "/src/a/culture.yaml");
            look.clone()
        })
        .unwrap_err()
        .to_string()
    };
    let unreadable = Look::Unreadable("permission denied\u{1b}[31m".into());
    assert_eq!(said(unreadable), "/src/a/culture.yaml: permission denied\u{fffd}[31m");
    let large = "/src/a/culture.yaml: the file has 5000000 bytes; at most 1048576 are read";
    assert_eq!(said(Look::TooLarge(5_000_000)), large);
    assert_eq!(said(Look::Absent), "there is no agent to import in /c/server.yaml");
}

/// Many agents are a matter of seconds, not of minutes.
#[test]
fn thousands_of_agents_are_put_together() {
    let agents: String =
        (0..7_000).map(|n| format!("  - {{nick: oak-a{n}, directory: /d{n}}}\n")).collect();
    let text = format!("server: {{name: oak}}\nagents:\n{agents}");
    let source = |path: &str| Source::new(path.into(), text.clone());
    let import =
        import(&[source("/c/agents.yaml"), source("/d/agents.yaml")], &|_| Look::Absent).unwrap();
    assert_eq!(import.config.agents.len(), 7_000);
}
