//! Stores, ports and disks that are not what they should be, and a hub that dies as it writes.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use gangline_testkit::{
    Stage, database, eventually, eventually_seeing, irc, stage, wait::PATIENCE,
};

use super::{ADA, kept, stage_with};

struct Files(Vec<(PathBuf, Vec<u8>)>);

impl Files {
    /// The databases and what lies beside them, except locks.
    fn of(state: &Path) -> Self {
        let mut files = Vec::new();
        for entry in fs::read_dir(state).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("gangline.db") && !name.ends_with("lock") {
                files.push((entry.path(), fs::read(entry.path()).unwrap()));
            }
        }
        files.sort();
        Self(files)
    }

    fn assert_untouched(&self, state: &Path) {
        let now = Self::of(state);
        let names = |files: &Self| files.0.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
        for (path, bytes) in &self.0 {
            let there = now.0.iter().find(|file| file.0 == *path);
            let same = there.is_some_and(|file| file.1 == *bytes);
            assert!(same, "{} was touched; there are {:?}", path.display(), names(&now));
        }
    }
}

/// `up`, the daemon and every command refuse a store, say why, and leave it as it is.
fn refuses_the_store(stage: &Stage, parts: &[&str]) {
    let state = stage.world.state();
    let files = Files::of(&state);
    let up = stage.up_ends();
    let daemon = stage.world.run(&["--config", &stage.config, "daemon", ADA]);
    let others = [&["ps"][..], &["status"], &["prompt", ADA, "hello"]];
    let others = others.map(|args| stage.world.run(&[&["--config", &stage.config], args].concat()));
    for ran in [up, daemon].iter().chain(&others) {
        assert_eq!(ran.code, 78, "{}{}", ran.stdout, ran.stderr);
        for part in parts.iter().copied().chain(["gangline.db"]) {
            assert!(ran.stderr.contains(part), "no `{part}` in {}", ran.stderr);
        }
    }
    assert_eq!(stage.world.processes_like("gangline daemon"), [0; 0]);
    files.assert_untouched(&state);
}

/// A database of a newer program is not read, not written and not replaced.
#[test]
fn a_store_of_a_newer_program_is_left_alone() {
    let stage = stage_with(None);
    let mut hub = stage.up();
    let mut alice = stage.member("alice");
    alice.say("#general", "@bi-ada say exactly kept");
    alice.hears(ADA, "#general", "kept");
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
    let path = stage.world.state().join("gangline.db");
    let known = database::query(&path, "PRAGMA user_version").pop().unwrap();
    let _ = database::query(&path, "PRAGMA user_version = 4242");
    refuses_the_store(&stage, &["4242"]);
    match known.as_str() {
        "13" => drop(database::query(&path, "PRAGMA user_version = 13")),
        other => panic!("this test does not know schema {other}"),
    }
    let _hub = stage.up();
    let mut alice = stage.member("alice");
    alice.say("#general", "@bi-ada say exactly back");
    alice.hears(ADA, "#general", "back");
    let first = "SELECT state FROM messages WHERE body LIKE '%kept'";
    assert_eq!(stage.query(first), ["answered"]);
}

/// A file that is no database is not overwritten.
#[test]
fn a_store_that_is_garbage_is_left_alone() {
    let stage = stage_with(None);
    let state = stage.world.state();
    fs::create_dir_all(&state).unwrap();
    fs::write(state.join("gangline.db"), "a shopping list: milk, bread\n".repeat(400)).unwrap();
    refuses_the_store(&stage, &["not a database"]);
}

/// A page in the middle is overwritten: `up` names the file at once, with the exit code that no
/// service manager restarts on, and so does a daemon.
#[test]
fn a_store_with_damaged_pages_is_named_at_once() {
    let stage = stage_with(None);
    let mut hub = stage.up();
    stage.member("alice").say("#general", "@bi-ada say exactly kept");
    eventually("a settled message", || {
        (stage.query("SELECT count(*) FROM messages WHERE state = 'answered'") == ["1"])
            .then_some(())
    });
    assert_eq!(hub.terminate(), 0);
    let path = stage.world.state().join("gangline.db");
    let mut bytes = fs::read(&path).unwrap();
    for page in bytes.chunks_mut(4096).skip(1).step_by(2) {
        page[..200].fill(0xA5);
    }
    fs::write(&path, &bytes).unwrap();
    let up = stage.up_ends();
    assert_eq!(up.code, 78, "{}{}", up.stdout, up.stderr);
    assert!(up.stderr.contains("gangline.db is damaged and was not changed"), "{}", up.stderr);
    let daemon = stage.world.run(&["--config", &stage.config, "daemon", ADA]);
    assert_eq!(daemon.code, 78, "{}", daemon.stderr);
    assert!(fs::read(&path).unwrap() == bytes, "the file is kept");
}

