//! An API over TLS: it is reached if its certificate is good for this system, and else nothing is sent.

use std::{env, path::Path, process::Command};

use futures::StreamExt as _;
use gangline_core::budget::CallOutcome;
use gangline_testkit::tls;
use serde_json::Value;

use crate::stage::{Api, KEY, Stage};

const EVENT: &str = "data: {\"type\":\"message_start\",\"message\":{\"model\":\"priced\",\"usage\":\
    {\"input_tokens\":50}}}\n\n";
/// Where a process finds the roots that it trusts, in place of the system's.
const ROOTS: &str = "SSL_CERT_FILE";
/// Says that they are a test's.
const PLANTED: &str = "GANGLINE_TEST_ROOTS";

/// Returns whether this process has the roots of a test. Else it runs the test in one that has `roots`; the
/// test fails as that one does.
#[allow(clippy::disallowed_methods, reason = "the test itself, once more; it ends by itself")]
fn has(roots: &Path, test: &str) -> bool {
    if env::var_os(PLANTED).is_some() {
        return true;
    }
    let status = Command::new(env::current_exe().unwrap())
        .args([&format!("tls::{test}"), "--exact", "--nocapture"])
        .env(ROOTS, roots)
        .env(PLANTED, "1")
        .status()
        .unwrap();
    assert!(status.success(), "{test}: {status}");
    false
}

/// Asks, and returns why the relay cannot pass it on. Waiting would not help, so clients do not try again.
async fn refused(stage: &mut Stage) -> String {
    let response = stage.ask("{}").await;
    assert_eq!(response.status(), 424);
    assert_eq!(response.headers()["x-should-retry"], "false");
    let error: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    let report = stage.report().await;
    assert_eq!((report.outcome, report.tokens), (CallOutcome::Failed, None));
    error["error"]["message"].as_str().unwrap().to_owned()
}

/// Streamed as by plain HTTP; the key and the body arrive. For another name of the same machine the
/// certificate is not good.
#[tokio::test]
async fn a_trusted_api_is_streamed_from_by_its_own_name_alone() {
    if !has(&tls::roots(), "a_trusted_api_is_streamed_from_by_its_own_name_alone") {
        return;
    }
    let (address, api) = Api::new().await;
    let port = tls::before(address.strip_prefix("http://").unwrap());
    let mut stage = Stage::with_key(&format!("https://localhost:{port}")).await;
    let (response, mut call) = tokio::join!(stage.ask("{\"a\": 1}"), async {
        let mut call = api.take().await;
        call.begin_events().await;
        call
    });
    assert_eq!(response.status(), 200);
    assert!(call.head.contains(&format!("x-api-key: {KEY}\r\n")), "{}", call.head);
    assert!(call.head.contains(&format!("host: localhost:{port}\r\n")), "{}", call.head);
    assert_eq!(call.body, b"{\"a\": 1}");
    let mut pieces = response.bytes_stream();
    for data in [EVENT, "data: {\"usage\":{\"output_tokens\":10}}\n\n"] {
        call.chunk(data).await;
        assert_eq!(pieces.next().await.unwrap().unwrap(), data.as_bytes());
    }
    call.end().await;
    assert!(pieces.next().await.is_none());
    let report = stage.report().await;
    assert_eq!((report.outcome, report.cost_micros), (CallOutcome::Answered, Some(70)));

    let mut stage = Stage::with_key(&format!("https://127.0.0.1:{port}")).await;
    let why = refused(&mut stage).await;
    assert!(why.contains("certificate not valid for name \"127.0.0.1\""), "{why}");
}

/// The key goes to nobody whose certificate is signed by somebody unknown.
#[tokio::test]
async fn an_api_with_an_untrusted_certificate_gets_nothing() {
    let (address, _api) = Api::new().await;
    let port = tls::before(address.strip_prefix("http://").unwrap());
    let mut stage = Stage::with_key(&format!("https://localhost:{port}")).await;
    let why = refused(&mut stage).await;
    assert!(why.contains("invalid peer certificate") && why.contains("SSL_CERT_FILE"), "{why}");
}

/// A program that speaks plain HTTP where TLS is expected.
#[tokio::test]
async fn a_server_without_tls_is_told() {
    let (address, api) = Api::new().await;
    let mut stage = Stage::with_key(&address.replace("http://", "https://")).await;
    let (why, ()) = tokio::join!(refused(&mut stage), async {
        api.speaks_no_tls().await;
    });
    assert!(why.contains("the server does not speak TLS there"), "{why}");
}
