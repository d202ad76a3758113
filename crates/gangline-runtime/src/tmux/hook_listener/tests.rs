use std::time::Duration;

use gangline_os::clock;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::*;

const SOON: Duration = Duration::from_secs(60);

struct Rig {
    listener: HookListener,
    folder: tempfile::TempDir,
}

fn rig() -> Rig {
    let folder = tempfile::Builder::new().prefix("gl-").tempdir().unwrap();
    Rig { listener: HookListener::open(folder.path()).unwrap(), folder }
}

impl Rig {
    async fn dial(&self) -> UnixStream {
        UnixStream::connect(self.listener.socket.path()).await.unwrap()
    }

    async fn next(&mut self) -> Value {
        time::timeout(SOON, self.listener.next()).await.unwrap()
    }
}

/// Says something and waits until it was taken, as a hook does.
async fn report(mut stream: UnixStream, text: &str) {
    // What is too long is not read to its end.
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(answer.is_empty(), "a hook that is answered would tell the program so");
}

/// R3-20: one object after the other is heard, and what is none is nothing.
#[tokio::test]
async fn objects_are_heard_in_their_order() {
    let mut rig = rig();
    let long = format!(r#"{{"long": "{}"}}"#, "z".repeat(OBJECT_MAX as usize));
    for text in [r#"{"n": 1}"#, "", "nonsense", "[1]", long.as_str(), "{\"n\": 2}\n"] {
        time::timeout(SOON, report(rig.dial().await, text)).await.unwrap();
    }
    assert_eq!((rig.next().await, rig.next().await), (json!({"n": 1}), json!({"n": 2})));
    let socket = rig.listener.socket.path().to_owned();
    assert!(socket.starts_with(rig.folder.path().join(FOLDER)));
    drop(rig.listener);
    assert!(!socket.exists());
}

/// R3-20: a hook that says nothing holds the others up for a while only.
#[tokio::test]
async fn one_that_is_silent_is_given_up() {
    let mut rig = rig();
    let silent = rig.dial().await;
    let next = rig.dial().await;
    let clock = clock::system();
    let begun = clock.monotonic();
    let (heard, ()) = tokio::join!(rig.next(), report(next, r#"{"n": 1}"#));
    assert_eq!(heard, json!({"n": 1}));
    assert!(clock.monotonic() - begun >= WHOLE_WITHIN, "it was given its time");
    drop(silent);
}
