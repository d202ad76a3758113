//! Coding agents that come by npm, each in one exact version below the target folder. Their tests
//! look for them in `gangline_testkit::programs`. Start at [`install_all`].

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::metadata::Metadata;
use crate::shell;

/// A package of npm and the program in it.
struct Package {
    /// The name of its folder.
    program: &'static str,
    name: &'static str,
    /// Exact, since the tests are written for what this one does.
    version: &'static str,
    /// The file of the program in the package; it answers `--version` with the version first.
    file: &'static str,
    why: &'static str,
}

const PACKAGES: &[Package] = &[Package {
    program: "claude",
    name: "@anthropic-ai/claude-code",
    version: "2.1.330",
    file: "bin/claude.exe",
    why: "the backend `claude` is tested against it, with no model behind it (about 80 MB)",
}];

/// Installs the packages that are not there in their version. A failure is a failure: the tests
/// that need them would fail anyway.
pub(super) fn install_all() -> Result<()> {
    let folder = Metadata::load()?.target_directory.join("programs");
    for package in PACKAGES {
        let folder = folder.join(package.program);
        if is_there(package, &folder) {
            println!("{} {} is there", package.name, package.version);
        } else {
            install(package, &folder)?;
        }
    }
    Ok(())
}

fn install(package: &Package, folder: &Path) -> Result<()> {
    let wanted = format!("{}@{}", package.name, package.version);
    println!("installing {wanted} into {}: {}", folder.display(), package.why);
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut npm = shell::command("npm");
    // An npm of an older Node warns of the engine; the program itself needs no Node.
    npm.arg("install").arg("--prefix").arg(folder).args(["--no-audit", "--no-fund", &wanted]);
    shell::run(&mut npm).with_context(|| format!("cannot install {wanted}"))?;
    if !is_there(package, folder) {
        bail!("{wanted} is installed, but its program does not tell this version");
    }
    Ok(())
}

/// Whether the program runs and is of the version.
fn is_there(package: &Package, folder: &Path) -> bool {
    let program = folder.join("node_modules").join(package.name).join(package.file);
    program.is_file()
        && shell::read(shell::command(&program).arg("--version"))
            .is_ok_and(|said| said.split_whitespace().next() == Some(package.version))
}
