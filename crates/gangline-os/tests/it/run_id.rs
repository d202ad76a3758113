//! Sweeps of real processes. Each test has an installation of its own.

use std::time::Duration;

use gangline_os::process::{Child, Group, Spawn};
use gangline_os::run_id::{RunId, run_processes};
use gangline_os::sweep::{Process, Report, Root, Sweep, sweep};

use crate::support::{
    DEADLINE, Known, errors, known, line, output, role, sh, soon, start, with_run_id,
};

/// Long enough for who does end at TERM.
const SHORT: Duration = Duration::from_secs(2);

fn run_id(installation: &str, epoch: i64) -> RunId {
    let installation = format!("{installation}-{}", std::process::id());
    RunId { installation, agent: "ada".to_owned(), epoch }
}

async fn started(run_id: &RunId, script: &str) -> (Child, Known) {
    let mut child = start(with_run_id(sh(script), run_id));
    let pid = line(&mut output(&mut child)).await.parse().unwrap();
    (child, known(pid))
}

fn pids(found: &[Process]) -> Vec<u32> {
    found.iter().map(|found| found.pid).collect()
}

async fn sweep_older(than: &RunId, grace: Duration) -> Report {
    let ours = |found: &RunId| found.installation == than.installation && found.epoch < than.epoch;
    soon(sweep(Sweep { ours: &ours, roots: &[Root::Marked] }, grace)).await
}

/// R0-21: cleaning up after a crash.
#[tokio::test]
async fn a_sweep_ends_what_an_older_epoch_left_and_nothing_else() {
    let (old, new) = (run_id("older", 1), run_id("older", 2));
    let foreign = run_id("foreign", 1);
    let wait = "echo $$; read -r line";
    let (_one, polite) = started(&old, wait).await;
    let (_two, stubborn) =
        started(&old, "trap '' TERM; echo $$; while read -r line; do :; done").await;
    let (_three, current) = started(&new, wait).await;
    let (_four, other) = started(&foreign, wait).await;

    let mut expect = vec![polite.pid, stubborn.pid, current.pid];
    expect.sort_unstable();
    let mut marked: Vec<u32> = run_processes(&old.installation).iter().map(|it| it.pid).collect();
    marked.sort_unstable();
    assert_eq!(marked, expect);

    let report = sweep_older(&new, SHORT).await;
    assert_eq!(pids(&report.ended), [polite.pid]);
    assert_eq!(pids(&report.killed), [stubborn.pid]);
    assert_eq!(report.left, []);
    assert!(!polite.alive() && !stubborn.alive());
    assert!(current.alive() && other.alive());
    assert_eq!(sweep_older(&new, SHORT).await, Report::default());
}

/// The group's end does not reach a process that has left it; its environment still tells.
#[tokio::test]
async fn a_sweep_finds_a_process_that_left_its_group_and_one_started_on_term() {
    let old = run_id("escape", 1);
    let script = "trap 'setsid sleep 1000 & exit' TERM; echo $$; while :; do sleep 0.01; done";
    let spec =
        Spawn { group: Group::Session, ..with_run_id(sh("setsid sh -c \"$0\" & wait"), &old) };
    let args = ["-c".into(), "setsid sh -c \"$0\" & wait".into(), script.into()];
    let mut child = start(Spawn { args: args.into(), ..spec });
    let escaped = known(line(&mut output(&mut child)).await.parse().unwrap());
    let report = sweep_older(&run_id("escape", 2), DEADLINE).await;
    assert!(pids(&report.ended).contains(&escaped.pid), "{report:?}");
    assert!(!escaped.alive());
    assert_eq!(run_processes(&old.installation), []);
}

#[tokio::test]
async fn a_sweep_spares_itself_and_its_ancestors() {
    let old = run_id("self", 1);
    let (_one, victim) = started(&old, "echo $$; read -r line").await;
    let sweeper = role("sweep", &[("INSTALLATION", &old.installation)]);
    let mut shell = with_run_id(sweeper.clone(), &old);
    let command = "\"$0\" \"$@\"; echo \"shell lives\" >&2";
    shell.args = vec!["-c".into(), command.into(), sweeper.program.into()];
    shell.args.extend(sweeper.args);
    shell.program = "/bin/sh".into();
    let mut child = start(shell);
    let mut lines = errors(&mut child);
    assert_eq!(line(&mut lines).await, "1 0 0");
    assert_eq!(line(&mut lines).await, "shell lives");
    assert!(!victim.alive());
}
