//! Programs that the tests use and a fresh Debian lacks. Installs only what is missing, and says
//! what and why. Start at [`programs`].

mod npm;
mod pip;

use anyhow::{Context, Result, bail};

use super::Report;
use crate::shell::{self, Output};

/// The release of the test runner that this repository is known to work with.
const NEXTEST: &str = "0.9.143";

/// A program and the Debian package it comes in.
struct Program {
    name: &'static str,
    package: &'static str,
    why: &'static str,
}

const PROGRAMS: &[Program] = &[
    Program { name: "ngircd", package: "ngircd", why: "a foreign IRC server for the link" },
    Program { name: "inspircd", package: "inspircd", why: "a second foreign IRC server" },
    Program {
        name: "irssi",
        package: "irssi",
        why: "a person's IRC client for the embedded server",
    },
    Program {
        name: "weechat",
        package: "weechat-curses",
        why: "a person's IRC client with SCRAM for the embedded server",
    },
    Program { name: "ii", package: "ii", why: "a scripted IRC client for the embedded server" },
    Program { name: "tmux", package: "tmux", why: "a terminal for irssi and WeeChat" },
    Program { name: "bwrap", package: "bubblewrap", why: "a container for one agent" },
    Program { name: "strace", package: "strace", why: "a witness of what reaches the disk when" },
    Program { name: "npm", package: "npm", why: "the way to the coding agents that are driven" },
];

/// Packages that start a server as they are installed.
const SERVERS: &[&str] = &["ngircd", "inspircd"];

/// Installs what is missing. Where Debian's package manager is absent, a missing program is
/// recorded as skipped; where it is there, a failure is a failure.
pub(super) fn programs(output: &Output, report: &mut Report) -> Result<()> {
    let missing: Vec<_> =
        PROGRAMS.iter().filter(|program| shell::find_program(program.name).is_none()).collect();
    for program in &missing {
        output.say(&format!("{} is missing; the tests use it as {}", program.name, program.why));
    }
    if missing.is_empty() {
        let names: Vec<_> = PROGRAMS.iter().map(|program| program.name).collect();
        output.say(&format!("all there: {}", names.join(", ")));
    } else if shell::find_program("apt-get").is_some() {
        install_packages(output, &missing)?;
    } else {
        for program in &missing {
            report.skipped.push(format!(
                "{}: not installed, and this system has no apt-get; install it by hand",
                program.name
            ));
        }
    }
    npm::install_all(output)?;
    pip::install_all(output)
}

fn install_packages(output: &Output, missing: &[&Program]) -> Result<()> {
    let packages: Vec<_> = missing.iter().map(|program| program.package).collect();
    output.say(&format!("installing {}", packages.join(" ")));
    apt(output, &["update", "--quiet"])?;
    let mut arguments = vec!["install", "--quiet", "--yes", "--no-install-recommends"];
    arguments.extend(&packages);
    apt(output, &arguments)?;
    for server in packages.iter().filter(|package| SERVERS.contains(package)) {
        if std::path::Path::new("/run/systemd/system").exists() {
            output.say(&format!("stopping the {server} that its package has started"));
            output.run(&mut as_root("systemctl", &["disable", "--now", server]))?;
        }
    }
    for program in missing {
        if shell::find_program(program.name).is_none() {
            bail!("package {} is installed, but there is no {}", program.package, program.name);
        }
    }
    Ok(())
}

/// `RUNLEVEL=1` keeps init scripts of new packages from starting servers.
fn apt(output: &Output, arguments: &[&str]) -> Result<()> {
    let mut all = vec!["DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1", "apt-get"];
    all.extend(arguments);
    output.run(&mut as_root("env", &all)).context("cannot install Debian packages")
}

fn as_root(program: &str, arguments: &[&str]) -> std::process::Command {
    let user = shell::read(shell::command("id").arg("-u")).unwrap_or_default();
    let mut command = if user.trim() == "0" {
        shell::command(program)
    } else {
        let mut sudo = shell::command("sudo");
        sudo.arg(program);
        sudo
    };
    command.args(arguments);
    command
}

/// Builds the test runner where it is missing.
pub(super) fn runner(output: &Output, _: &mut Report) -> Result<()> {
    if shell::find_program("cargo-nextest").is_some() {
        return Ok(());
    }
    output.say(&format!("cargo-nextest is missing; building release {NEXTEST}"));
    let mut install = shell::cargo();
    install.args(["install", "cargo-nextest", "--locked", "--version", NEXTEST]);
    output.run(&mut install)
}
