//! The product names no folder that everybody may write to (R0-48): sockets, locks and files are where
//! `gangline_os::paths` has them. A place that must name one says why: `// shared folder: why` stands on
//! the line or within three lines above it.

#[cfg(test)]
mod tests;

use super::{Finding, Repo};

/// What a line of code that uses such a folder contains.
const FOLDERS: [&str; 4] = ["\"/tmp", "\"/var/tmp", "\"/dev/shm", "temp_dir()"];
const REASON: &str = "// shared folder: ";

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.rust().filter(|file| is_product(file.path)) {
        let lines: Vec<&str> = file.text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            let near = &lines[index.saturating_sub(3)..=index];
            let excused = code.starts_with("//") || near.iter().any(|it| it.contains(REASON));
            if let Some(folder) = FOLDERS.iter().find(|folder| code.contains(**folder) && !excused)
            {
                let folder = folder.trim_start_matches('"');
                let text = format!(
                    "{folder} is shared by everybody: ask `gangline_os::paths`, or say why: \
                     `// shared folder: …`"
                );
                findings.push(Finding::fail(file.path, index + 1, text));
            }
        }
    }
    findings
}

/// Returns whether the file is part of what is shipped.
fn is_product(path: &str) -> bool {
    let test = path.ends_with("/tests.rs") || path.contains("/tests/");
    let tool =
        path.contains("-testkit/") || path.contains("/xtask/") || path.contains("/examples/");
    path.starts_with("crates/") && !test && !tool
}
