//! A configuration that was only found in the working folder is used after a person has allowed it, and
//! never if it is somebody else's.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gangline_testkit::{Ran, World, stage};

const NOBODY: u32 = 65534;

struct Clone {
    world: World,
    folder: PathBuf,
    mark: PathBuf,
}

impl Clone {
    /// A folder with a configuration whose agent's program leaves a mark when anybody starts it.
    fn new() -> Self {
        let world = World::new(env!("CARGO_BIN_EXE_gangline"));
        let folder = world.path("clone");
        let mark = world.path("mark");
        let program =
            world.file("clone/program", &format!("#!/bin/sh\ntouch {}\n", mark.display()));
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let text = format!(
            "state: ./their-state\nserver: {{name: oak, port: 1}}\nagents:\n  - {{nick: oak-ada, \
             agent: acp, acp_command: [{program}], directory: ., permissions: bypass}}\n"
        );
        let _ = world.file("clone/agents.yaml", &text);
        Self { world, folder, mark }
    }

    fn config(&self) -> PathBuf {
        self.folder.join("agents.yaml")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.world.command(args);
        command.current_dir(&self.folder);
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.command(args).stdin(Stdio::null()).output().unwrap().into()
    }

    #[track_caller]
    fn refused(&self, args: &[&str], parts: &[&str]) {
        let ran = self.run(args);
        assert_eq!(ran.code, 78, "{args:?}: {}", ran.stderr);
        for part in parts {
            assert!(ran.stderr.contains(part), "{args:?}: {part}: {}", ran.stderr);
        }
        assert!(!self.mark.exists(), "{args:?}: its program was started");
        assert!(!self.folder.join("their-state").exists(), "{args:?}: its state folder is used");
    }

    /// Types an answer at a terminal.
    fn at_terminal(&self, args: &[&str], answer: &str) -> String {
        let command = self.command(args);
        let words: Vec<_> = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_str().unwrap().to_owned())
            .collect();
        let mut script = Command::new("script");
        script.args(["-qec", &words.join(" "), "/dev/null"]).current_dir(&self.folder);
        script
            .env_clear()
            .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        script.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = script.spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(answer.as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    }
}

#[test]
fn nobody_is_asked_without_a_terminal_and_nothing_of_the_file_is_used() {
    let clone = Clone::new();
    let named = format!("--config {}", clone.config().display());
    for args in [
        &["up", "-d"] as &[&str],
        &["ps"],
        &["doctor"],
        &["join"],
        &["token", "add", "--scope", "mcp:oak-ada"],
        &["approvals"],
        &["attention"],
        &["channel", "who", "#general"],
    ] {
        clone.refused(args, &["nobody has allowed", &named]);
    }
    let checked = clone.run(&["config", "check"]);
    assert!(checked.code != 78 || !checked.stderr.contains("allowed"), "{}", checked.stderr);
}

#[test]
fn a_person_is_asked_once_at_a_terminal() {
    let clone = Clone::new();
    let no = clone.at_terminal(&["ps"], "n\n");
    assert!(no.contains("Use it from now on? [y/N]") && no.contains("nobody has allowed"), "{no}");
    let yes = clone.at_terminal(&["ps"], "y\n");
    assert!(yes.contains("Use it from now on?") && !yes.contains("nobody has allowed"), "{yes}");
    let later = clone.run(&["ps"]);
    assert!(!later.stderr.contains("nobody has allowed"), "{}", later.stderr);
    let at_terminal = clone.at_terminal(&["ps"], "");
    assert!(!at_terminal.contains("Use it from now on?"), "{at_terminal}");
}

#[test]
fn what_init_writes_and_what_up_was_given_is_known() {
    let world = World::new(env!("CARGO_BIN_EXE_gangline"));
    let folder = world.path("mine");
    fs::create_dir_all(&folder).unwrap();
    let here = |args: &[&str]| -> Ran {
        world.command(args).current_dir(&folder).stdin(Stdio::null()).output().unwrap().into()
    };
    let _ = here(&["init", "--yes", "--dir", "."]).ok();
    let ran = here(&["ps"]);
    assert!(!ran.stderr.contains("nobody has allowed"), "{}", ran.stderr);

    let clone = Clone::new();
    let config = clone.config();
    // Something else has its port, so it ends at once; the person has named the file.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("port: {}", taken.local_addr().unwrap().port());
    let text = fs::read_to_string(&config).unwrap().replace("port: 1", &port);
    fs::write(&config, text).unwrap();
    let up = clone.run(&["up", "--config", config.to_str().unwrap()]);
    assert_ne!(up.code, 0, "{}", up.stderr);
    assert!(!up.stderr.contains("nobody has allowed"), "{}", up.stderr);
    let ran = clone.run(&["ps"]);
    assert!(!ran.stderr.contains("nobody has allowed"), "{}", ran.stderr);
}

#[test]
fn one_of_another_user_is_refused_even_if_it_was_allowed_before() {
    if !stage::is_root() {
        return stage::skip("found: another user's", "only root can give a file to another user");
    }
    let clone = Clone::new();
    let chown = |path: &Path| std::os::unix::fs::chown(path, Some(NOBODY), None).unwrap();
    let _ = clone.at_terminal(&["ps"], "y\n");
    let _ = fs::remove_dir_all(clone.folder.join("their-state"));
    chown(&clone.config());
    for args in [&["up", "-d"] as &[&str], &["doctor"], &["ps"]] {
        clone.refused(args, &["belongs to another user (uid 65534)", "--config"]);
    }
    let out = clone.at_terminal(&["ps"], "y\n");
    assert!(out.contains("belongs to another user"), "{out}");
}

/// Nobody writes to a pipe that lies where a file is expected.
#[test]
fn a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for() {
    let world = World::new(env!("CARGO_BIN_EXE_gangline"));
    let pipe = world.path("pipe.yaml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let name = pipe.to_str().unwrap();
    for args in [&["config", "check", name] as &[&str], &["doctor", "--config", name]] {
        let ran = world.run(args);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(all.contains("it is no regular file"), "{args:?}: {all}");
    }
    let named = world.file(
        "named.yaml",
        &format!(
            "server: {{name: oak, port: 1}}\nagents:\n  - {{nick: oak-ada, agent: claude, \
             directory: ., mcp_servers_file: {name}}}\n"
        ),
    );
    let ran = world.run(&["config", "check", &named]);
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert!(all.contains("it is no regular file"), "{all}");
}
