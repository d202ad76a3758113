//! Where a run of the bench lives: a folder in the target folder (so that what is synced is synced
//! to a real disk), with a home of its own and copies of the programs under test, which a build
//! beside the bench cannot change. The folder is gone when the [`Place`] is dropped.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::metadata::Metadata;
use crate::shell;

/// A program that takes part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Gangline,
    BareTokio,
    BareBridge,
    BareEcho,
    BareLines,
    StorageBench,
    AdapterBench,
    RelayBench,
    IrcLoad,
}

impl Program {
    fn name(self) -> &'static str {
        match self {
            Self::Gangline => "gangline",
            Self::BareTokio => "bare_tokio",
            Self::BareBridge => "bare_bridge",
            Self::BareEcho => "bare_echo",
            Self::BareLines => "bare_lines",
            Self::StorageBench => "storage_bench",
            Self::AdapterBench => "bench_adapters",
            Self::RelayBench => "relay_bench",
            Self::IrcLoad => "irc_load",
        }
    }

    /// What cargo is told to build it.
    fn build(self) -> [&'static str; 4] {
        match self {
            Self::Gangline => ["--package", "gangline", "--bin", "gangline"],
            Self::BareTokio
            | Self::BareBridge
            | Self::BareEcho
            | Self::BareLines
            | Self::IrcLoad => ["--package", "xtask", "--example", self.name()],
            Self::StorageBench => ["--package", "gangline-store", "--example", self.name()],
            Self::AdapterBench => ["--package", "gangline-runtime", "--example", self.name()],
            Self::RelayBench => ["--package", "gangline-relay", "--example", self.name()],
        }
    }

    fn built_in(self, folder: &Path) -> PathBuf {
        match self {
            Self::Gangline => folder.join(self.name()),
            Self::BareTokio
            | Self::BareBridge
            | Self::BareEcho
            | Self::BareLines
            | Self::StorageBench
            | Self::AdapterBench
            | Self::RelayBench
            | Self::IrcLoad => folder.join("examples").join(self.name()),
        }
    }
}

/// Whether programs are built before they are measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Build {
    Anew,
    AsItIs,
}

/// The folder of one run.
pub(super) struct Place {
    root: PathBuf,
    folders: Cell<u32>,
}

impl Place {
    /// Builds the programs, if told so, and copies them into a folder of this process.
    pub(super) fn make(
        release: bool,
        build: Build,
        needs: impl Iterator<Item = Program>,
    ) -> Result<Self> {
        let target = Metadata::load()?.target_directory;
        let built = target.join(if release { "release" } else { "debug" });
        remove_stale(&target);
        let root = target.join(format!("bench-{}", std::process::id()));
        let place = Self { root, folders: Cell::new(0) };
        fs::create_dir_all(place.root.join("home"))
            .with_context(|| format!("cannot make {}", place.root.display()))?;
        for program in needs {
            if place.program(program).exists() {
                continue;
            }
            let mut cargo = shell::cargo();
            cargo.args(["build", "--quiet"]).args(program.build());
            if release {
                cargo.arg("--release");
            }
            if build == Build::Anew {
                shell::run(&mut cargo)?;
            }
            fs::copy(program.built_in(&built), place.program(program))
                .with_context(|| format!("cannot copy {}", program.name()))?;
        }
        Ok(place)
    }

    /// Returns where the program is.
    pub(super) fn program(&self, program: Program) -> PathBuf {
        self.root.join(program.name())
    }

    /// Returns the program as a command with an environment of nothing but `PATH` and the run's
    /// own home.
    pub(super) fn command(&self, program: Program) -> Command {
        let mut command = shell::command(self.program(program));
        command.env_clear().env("HOME", self.root.join("home")).current_dir(&self.root);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }

    /// Returns where daemons of the run listen.
    pub(super) fn control_socket(&self, agent: &str) -> PathBuf {
        self.root.join("home/.gangline/run").join(format!("gangline-{agent}.sock"))
    }

    /// Makes a folder that no other part of the run uses.
    pub(super) fn folder(&self) -> Result<PathBuf> {
        self.folders.set(self.folders.get() + 1);
        let folder = self.root.join(self.folders.get().to_string());
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(folder)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Removes what runs that were killed have left.
fn remove_stale(target: &Path) {
    for entry in fs::read_dir(target).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix("bench-"));
        let pid = pid.and_then(|pid| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
