//! Requests on disk: numbered, whole, without secrets.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::peer::{Peer, Stream};

fn record(folder: &std::path::Path, number: u64) -> Value {
    let text = std::fs::read(folder.join(format!("{number:06}.json"))).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[tokio::test]
async fn every_request_is_recorded_before_it_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("requests");
    let peer = Peer::start("", Some(path.clone())).await;
    peer.ask("say exactly one", Stream::No).await;
    peer.post("/v1/messages", "no json \u{1}".into()).await;
    peer.http.head(format!("{}/", peer.base)).send().await.unwrap();

    let first = record(&path, 1);
    assert_eq!(first["number"], 1);
    assert_eq!(first["method"], "POST");
    assert_eq!(first["path"], "/v1/messages?beta=true");
    assert_eq!(first["headers"]["x-api-key"], "***");
    assert_eq!(first["headers"]["anthropic-version"], "2023-06-01");
    assert_eq!(first["body"]["messages"][0]["content"], "say exactly one");
    assert!(first["at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(record(&path, 2)["body"], "no json \u{1}");
    assert_eq!(record(&path, 3)["method"], "HEAD");
    let mode = std::fs::metadata(path.join("000001.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let names = std::fs::read_dir(&path).unwrap().count();
    assert_eq!(names, 3, "nothing half written stays");
}

#[tokio::test]
async fn a_second_stand_in_goes_on_counting() {
    let folder = tempfile::tempdir().unwrap();
    for number in 1..=2 {
        let peer = Peer::start("", Some(folder.path().to_owned())).await;
        peer.ask("hi", Stream::Yes).await;
        assert_eq!(record(folder.path(), number)["number"], number);
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let options = gangline_standin::StandinOptions {
        listener: tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap(),
        script: None,
        record: Some(file.path().to_owned()),
        clock: gangline_os::clock::system(),
    };
    let stop = gangline_os::CancellationToken::new();
    let error = gangline_standin::serve(options, stop).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot record requests in {}", file.path().display()));
}