/// The chat server's history is damaged or emptied: 78, named and kept.
#[test]
fn a_damaged_history_ends_the_hub_for_good() {
    let stage = stage_with(None);
    assert_eq!(stage.up().terminate(), 0);
    let path = stage.world.state().join("irc.db");
    let whole = fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    damaged[100..].fill(0xA5);
    fs::write(&path, &damaged).unwrap();
    let up = stage.up_ends();
    assert_eq!(up.code, 78, "{}{}", up.stdout, up.stderr);
    assert!(up.stderr.contains("irc.db is damaged and was not changed"), "{}", up.stderr);
    assert!(fs::read(&path).unwrap() == damaged, "the file is kept");
    let alone = stage.world.run(&["ircd"]);
    assert_eq!(alone.code, 78, "{}", alone.stderr);
    // Emptied beside a log.
    fs::write(&path, "").unwrap();
    fs::write(stage.world.state().join("irc.db-wal"), "what was said").unwrap();
    let up = stage.up_ends();
    assert_eq!(up.code, 78, "{}{}", up.stdout, up.stderr);
    assert_eq!(fs::read(stage.world.state().join("irc.db-wal")).unwrap(), b"what was said");
    // Emptied after a clean end, which leaves no log.
    fs::remove_file(stage.world.state().join("irc.db-wal")).unwrap();
    let up = stage.up_ends();
    assert_eq!(up.code, 78, "{}{}", up.stdout, up.stderr);
    assert!(up.stderr.contains("irc.db is damaged and was not changed"), "{}", up.stderr);
    assert!(up.stderr.contains("it is empty, and was not before"), "{}", up.stderr);
    // Moved away, as the words say: a new one.
    fs::remove_file(&path).unwrap();
    assert_eq!(stage.up().terminate(), 0);
    assert!(fs::metadata(&path).unwrap().len() > 0);
}

/// After `down` everything is in the database's file, and a copy of that is a backup.
#[test]
fn a_clean_end_leaves_the_database_whole() {
    let stage = stage_with(None);
    let _hub = stage.up();
    let _ = stage.world.run(&["--config", &stage.config, "down"]).ok();
    let state = stage.world.state();
    for log in ["gangline.db-wal", "irc.db-wal"] {
        assert!(!state.join(log).exists(), "{log} is left");
    }
    assert!(fs::metadata(state.join("gangline.db")).unwrap().len() > 4096);
}

/// The same for the history of the IRC server.
#[test]
fn a_history_that_is_garbage_or_newer_is_left_alone() {
    let stage = stage_with(None);
    let state = stage.world.state();
    fs::create_dir_all(&state).unwrap();
    let garbage = "no database\n".repeat(1000);
    fs::write(state.join("irc.db"), &garbage).unwrap();
    let up = stage.up_ends();
    assert_ne!(up.code, 0);
    assert!(up.stderr.contains("irc.db"), "{}", up.stderr);
    assert_eq!(fs::read_to_string(state.join("irc.db")).unwrap(), garbage);
    fs::remove_file(state.join("irc.db")).unwrap();
    assert_eq!(stage.up().terminate(), 0);
    let _ = database::query(&state.join("irc.db"), "PRAGMA user_version = 4242");
    let up = stage.up_ends();
    assert_ne!(up.code, 0);
    assert!(up.stderr.contains("4242"), "{}", up.stderr);
    assert_eq!(stage.world.processes_like("gangline daemon"), [0; 0]);
}

