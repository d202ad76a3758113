//! The toy backend passes the suite, and an adapter that breaks a rule does not.

use std::{os::unix::fs::PermissionsExt, path::PathBuf, time::Duration};

use gangline_conformance::Score;
use gangline_runtime::{
    Runtime,
    registry::dialect::{self, Dialect},
};

use super::{bench::Bench, toy::Toy};

/// How the toy is spoken to: the other half of what a backend needs.
pub(crate) const TOY: Dialect = Dialect {
    backend: "toy",
    program: "toy-agent",
    model: "toy-1",
    other_model: "toy-2",
    shell: "shell",
    listed: "shell",
    pace: dialect::Pace {
        ready: Duration::from_secs(20),
        turn: Duration::from_secs(20),
        retries: Duration::from_secs(20),
    },
    ..dialect::COMMON
};

/// Returns the toy's program, made runnable.
fn program() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/conformance/toy/agent.js");
    assert_ne!(path.metadata().unwrap().permissions().mode() & 0o111, 0, "agent.js cannot run");
    path
}

pub(crate) async fn bench(make: impl Fn() -> Box<dyn Runtime> + Send + Sync + 'static) -> Bench {
    Bench::with(TOY, Box::new(make), Some(program())).await
}

/// R0-66: a backend that is written after the guide passes the suite.
#[tokio::test]
async fn the_toy_passes() {
    let report = bench(|| Box::new(Toy)).await.run().await;
    let failures: Vec<_> = report.failures().map(|it| (it.cell.id, &it.score)).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(report.score("crash"), Some(&Score::Yes));
    assert_eq!(report.score("steer"), Some(&Score::Unsupported));
}
