//! Foreign programs that `cargo xtask test` installs below the target folder.

use std::{env, path::PathBuf};

/// Returns the real Claude Code, of the one version that the tests are written for.
///
/// # Panics
/// When it is not installed: nothing is left out silently.
#[must_use]
pub fn claude() -> PathBuf {
    installed("claude", "node_modules/@anthropic-ai/claude-code/bin/claude.exe")
}

/// Returns a file of a program's folder.
fn installed(program: &str, file: &str) -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target"),
        PathBuf::from,
    );
    let path = target.join("programs").join(program).join(file);
    assert!(path.exists(), "{} is not there: run `cargo xtask test` once", path.display());
    path.canonicalize().unwrap()
}
