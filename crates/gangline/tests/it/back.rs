//! Real clients that do not ask for history leave, miss something, and come back.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use gangline_testkit::{IrcPeer, Stage, eventually, irc};

use crate::clients::Screen;

const ADA: &str = "bk-ada";

/// A client that keeps what it shows in files.
trait Client {
    /// Types a line for the agent alone.
    fn asks_alone(&self, text: &str);
    /// Says goodbye.
    fn quits(&self);
    /// Dies without a word.
    fn dies(self);
}

/// `ii`, which has a folder for each conversation and a file `out` in it.
struct Ii {
    child: Child,
    server: PathBuf,
}

impl Ii {
    fn comes(stage: &Stage) -> Self {
        let folder = stage.world.path("ii");
        fs::create_dir_all(&folder).unwrap();
        let server = folder.join("127.0.0.1");
        let _ = fs::remove_file(server.join("in"));
        let child = Command::new("ii")
            .args(["-i", &folder.display().to_string(), "-s", "127.0.0.1"])
            .args(["-p", stage.irc.rsplit_once(':').unwrap().1, "-n", "zed"])
            .env("HOME", stage.world.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let ii = Self { child, server };
        ii.types("in", "/j #general");
        ii
    }

    fn types(&self, to: &str, text: &str) {
        let pipe = self.server.join(to);
        eventually(&format!("{}", pipe.display()), || pipe.exists().then_some(()));
        fs::write(pipe, format!("{text}\n")).unwrap();
    }
}

impl Drop for Ii {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client for Ii {
    fn asks_alone(&self, text: &str) {
        self.types("in", &format!("/j {ADA} {text}"));
    }

    fn quits(&self) {
        self.types("in", "/q");
    }

    fn dies(mut self) {
        let _ = self.child.kill();
    }
}

/// irssi, which writes a log of each window.
struct Irssi(Screen);

impl Irssi {
    fn comes(stage: &Stage) -> Self {
        let logs = stage.world.path("irssi").join("logs").join("$0.log");
        let screen = Screen::irssi(&stage.world);
        let port = stage.irc.rsplit_once(':').unwrap().1;
        screen.types("/set nick zed");
        screen.types(&format!("/set autolog_path {}", logs.display()));
        screen.types("/set autolog on");
        screen.types(&format!("/connect 127.0.0.1 {port}"));
        screen.shows("End of /MOTD command|There is no message of the day");
        screen.types("/join #general");
        screen.shows("has joined #general");
        Self(screen)
    }
}

impl Client for Irssi {
    fn asks_alone(&self, text: &str) {
        self.0.types(&format!("/msg {ADA} {text}"));
    }

    fn quits(&self) {
        self.0.types("/quit");
    }

    /// The terminal is closed: irssi has no time for a word.
    fn dies(self) {
        self.0.kills();
    }
}

/// WeeChat, which writes a log of each buffer.
struct Weechat(Screen);

impl Weechat {
    fn comes(stage: &Stage) -> Self {
        let screen = Screen::weechat(&stage.world);
        screen
            .types(&format!("/server add chat {} -notls -nicks=zed", stage.irc.replace(':', "/")));
        screen.types("/connect chat");
        screen.shows("MOTD File is missing|End of /MOTD|message of the day");
        screen.types("/join #general");
        screen.shows("has joined #general");
        Self(screen)
    }
}

impl Client for Weechat {
    fn asks_alone(&self, text: &str) {
        self.0.types(&format!("/msg {ADA} {text}"));
    }

    fn quits(&self) {
        self.0.types("/quit -yes");
    }

    fn dies(self) {
        self.0.kills();
    }
}

/// Returns how often the agent is seen to have said a token, in all files below a folder.
fn seen(folder: &Path, token: &str) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let mut count = 0;
    for entry in entries.map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            count += seen(&path, token);
        } else if path.is_file() {
            let text = fs::read(&path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let is_answer = |line: &&str| line.contains(ADA) && !line.contains("say exactly");
            count += text.lines().filter(is_answer).filter(|line| line.ends_with(token)).count();
        }
    }
    count
}

fn gone(alice: &mut IrcPeer) {
    alice.wait("zed to be gone", |line| {
        (line.contains(":zed!") && line.contains(" QUIT")).then_some(())
    });
}

/// Asks in the room, and waits for the answer there.
fn ask(alice: &mut IrcPeer, token: &str) {
    alice.say("#general", &format!("@{ADA} say exactly {token}"));
    alice.hears(ADA, "#general", token);
}

fn here(alice: &mut IrcPeer) {
    alice.wait("zed in the room", |line| {
        (line.contains(":zed!") && irc::command(line) == "JOIN").then_some(())
    });
}

/// The client is killed with two private questions open; three answers are said in the room; the
/// chat server is killed as well. Back again, the client sees each of the five once.
fn story<C: Client>(comes: impl Fn(&Stage) -> C, folder: &str) {
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], None, ("", ""));
    let mut hub = stage.up();
    let folder = stage.world.path(folder);
    let mut alice = stage.member("alice");
    let client = comes(&stage);
    here(&mut alice);
    stage.hold_model();
    client.asks_alone("say exactly alone-1");
    client.asks_alone("say exactly alone-2");
    eventually("both questions in the store", || {
        (stage.query("SELECT count(*) FROM messages") == ["2"]).then_some(())
    });
    client.dies();
    gone(&mut alice);
    stage.release_model();
    for token in ["missed-1", "missed-2", "missed-3"] {
        ask(&mut alice, token);
    }
    eventually("the private answers in the conversation", || {
        let sql = "SELECT count(*) FROM outbox WHERE state = 'confirmed'";
        (stage.query(sql) == ["5"]).then_some(())
    });
    hub.kill();
    let _hub = stage.up();
    let mut alice = stage.member("alice");
    let tokens = ["alone-1", "alone-2", "missed-1", "missed-2", "missed-3"];
    let counts = || tokens.map(|token| seen(&folder, token));
    let client = comes(&stage);
    here(&mut alice);
    ask(&mut alice, "live-1");
    eventually("the live answer", || (seen(&folder, "live-1") == 1).then_some(()));
    assert_eq!(counts(), [1; 5], "each once");
    client.quits();
    gone(&mut alice);
    let _client = comes(&stage);
    here(&mut alice);
    ask(&mut alice, "live-2");
    eventually("the next live answer", || (seen(&folder, "live-2") == 1).then_some(()));
    assert_eq!((counts(), seen(&folder, "live-1")), ([1; 5], 1), "each still once");
}

#[test]
fn who_comes_back_with_ii_sees_once_what_was_missed() {
    story(Ii::comes, "ii");
}

#[test]
fn who_comes_back_with_irssi_sees_once_what_was_missed() {
    story(Irssi::comes, "irssi/logs");
}

#[test]
fn who_comes_back_with_weechat_sees_once_what_was_missed() {
    story(Weechat::comes, "weechat/logs");
}
