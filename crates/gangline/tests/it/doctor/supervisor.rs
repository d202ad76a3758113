//! What the doctor says of an agent's supervisor.

use super::with;

/// R0-33: a supervisor that cannot run is warned of here and by `config check`; the agent runs without it.
#[test]
fn a_supervisor_that_cannot_run_is_warned_of() {
    let world = with(&[("claude", "echo '2.1.330 (Claude Code)'")]);
    let told = |supervisor: &str, agent: &str| {
        let text = format!(
            "server: {{name: oak}}\nsupervisor: {{{supervisor}}}\nagents:\n  - {{nick: oak-ada, {agent}, \
             directory: .}}\n"
        );
        let _ = world.file("agents.yaml", &text);
        let config = world.run(&["config", "check"]);
        assert_eq!(config.code, 0, "{}", config.stderr);
        let doctor = world.run(&["doctor", "ada", "--json"]).json();
        let checks = doctor["checks"].as_array().unwrap().iter();
        let mut checks = checks.filter(|it| it["check"] == "supervisor");
        (config.stderr, checks.next().cloned().unwrap_or_default())
    };
    let claude = "agent: claude, api_key_env: HOME";
    let (config, doctor) = told("agent: codex", claude);
    let why = "codex cannot be used here: its program `codex` cannot be found: `npm install -g \
               @openai/codex@0.169.0`, or write its path as `command` under `supervisor`; without it, \
               rules watch alone";
    assert!(config.contains(&format!("agents.yaml: supervisor of oak-ada: {why}")), "{config}");
    assert_eq!(doctor["result"], "warn", "{doctor}");
    assert!(doctor["found"].as_str().unwrap().ends_with("; rules watch alone"), "{doctor}");
    let (config, doctor) = told("agent: native", claude);
    assert!(config.contains("native cannot be used here: its model needs a key"), "{config}");
    assert_eq!(doctor["result"], "warn", "{doctor}");
    let (config, doctor) = told("", "agent: native, base_url: 'http://127.0.0.1:9'");
    assert_eq!(config, "");
    let found = doctor["found"].as_str().unwrap();
    assert!(
        found.starts_with("claude with claude-sonnet-4-6: ") && doctor["result"] == "warn",
        "{found}"
    );
    assert!(found.ends_with(".claude/.credentials.json is not there"), "{found}");
    let (config, doctor) = told("", claude);
    assert_eq!((config.as_str(), &doctor["result"]), ("", &"ok".into()), "{doctor}");
    let (config, doctor) = told("agent: rules", claude);
    assert_eq!((config.as_str(), doctor.is_null()), ("", true), "{doctor}");
}
