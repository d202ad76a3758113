//! What the program says of itself.

use crate::standin::world;

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn the_help_lists_every_command() {
    let help = world().run(&["--help"]).ok();
    insta::assert_snapshot!(help, @r#"
    Puts AI coding agents into chat rooms, beside people

    Usage: gangline [OPTIONS] <COMMAND>

    Commands:
      init         Set up a fleet: find coding programs, write agents.yaml, make the owner's password
      import       Convert culture's configuration into agents.yaml; its files are not changed
      demo         Run a hub with a guide agent and a stand-in model; needs no key, installs nothing
      up           Run the hub: the IRC server and the configured agents; -d in the background
      join         Print how to connect to the chat: WeeChat, irssi, ii, any other client
      down         Stop all agents and the hub
      start        Start stopped agents, and the hub if none runs
      stop         Stop agents until `start`, even if the hub restarts
      restart      Restart agents, one after the other
      pause        Stop agents from beginning new turns; messages are stored and wait
      resume       Let paused agents continue; let parked ones, whose backend kept failing, try again
      interrupt    End an agent's open turn and its escalation, or all turns that follow from one
                   message [alias: abort]
      release      Give a request more turns, so that its held messages continue
      model        Show the model of an agent, or change it from the next turn on
      effort       Show how hard an agent's model thinks, or change it from the next turn on
      sessions     List an agent's sessions by GT_SESSION_ID, each with its backend's own id
      compact      Shorten an agent's context when no turn is open
      clear        Begin a new session of an agent when no turn is open
      ircd         Run the small IRC server alone, in the foreground
      ps           List the agents and what each of them does
      status       Show one agent, or all
      logs         Show what an agent was asked and did, oldest first
      attach       Show an agent's turns as they happen
      prompt       Send a prompt to an agent from the command line
      whisper      Tell an agent something that nobody else sees; it starts no turn
      ask          Ask an agent a question, with options to choose from
      wake         Send an agent a message from a script or program; it may start a turn
      cancel       Cancel a waiting message
      trace        Show one message: its states, turns, sent lines and approvals
      channel      Send and read messages as an agent; the agents' skill uses it
      mcp          Serve an agent's tools to any MCP client, on the standard streams
      budget       Show what may be spent today and what was spent; add to a budget for today
      attention    List what waits for a human, the most urgent first
      approvals    List open approvals, or show one in full
      approve      Allow what an approval asks for
      deny         Refuse what an approval asks for; the model reads the reason
      policy       List, remove, test or suggest the rules that let calls run without asking
      questions    List open questions of the agents
      answer       Answer what waits for you under a number
      inbox        List the letters that agents sent to the owners, answer them, or put them away
      alerts       List the last alerts and where they went, or test the targets
      remind       Remind an agent of something at a later time, once or repeatedly
      reminders    List the reminders of agents, or delete one
      token        Make, list or revoke the tokens of programs that use the HTTP interface
      trust        Show, allow or revoke what an agent's folder brings along for its program
      config       Check the configuration, or print its schema
      doctor       Check the installation, the agents and their programs; say how to fix what is wrong
      runtime      List, check and choose backends
      service      Install or remove systemd units
      skills       Install the skill that teaches coding programs to use `gangline channel`
      standin      Run the stand-in model: a scripted server, for demos and tests
      harness      Run the native model loop without a chat server
      completions  Print a script that makes a shell complete commands and options
      man          Write a manual page for each command into a folder
      daemon       Run the process of one agent; `up` starts it for you
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Options of every command:
          --state <DIR>    The state folder [default: $XDG_STATE_HOME/gangline; reading commands fall
                           back to the demo's when only that exists] [env: GANGLINE_STATE=]
          --config <FILE>  The configuration [default: ./agents.yaml, else
                           $XDG_CONFIG_HOME/gangline/agents.yaml] [env: GANGLINE_CONFIG=]
          --json           Print JSON instead of text, on every reading command

    Start with `gangline demo`: it needs no key and no network.
    Exit codes: 0 done; 1 invalid input, or not possible in this state; 2 the environment failed (disk,
    port, program); 3 another daemon runs this agent; 64 wrong usage; 78 a fault in the configuration or
    database that a restart does not fix.
    "#);
}

#[test]
fn wrong_usage_has_an_exit_code_of_its_own() {
    let world = world();
    let commands: [&[&str]; 7] = [
        &[],
        &["dance"],
        &["logs", "-n", "501"],
        &["trace", "x42"],
        &["approve", "m3"],
        &["prompt", "oak-ada"],
        &["prompt", "oak-ada", "x", "--timeout", "3"],
    ];
    for command in commands {
        let ran = world.run(command);
        assert_eq!(ran.code, 64, "{command:?}: {}", ran.stderr);
        assert!(!ran.stderr.is_empty(), "{command:?}");
    }
    assert_eq!(world.run(&["help", "prompt"]).code, 0);
    let version = world.run(&["--version"]).ok();
    assert_eq!(version, format!("gangline {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let world = world();
    let mut command = world.command(&["config", "schema"]);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success(), "{}", output.status);
}

/// Each shell completes every command, and each command has a page.
#[test]
fn completions_and_pages_know_every_command() {
    let world = world();
    let commands = ["approvals", "completions", "config", "join", "ps", "trace"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = world.run(&["completions", shell]).ok();
        for command in commands {
            assert!(script.contains(command), "{shell}: no {command}");
        }
    }
    let bash = world.file("completions.bash", &world.run(&["completions", "bash"]).ok());
    let checked = std::process::Command::new("bash").args(["-n", &bash]).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let folder = world.path("man/man1");
    let _ = world.run(&["man", folder.to_str().unwrap()]).ok();
    for page in ["gangline.1", "gangline-ps.1", "gangline-config-check.1"] {
        let text = std::fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}: {text}");
    }
    let ran = world.run(&["approve", "m3"]);
    assert!(ran.stderr.contains("an approval has a bare number"), "{}", ran.stderr);
}