/// A daemon that ends with 78 is started once and left; the hub and the others go on, and `ps`
/// tells.
#[test]
fn a_daemon_that_no_restart_mends_is_not_restarted() {
    let each = "api_key_env: GANGLINE_TEST_ABSENT";
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], None, ("", each));
    let mut hub = stage.start(&[]);
    eventually("the hub to give up", || {
        hub.output().contains("is not started again").then_some(())
    });
    // A restart would come after one second; the hub lives on meanwhile.
    let begun = std::time::Instant::now();
    eventually("two seconds of the hub's life", || {
        (begun.elapsed() > Duration::from_secs(2)).then_some(())
    });
    drop(stage.member("alice"));
    assert_eq!(hub.output().matches("started name=").count(), 1, "{}", hub.output());
    let log = stage.world.state().join("agents").join(ADA).join("daemon.log");
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("GANGLINE_TEST_ABSENT"), "{log}");
    let ps = stage.world.run(&["--config", &stage.config, "ps"]).ok();
    assert!(ps.contains(ADA), "{ps}");
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
}

/// Somebody else listens on the port: said so, and nothing is left behind.
#[test]
fn a_taken_port_is_said_and_leaves_nothing() {
    let stage = stage_with(None);
    let other = TcpListener::bind(&stage.irc).unwrap();
    let up = stage.up_ends();
    assert_eq!(up.code, 2, "{}{}", up.stdout, up.stderr);
    for part in [stage.irc.as_str(), "another program already listens there"] {
        assert!(up.stderr.contains(part), "no `{part}` in {}", up.stderr);
    }
    let ours = stage.standin.pid();
    let left: Vec<_> = stage.world.processes().into_iter().filter(|p| p.0 != ours).collect();
    assert!(left.is_empty(), "{left:?}");
    drop(other);
    assert_eq!(stage.up().terminate(), 0);
}

/// A second hub for a state folder names the first and does not touch it.
#[test]
fn a_second_hub_names_the_first() {
    let stage = stage_with(None);
    let hub = stage.up();
    let mut alice = stage.member("alice");
    let before = stage.world.processes_like("daemon");
    let second = stage.up_ends();
    assert_eq!(second.code, 1, "{}{}", second.stdout, second.stderr);
    assert!(second.stderr.contains(&hub.pid().to_string()), "{}", second.stderr);
    assert_eq!(stage.world.processes_like("daemon"), before);
    alice.say("#general", "@bi-ada say exactly untouched");
    alice.hears(ADA, "#general", "untouched");
}

