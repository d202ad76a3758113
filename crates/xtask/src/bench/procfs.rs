//! What the kernel says about processes. Linux only: elsewhere every question is an error.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The memory of a process in KiB, shared pages counted by share.
pub(super) fn pss_of(pid: u32) -> Result<f64> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    pss_in(&text).with_context(|| format!("{path} has no Pss"))
}

pub(super) fn pss_in(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Running processes of a program whose arguments or environment contain both texts.
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
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        let has = |bytes: &[u8], text: &str| String::from_utf8_lossy(bytes).contains(text);
        if arguments.split(|byte| *byte == 0).any(|part| part == argument.as_bytes())
            && (has(&arguments, mention) || has(&environment, mention))
        {
            found.push(pid);
        }
    }
    Ok(found)
}
