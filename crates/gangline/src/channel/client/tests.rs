//! Tests of the client against a daemon that says what it is told to.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixListener,
    path::PathBuf,
    thread::JoinHandle,
    time::Duration,
};

use gangline_api::ipc::{Command, FRAME_MAX, Frame, RequestId, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{AskError, Client};

const LONG: Duration = Duration::from_secs(30);
const SILENT: &str = "the daemon did not respond within 0 s";

/// Serves one connection: reads a request and answers with what `answer` makes of its id.
fn served(
    answer: impl FnOnce(&str) -> Vec<u8> + Send + 'static,
) -> (TempDir, Client, JoinHandle<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        reader.read_line(&mut line).unwrap();
        let request: Value = serde_json::from_str(&line).unwrap();
        let _ = stream.write_all(&answer(request["id"].as_str().unwrap()));
        request
    });
    let client = Client::dial(&[path]).unwrap();
    (folder, client, serving)
}

fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

/// R0-54: the response is found by its id among whispers, strangers' responses and frames that a
/// newer daemon may send; the id is a UUID.
#[test]
fn the_response_is_found_by_its_id() {
    let (_folder, mut client, serving) = served(|id| {
        let other = json!({"type": "response", "id": "another", "ok": false, "error": "no"});
        let own = json!({"type": "response", "id": id, "ok": true, "data": {"x": 1}});
        let newer = json!({"type": "of_tomorrow", "id": id});
        let whisper = json!({"type": "whisper", "whisper_type": "REMINDER", "message": "m"});
        [line(&other), b"\n".to_vec(), line(&newer), line(&whisper), line(&own)].concat()
    });
    let response = client.ask(Command::Clear, None, LONG).unwrap();
    let request = serving.join().unwrap();
    let id = request["id"].as_str().unwrap();
    assert_eq!(id.parse::<uuid::Uuid>().unwrap().get_version_num(), 4);
    assert_eq!(request, json!({"type": "clear", "id": id}));
    let expected = Response {
        id: RequestId::new(id).ok(),
        ok: true,
        data: Some(json!({"x": 1})),
        error: None,
        warnings: vec![],
    };
    assert_eq!(response, expected);
}

/// A frame may come in any pieces, and several may come at once.
#[test]
fn frames_are_put_together_from_what_comes() {
    let (_folder, mut client, serving) = served(|id| {
        let big = "x".repeat(200_000);
        let first = json!({"type": "response", "id": id, "ok": true, "data": {"big": big}});
        let second = json!({"type": "whisper", "whisper_type": "A", "message": "b"});
        [line(&first), line(&second)].concat()
    });
    let response = client.ask(Command::Clear, None, LONG).unwrap();
    assert_eq!(response.data.unwrap()["big"].as_str().unwrap().len(), 200_000);
    assert!(matches!(client.next(LONG), Ok(Frame::Whisper(_))));
    serving.join().unwrap();
    assert!(matches!(client.next(LONG), Err(AskError::Closed)));
}

/// Chatter does not make the patience longer.
#[test]
fn a_daemon_that_does_not_answer_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let mut client = Client::dial(std::slice::from_ref(&path)).unwrap();
    let (mut theirs, _) = listener.accept().unwrap();
    let error = client.ask(Command::Clear, None, Duration::from_millis(30)).unwrap_err();
    assert_eq!(error.to_string(), SILENT);
    let chatting = std::thread::spawn(move || {
        let chatter = line(&json!({"type": "response", "id": "another", "ok": true}));
        while theirs.write_all(&chatter).is_ok() {}
    });
    let error = client.ask(Command::Clear, None, Duration::from_millis(30)).unwrap_err();
    assert_eq!(error.to_string(), SILENT);
    drop(client);
    chatting.join().unwrap();
}

#[test]
fn what_is_no_frame_ends_the_conversation() {
    let (_folder, mut client, serving) = served(|_| b"hello?\n".to_vec());
    assert!(matches!(client.ask(Command::Clear, None, LONG), Err(AskError::Frame(_))));
    serving.join().unwrap();
    let (_folder, mut client, serving) = served(|_| vec![b'x'; FRAME_MAX + 20_000]);
    assert!(matches!(client.ask(Command::Clear, None, LONG), Err(AskError::TooLong)));
    drop(client);
    serving.join().unwrap();
}

#[test]
fn the_first_socket_that_answers_is_taken_and_the_first_error_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let _listener = UnixListener::bind(path("b")).unwrap();
    assert!(Client::dial(&[path("a"), path("b")]).is_ok());
    let error = Client::dial(&[path("a"), path("c")]).err().unwrap();
    assert_eq!(error.to_string(), format!("cannot connect to {}", path("a").display()));
    assert!(Client::dial(&[] as &[PathBuf]).is_err());
}
