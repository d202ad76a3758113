//! The doctor's deep look: it tries the programs.

use std::fs;

use gangline_testkit::{World, eventually, programs, stage::free_port};
use nix::sys::signal::Signal;

use super::{program, with_claude};

/// The folder in the state folder in which programs are tried.
fn labs(world: &World) -> usize {
    fs::read_dir(world.state().join("doctor")).map_or(0, Iterator::count)
}

/// The processes that have a home in such a folder.
fn tried_now(world: &World) -> usize {
    let home = format!("HOME={}", world.state().join("doctor").display());
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let environ = |path: std::path::PathBuf| fs::read(path.join("environ")).unwrap_or_default();
    let texts = entries.map(|entry| String::from_utf8_lossy(&environ(entry.path())).into_owned());
    texts.filter(|text| text.contains(&home)).count()
}

/// Neither a folder nor a process; who was killed may take a moment to be gone.
fn nothing_is_left(world: &World) {
    assert_eq!(labs(world), 0);
    eventually("the end of all that was tried", || (tried_now(world) == 0).then_some(()));
}

/// R3-16, R3-12, R0-02: every rule is tried with an entry of a file, with its own program and
/// arguments, and told with what it takes; what cannot be tried is counted; nothing of what stands
/// around is passed on, and nothing is left behind.
#[test]
fn the_deep_look_tries_every_rule() {
    let mut world = with_claude();
    for (name, value) in [
        ("CLAUDECODE", "another's"),
        ("ANTHROPIC_API_KEY", "sk-ant-of-another"),
        ("GT_ROLE", "another/mayor"),
        ("NODE_OPTIONS", "--title=of-another"),
    ] {
        world.set(name, value);
    }
    let said = world.path("said");
    let real = world.path("bin/claude");
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> {}\n[ \"$1\" = --extra ] && shift\nexec {} \"$@\"\n",
        said.display(),
        real.display()
    );
    program(&world, "claude-next", &script);
    program(&world, "mine", "#!/bin/sh\necho 1.2.3\n");
    let _ = world.file(
        "config/gangline/runtimes.json",
        r#"{"runtimes": {
            "work": {"adapter": "claude", "bin": "claude-next", "args": ["--extra"],
                     "env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "KEY": "hunter22"}},
            "pair": {"bin": "mine", "delivery": "tmux"}, "agent": {"bin": "mine", "delivery": "rpc"}}}"#,
    );
    let asked = ["doctor", "--deep", "--times", "work", "pair", "agent", "gemini", "--json"];
    let ran = world.run(&asked);
    assert_eq!(ran.code, 1, "gemini is not there: {}", ran.stderr);
    for told in ["  trying      starts and takes", " s  starts and takes prompts in time", " took "]
    {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("hunter22"));
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let tried = found["deep"]["tried"].as_array().unwrap();
    assert_eq!(
        (tried.len(), &tried[0]["name"], &tried[0]["adapter"]),
        (1, &"work".into(), &"claude".into())
    );
    let cells = tried[0]["cells"].as_array().unwrap();
    let of = |score: &str| cells.iter().filter(|cell| cell["verdict"] == score).count();
    assert!(of("yes") > 40 && of("no") == 0, "{cells:#?}");
    let leak = cells.iter().find(|cell| cell["id"] == "no_leak").unwrap();
    assert_eq!(leak["verdict"], "yes", "{leak}");
    let left: Vec<_> =
        found["deep"]["not_tried"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(left, ["pair", "agent", "gemini"]);
    nothing_is_left(&world);
    let said = fs::read_to_string(said).unwrap();
    assert!(said.lines().all(|line| line.starts_with("--extra ")), "{said}");
}

