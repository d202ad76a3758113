//! What adapters of foreign programs share: the task that owns one, how it is found, its pipes, its
//! version, its login, its end.
//!
//! Knows nothing of any program's format: that is an adapter's `Protocol`. Start at
//! [`worker::Worker`].

mod calls;
pub(crate) mod login;
pub(crate) mod oddities;
pub(crate) mod pipes;
pub(crate) mod protocol;
pub(crate) mod running;
pub(crate) mod version;
pub(crate) mod worker;

use std::{ffi::OsString, path::PathBuf, time::Duration};

use gangline_os::{
    process::KillPolicy,
    run_id::RunId,
    sweep::{self, Root, Sweep},
};

use crate::StartOptions;

/// For a program that is asked to end.
pub(crate) const KILL_POLICY: KillPolicy =
    KillPolicy { term_after: Duration::from_secs(3), kill_after: Duration::from_secs(2) };
/// For a program that hangs, or that left others behind.
pub(crate) const SHORT_KILL_POLICY: KillPolicy =
    KillPolicy { term_after: Duration::ZERO, kill_after: Duration::from_secs(1) };

/// What is left of its descendants gets this long between TERM and KILL.
const SWEEP_GRACE: Duration = Duration::from_secs(1);
/// The longest text of a program that is passed on as one line, in characters.
const LINE_MAX: usize = 300;

/// Returns the program and what stands before our own arguments: `command` of the configuration, or
/// the program's usual name.
///
/// # Errors
/// One line that says what to do.
pub(crate) fn command(
    options: &StartOptions,
    usual: &str,
) -> Result<(PathBuf, Vec<OsString>), String> {
    let usual = [usual.to_owned()];
    match options.command.as_deref().unwrap_or(&usual).split_first() {
        Some((program, rest)) if !program.is_empty() => {
            Ok((PathBuf::from(program), rest.iter().map(Into::into).collect()))
        }
        _ => Err("`command` names no program: write a list of words".to_owned()),
    }
}

/// Ends what a program started in groups of their own: its shells survive a kill. Everything with
/// the daemon's run id is a descendant of the program, and so is every orphan that the daemon has
/// adopted, unless its run id says that it is a hook's or the supervisor's. Not cancel-safe: some may be
/// left.
pub(crate) async fn sweep(program: &str, run_id: Option<&RunId>) {
    let Some(run_id) = run_id else { return };
    let roots = [Root::Marked, Root::Adopted];
    // The supervisor's programs cannot know whose an orphan without a run id is.
    let roots = if run_id.is_backends() { &roots[..] } else { &roots[..1] };
    let what = Sweep { ours: &|found| found == run_id, roots };
    let report = sweep::sweep(what, SWEEP_GRACE).await;
    if !report.is_empty() {
        tracing::info!(
            program,
            ended = report.ended.len(),
            killed = report.killed.len(),
            left = report.left.len(),
            "swept what the program left"
        );
    }
}

/// Returns a text as one line of at most [`LINE_MAX`] characters.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let (mut line, mut length) = (String::new(), 0);
    for word in words.filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
            length += 1;
        }
        // Of a long text no more is looked at than is shown.
        for c in word.chars().take(LINE_MAX + 1) {
            line.push(c);
            length += 1;
        }
        if length > LINE_MAX {
            break;
        }
    }
    match line.char_indices().nth(LINE_MAX) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}
