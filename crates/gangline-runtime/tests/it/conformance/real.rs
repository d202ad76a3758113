//! The built-in backends with their real programs.

use std::{os::unix::fs::symlink, path::PathBuf};

use gangline_conformance::cells;
use gangline_testkit::programs;

use super::{bench::Bench, foreign, scores};

/// Runs the suite over a column of the table, in surroundings that are another's. `test` is the
/// name of the test that asks for it.
async fn all_hold(test: &str, column: &str, program: Option<PathBuf>) {
    let Some(foreign) = foreign::surroundings(test) else { return };
    foreign.check();
    let mut bench = Bench::new(column, program).await;
    if column.starts_with("kiro") {
        bench.subject.only =
            cells::CELLS.iter().map(|cell| cell.id).filter(known_of_kiro).collect();
    }
    let report = bench.run().await;
    let failures: Vec<String> = report
        .failures()
        .map(|it| format!("{}: {}", it.cell.id, it.score.why().unwrap_or_default()))
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
    scores::check(&report);
}

/// What the program's documentation says nothing of a peer in its place shows nothing of.
fn known_of_kiro(cell: &&str) -> bool {
    let unknown = cell.starts_with("error_")
        || ["after_error", "overflow", "retry_after", "deny_told"].contains(cell);
    !unknown
}

/// R0-02: what Kiro's protocol shows; the program is a peer in its place.
#[tokio::test]
async fn kiro_passes() {
    let peer = "tests/it/conformance/kiro/agent.js";
    let peer = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(peer);
    all_hold("kiro_passes", "kiro (recorded peer)", Some(peer)).await;
}

/// R0-02, R3-01, R3-04 … R3-06, R3-08: the native loop passes the suite.
#[tokio::test]
async fn native_passes() {
    all_hold("native_passes", "native", None).await;
}

/// R0-02, R3-01, R3-04 … R3-06, R3-08: Claude Code passes the suite.
#[tokio::test]
async fn claude_passes() {
    all_hold("claude_passes", "claude", Some(programs::claude())).await;
}

/// R0-02, R3-01, R3-04 … R3-06, R3-08: Codex passes the suite.
#[tokio::test]
async fn codex_passes() {
    all_hold("codex_passes", "codex", Some(programs::codex())).await;
}

/// R0-02: OpenCode passes the suite.
#[tokio::test]
async fn opencode_passes() {
    all_hold("opencode_passes", "opencode", Some(programs::opencode())).await;
}

/// R0-02: Cline passes the suite.
#[tokio::test]
async fn cline_passes() {
    all_hold("cline_passes", "cline", Some(programs::cline())).await;
}

/// R0-02: Copilot passes the suite.
#[tokio::test]
async fn copilot_passes() {
    all_hold("copilot_passes", "copilot", Some(programs::copilot())).await;
}

/// R0-02: Gemini CLI passes the suite.
#[tokio::test]
async fn gemini_passes() {
    all_hold("gemini_passes", "gemini", Some(programs::gemini())).await;
}

/// R0-02, R3-01, R3-04 … R3-06, R3-08, R2-02: Claude Code with a process for each turn
/// passes the suite.
#[tokio::test]
async fn claude_per_turn_passes() {
    all_hold("claude_per_turn_passes", "claude per turn", Some(programs::claude())).await;
}

/// R0-02, R0-63: a program of which nothing but its command is known passes the suite.
#[tokio::test]
async fn acp_passes() {
    let folder = tempfile::tempdir().unwrap();
    // By this name nobody knows it.
    let program = folder.path().join("somebody-s-agent");
    symlink(programs::opencode(), &program).unwrap();
    all_hold("acp_passes", "acp (opencode)", Some(program)).await;
}

/// R0-02, R3-01, R3-04 … R3-06, R3-08, R3-14: Claude Code in a terminal passes the suite.
#[tokio::test]
async fn tmux_passes() {
    all_hold("tmux_passes", "tmux (claude)", Some(programs::claude())).await;
}

/// R0-02, R3-01, R3-04 … R3-06, R3-08, R3-14: Codex in a terminal passes the suite.
#[tokio::test]
async fn tmux_codex_passes() {
    all_hold("tmux_codex_passes", "tmux (codex)", Some(programs::codex())).await;
}
