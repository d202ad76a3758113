//! `gangline init`: an empty home becomes a fleet that can be started.

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use gangline_runtime::adapters;
use gangline_testkit::{IrcPeer, Ran, World, eventually, irc, stage::free_port};
use nix::pty::openpty;

use crate::clients::Screen;

/// A machine with these programs and nothing else but git and a shell.
fn machine(programs: &[(&str, &str)]) -> World {
    bare(programs, &["git", "sh", "uname", "sleep", "yes"])
}

/// A machine with these scripts and these real programs.
fn bare(programs: &[(&str, &str)], real: &[&str]) -> World {
    let mut world = World::new(env!("CARGO_BIN_EXE_gangline"));
    let bin = world.path("bin");
    fs::create_dir(&bin).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for name in real {
        let mut folders = std::env::split_paths(&path);
        let found = folders.find(|folder| folder.join(name).is_file());
        symlink(found.unwrap_or_else(|| panic!("no {name}")).join(name), bin.join(name)).unwrap();
    }
    for (name, script) in programs {
        let file = bin.join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    world.set("PATH", bin.to_str().unwrap());
    world.set("GANGLINE_VERSION_SECONDS", "5");
    world
}

mod missing;

const CLAUDE: (&str, &str) = ("claude", "echo '2.1.330 (Claude Code)'");

fn config(world: &World) -> PathBuf {
    world.path("config/gangline/agents.yaml")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn git(world: &World, folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(args).current_dir(folder).env_clear().env("HOME", world.path(""));
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let ran: Ran = command.output().unwrap().into();
    ran.ok()
}

fn token(world: &World) -> String {
    fs::read_to_string(world.state().join("owner.token")).unwrap().trim().to_owned()
}

/// Returns every byte of a folder's files.
fn bytes_below(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(bytes_below(&path));
        } else {
            all.extend(fs::read(&path).unwrap());
        }
    }
    all
}

/// R0-61, R0-62: nothing but a home, and two minutes later a fleet.
#[test]
fn an_empty_home_gets_a_configuration_an_owner_and_a_repository() {
    let world = machine(&[CLAUDE]);
    let ran = world.run(&["init", "--server", "oak", "--git"]);
    let out = ran.ok();
    let file = config(&world);
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    let token_file = world.state().join("owner.token");
    assert_eq!((mode(&token_file), mode(&world.state())), (0o600, 0o700));
    assert!(out.contains("2.1.330 (Claude Code)") && out.contains("claude"), "{out}");
    assert!(out.ends_with(" up -d\n"), "{out}");
    let here = world.path("").canonicalize().unwrap();
    assert!(out.contains(&format!("The agents work in {} (", here.display())), "{out}");

    let checked = world.run(&["config", "check"]);
    assert_eq!(checked.stderr, "");
    let agents = usize::from(adapters::named("claude").is_ok());
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.contains("\n  - nick: oak-claude\n    agent: claude\n"), agents == 1, "{text}");
    assert!(checked.ok().contains(&format!("ok ({agents} agent")), "{text}");

    let folder = file.parent().unwrap();
    let log = git(&world, folder, &["log", "--name-only", "--format=%an <%ae> %s"]);
    let first = "gangline <gangline@localhost> The fleet's configuration, by gangline init";
    assert_eq!(log, format!("{first}\n\n.gitignore\nagents.yaml\n"));
    assert_eq!(git(&world, folder, &["status", "--porcelain", "--ignored"]), "");
}