const UNKNOWN: &str = r#"
server: {port: PORT}
agents:
  - nick: spark-q
    agent: acp
    command: [PEER, acp]
    directory: work
    api_key_env: LAB_KEY
    model_env: {base_url: KIRO_STANDIN, key: PEER_KEY, model: PEER_MODEL}
  - nick: spark-c
    agent: acp
    acp_command: [BRIDGE]
    directory: work
    api_key_env: LAB_KEY
    model_env: {base_url: ANTHROPIC_BASE_URL, key: ANTHROPIC_API_KEY, model: ANTHROPIC_MODEL}
    # Without it the program tries again for minutes: the rule about a missing login does not hold.
    env: {CLAUDE_CODE_MAX_RETRIES: "1"}
  - {nick: spark-o, agent: acp, acp_command: [BRIDGE, --other], directory: work}
"#;

/// A small program that speaks ACP and asks its model by the wire with a version in its paths. It does
/// not tell a missing login from other faults.
const PEER: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../gangline-runtime/tests/it/conformance/kiro/agent.js");

/// R0-02, R0-63: programs without a recipe are tried where their agents name the variables for the
/// model, on both wires; of one whose agent names none it is said how.
#[test]
fn programs_without_a_recipe_are_tried_by_the_variables_of_their_agents() {
    let world = with_claude();
    let _ = world.file("work/x", "");
    let path = |path: std::path::PathBuf| path.display().to_string();
    let text = UNKNOWN
        .replace("PORT", &free_port().to_string())
        .replace("PEER,", &format!("{PEER},"))
        .replace("BRIDGE", &path(programs::npm("claude-agent-acp", "claude-agent-acp")));
    let _ = world.file("agents.yaml", &text);
    let ran = world.run(&["doctor", "--deep", "--json", "spark-q", "spark-c", "spark-o"]);
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let tried = found["deep"]["tried"].as_array().unwrap();
    let names: Vec<_> = tried.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["spark-q", "spark-c"], "{found:#}");
    let of = |program: &serde_json::Value, verdict: &str| -> Vec<String> {
        let cells = program["cells"].as_array().unwrap().iter();
        let found = cells.filter(|cell| cell["verdict"] == verdict);
        found.map(|cell| cell["id"].as_str().unwrap().to_owned()).collect()
    };
    for (program, breaks) in tried.iter().zip([&["error_401"][..], &[]]) {
        assert_eq!(of(program, "no"), breaks, "{program:#}");
        assert!(of(program, "yes").len() > 20, "{program:#}");
    }
    let left = &found["deep"]["not_tried"];
    assert_eq!(
        (left.as_array().unwrap().len(), &left[0]["name"]),
        (1, &"spark-o".into()),
        "{left}"
    );
    assert!(left[0]["why"].as_str().unwrap().contains("`model_env: {base_url: NAME"), "{left}");
    nothing_is_left(&world);
}

/// A rule that is broken makes the exit code 1, and is told with what was seen.
#[test]
fn a_program_that_does_not_work_fails() {
    let world = with_claude();
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && { echo 2.1.330; exit 0; }\nexit 7\n";
    let path = world.path("bin/claude");
    fs::remove_file(&path).unwrap();
    let _ = world.file("bin/claude", script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&path, mode).unwrap();
    let ran = world.run(&["runtime", "doctor", "--deep", "claude"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("claude: NO: starts and takes prompts in time"), "{}", ran.stdout);
    // A line a backend, and those of what is broken; the table only where it is asked for.
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let [line] = lines[..] else { panic!("{}", ran.stderr) };
    assert!(line.starts_with("claude 2.1.330: ") && line.contains(" broken, "), "{line}");
    assert!(!ran.stdout.contains("knows whether a session runs  "), "{}", ran.stdout);
    assert!(ran.stdout.contains("--details"), "{}", ran.stdout);
}

/// Ctrl-C ends it at once, and neither a process nor a file stays.
#[test]
fn an_interrupt_leaves_nothing_behind() {
    let world = with_claude();
    let mut doctor = world.start(&["runtime", "doctor", "--deep", "--details", "claude"]);
    eventually("the first score", || doctor.output().contains("  yes  ").then_some(()));
    // Between two programs there is none for a moment.
    eventually("a program that is tried", || (tried_now(&world) > 0).then_some(()));
    doctor.signal(Signal::SIGINT);
    assert_eq!(doctor.wait(), 130, "{}", doctor.output());
    nothing_is_left(&world);
}
