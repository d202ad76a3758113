//! Tests of the bounds of the pipes.

use std::time::Duration;

use gangline_os::{
    lines::Line,
    process::{self, Group, Output, Spawn, Stdin},
};
use tokio::time;

use super::*;

/// From the sign that is waited for to a failure.
const WITHIN: Duration = Duration::from_secs(60);

/// A program that runs a script, and its pipes.
fn sh(script: &str) -> (process::Child, Pipes) {
    sh_with(script, Output::Null)
}

fn sh_with(script: &str, stderr: Output) -> (process::Child, Pipes) {
    let mut child = process::spawn(Spawn {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        cwd: std::env::temp_dir(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        stdin: Stdin::Null,
        stdout: Output::Piped,
        stderr,
        group: Group::New,
    })
    .unwrap();
    let pipes = Pipes::of(&mut child);
    (child, pipes)
}

/// A program that writes long lines faster than they are taken is not read ahead without bound: so
/// many lines as there is room for, then it waits.
#[tokio::test]
async fn long_lines_are_read_ahead_up_to_a_number_of_bytes() {
    const LINES: usize = 20;
    let line = "head -c 262144 /dev/zero | tr '\\0' x; echo";
    let script = format!("i=0; while [ $i -lt {LINES} ]; do {line}; i=$((i+1)); done");
    let (mut child, mut pipes) = sh(&script);
    let room = BYTES_AHEAD as usize / (256 * 1024);
    let full = async {
        while pipes.output.len() < room {
            // sleep: between two looks; a channel does not tell that it grows.
            time::sleep(Duration::from_millis(5)).await;
        }
    };
    time::timeout(WITHIN, full).await.unwrap();
    // With more room it would end at once.
    assert!(time::timeout(Duration::from_millis(500), child.wait()).await.is_err());
    assert_eq!(pipes.output.len(), room);
    for at in 0..LINES {
        let line = time::timeout(WITHIN, pipes.next()).await.unwrap();
        assert!(matches!(&line, Some(Line::Text(text)) if text.len() == 256 * 1024), "{at}");
    }
    assert_eq!(time::timeout(WITHIN, pipes.next()).await.unwrap(), None);
    child.wait().await.unwrap();
}

/// A line that is longer than what is read ahead comes too.
#[tokio::test]
async fn a_line_longer_than_all_room_is_read() {
    let (mut child, mut pipes) = sh("head -c 5000000 /dev/zero | tr '\\0' x; echo; echo end");
    let mut next = async || time::timeout(WITHIN, pipes.next()).await.unwrap();
    assert!(matches!(next().await, Some(Line::Text(text)) if text.len() == 5_000_000));
    assert_eq!(next().await, Some(Line::Text("end".to_owned())));
    assert_eq!(next().await, None);
    child.wait().await.unwrap();
}

/// A program that lives on without its output can tell nothing any more, though its error output is
/// open; what it still complains of there is read.
#[tokio::test]
async fn an_output_that_is_closed_alone_is_the_end() {
    let script = "echo last; exec >&-; echo why >&2; exec sleep 600";
    let (_child, mut pipes) = sh_with(script, Output::Piped);
    let last = time::timeout(WITHIN, pipes.next()).await.unwrap();
    assert_eq!(last, Some(Line::Text("last".to_owned())));
    assert_eq!(time::timeout(WITHIN, pipes.next()).await.unwrap(), None);
    let said = pipes.errors.wait_for(|tail| tail.ends_with(b"\n"));
    time::timeout(WITHIN, said).await.unwrap().unwrap();
    assert_eq!(pipes.errors(), "why\n");
}
