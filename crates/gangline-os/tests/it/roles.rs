//! Roles: what this test binary does when a test starts it as a child.

use std::io::BufRead;
use std::path::PathBuf;
use std::time::Duration;

use gangline_os::kill::Signal;
use gangline_os::lock::{FileLock, LockError};
use gangline_os::process::{self, become_subreaper, detach_session, reap_adopted};
use gangline_os::signals::{Requests, Signals};
use gangline_os::{descent, failpoint, run_id, sweep};

use crate::support::{ROLE, known, line, output, sh, start, until};

/// Nothing by itself; a child's whole life when the variable says which.
#[tokio::test]
async fn role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    match role.as_str() {
        "take-lock" => take_lock(),
        "pass-failpoint" => pass_failpoint(),
        "hear-signals" => hear_signals().await,
        "hear-requests" => hear_requests().await,
        "detach" => detach(),
        "reap" => reap().await,
        "sweep" => sweep().await,
        "adopt" => adopt().await,
        "first" => first().await,
        other => panic!("nobody knows the role {other}"),
    }
}

fn argument(name: &str) -> String {
    std::env::var(name).unwrap()
}

fn hear() -> String {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).unwrap();
    line
}

fn take_lock() {
    let path = PathBuf::from(argument("LOCK"));
    eprintln!("ready");
    hear();
    match FileLock::try_take(&path, "racer") {
        Ok(_lock) => {
            eprintln!("held");
            hear();
        }
        Err(LockError::Held(holder)) => {
            eprintln!("refused {}", holder.pid.map_or("?".to_owned(), |pid| pid.to_string()));
        }
        Err(error) => panic!("{error:?}"),
    }
}

fn pass_failpoint() {
    for passing in 1..=3 {
        let fails = failpoint::fails("test.point");
        eprintln!("passed {passing} {fails}");
    }
}

async fn hear_signals() {
    let mut signals = Signals::new().unwrap();
    eprintln!("ready");
    for _ in 0..2 {
        eprintln!("{:?}", signals.next().await);
    }
}

async fn hear_requests() {
    let mut requests = Requests::new().unwrap();
    eprintln!("ready");
    for _ in 0..4 {
        eprintln!("{:?}", requests.next().await);
    }
}

fn detach() {
    detach_session().unwrap();
    detach_session().unwrap();
    eprintln!("detached");
    hear();
}

async fn reap() {
    become_subreaper().unwrap();
    let mut shell =
        start(process::Spawn { group: process::Group::Session, ..sh("sleep 1000 & echo $!") });
    let mut lines = output(&mut shell);
    let orphan: u32 = line(&mut lines).await.parse().unwrap();
    assert!(shell.wait().await.unwrap().success());
    let us = format!(" {} ", std::process::id());
    let stat = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    until("we have adopted it", || stat(orphan).contains(&us)).await;
    assert_eq!(reap_adopted(), 0);
    let started = gangline_os::proc::start_time(orphan).unwrap();
    gangline_os::proc::signal_exact(orphan, started, Signal::Kill).unwrap();
    until("it is reaped", || reap_adopted() == 1).await;
    assert_eq!(stat(orphan), "");
    eprintln!("reaped");
}

async fn sweep() {
    let installation = argument("INSTALLATION");
    let us = std::process::id();
    assert!(run_id::run_processes(&installation).iter().all(|found| found.pid != us));
    let ours = |found: &run_id::RunId| found.installation == installation;
    let what = sweep::Sweep { ours: &ours, roots: &[sweep::Root::Marked] };
    let report = sweep::sweep(what, Duration::from_secs(10)).await;
    eprintln!("{} {} {}", report.ended.len(), report.killed.len(), report.left.len());
}

/// A daemon: it holds an agent's lock, adopts what its programs leave, and ends it.
async fn adopt() {
    let state = PathBuf::from(argument("STATE"));
    let folder = state.join("agents/oak-ada");
    std::fs::create_dir_all(&folder).unwrap();
    let _lock = FileLock::try_take(&folder.join("lock"), "daemon").unwrap();
    become_subreaper().unwrap();
    let own = start(sh("read -r line"));
    let leave = "env -i setsid sh -c 'echo $$; exec sleep 1000' </dev/null 2>/dev/null &";
    let mut shell = start(sh(leave));
    let orphan: u32 = line(&mut output(&mut shell)).await.parse().unwrap();
    assert!(shell.wait().await.unwrap().success());
    let (us, orphan) = (std::process::id(), known(orphan));
    let parent = || std::fs::read_to_string(format!("/proc/{}/stat", orphan.pid)).unwrap();
    until("we have adopted it", || parent().contains(&format!(" {us} "))).await;

    let here = descent::Installation { state: state.clone(), id: None };
    let owner = |pid: u32| descent::owner(pid, &here).map(|owner| owner.nick);
    for pid in [orphan.pid, own.pid()] {
        assert_eq!(owner(pid).as_deref(), Some("oak-ada"), "{pid}");
    }
    assert_eq!((owner(us), owner(1)), (None, None));
    let elsewhere = descent::Installation { state: state.join("other"), id: None };
    assert_eq!(descent::owner(orphan.pid, &elsewhere), None);
    // A file that anybody may open is no lock that one holds.
    let open = format!("exec 3<{}; echo; read -r line", folder.join("lock").display());
    let mut pretender = start(sh(&open));
    line(&mut output(&mut pretender)).await;
    assert_eq!(owner(pretender.pid()).as_deref(), Some("oak-ada"));

    let what = sweep::Sweep { ours: &|_| false, roots: &[sweep::Root::Adopted] };
    let report = sweep::sweep(what, Duration::from_secs(10)).await;
    assert_eq!(report.ended.iter().map(|it| it.pid).collect::<Vec<_>>(), [orphan.pid]);
    assert!(!orphan.alive() && known(own.pid()).alive() && known(pretender.pid()).alive());
    eprintln!("swept");
}

/// The first process of a container: what a person left running there comes to it.
async fn first() {
    assert_eq!(std::process::id(), 1);
    become_subreaper().unwrap();
    let mut shell = start(sh("setsid sh -c 'echo $$; exec sleep 1000' </dev/null 2>/dev/null &"));
    let orphan: u32 = line(&mut output(&mut shell)).await.parse().unwrap();
    assert!(shell.wait().await.unwrap().success());
    let orphan = known(orphan);
    let parent = || std::fs::read_to_string(format!("/proc/{}/stat", orphan.pid)).unwrap();
    until("we have adopted it", || parent().contains(" 1 ")).await;
    let what = sweep::Sweep { ours: &|_| false, roots: &[sweep::Root::Adopted] };
    assert!(sweep::sweep(what, Duration::from_secs(10)).await.is_empty());
    assert!(orphan.alive());
    eprintln!("left alone");
}