/// A small disk of its own, taken away when dropped.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: PathBuf, size: &str) -> Result<Self, String> {
        fs::create_dir_all(&at).unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size},mode=700"), "tmpfs"])
            .arg(&at)
            .output()
            .map_err(|error| format!("mount: {error}"))?;
        let why = || format!("mount: {}", String::from_utf8_lossy(&mount.stderr).trim());
        if mount.status.success() { Ok(Self(at)) } else { Err(why()) }
    }

    /// Takes all the room there is.
    fn fill(&self) {
        use std::io::Write as _;
        let mut ballast = fs::File::create(self.0.join("ballast")).unwrap();
        while ballast.write_all(&[0; 4096]).is_ok() {}
        while ballast.write_all(&[0]).is_ok() {}
    }

    fn make_room(&self) {
        fs::remove_file(self.0.join("ballast")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// On a full disk: what is said is refused to its sender, or kept and answered once there is
/// room again; never half.
#[test]
fn a_full_disk_refuses_or_keeps_and_loses_nothing() {
    let stage = stage_with(None);
    let state = stage.world.state();
    let disk = match Disk::mount(state.clone(), "24m") {
        Ok(disk) => disk,
        Err(why) => return stage::skip("bad_input::a_full_disk", &why),
    };
    let mut hub = stage.up();
    let mut alice = stage.member("alice");
    alice.say("#general", "@bi-ada say exactly before");
    alice.hears(ADA, "#general", "before");
    disk.fill();
    let (mut taken, mut refused) = (Vec::new(), Vec::new());
    for n in 0..40 {
        let token = format!("tok-{n}-{}", "x".repeat(200));
        alice.say("#general", &format!("@bi-ada say exactly {token}"));
        let echoed = alice.wait("an echo or a refusal", |line| match irc::command(line) {
            "FAIL" => Some(false),
            _ => irc::said(line).filter(|said| said.from == "alice").map(|_| true),
        });
        if echoed { taken.push(token) } else { refused.push(token) }
    }
    assert!(!refused.is_empty(), "the disk was not full");
    let status = stage.world.run(&["status"]);
    assert_eq!(status.code, 0, "{}", status.stderr);
    let prompt = stage.world.run(&["--config", &stage.config, "prompt", ADA, "say exactly no"]);
    assert_eq!(prompt.code, 2, "{}", prompt.stderr);
    assert!(prompt.stderr.contains("the disk is full: free some space"), "{}", prompt.stderr);
    disk.make_room();
    alice.say("#general", "@bi-ada say exactly after");
    taken.push("after".to_owned());
    // Some may have been answered long ago.
    let answers = eventually_seeing("an answer to all that was taken", || {
        let answers = kept(&mut alice, ADA, "#general");
        let missing: Vec<_> = taken.iter().filter(|token| !answers.contains(token)).collect();
        if missing.is_empty() { Ok(answers) } else { Err(format!("none to {missing:?}")) }
    });
    for token in &taken {
        assert_eq!(answers.iter().filter(|text| *text == token).count(), 1, "{token}");
    }
    let said = kept(&mut alice, "alice", "#general").join("\n");
    for token in &refused {
        assert!(!said.contains(token.as_str()), "{token} was refused and is in the room");
        assert!(!answers.contains(token), "{token} was refused and answered");
    }
    println!("{} taken, {} refused", taken.len(), refused.len());
    let _ = stage.world.run(&["status"]).ok();
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
    for name in ["gangline.db", "irc.db"] {
        assert_eq!(database::integrity_check(&state.join(name)), "ok", "{name}");
    }
}

/// A hub on a full disk says so and leaves; with room it starts.
#[test]
fn a_hub_cannot_start_on_a_full_disk_and_says_so() {
    let stage = stage_with(None);
    let disk = match Disk::mount(stage.world.state(), "8m") {
        Ok(disk) => disk,
        Err(why) => return stage::skip("bad_input::a_hub_cannot_start_on_a_full_disk", &why),
    };
    disk.fill();
    let up = stage.up_ends();
    assert_eq!(up.code, 2, "{}", up.stderr);
    assert!(up.stderr.contains("the disk is full: free some space"), "{}", up.stderr);
    // In the background it has no room to log why.
    let up = stage.world.run(&["--config", &stage.config, "up", "-d"]);
    assert_eq!(up.code, 2, "{}", up.stderr);
    let full = format!("error: the disk that holds {} is full: ", stage.world.state().display());
    assert!(up.stderr.contains(&full), "{}", up.stderr);
    assert!(up.stderr.contains("hint: free some space there and try again"), "{}", up.stderr);
    disk.make_room();
    assert_eq!(stage.up().terminate(), 0);
    // Now there are databases.
    disk.fill();
    let up = stage.up_ends();
    assert_eq!(up.code, 2, "{}", up.stderr);
    assert!(up.stderr.contains("the disk is full: free some space"), "{}", up.stderr);
    disk.make_room();
    let _hub = stage.up();
    let mut alice = stage.member("alice");
    alice.say("#general", "@bi-ada say exactly room enough");
    alice.hears(ADA, "#general", "room enough");
}

/// The agents' store cannot write, the IRC server's can: what is said meanwhile, and the answer of
/// the turn that is open, come once there is room again.
#[test]
fn a_full_disk_of_the_agents_store_only_delays() {
    let stage = stage_with(None);
    let state = stage.world.state();
    let disk = match Disk::mount(state.clone(), "24m") {
        Ok(disk) => disk,
        Err(why) => return stage::skip("bad_input::a_full_disk_of_the_agents_store", &why),
    };
    // The rooms' history lies elsewhere.
    std::os::unix::fs::symlink(stage.world.path("irc.db"), state.join("irc.db")).unwrap();
    let mut hub = stage.up();
    let mut alice = stage.member("alice");
    // A person with an account is answered also while away.
    let mut boss = stage.owner("boss");
    stage.hold_model();
    alice.say("#general", "@bi-ada say exactly delayed");
    eventually("the turn", || {
        (stage.query("SELECT state FROM messages") == ["in_turn"]).then_some(())
    });
    disk.fill();
    for n in 0..3 {
        alice.say("#general", &format!("@bi-ada say exactly later-{n}"));
        alice.hears("alice", "#general", &format!("later-{n}"));
    }
    boss.say(ADA, "say exactly later-direct");
    stage.release_model();
    alice.wait("the end of the turn's work", |line| line.contains("+typing=done").then_some(()));
    let sleeper = "SELECT state FROM messages WHERE body LIKE '%delayed'";
    assert_eq!(stage.query(sleeper), ["in_turn"], "the disk is full");
    let _ = stage.world.run(&["status"]).ok();
    let before = stage.world.processes_like("gangline daemon");
    disk.make_room();
    alice.hears(ADA, "#general", "delayed");
    // Else it looks again every 30 s.
    hub.kill();
    let mut hub = stage.up();
    let mut alice = stage.member("alice");
    let mut boss = stage.owner("boss");
    let wanted = ["later-0", "later-1", "later-2"];
    let said = eventually("the answers", || {
        let said = kept(&mut alice, ADA, "#general");
        wanted.iter().all(|token| said.iter().any(|text| text == token)).then_some(said)
    });
    for token in wanted {
        assert_eq!(said.iter().filter(|text| *text == token).count(), 1, "{said:?}");
    }
    eventually("the direct answer", || {
        let said = kept(&mut boss, ADA, ADA);
        (said == ["later-direct"]).then_some(())
    });
    assert_eq!(stage.world.processes_like("gangline daemon"), before, "it never died");
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
    assert_eq!(database::integrity_check(&state.join("gangline.db")), "ok");
}

/// The hub dies at its `passing`-th commit of lines, before or after it. The first line is
/// alice's, the second the answer.
fn killed_hub(failpoint: &str, passing: u32) {
    let stage = stage_with(None);
    let armed = format!("{failpoint}=kill@{passing}");
    let mut hub = stage.start(&[("GANGLINE_FAILPOINTS", &armed)]);
    let mut alice = stage.member("alice");
    eventually("the agent in the room", || {
        let sql = "SELECT ready_at IS NOT NULL FROM agents";
        (stage.query(sql) == ["1"]).then_some(())
    });
    alice.try_send("PRIVMSG #general :@bi-ada say exactly kumquat");
    let echoed = alice
        .listen(PATIENCE, |line| irc::said(line).filter(|said| said.from == "alice").map(|_| ()));
    assert_eq!(hub.wait(), -1, "{failpoint}: {}", hub.output());
    assert_eq!(echoed.is_some(), passing > 1, "an echo comes after the commit");
    let mut hub = stage.up();
    let mut alice = stage.member("alice");
    let said = kept(&mut alice, "alice", "#general").len();
    let lost = failpoint.ends_with("before_commit") && passing == 1;
    assert_eq!(said, usize::from(!lost), "{failpoint}@{passing}");
    if lost {
        alice.say("#general", "@bi-ada say exactly kumquat");
    }
    eventually("the answer in the room", || {
        kept(&mut alice, ADA, "#general").contains(&"kumquat".to_owned()).then_some(())
    });
    alice.say("#general", "@bi-ada say exactly tangerine");
    alice.hears(ADA, "#general", "tangerine");
    assert_eq!(kept(&mut alice, ADA, "#general"), ["kumquat", "tangerine"]);
    eventually("every line confirmed", || {
        let sql = "SELECT body FROM outbox WHERE state <> 'confirmed'";
        stage.query(sql).is_empty().then_some(())
    });
    let asked = "SELECT count(*) FROM messages WHERE origin <> 'system'";
    assert_eq!(stage.query(asked), ["2"]);
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
    let history = stage.world.state().join("irc.db");
    assert_eq!(database::integrity_check(&history), "ok");
}

/// A line that was not echoed may be missing, as a whole.
#[test]
fn a_hub_killed_before_a_lines_commit_has_not_taken_it() {
    killed_hub("ircd.append.before_commit", 1);
}

/// A line that was committed is answered, once, though nobody was told of it.
#[test]
fn a_hub_killed_after_a_lines_commit_has_it_answered_once() {
    killed_hub("ircd.append.after_commit", 1);
}

/// An answer that was not committed is said again by its agent, under the next hub.
#[test]
fn a_hub_killed_before_an_answers_commit_hears_it_again() {
    killed_hub("ircd.append.before_commit", 2);
}

/// An answer that was committed and not confirmed is not doubled.
#[test]
fn a_hub_killed_after_an_answers_commit_has_it_once() {
    killed_hub("ircd.append.after_commit", 2);
}
