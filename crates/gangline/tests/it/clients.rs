//! Real people's IRC clients against the embedded server: what a newcomer would start.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use gangline_testkit::{World, eventually};

use crate::{claude::kill_hard, demo};

/// Ends a client of ours when the test is over, also when it failed.
struct Client(Child);

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// R1-01, R1-56. Shown by 1: `@demo-guide hello` from `ii` in `#general` is answered in the room.
#[test]
fn a_mention_from_ii_is_answered_in_the_room() {
    let world = World::new(env!("CARGO_BIN_EXE_gangline"));
    let hub = demo::start(&world);
    let port = hub.field("irc").rsplit_once(':').unwrap().1.to_owned();
    let folder = world.path("ii");
    fs::create_dir(&folder).unwrap();
    let ii = Command::new("ii")
        .args([
            "-i",
            &folder.display().to_string(),
            "-s",
            "127.0.0.1",
            "-p",
            &port,
            "-n",
            "newcomer",
        ])
        .env("HOME", world.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _ii = Client(ii);
    let server = folder.join("127.0.0.1");
    // `ii` makes a pipe named `in`; a file of that name would be nobody's.
    write_to(&pipe(&server.join("in")), "/j #general\n");
    let room = server.join("#general");
    heard(&room.join("out"), "newcomer(~newcomer@localhost) has joined");
    write_to(&pipe(&room.join("in")), "@demo-guide hello\n");
    heard(&room.join("out"), "<demo-guide> I am a stand-in");
}

fn pipe(path: &Path) -> PathBuf {
    eventually(&format!("{}", path.display()), || path.exists().then(|| path.to_owned()))
}

fn write_to(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

fn heard(path: &Path, part: &str) -> String {
    eventually(&format!("`{part}` in {}", path.display()), || {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.contains(part).then_some(text)
    })
}

/// R1-01, R1-56. Shown by 1: the same from irssi, as the owner by server password, who then
/// approves.
#[test]
fn an_owner_in_irssi_is_answered_and_approves() {
    let world = World::new(env!("CARGO_BIN_EXE_gangline"));
    let hub = demo::start(&world);
    let port = hub.field("irc").rsplit_once(':').unwrap().1.to_owned();
    let password = format!("owner:{}", hub.field("token"));
    let screen = Screen::irssi(&world);
    // irssi sends five lines at once and then one in two seconds: that is its own pace.
    screen.types(&format!("/connect 127.0.0.1 {port} {password}"));
    screen.shows("End of /MOTD command|There is no message of the day");
    screen.types("/join #general");
    screen.shows("has joined #general");
    screen.types("@demo-guide run echo six-$((3+3))");
    screen.shows("demo-guide wants to run");
    screen.types("@demo-guide yes 1");
    screen.shows("six-6");
}

/// R1-01, R1-56. The same from WeeChat, with the lines that are printed for it: the owner logs in by
/// SASL SCRAM-SHA-256.
#[test]
fn an_owner_in_weechat_logs_in_by_the_printed_lines_and_approves() {
    let world = World::new(env!("CARGO_BIN_EXE_gangline"));
    let hub = demo::start(&world);
    let output = hub.output();
    let printed = output.lines().skip_while(|line| !line.contains("/server add "));
    let lines: Vec<&str> =
        printed.take_while(|line| line.starts_with("    /")).map(str::trim).collect();
    assert!(lines.iter().any(|line| line.ends_with("sasl_mechanism scram-sha-256")), "{lines:?}");
    let screen = Screen::weechat(&world);
    lines.iter().for_each(|line| screen.types(line));
    // It goes to the room by itself. Only the owner may approve there.
    screen.shows("has joined #general");
    screen.types("@demo-guide run echo six-$((3+3))");
    screen.shows("demo-guide wants to run");
    screen.types("@demo-guide yes 1");
    screen.shows("six-6");
}

/// Numbers terminals: one that is about to end takes no new session.
static SCREENS: AtomicU32 = AtomicU32::new(0);

/// A client in a terminal of its own.
pub(crate) struct Screen {
    socket: String,
}

impl Screen {
    pub(crate) fn irssi(world: &World) -> Self {
        let home = world.path("irssi").display().to_string();
        let screen = Self::start(world, &format!("irssi --home={home} --nick=boss"));
        screen.shows("Irssi|irssi");
        screen
    }

    /// WeeChat, which writes a log of each buffer at once.
    pub(crate) fn weechat(world: &World) -> Self {
        let home = world.path("weechat").display().to_string();
        // What is typed here comes as fast as what is pasted, which it would ask about.
        let settings = [
            "weechat.look.paste_max_lines -1",
            "logger.file.flush_delay 0",
            "logger.look.backlog 0",
        ]
        .map(|setting| format!("--run-command '/set {setting}'"))
        .join(" ");
        let screen = Self::start(world, &format!("weechat --dir {home} {settings}"));
        screen.shows("Plugins loaded");
        screen
    }

    fn start(world: &World, client: &str) -> Self {
        let socket = format!("tmux-{}.sock", SCREENS.fetch_add(1, Ordering::Relaxed));
        let screen = Self { socket: world.path(&socket).display().to_string() };
        screen.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "50", client]);
        screen
    }

    /// Kills the client, and then the terminal.
    pub(crate) fn kills(self) {
        let pid = self.tmux(&["list-panes", "-F", "#{pane_pid}"]);
        kill_hard(pid.trim().parse().unwrap());
    }

    fn tmux(&self, args: &[&str]) -> String {
        let output = Command::new("tmux").args(["-S", &self.socket]).args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
        self.tmux(&["send-keys", "Enter"]);
    }

    pub(crate) fn shows(&self, parts: &str) {
        eventually(&format!("`{parts}` on the screen"), || {
            let screen = self.tmux(&["capture-pane", "-p", "-J", "-S", "-200"]);
            parts.split('|').any(|part| screen.contains(part)).then_some(())
        });
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
