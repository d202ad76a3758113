//! What a child gets and what is known of it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use gangline_os::change_notice::ChangeNotice;
use gangline_os::lock::FileLock;
use gangline_os::proc;
use gangline_os::{
    exit::Exit,
    kill::Signal,
    process::{Group, Output, Spawn, Stdin, reap_adopted},
};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::support::{errors, known, line, output, rest, role, sh, soon, start, state, until};

#[tokio::test]
async fn a_child_has_the_environment_and_folder_it_was_given_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let env = vec![("PATH".into(), "/usr/bin:/bin".into()), ("A".into(), "b c".into())];
    let cwd = folder.path().canonicalize().unwrap();
    let spec = Spawn { program: "env".into(), args: vec![], cwd: cwd.clone(), env, ..sh("") };
    let mut child = start(spec.clone());
    assert_eq!(rest(&mut output(&mut child)).await, ["A=b c", "PATH=/usr/bin:/bin"]);
    let mut child = start(Spawn { program: "pwd".into(), ..spec });
    assert_eq!(rest(&mut output(&mut child)).await, [cwd.to_str().unwrap()]);
}

#[tokio::test]
async fn a_child_has_its_three_streams_and_no_other_descriptor_of_ours() {
    let descriptors = |pid: u32| -> BTreeSet<String> {
        let entries = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let inherited: BTreeSet<String> = descriptors(std::process::id())
        .into_iter()
        .filter(|fd| {
            let info = fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).unwrap_or_default();
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
            flags.is_some_and(|flags| {
                u32::from_str_radix(flags.trim(), 8).unwrap() & 0o2_000_000 == 0
            })
        })
        .collect();

    let folder = tempfile::tempdir().unwrap();
    let _lock = FileLock::try_take(&folder.path().join("lock"), "").unwrap();
    let _notices = ChangeNotice::bind(&folder.path().join("bell")).unwrap();
    let _file = fs::File::create(folder.path().join("file")).unwrap();
    let _listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut other = start(sh("read -r line"));
    let _pipe = other.take_stdin();

    let mut child = start(sh("echo; read -r line"));
    assert_eq!(line(&mut output(&mut child)).await, "");
    let mut allowed: BTreeSet<String> = ["0", "1", "2"].map(str::to_owned).into();
    allowed.extend(inherited);
    let extra: Vec<String> = descriptors(child.pid()).difference(&allowed).cloned().collect();
    assert_eq!(extra, Vec::<String>::new());
}

#[tokio::test]
async fn exits_tell_code_or_signal_and_may_be_asked_again() {
    let mut child = start(sh("exit 7"));
    let seven = Exit { code: Some(7), signal: None };
    assert_eq!(soon(child.wait()).await.unwrap(), seven);
    assert_eq!((soon(child.wait()).await.unwrap(), child.exited()), (seven, Some(seven)));
    child.signal_group(Signal::Kill).unwrap();

    let mut child = start(sh("kill -HUP $$; sleep 1000"));
    let hung_up = Exit { code: None, signal: Some(1) };
    assert_eq!(soon(child.wait()).await.unwrap(), hung_up);
    assert!(!hung_up.success());
}

#[tokio::test]
async fn a_wait_that_is_dropped_loses_no_exit_and_leaves_the_input_open() {
    let mut child = start(sh("read -r line; exit \"$line\""));
    assert!(timeout(Duration::from_millis(20), child.wait()).await.is_err());
    assert_eq!(child.exited(), None);
    child.take_stdin().unwrap().write_all(b"5\n").await.unwrap();
    assert_eq!(soon(child.wait()).await.unwrap().code, Some(5));
}

#[tokio::test]
async fn output_is_appended_to_a_private_file() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    for _ in 0..2 {
        let file = Output::File(log.clone());
        let mut child = start(Spawn {
            stdin: Stdin::Null,
            stdout: file.clone(),
            stderr: file,
            ..sh("echo out; echo err >&2")
        });
        assert!(soon(child.wait()).await.unwrap().success());
    }
    assert_eq!(fs::read_to_string(&log).unwrap(), "out\nerr\nout\nerr\n");
    assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
}

/// R1-03.
#[tokio::test]
async fn a_daemon_leads_a_session_of_its_own_and_outlives_the_drop_of_its_child() {
    let mut child = start(Spawn { group: Group::Session, ..role("detach", &[]) });
    let input = child.take_stdin();
    assert_eq!(line(&mut errors(&mut child)).await, "detached");
    let daemon = known(child.pid());
    let stat = fs::read_to_string(format!("/proc/{}/stat", daemon.pid)).unwrap();
    let session = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap();
    assert_eq!(session, daemon.pid.to_string());
    assert_eq!(child.group_members(), [daemon.pid]);
    drop(child);
    assert!(daemon.alive());
    drop(input);
    daemon.gone().await;
}

