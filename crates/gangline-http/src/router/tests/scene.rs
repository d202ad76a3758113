//! The stage of these tests: a server over a real store, with two agents whose daemons note orders.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::{
    body::Body,
    http::{Request, Response, header},
};
use gangline_api::{
    budget::Budgets,
    error::{ApiError, ErrorCode},
};
use gangline_core::{AgentName, FindingNumber, Principal, Tier, digest::sha256_hex};
use gangline_mcp::{
    ToolSpec,
    rpc::Call,
    table::{User, offered},
};
use gangline_os::{CancellationToken, clock, paths::Paths, secret::Secret};
use gangline_store::{FindingAnswer, NewToken, OpenOptions, Store, TokenScope};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use tokio::sync::{Semaphore, watch as watched};

use crate::{Client, Daemons, Order, WATCHERS_MAX, calls::Calls, router::router, shared::Shared};

pub(super) const OWNER: &str = "the owner's";
pub(super) const HOST: &str = "127.0.0.1:8667";

/// Two agents. Orders and calls are noted; `recv` ends when it is taken back, all others at once.
#[derive(Default)]
pub(super) struct Two {
    pub(super) orders: Mutex<Vec<(String, Order)>>,
    pub(super) called: Mutex<Vec<String>>,
    pub(super) under_way: watched::Sender<usize>,
}

#[async_trait]
impl Daemons for Two {
    fn agent(&self, word: Option<&str>) -> Result<AgentName, ApiError> {
        match word {
            Some(word) if ["oak-ada", "oak-bob"].contains(&word) => Ok(agent(word)),
            Some(_) | None => Err(ApiError::new(ErrorCode::NotFound, "there is no such agent")),
        }
    }

    async fn order(
        &self,
        _: &Store,
        agent: AgentName,
        order: Order,
    ) -> Result<Option<String>, ApiError> {
        self.orders.lock().unwrap().push((agent.to_string(), order));
        Ok((order == Order::Resume).then(|| format!("{agent} is still held")))
    }

    async fn answer(&self, store: &Store, number: i64, said: &str) -> Result<String, ApiError> {
        let (number, word) = (FindingNumber(number), said.parse());
        let word = word.map_err(|_| ApiError::new(ErrorCode::Conflict, "it is no choice"))?;
        let answer = FindingAnswer { number, choice: word, by: "owner".to_owned(), released: 0 };
        let done = store.answer_finding(answer).await;
        done.map_err(|error| ApiError::new(ErrorCode::Conflict, error.to_string()))?;
        Ok(format!("{said} is done"))
    }

    async fn budgets(&self, _: &Store) -> Result<Budgets, ApiError> {
        Err(ApiError::new(ErrorCode::Unavailable, "there is no configuration"))
    }

    fn tools(&self, user: User) -> Vec<ToolSpec> {
        offered(user)
    }

    async fn call(
        &self,
        _: &Store,
        client: &Client,
        call: Call,
        taken_back: CancellationToken,
    ) -> Option<Result<String, String>> {
        if call.name == "whoami" {
            let Client { agent, token, label } = client;
            return Some(Ok(format!("{agent} {token:?} {label}")));
        }
        if call.name != "recv" {
            self.called.lock().unwrap().push(call.name);
            return Some(Ok("done".to_owned()));
        }
        self.under_way.send_modify(|count| *count += 1);
        taken_back.cancelled().await;
        None
    }
}

pub(super) struct Scene {
    pub(super) shared: Arc<Shared>,
    pub(super) daemons: Arc<Two>,
    _folder: tempfile::TempDir,
}

impl Scene {
    pub(super) async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (path, clock) = (folder.path().join("gangline.db"), clock::system());
        let store = Store::open(OpenOptions { path, clock: Arc::clone(&clock) }).await.unwrap();
        let (state, runtime) = (folder.path().to_owned(), folder.path().to_owned());
        let daemons = Arc::new(Two::default());
        let shared = Shared {
            host: "127.0.0.1".to_owned(),
            port: 8667,
            owner: Secret::new(OWNER),
            paths: Paths { config_file: folder.path().join("agents.yaml"), state, runtime },
            store,
            clock,
            daemons: Arc::<Two>::clone(&daemons),
            calls: Calls::new(),
            watchers: Arc::new(Semaphore::new(WATCHERS_MAX)),
        };
        Self { shared: Arc::new(shared), daemons, _folder: folder }
    }

    /// Makes a token, which is its own label.
    pub(super) async fn token(&self, scope: TokenScope, name: &str, token: &str) -> i64 {
        let new = NewToken {
            scope,
            agent: agent(name),
            label: token.to_owned(),
            hash: sha256_hex(token.as_bytes(), 32),
            made_by: Principal { account: "owner".to_owned(), tier: Tier::Member },
        };
        self.shared.store.add_token(new).await.unwrap().id
    }

    pub(super) async fn answer(&self, request: Request<Body>) -> Response<Body> {
        let app = TowerToHyperService::new(router(Arc::clone(&self.shared)));
        app.call(request).await.unwrap()
    }

    pub(super) async fn send(&self, request: Request<Body>) -> (u16, Value) {
        let response = self.answer(request).await;
        let status = response.status().as_u16();
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    pub(super) async fn post(
        &self,
        path: &str,
        token: &str,
        (more, body): (&[(&str, &str)], String),
    ) -> (u16, Value) {
        self.send(request(path, &[&[("host", HOST)], more].concat(), (token, body))).await
    }

    pub(super) async fn wake(
        &self,
        token: &str,
        more: &[(&str, &str)],
        body: Value,
    ) -> (u16, Value) {
        self.post("/api/v1/agents/oak-ada/wake", token, (more, body.to_string())).await
    }

    pub(super) async fn mcp(
        &self,
        token: &str,
        more: &[(&str, &str)],
        message: Value,
    ) -> (u16, Value) {
        let kind = [("content-type", "application/json")];
        self.post("/mcp/oak-ada", token, (&[&kind, more].concat(), message.to_string())).await
    }
}

pub(super) fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

pub(super) fn request(
    path: &str,
    headers: &[(&str, &str)],
    (token, body): (&str, String),
) -> Request<Body> {
    let mut request = Request::post(path);
    if !token.is_empty() {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body)).unwrap()
}

pub(super) fn get(path: &str, token: &str) -> Request<Body> {
    let request = Request::get(path).header("host", HOST);
    let request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    request.body(Body::empty()).unwrap()
}
