//! A stand-in on a free port, and a client for it.

use std::{path::PathBuf, time::Duration};

use gangline_os::{CancellationToken, clock, task::TaskGroup};
use gangline_standin::{Script, StandinOptions, serve};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(crate) struct Peer {
    pub(crate) base: String,
    pub(crate) http: reqwest::Client,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskGroup,
}

impl Peer {
    /// Starts a stand-in; `script` empty = the guide.
    pub(crate) async fn start(script: &str, record: Option<PathBuf>) -> Self {
        // A second test of this process finds it installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let script = (!script.is_empty()).then(|| Script::parse(script).unwrap());
        let stop = CancellationToken::new();
        let options = StandinOptions { listener, script, record, clock: clock::system() };
        let mut tasks = TaskGroup::new("standin");
        let served = stop.clone();
        tasks.spawn("serve", async move { serve(options, served).await.unwrap() });
        let http =
            reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().unwrap();
        Self { base, http, stop, tasks }
    }

    pub(crate) async fn post(&self, path: &str, body: String) -> reqwest::Response {
        self.http
            .post(format!("{}{path}", self.base))
            .header("anthropic-version", "2023-06-01")
            .header("x-api-key", "sk-ant-very-secret")
            .body(body)
            .send()
            .await
            .unwrap()
    }

    /// Asks one thing and returns the response.
    pub(crate) async fn ask(&self, prompt: &str, stream: Stream) -> reqwest::Response {
        let body = asked(prompt, stream);
        self.post("/v1/messages?beta=true", body.to_string()).await
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Yes,
    No,
}

pub(crate) fn asked(prompt: &str, stream: Stream) -> Value {
    json!({
        "model": "stand-in",
        "max_tokens": 1000,
        "stream": stream == Stream::Yes,
        "tools": [{"name": "Bash", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": prompt}],
    })
}
