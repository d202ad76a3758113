//! One attempt.

use std::time::Duration;

use gangline_alerts::{
    body::Body,
    post::{PostError, Request, TIMEOUT, post, signature},
};
use gangline_core::alert::Failure;
use gangline_os::{
    clock::{self, UnixMicros},
    secret::Secret,
};
use gangline_testkit::{HookReply, HookServer};

use crate::support::SOON;

async fn try_post(url: &str, allowed: &[&str]) -> Result<(), PostError> {
    let headers = vec![("content-type", "application/json".to_owned())];
    let body = Body { text: "{\"content\":\"x\"}".to_owned(), headers };
    let allow: Vec<String> = allowed.iter().map(|it| (*it).to_owned()).collect();
    let (url, secret) = (Secret::new(url), Secret::new("key"));
    let request = Request {
        url: &url,
        body: &body,
        secret: Some(&secret),
        event: "agent_error",
        delivery: 7,
        allow_hosts: &allow,
    };
    post(&request, &clock::system()).await
}

const HERE: &[&str] = &["127.0.0.1"];

#[tokio::test]
async fn a_post_is_signed_and_says_what_it_is() {
    let server = HookServer::start(vec![HookReply::status(204)]);
    try_post(&server.url("/hook?token=1"), HERE).await.unwrap();
    let got = server.next(SOON).unwrap();
    assert_eq!((got.path.as_str(), got.body.as_str()), ("/hook?token=1", "{\"content\":\"x\"}"));
    assert_eq!(got.header("content-type"), Some("application/json"));
    assert_eq!(got.header("x-gangline-event"), Some("agent_error"));
    assert_eq!(got.header("x-gangline-delivery"), Some("7"));
    let signed = got.header("x-gangline-signature").unwrap();
    let at = signed.strip_prefix("t=").unwrap().split(',').next().unwrap();
    let at = UnixMicros::from_seconds(at.parse().unwrap());
    assert_eq!(signed, signature(&Secret::new("key"), at, &got.body));
}

#[tokio::test]
async fn a_target_that_is_not_public_gets_nothing_unless_it_is_named() {
    let server = HookServer::start(vec![HookReply::status(200)]);
    let port = server.address().port();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "[::1]"] {
        let error = try_post(&format!("http://{host}:{port}/"), &["other"]).await.unwrap_err();
        assert_eq!(error.failure, Failure::Refused, "{host}");
        assert!(error.why.contains("webhooks.allow_hosts"), "{error}");
    }
    assert_eq!(server.next(Duration::from_millis(50)), None);
    try_post(&format!("http://localhost:{port}/"), &["localhost"]).await.unwrap();
}

#[tokio::test]
async fn only_http_is_posted_to() {
    for url in ["file:///etc/passwd", "ftp://example.org/", "gopher://example.org/", "nothing"] {
        let error = try_post(url, HERE).await.unwrap_err();
        assert_eq!(error.failure, Failure::Refused, "{url}: {error}");
    }
}

#[tokio::test]
async fn each_hop_of_a_redirect_is_checked() {
    let last = HookServer::start(vec![HookReply::status(200)]);
    let good = HookServer::start(vec![HookReply::Redirect(307, last.url("/there"))]);
    try_post(&good.url("/"), HERE).await.unwrap();
    let got = last.next(SOON).unwrap();
    assert_eq!((got.path.as_str(), got.body.as_str()), ("/there", "{\"content\":\"x\"}"));
    for to in ["http://169.254.169.254/latest/meta-data", "http://localhost:1/", "file:///etc/x"] {
        let bad = HookServer::start(vec![HookReply::Redirect(302, to.to_owned())]);
        let error = try_post(&bad.url("/"), HERE).await.unwrap_err();
        assert_eq!(error.failure, Failure::Refused, "{to}: {error}");
    }
    let round = HookServer::start(vec![HookReply::Redirect(308, "/again".to_owned())]);
    let error = try_post(&round.url("/"), HERE).await.unwrap_err();
    assert_eq!(error.why, "more than 3 redirects");
    assert_eq!(std::iter::from_fn(|| round.next(Duration::from_millis(50))).count(), 4);
}

#[tokio::test]
async fn a_refusal_says_why_and_what_it_means() {
    let check = async |reply: HookReply, failure: Failure, why: &str| {
        let server = HookServer::start(vec![reply]);
        let error = try_post(&server.url("/secret"), HERE).await.unwrap_err();
        assert_eq!((error.failure, error.why.as_str()), (failure, why));
    };
    let said = |code, text: &str| HookReply::Status(code, Vec::new(), text.to_owned());
    check(said(500, "a \r\n\x07b"), Failure::Passing, "500 Internal Server Error: a b").await;
    check(said(404, ""), Failure::Refused, "404 Not Found").await;
    check(said(429, ""), Failure::Slower(None), "429 Too Many Requests").await;
    let patience = vec![("retry-after".to_owned(), "70".to_owned())];
    let slower = HookReply::Status(429, patience, String::new());
    let asked = Failure::Slower(Some(Duration::from_secs(70)));
    check(slower, asked, "429 Too Many Requests").await;
}

/// A body of a gigabyte is not read, and its beginning alone is shown.
#[tokio::test]
async fn a_huge_answer_is_cut() {
    let server = HookServer::start(vec![HookReply::Huge]);
    let begun = clock::system().monotonic();
    let error = try_post(&server.url("/"), HERE).await.unwrap_err();
    assert_eq!(error.failure, Failure::Refused);
    assert!(error.why.len() < 200, "{error}");
    assert!(clock::system().monotonic() - begun < TIMEOUT, "it was not read to its end");
}

#[tokio::test]
async fn a_target_that_does_not_answer_is_left_after_ten_seconds() {
    let server = HookServer::start(vec![HookReply::Silent]);
    let begun = clock::system().monotonic();
    let error = try_post(&server.url("/secret"), HERE).await.unwrap_err();
    assert_eq!(error.why, "no answer within 10 seconds");
    assert!(clock::system().monotonic() - begun < TIMEOUT + Duration::from_secs(5));
    let gone = HookServer::start(vec![HookReply::Hangs]);
    let error = try_post(&gone.url("/secret"), HERE).await.unwrap_err();
    assert_eq!(error.failure, Failure::Passing);
    assert!(!error.why.contains("secret"), "{error}");
}