#[tokio::test]
async fn a_child_without_a_group_of_its_own_is_signalled_alone() {
    let mut child = start(Spawn { group: Group::Session, ..sh("echo; read -r line") });
    assert_eq!(line(&mut output(&mut child)).await, "");
    child.signal_group(Signal::Term).unwrap();
    assert_eq!(soon(child.wait()).await.unwrap().signal, Some(15));
}

#[tokio::test]
async fn a_subreaper_waits_for_the_orphans_it_adopts() {
    let mut child = start(role("reap", &[]));
    let said = rest(&mut errors(&mut child)).await;
    assert_eq!(said, ["reaped"]);
    assert!(soon(child.wait()).await.unwrap().success());
}

/// Whatever their environment and session: by their parents, of which the daemon is one.
#[tokio::test]
async fn a_daemon_knows_and_ends_what_its_programs_left() {
    let state = tempfile::tempdir().unwrap();
    let mut child = start(role("adopt", &[("STATE", state.path().to_str().unwrap())]));
    let said = rest(&mut errors(&mut child)).await;
    assert_eq!(said, ["swept"]);
    assert!(soon(child.wait()).await.unwrap().success());
}

/// The first process of a container adopts what people leave running there, and ends none of it.
#[tokio::test]
async fn the_first_process_of_a_container_ends_no_orphan() {
    let mut spec = role("first", &[]);
    let inner = std::mem::take(&mut spec.args);
    let within = ["--unshare-pid", "--as-pid-1", "--dev-bind", "/", "/", "--proc", "/proc"];
    spec.args = within.map(OsString::from).into();
    spec.args.push(std::mem::replace(&mut spec.program, "bwrap".into()).into());
    spec.args.extend(inner);
    if let Some(why) = no_container().await {
        return skip("process::the_first_process_of_a_container_ends_no_orphan", &why);
    }
    let mut child = start(spec);
    let said = rest(&mut errors(&mut child)).await;
    assert_eq!(said, ["left alone"]);
    assert!(soon(child.wait()).await.unwrap().success());
}

/// Returns why no container can be made here.
async fn no_container() -> Option<String> {
    let mut tried = start(sh("exec bwrap --unshare-pid --ro-bind / / true"));
    let why = rest(&mut errors(&mut tried)).await.join("; ");
    (!tried.wait().await.unwrap().success()).then_some(why)
}

/// Records that a test cannot run here, in the file that `GANGLINE_SKIPPED` names.
fn skip(test: &str, why: &str) {
    use std::io::Write as _;
    eprintln!("skipped: {test}: {why}");
    let Some(path) = std::env::var_os("GANGLINE_SKIPPED") else { return };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    writeln!(file.unwrap(), "{test}: {why}").unwrap();
}

#[tokio::test]
async fn reaping_orphans_takes_no_exit_of_our_own_children() {
    let mut child = start(sh("exit 7"));
    let pid = child.pid();
    until("it has ended", || state(pid) == Some('Z')).await;
    assert_eq!(reap_adopted(), 0);
    assert_eq!(soon(child.wait()).await.unwrap().code, Some(7));
}

#[tokio::test]
async fn a_zombie_is_not_alive() {
    let child = start(sh("exit 0"));
    let pid = child.pid();
    let started = proc::start_time(pid);
    until("it has ended", || state(pid) == Some('Z')).await;
    assert_eq!(proc::start_time(pid), started);
    assert!(!proc::alive(pid, started.unwrap()));
    assert!(!proc::signal_exact(pid, started.unwrap(), Signal::Kill).unwrap());
}

#[tokio::test]
async fn a_relative_folder_and_a_program_in_it_are_found_from_where_we_are() {
    let here = std::env::current_dir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/bin/pwd", folder.path().join("where")).unwrap();
    let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
    let cwd = up.join(folder.path().strip_prefix("/").unwrap());
    let spec = Spawn { program: "./where".into(), args: vec!["-P".into()], cwd, ..sh("") };
    let mut child = start(spec);
    let expect = folder.path().canonicalize().unwrap();
    assert_eq!(rest(&mut output(&mut child)).await, [expect.to_str().unwrap()]);
}
