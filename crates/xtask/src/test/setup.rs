//! Programs that the tests use and a fresh Debian lacks. Installs only what is missing, and says
//! what and why. Start at [`run`].

mod npm;
mod pip;

use anyhow::{Context, Result, bail};

use super::Report;
use crate::shell;

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
    Program { name: "strace", package: "strace", why: "a witness of what reaches the disk when" },
    Program { name: "npm", package: "npm", why: "the way to the coding agents that are driven" },
];

/// Packages that start a server as they are installed.
const SERVERS: &[&str] = &["ngircd", "inspircd"];

/// Installs what is missing. Where Debian's package manager is absent, a missing program is
/// recorded as skipped; where it is there, a failure is a failure.
pub(super) fn run(report: &mut Report) -> Result<()> {
    let missing: Vec<_> =
        PROGRAMS.iter().filter(|program| shell::find_program(program.name).is_none()).collect();
    for program in &missing {
        println!("{} is missing; the tests use it as {}", program.name, program.why);
    }
    if missing.is_empty() {
        println!("all there: {}", PROGRAMS.iter().map(|p| p.name).collect::<Vec<_>>().join(", "));
    } else if shell::find_program("apt-get").is_some() {
        install_packages(&missing)?;
    } else {
        for program in &missing {
            report.skipped.push(format!(
                "{}: not installed, and this system has no apt-get; install it by hand",
                program.name
            ));
        }
    }
    npm::install_all()?;
    pip::install_all()?;
    install_nextest()
}

fn install_packages(missing: &[&Program]) -> Result<()> {
    let packages: Vec<_> = missing.iter().map(|program| program.package).collect();
    println!("installing {}", packages.join(" "));
    apt(&["update", "--quiet"])?;
    let mut arguments = vec!["install", "--quiet", "--yes", "--no-install-recommends"];
    arguments.extend(&packages);
    apt(&arguments)?;
    for server in packages.iter().filter(|package| SERVERS.contains(package)) {
        if std::path::Path::new("/run/systemd/system").exists() {
            println!("stopping the {server} that its package has started: tests start their own");
            shell::run(&mut as_root("systemctl", &["disable", "--now", server]))?;
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
fn apt(arguments: &[&str]) -> Result<()> {
    let mut all = vec!["DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1", "apt-get"];
    all.extend(arguments);
    shell::run(&mut as_root("env", &all)).context("cannot install Debian packages")
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

fn install_nextest() -> Result<()> {
    if shell::find_program("cargo-nextest").is_some() {
        return Ok(());
    }
    println!("cargo-nextest is missing; it runs the tests. Building release {NEXTEST}");
    shell::run(shell::cargo().args(["install", "cargo-nextest", "--locked", "--version", NEXTEST]))
}
