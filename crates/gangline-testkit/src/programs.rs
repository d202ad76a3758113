//! Foreign programs that `cargo xtask test` installs below the target folder.

use std::{env, fs, path::PathBuf};

/// Returns the real Claude Code, of the one version that the tests are written for.
///
/// # Panics
/// When it is not installed: nothing is left out silently.
#[must_use]
pub fn claude() -> PathBuf {
    installed("claude", "node_modules/@anthropic-ai/claude-code/bin/claude.exe")
}

/// Returns the oldest Claude Code that Gangline accepts.
///
/// # Panics
/// When it is not installed.
#[must_use]
pub fn claude_oldest() -> PathBuf {
    installed("claude-oldest", "node_modules/@anthropic-ai/claude-code/bin/claude.exe")
}

/// Returns the real Codex: its native program, not the script of Node's around it.
///
/// # Panics
/// When it is not installed.
#[must_use]
pub fn codex() -> PathBuf {
    let modules = installed("codex", "node_modules/@openai");
    let folders = |path: PathBuf| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    folders(modules)
        .flat_map(|package| folders(package.join("vendor")))
        .map(|triple| triple.join("bin/codex"))
        .find(|program| program.is_file())
        .expect("Codex has a native program: run `cargo xtask test` once")
}

/// Returns the real opencode.
///
/// # Panics
/// When it is not installed.
#[must_use]
pub fn opencode() -> PathBuf {
    installed("opencode", "node_modules/.bin/opencode")
}

/// Returns the real Cline.
///
/// # Panics
/// When it is not installed.
#[must_use]
pub fn cline() -> PathBuf {
    installed("cline", "node_modules/.bin/cline")
}

/// Returns the real Copilot.
///
/// # Panics
/// When it is not installed.
#[must_use]
pub fn copilot() -> PathBuf {
    installed("copilot", "node_modules/.bin/copilot")
}

/// Returns the real Gemini CLI.
///
/// # Panics
/// When it is not installed.
#[must_use]
pub fn gemini() -> PathBuf {
    installed("gemini", "node_modules/.bin/gemini")
}

/// Returns a program that npm has put into a folder of its own.
///
/// # Panics
/// When it is not installed.
#[must_use]
pub fn npm(folder: &str, program: &str) -> PathBuf {
    installed(folder, &format!("node_modules/.bin/{program}"))
}

/// Returns a file beside the installed SDKs of MCP and of models, from which Node finds them.
///
/// # Panics
/// When they are not installed.
#[must_use]
pub fn sdk() -> PathBuf {
    installed("sdk", "package.json")
}

/// Returns the Inspector of MCP, which needs `--cli` to stay without a browser.
///
/// # Panics
/// When it is not installed.
#[must_use]
pub fn mcp_inspector() -> PathBuf {
    installed("sdk", "node_modules/.bin/mcp-inspector")
}

/// Returns a Python that finds the SDKs of MCP and of models.
///
/// # Panics
/// When it is not installed.
#[must_use]
pub fn python() -> PathBuf {
    installed("python", "bin/python")
}

/// Returns a file of a program's folder.
fn installed(program: &str, file: &str) -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target"),
        PathBuf::from,
    );
    let path = target.join("programs").join(program).join(file);
    assert!(path.exists(), "{} is not there: run `cargo xtask test` once", path.display());
    // Not resolved further: such a program may be a link that looks at its own name.
    target.canonicalize().unwrap().join("programs").join(program).join(file)
}
