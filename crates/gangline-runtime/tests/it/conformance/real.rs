//! The built-in backends with their real programs.

use gangline_runtime::conformance::Report;
use gangline_testkit::programs;

use super::{bench::Bench, verdicts};

fn all_hold(report: &Report) {
    let failures: Vec<String> = report
        .failures()
        .map(|it| format!("{}: {}", it.cell.id, it.verdict.why().unwrap_or_default()))
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
    verdicts::check(report);
}

/// R0-02: the native loop passes the suite.
#[tokio::test]
async fn native_passes() {
    all_hold(&Bench::new("native", None).await.run().await);
}

/// R0-02: Claude Code passes the suite.
#[tokio::test]
async fn claude_passes() {
    all_hold(&Bench::new("claude", Some(programs::claude())).await.run().await);
}

/// R0-02: Codex passes the suite.
#[tokio::test]
async fn codex_passes() {
    all_hold(&Bench::new("codex", Some(programs::codex())).await.run().await);
}

/// R0-02: OpenCode passes the suite.
#[tokio::test]
async fn opencode_passes() {
    all_hold(&Bench::new("opencode", Some(programs::opencode())).await.run().await);
}

/// R0-02: Cline passes the suite.
#[tokio::test]
async fn cline_passes() {
    all_hold(&Bench::new("cline", Some(programs::cline())).await.run().await);
}

/// R0-02: Copilot passes the suite.
#[tokio::test]
async fn copilot_passes() {
    all_hold(&Bench::new("copilot", Some(programs::copilot())).await.run().await);
}
