//! Coding agents and SDKs that come by npm, each in an exact version below the target folder. Their
//! tests look for them in `gangline_testkit::programs`. Start at [`install_all`].

use std::fs;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};

use anyhow::{Context, Result, bail};

use crate::metadata::Metadata;
use crate::shell::{self, Output};

/// A package of npm and the program in it.
struct Package {
    /// The name of the program in `node_modules/.bin`.
    program: &'static str,
    /// The name of its folder: the program's, but for a second version of one.
    folder: &'static str,
    name: &'static str,
    /// Exact, since the tests are written for what this one does.
    version: &'static str,
    why: &'static str,
}

const PACKAGES: &[Package] = &[
    Package {
        program: "claude",
        folder: "claude",
        name: "@anthropic-ai/claude-code",
        version: "2.1.330",
        why: "the backend `claude` is tested against it, with no model behind it (about 360 MB)",
    },
    Package {
        program: "claude",
        folder: "claude-oldest",
        name: "@anthropic-ai/claude-code",
        version: "2.1.270",
        why: "the oldest release that is accepted does what is needed (about 330 MB)",
    },
    Package {
        program: "codex",
        folder: "codex",
        name: "@openai/codex",
        version: "0.169.0",
        why: "the backend `codex` is tested against it, with no model behind it (about 400 MB)",
    },
    Package {
        program: "opencode",
        folder: "opencode",
        name: "opencode-ai",
        version: "1.18.33",
        why: "the backend `opencode` is tested against it, with no model behind it (about 350 MB)",
    },
    Package {
        program: "cline",
        folder: "cline",
        name: "cline",
        version: "3.0.65",
        why: "the backend `cline` is tested against it, with no model behind it (about 440 MB)",
    },
    Package {
        program: "copilot",
        folder: "copilot",
        name: "@github/copilot",
        version: "1.0.102",
        why: "the backend `copilot` is tested against it, with no model behind it (about 190 MB)",
    },
    Package {
        program: "gemini",
        folder: "gemini",
        name: "@google/gemini-cli",
        version: "0.61.0",
        why: "the backend `gemini` is tested against it, with no model behind it (about 100 MB)",
    },
    Package {
        program: "qwen",
        folder: "qwen",
        name: "@qwen-code/qwen-code",
        version: "0.24.4",
        why: "an ACP program that nobody tuned for is driven by configuration alone (about 140 MB)",
    },
    Package {
        program: "claude-agent-acp",
        folder: "claude-agent-acp",
        name: "@agentclientprotocol/claude-agent-acp",
        version: "0.101.0",
        why: "the same with a session that opens in a mode that asks nobody (about 400 MB)",
    },
    Package {
        program: "codex-acp",
        folder: "codex-acp",
        name: "@agentclientprotocol/codex-acp",
        version: "2.6.0",
        why: "the same with errors that are told as answers (about 460 MB)",
    },
];

/// A library that scripts of the tests import.
struct Library {
    name: &'static str,
    version: &'static str,
}

/// They are in one folder, [`SDK`].
const LIBRARIES: &[Library] = &[
    Library { name: "@modelcontextprotocol/sdk", version: "1.32.2" },
    Library { name: "@anthropic-ai/sdk", version: "1.12.0" },
    Library { name: "openai", version: "6.49.0" },
    Library { name: "@google/genai", version: "2.32.0" },
    // The last one that an older Node runs too.
    Library { name: "@modelcontextprotocol/inspector", version: "1.0.3" },
];
const SDK: &str = "sdk";

/// How many packages are installed at the same time: each waits for the network most of its time.
const AT_ONCE: usize = 4;

/// Installs the packages that are not there in their version. A failure is a failure: the tests
/// that need them would fail anyway.
pub(super) fn install_all(output: &Output) -> Result<()> {
    let folder = Metadata::load()?.target_directory.join("programs");
    let next = AtomicUsize::new(0);
    let some = || -> Result<()> {
        while let Some(package) = PACKAGES.get(next.fetch_add(1, Ordering::Relaxed)) {
            provide(output, package, &folder.join(package.folder))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let installers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(some)).collect();
        let join = |it: ScopedJoinHandle<'_, _>| it.join().unwrap_or_else(|it| resume_unwind(it));
        installers.into_iter().try_for_each(join)
    })?;
    install_libraries(output, &folder.join(SDK))
}

fn provide(output: &Output, package: &Package, folder: &Path) -> Result<()> {
    if is_there(package, folder) {
        output.say(&format!("{} {} is there", package.name, package.version));
        return Ok(());
    }
    install(output, package, folder)
}

fn install_libraries(output: &Output, folder: &Path) -> Result<()> {
    if LIBRARIES.iter().all(|library| has(folder, library)) {
        output.say("the SDKs are there");
        return Ok(());
    }
    let wanted: Vec<String> =
        LIBRARIES.iter().map(|library| format!("{}@{}", library.name, library.version)).collect();
    output.say(&format!(
        "installing {} into {}: the tests drive our servers by them",
        wanted.join(", "),
        folder.display()
    ));
    npm_install(output, folder, &wanted)?;
    match LIBRARIES.iter().find(|library| !has(folder, library)) {
        Some(library) => bail!("{}@{} was not installed", library.name, library.version),
        None => Ok(()),
    }
}

fn has(folder: &Path, library: &Library) -> bool {
    let file = folder.join("node_modules").join(library.name).join("package.json");
    let wanted = format!("\"version\": \"{}\"", library.version);
    fs::read_to_string(file).is_ok_and(|text| text.contains(&wanted))
}

fn install(output: &Output, package: &Package, folder: &Path) -> Result<()> {
    let wanted = format!("{}@{}", package.name, package.version);
    output.say(&format!("installing {wanted} into {}: {}", folder.display(), package.why));
    npm_install(output, folder, std::slice::from_ref(&wanted))?;
    if !is_there(package, folder) {
        bail!("{wanted} is installed, but its program does not tell this version");
    }
    Ok(())
}

fn npm_install(output: &Output, folder: &Path, wanted: &[String]) -> Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut npm = shell::command("npm");
    // An npm of an older Node warns of the engine; the program itself needs no Node.
    npm.arg("install").arg("--prefix").arg(folder).args(["--no-audit", "--no-fund"]).args(wanted);
    output.run(&mut npm).with_context(|| format!("cannot install {}", wanted.join(", ")))
}

/// Whether the program runs and is of the version. It may keep files in its home directory, which
/// is none of the user's.
fn is_there(package: &Package, folder: &Path) -> bool {
    let program = folder.join("node_modules/.bin").join(package.program);
    let names_it = |said: String| {
        let mut words = said.split_whitespace();
        words.any(|word| word.trim_end_matches('.') == package.version)
    };
    program.exists()
        && shell::read(shell::command(&program).arg("--version").env("HOME", folder.join("home")))
            .is_ok_and(names_it)
}