/// The token is shown, and lies in its own file and nowhere else.
#[test]
fn the_owners_token_is_in_no_file_of_the_configuration() {
    let world = machine(&[CLAUDE]);
    let out = world.run(&["init", "--git"]).ok();
    let token = token(&world);
    assert!(out.contains(&format!("owner:{token}")), "{out}");
    let folder = world.path("config");
    let found = bytes_below(&folder).windows(token.len()).any(|part| part == token.as_bytes());
    assert!(!found, "in a file below {}", folder.display());
    let log = git(&world, &folder.join("gangline"), &["log", "-p"]);
    assert!(!log.contains(&token) && log.contains("agents.yaml"), "{log}");
    // Whatever lies beside the configuration one day, the repository leaves it out.
    fs::write(folder.join("gangline/owner.token"), "secret").unwrap();
    fs::create_dir(folder.join("gangline/agents")).unwrap();
    fs::write(folder.join("gangline/agents/irc.secret"), "secret").unwrap();
    assert_eq!(git(&world, &folder.join("gangline"), &["status", "--porcelain"]), "");
}

/// A configuration of a port that is free here, kept by `init --force`.
fn on_a_free_port(world: &World) {
    let port = free_port();
    let text = format!("server: {{name: oak, host: 127.0.0.1, port: {port}}}\nagents: []\n");
    let _ = world.file("config/gangline/agents.yaml", &text);
}

