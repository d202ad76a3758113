//! What the kernel says about processes. Linux only: elsewhere every question is an error.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use nix::time::ClockId;
use nix::unistd::Pid;

/// The memory of a process in KiB, shared pages counted by share.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Memory {
    pub(super) pss: f64,
    /// The part that no file stands behind, and pages of programs that were written to: each
    /// process has its own.
    pub(super) anonymous: f64,
}

/// Returns the memory of a process.
pub(super) fn memory_of(pid: u32) -> Result<Memory> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    memory_in(&text).with_context(|| format!("{path} has no Pss"))
}

pub(super) fn memory_in(text: &str) -> Option<Memory> {
    let field = |name: &str| -> Option<f64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    Some(Memory { pss: field("Pss:")?, anonymous: field("Pss_Anon:").unwrap_or_default() })
}

/// Where the memory of a process comes from, in KiB, shared pages counted by share.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Parts {
    /// Pages of the program's file as they are there: code, constants.
    pub(super) code: f64,
    /// Pages of the program's file that were written to: relocated tables, variables.
    pub(super) relocated: f64,
    /// Heap, stacks, and all else that no file stands behind.
    pub(super) heap: f64,
    pub(super) libraries: f64,
    pub(super) other: f64,
}

/// Returns where the memory of a process comes from.
pub(super) fn parts_of(pid: u32) -> Result<Parts> {
    let path = format!("/proc/{pid}/smaps");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let program = fs::read_link(format!("/proc/{pid}/exe")).context("cannot tell the program")?;
    Ok(parts_in(&text, &program.to_string_lossy()))
}

pub(super) fn parts_in(text: &str, program: &str) -> Parts {
    let mut parts = Parts::default();
    let (mut file, mut pss) = ("", 0.0);
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        let mut figure = || words.next().and_then(|word| word.parse::<f64>().ok());
        match first {
            "Pss:" => pss = figure().unwrap_or_default(),
            // Follows `Pss:`; such pages are this process's alone.
            "Anonymous:" if file == program => {
                let written = figure().unwrap_or_default().min(pss);
                parts.relocated += written;
                parts.code += pss - written;
            }
            "Anonymous:" if file.is_empty() || file.starts_with('[') => parts.heap += pss,
            "Anonymous:" if file.contains(".so") => parts.libraries += pss,
            "Anonymous:" => parts.other += pss,
            // `from-to rwxp offset device inode file`: the only lines that begin so.
            range if range.contains('-') && !range.ends_with(':') => {
                file = words.nth(4).unwrap_or_default();
            }
            _ => {}
        }
    }
    parts
}

/// Returns the processor time of a process so far, threads that have ended included, in
/// microseconds.
pub(super) fn processor_time_of(pid: u32) -> Result<f64> {
    let pid = Pid::from_raw(i32::try_from(pid).context("no process id")?);
    let clock = ClockId::pid_cpu_clock_id(pid).context("the process has no clock")?;
    let time = clock.now().context("cannot read the process's clock")?;
    Ok(std::time::Duration::from(time).as_secs_f64() * 1e6)
}

/// Returns the processor time of all children that have ended and were waited for, in
/// microseconds.
pub(super) fn processor_time_of_ended() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("cannot ask for children's time")?;
    let microseconds =
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(std::time::Duration::from_micros(microseconds.unsigned_abs()).as_secs_f64() * 1e6)
}

/// What a process has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Work {
    /// Time on a processor, in milliseconds.
    pub(super) cpu: f64,
    /// How often a thread went to sleep by itself.
    pub(super) sleeps: f64,
}

/// Returns the sum of what the process's threads have done.
pub(super) fn work_of(pid: u32) -> Result<Work> {
    let folder = format!("/proc/{pid}/task");
    let mut work = Work::default();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {folder}"))? {
        let thread = entry?.path();
        // A thread may end while it is looked at.
        let schedule = fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
        let status = fs::read_to_string(thread.join("status")).unwrap_or_default();
        let part = work_in(&schedule, &status);
        work.cpu += part.cpu;
        work.sleeps += part.sleeps;
    }
    Ok(work)
}

pub(super) fn work_in(schedule: &str, status: &str) -> Work {
    let nanoseconds: f64 =
        schedule.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or_default();
    let sleeps = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    let sleeps = sleeps.and_then(|count| count.trim().parse().ok()).unwrap_or_default();
    Work { cpu: nanoseconds / 1e6, sleeps }
}

/// Returns the load of the last minute, in words.
pub(super) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

/// Running processes of a program with this argument, whose arguments contain `mention`.
pub(super) fn processes(program: &Path, argument: &str, mention: &str) -> Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").context("cannot list processes")? {
        let path = entry?.path();
        let Some(pid) = path.file_name().and_then(|name| name.to_str()?.parse().ok()) else {
            continue;
        };
        // A process may end while it is looked at: then it is not one of those.
        if !fs::read_link(path.join("exe")).is_ok_and(|exe| exe == program) {
            continue;
        }
        let arguments = fs::read(path.join("cmdline")).unwrap_or_default();
        if arguments.split(|byte| *byte == 0).any(|part| part == argument.as_bytes())
            && String::from_utf8_lossy(&arguments).contains(mention)
        {
            found.push(pid);
        }
    }
    Ok(found)
}
