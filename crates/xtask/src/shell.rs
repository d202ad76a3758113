//! Other programs: how this tool starts them, waits for them and times them.
//! The only file of the crate that starts a process or reads a clock. Start at [`command`].
#![allow(
    clippy::disallowed_methods,
    reason = "a developer's tool outside the product: it may start programs and time them"
)]

#[cfg(test)]
mod tests;

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// A program to start in the repository's root, without the variables that `cargo run` sets for
/// this tool: a nested cargo would take them for a change and build again.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// The cargo that runs this tool.
pub(crate) fn cargo() -> Command {
    command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The same, giving way to others that need the processors.
pub(crate) fn waiting_cargo() -> Command {
    let mut command = command("nice");
    command.args(["-n", "10"]).arg(cargo().get_program());
    command
}

/// The root folder of the repository: that of the `cargo run` which started this tool, so that a
/// folder which was moved needs no new build.
pub(crate) fn root() -> PathBuf {
    let here = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.ancestors().nth(2).unwrap_or(&here).to_path_buf()
}

/// Where a task writes, and the programs that it runs.
pub(crate) enum Output {
    Terminal,
    /// A file, for what runs beside something that writes to the terminal.
    File(File, PathBuf),
}

impl Output {
    /// Begins an empty file.
    pub(crate) fn to_file(path: &Path) -> Result<Self> {
        let context = || format!("cannot write {}", path.display());
        fs::write(path, "").with_context(context)?;
        let file = File::options().append(true).open(path).with_context(context)?;
        Ok(Self::File(file, path.to_path_buf()))
    }

    /// Writes a line.
    pub(crate) fn say(&self, line: &str) {
        match self {
            Self::Terminal => println!("{line}"),
            // What cannot be written cannot be shown; the outcome of the step is told in any case.
            Self::File(file, _) => drop(writeln!(&*file, "{line}")),
        }
    }

    /// Runs a program. Fails unless it exits with 0.
    pub(crate) fn run(&self, command: &mut Command) -> Result<()> {
        if let Self::File(file, _) = self {
            let copy = || file.try_clone().context("cannot share the log");
            command.stdout(copy()?).stderr(copy()?);
        }
        run(command)
    }

    /// Shows on the terminal what was written to the file, and empties it.
    pub(crate) fn show(&self) {
        if let Self::File(file, path) = self {
            print!("{}", String::from_utf8_lossy(&fs::read(path).unwrap_or_default()));
            let _ = file.set_len(0);
        }
    }
}

/// Runs a program with its output on the terminal. Fails unless it exits with 0.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    let status = command.status().with_context(|| format!("cannot start {shown}"))?;
    if !status.success() {
        bail!("{shown}: {status}");
    }
    Ok(())
}

/// Runs a program and returns what it wrote to its standard output.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {shown}"))?;
    if !output.status.success() {
        bail!("{shown}: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{shown} wrote no UTF-8"))
}

/// Runs a program, passes the lines of its standard error on as they come and returns the last
/// `keep` of them, with whether it exited with 0.
pub(crate) fn run_keeping_tail(command: &mut Command, keep: usize) -> Result<(bool, Vec<String>)> {
    let shown = show(command);
    let mut child =
        command.stderr(Stdio::piped()).spawn().with_context(|| format!("cannot start {shown}"))?;
    let mut tail = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            eprintln!("{line}");
            if tail.len() == keep {
                tail.remove(0);
            }
            tail.push(line);
        }
    }
    let status = child.wait().with_context(|| format!("cannot wait for {shown}"))?;
    Ok((status.success(), tail))
}

/// The command as one would type it.
fn show(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut shown =
        program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    for arg in command.get_args() {
        shown.push(' ');
        shown.push_str(&arg.to_string_lossy());
    }
    shown
}

/// Where a program is, in `PATH` or in the folders for system programs that users often lack.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from);
    env::split_paths(&path).chain(system).map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// A reading of the clock, for durations.
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Waits for a fact: asks every 50 ms until `fact` gives an answer or `limit` is over.
pub(crate) fn wait_for<T>(
    limit: Duration,
    mut fact: impl FnMut() -> Result<Option<T>>,
) -> Result<Option<T>> {
    let start = now();
    loop {
        if let Some(found) = fact()? {
            return Ok(Some(found));
        }
        if start.elapsed() > limit {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