/// What is printed lets the owner in, pasted as it is: by server password, by SASL, from irssi and
/// from ii.
#[test]
fn the_owner_logs_in_with_what_is_printed() {
    let world = machine(&[]);
    on_a_free_port(&world);
    let out = world.run(&["init", "--force"]).ok();
    let _up = world.start_ready(&["up"]);
    let join = world.run(&["join"]).ok();
    assert!(join.starts_with("Join with any IRC client: ") && out.contains(&join), "{join}");
    let line = |part: &str| {
        let line = out.lines().find(|line| line.contains(part));
        line.unwrap_or_else(|| panic!("no `{part}` in {out}")).trim()
    };
    let connect = line(&format!(" owner:{}", token(&world)));
    let words: Vec<&str> = connect.split_whitespace().collect();
    let [_, host, port, password] = words[..] else { panic!("{connect}") };
    let address = format!("{host}:{port}");
    let logged_in = |peer: &mut IrcPeer| {
        peer.wait("900", |line| {
            (irc::command(line) == "900" && line.contains("logged in as owner")).then_some(())
        });
    };
    let mut boss = IrcPeer::open(&address, "boss");
    boss.register(Some(password), "message-tags");
    assert!(
        boss.lines().iter().any(|line| line.contains("logged in as owner")),
        "{:?}",
        boss.lines()
    );

    let sasl = line("account owner").split_once("account ").unwrap().1;
    let (account, password) = sasl.split_once(", password ").unwrap();
    let mut chief = IrcPeer::open(&address, "chief");
    chief.send("CAP REQ :sasl");
    chief.send("AUTHENTICATE PLAIN");
    chief.wait("+", |line| line.ends_with("AUTHENTICATE +").then_some(()));
    let plain = format!("\0{account}\0{password}");
    chief.send(&format!("AUTHENTICATE {}", crate::trust::base64(plain.as_bytes())));
    logged_in(&mut chief);

    let screen = Screen::irssi(&world);
    screen.types(connect);
    screen.shows("logged in as owner");

    // ii looks up the home in the system's own list of users.
    let (pass, ii) = (line("export IIPASS="), line("-k IIPASS"));
    let ii = format!("{pass}; exec {ii} -i {}", world.path("irc").display());
    let mut client = Command::new("sh")
        .args(["-c", &ii])
        .current_dir(world.path(""))
        .env("HOME", world.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let heard = world.path("irc").join(host).join("out");
    eventually("ii to be logged in", || {
        fs::read_to_string(&heard).ok()?.contains("logged in as owner").then_some(())
    });
    client.kill().unwrap();
    client.wait().unwrap();
}

#[test]
fn a_configuration_that_is_there_is_never_written_over() {
    let world = machine(&[CLAUDE]);
    let file = world.file("config/gangline/agents.yaml", "agents: [] # mine\n");
    let ran = world.run(&["init"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("there is a configuration already: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: --force renames it"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), "agents: [] # mine\n");
    assert!(!world.state().exists(), "nothing else is made");
    let aside = |world: &World| {
        let folder = fs::read_dir(world.path("config/gangline")).unwrap().flatten();
        let mut aside: Vec<PathBuf> = folder
            .map(|entry| entry.path())
            .filter(|path| path.to_str().unwrap().contains("agents.yaml.before-20"))
            .collect();
        aside.sort();
        aside
    };
    let out = world.run(&["init", "--force", "--git"]).ok();
    let [first] = &aside(&world)[..] else { panic!("{:?}", aside(&world)) };
    assert!(out.contains(&format!("moved aside  {}", first.display())), "{out}");
    assert_eq!(fs::read_to_string(first).unwrap(), "agents: [] # mine\n");
    let token = token(&world);
    // Twice within a second, nothing is lost either; and what is there already is kept.
    let out = world.run(&["init", "--force", "--git"]).ok();
    let out = out + &world.run(&["init", "--force", "--git"]).ok();
    assert_eq!(aside(&world).len(), 3);
    assert!(out.contains("kept ") && out.contains("is one already; nothing has changed"), "{out}");
    assert_eq!(self::token(&world), token);
    // A link that leads nowhere is somebody's as well.
    fs::remove_file(&file).unwrap();
    symlink("nowhere", &file).unwrap();
    assert_eq!(world.run(&["init"]).code, 1);
    let _ = world.run(&["init", "--force"]).ok();
    assert!(aside(&world).iter().any(|path| path.is_symlink()), "it is kept as well");
}

#[test]
fn a_second_init_keeps_the_servers_name_and_port() {
    let world = machine(&[CLAUDE]);
    let old = "server: {name: elm, port: 7123}\nagents: []\n";
    let _ = world.file("config/gangline/agents.yaml", old);
    let json = world.run(&["init", "--force", "--json"]).json();
    assert_eq!((json["server"].as_str(), json["port"].as_u64()), (Some("elm"), Some(7123)));
    let json = world.run(&["init", "--force", "--json", "--server", "oak"]).json();
    assert_eq!((json["server"].as_str(), json["port"].as_u64()), (Some("oak"), Some(7123)));
}

#[test]
fn without_git_it_says_so_and_goes_on() {
    let world = bare(&[CLAUDE], &["sh"]);
    let out = world.run(&["init", "--git"]).ok();
    assert!(out.contains("repository   none: git is not installed"), "{out}");
    assert!(config(&world).is_file() && !world.path("config/gangline/.git").exists());
    // Nor is there a program that tells the machine's name.
    assert!(fs::read_to_string(config(&world)).unwrap().contains("\n  name: spark "));
}

#[test]
fn somebodys_repository_is_left_alone() {
    let world = machine(&[CLAUDE]);
    let top = world.path("dotfiles");
    fs::create_dir(&top).unwrap();
    git(&world, &top, &["init", "-q"]);
    let dir = top.join("gangline");
    let out = world.run(&["init", "--git", "--dir", dir.to_str().unwrap()]).ok();
    assert!(out.contains("the folder is in the repository ") && out.contains("/dotfiles"), "{out}");
    let names: Vec<_> = fs::read_dir(&dir).unwrap().flatten().map(|it| it.file_name()).collect();
    assert_eq!(names, ["agents.yaml"]);
    assert_eq!(git(&world, &top, &["status", "--porcelain"]), "?? gangline/\n");
}

#[test]
fn a_repository_of_the_folder_itself_gets_a_commit_of_these_files_only() {
    let world = machine(&[CLAUDE]);
    let dir = world.path("fleet");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    git(&world, &dir, &["init", "-q"]);
    for (name, value) in [("user.name", "Ada"), ("user.email", "ada@example.org")] {
        git(&world, &dir, &["config", name, value]);
    }
    fs::write(dir.join("notes"), "staged by somebody").unwrap();
    fs::write(dir.join(".gitignore"), "*.log\n").unwrap();
    git(&world, &dir, &["add", "notes"]);
    // A hook of the user's does not run, and cannot stand in the way.
    let hook = dir.join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\ntouch \"$HOME/hook-ran\"\nexit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let out = world.run(&["init", "--git", "--dir", dir.to_str().unwrap()]).ok();
    assert!(out.contains("is one already; the change is committed"), "{out}");
    let log = git(&world, &dir, &["log", "--name-only", "--format=%an"]);
    assert_eq!(log, "Ada\n\n.gitignore\nagents.yaml\n");
    assert_eq!(git(&world, &dir, &["status", "--porcelain"]), "A  notes\n");
    assert_eq!(fs::read_to_string(dir.join(".gitignore")).unwrap(), "*.log\n");
    assert!(!world.path("hook-ran").exists());
    assert_eq!(mode(&dir), 0o755, "a folder that was there keeps its mode");
    let next = format!("--config {}/agents.yaml up -d\n", dir.display());
    assert!(out.ends_with(&next), "{out}");
}

/// A program that hangs, floods or fails delays nothing for long, and nothing of it stays.
#[test]
fn programs_that_misbehave_are_told_and_end() {
    let world = machine(&[
        ("claude", "sleep 1000 & trap '' TERM; sleep 1000; sleep 1000"),
        ("codex", "yes agents: | head -c 1 >/dev/null; exec yes 'agents: []'"),
        ("opencode", "echo broken >&2; exit 3"),
        ("gemini", "printf '\\033[31m1.2\\nagents: []\\n'"),
        ("goose", "echo 'goose version: v3.24.0'"),
        ("copilot", "exit 0"),
    ]);
    let json = world.run(&["init", "--json"]).json();
    let programs = json["programs"].as_array().unwrap();
    let names: Vec<&str> = programs.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["claude", "codex", "opencode", "copilot", "gemini", "goose"]);
    let version = |index: usize| programs[index]["version"].as_str();
    assert_eq!((version(0), version(1), version(3)), (None, Some("agents: []"), None));
    assert_eq!(version(4), Some("[31m1.2"));
    let why = |index: usize, backend: &str| match adapters::named(backend) {
        Ok(_) => programs[index]["why_not"].as_str().map(str::to_owned),
        Err(_) => None,
    };
    if let Some(why) = why(2, "opencode") {
        assert_eq!(why, "it does not work: `opencode --version` ended with code 3: broken");
    }
    if let Some(why) = why(5, "goose") {
        assert_eq!(why, "this is another program of that name: goose version: v3.24.0");
    }
    assert_eq!(world.processes(), [], "all that was started is gone");
    let checked = world.run(&["config", "check"]);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    let warned: Vec<&str> = checked.stderr.lines().collect();
    assert!(warned.len() == 1 && warned[0].contains("in the same directory"), "{warned:?}");
}

#[test]
fn the_summary_for_programs_has_no_secret() {
    let world = machine(&[CLAUDE]);
    let ran = world.run(&["init", "--json", "--server", "oak"]);
    assert!(!ran.stdout.contains(&token(&world)), "{}", ran.stdout);
    let json = ran.json();
    assert_eq!(json["config"], config(&world).to_str().unwrap());
    assert_eq!(json["state"], world.state().to_str().unwrap());
    assert_eq!(json["owner"]["account"], "owner");
    assert_eq!(json["owner"]["made"], true);
    assert_eq!(json["programs"][0]["version"], "2.1.330 (Claude Code)");
    assert_eq!(json["warnings"], serde_json::json!([]));
    assert!(json["next"].as_str().unwrap().ends_with(" up -d"), "{json}");
}

#[test]
fn an_agent_does_not_set_up_a_fleet() {
    let mut world = machine(&[CLAUDE]);
    world.set("GANGLINE_RUN", "a/oak-ada/1");
    let ran = world.run(&["init", "--yes"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("an agent cannot set up a fleet"), "{}", ran.stderr);
    assert!(!world.state().exists() && !config(&world).exists());
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_made() {
    let world = machine(&[CLAUDE]);
    for name in ["Oak", "", "1oak", "a b", &"x".repeat(33)] {
        let ran = world.run(&["init", "--server", name]);
        assert_eq!(ran.code, 1, "{name}: {}", ran.stdout);
        assert!(ran.stderr.contains("is not a server name"), "{}", ran.stderr);
    }
    let mut command = world.command(&["init"]);
    command.env_remove("HOME").env_remove("XDG_CONFIG_HOME").stdin(Stdio::null());
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stderr.contains("neither XDG_CONFIG_HOME nor HOME"), "{}", ran.stderr);
    let _ = world.file("file", "");
    let ran = world.run(&["init", "--dir", world.path("file/below").to_str().unwrap()]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(!world.state().exists() && !config(&world).exists());
}

/// A state folder that was named is written down, so that `up` finds the same owner.
#[test]
fn a_state_folder_that_was_named_is_in_the_configuration() {
    let world = machine(&[]);
    on_a_free_port(&world);
    let state = world.path("my state");
    let _ = world.run(&["init", "--force", "--state", state.to_str().unwrap()]).ok();
    assert!(state.join("owner.token").is_file() && !world.state().exists());
    let up = world.start_ready(&["up"]);
    let token = fs::read_to_string(state.join("owner.token")).unwrap();
    assert_eq!(up.field("token"), token.trim());
}

/// In front of a terminal it asks first, and takes no for an answer.
#[test]
fn a_person_is_asked_before_anything_is_written() {
    let answer = |said: &str| {
        let world = machine(&[CLAUDE]);
        let pty = openpty(None, None).unwrap();
        let mut command = world.command(&["init", "--server", "oak"]);
        command.stdin(pty.slave.try_clone().unwrap()).stdout(pty.slave).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut terminal = fs::File::from(pty.master);
        let mut screen = String::new();
        while !screen.contains("[Y/n]") {
            let mut part = [0; 1000];
            let read = terminal.read(&mut part).unwrap();
            screen.push_str(&String::from_utf8_lossy(&part[..read]));
        }
        assert!(screen.contains("agents.yaml with "), "{screen}");
        assert!(!config(&world).exists(), "it asks first");
        // The terminal keeps the second line until it is asked for.
        terminal.write_all(said.as_bytes()).unwrap();
        // Read on, or it would wait for room on the screen.
        let reading = std::thread::spawn(move || {
            let mut rest = Vec::new();
            let _ = terminal.read_to_end(&mut rest);
        });
        let code = child.wait().unwrap().code().unwrap();
        reading.join().unwrap();
        (code, config(&world).exists(), world.path("config/gangline/.git").exists())
    };
    assert_eq!(answer("\n\n"), (0, true, false), "a repository is made on a yes only");
    assert_eq!(answer("Yes\ny\n"), (0, true, true));
    assert_eq!(answer("n\n"), (1, false, false));
    assert_eq!(answer("maybe\n"), (1, false, false));
    assert_eq!(answer("\u{4}"), (1, false, false));
}

/// A file of culture's older form is read by `up` as it is, and stays as it is.
/// R0-61, R1-43.
#[test]
fn a_plain_file_of_cultures_is_taken_by_up() {
    let world = machine(&[CLAUDE]);
    let (port, here) = (free_port(), world.path("").display().to_string());
    let text = format!(
        "server: {{name: spark, host: localhost, port: {port}}}\nsupervisor: {{model: \
         claude-sonnet-4-6}}\ntelemetry: {{enabled: false}}\npoll_interval: 60\nagents:\n  - nick: \
         spark-culture\n    directory: {here}\n    channels: [\"#general\"]\n    icon: x\n"
    );
    let file = world.file(".culture/agents.yaml", &text);
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    let up = world.start_ready(&["--config", &file, "up", "--no-agents"]);
    assert_eq!(up.field("irc"), format!("127.0.0.1:{port}"));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before);
}
