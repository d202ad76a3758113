//! The default system prompt, and a file in its place (R1-57).

use gangline_testkit::World;

const DEFAULT: &str = include_str!("../../../gangline-agent/data/system_prompt.md");

/// R1-57: the commands that the default system prompt names exist.
#[test]
fn the_commands_that_the_default_prompt_names_exist() {
    let world = World::new(env!("CARGO_BIN_EXE_gangline"));
    let lines = DEFAULT.lines().filter_map(|line| line.trim().strip_prefix("gangline channel "));
    let verbs: Vec<&str> = lines
        .flat_map(|line| line.split(" | "))
        .filter_map(|part| part.split_whitespace().next())
        .collect();
    assert!(verbs.contains(&"compact") && verbs.len() >= 8, "{verbs:?}");
    for verb in verbs {
        assert_eq!(world.run(&["channel", verb, "--help"]).code, 0, "{verb}");
    }
}

/// R1-57: a file that cannot be read, or that is named beside a text, is a fault of the configuration.
#[test]
fn a_prompt_s_file_that_cannot_be_had_is_told() {
    let world = World::new(env!("CARGO_BIN_EXE_gangline"));
    let check = |more: &str| {
        let text =
            format!("server: {{name: oak}}\nagents:\n  - nick: oak-ada\n    directory: .\n{more}");
        let file = world.file("agents.yaml", &text);
        world.run(&["config", "check", &file])
    };
    let ran = check("    system_prompt_file: none.md\n");
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot read the system prompt of oak-ada"), "{}", ran.stderr);
    let _ = world.file("some.md", "You are {nick}.\n");
    let ran = check("    system_prompt_file: some.md\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran = check("    system_prompt: x\n    system_prompt_file: some.md\n");
    assert_eq!(ran.code, 78, "{}", ran.stderr);
    assert!(ran.stderr.contains("are both set"), "{}", ran.stderr);
}
