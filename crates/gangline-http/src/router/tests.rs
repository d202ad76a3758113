//! Every route over a real store: who may come in, what is done then, and what is told.

use axum::{
    body::Body,
    http::{Request, header},
};
use gangline_core::{
    Redacted, Tier,
    finding::{Choice, ChoiceWord, FindingKind},
};
use gangline_mcp::table::{User, offered};
use gangline_store::{MessageFilter, NewFinding, TokenScope};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use self::scene::{HOST, OWNER, Scene, agent, get, request};
use super::{ATTENTION_CHANGES, BUDGETS, OPENAPI};
use crate::{BODY_MAX, CALLS_MAX, MESSAGE_MAX, Order, WATCHERS_MAX, keys::OPEN_TO};

mod scene;

fn tool(id: i64, name: &str) -> Value {
    let params = json!({"name": name, "arguments": {}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

const SESSION: [(&str, &str); 1] = [("mcp-session-id", "s")];
/// A path for each kind of route.
const PATHS: [&str; 5] = [
    "/api/v1/agents/oak-ada/wake",
    "/mcp/oak-ada",
    "/api/v1/agents/oak-ada/compact",
    "/api/v1/agents/oak-ada/new-session",
    "/api/compact?agent=oak-ada",
];

/// The other routes, which only the owner may use, and the replies to the owner if no daemon runs and nothing waits.
const OWNERS: [(&str, &str, &str, u16); 9] = [
    ("POST", "/api/v1/agents/oak-ada/pause", "", 200),
    ("POST", "/api/v1/agents/oak-ada/resume", "", 200),
    ("POST", "/api/v1/agents/oak-ada/abort", "", 200),
    ("POST", "/api/v1/agents/oak-ada/whispers", r#"{"text": "go on"}"#, 200),
    ("GET", "/api/v1/attention", "", 200),
    ("GET", "/api/v1/attention/changes", "", 200),
    ("POST", "/api/v1/attention/9", r#"{"answer": "dismiss"}"#, 409),
    ("GET", "/api/v1/budgets", "", 503),
    ("POST", "/api/new-session?agent=oak-ada", "", 200),
];

/// R2-06, R2-11, R2-16, R2-30: a token opens what it was made for, for its agent, until it is revoked.
#[tokio::test]
async fn a_token_opens_what_it_was_made_for_until_it_is_revoked() {
    let scene = Scene::open().await;
    let (mcp, wake) = (TokenScope::Mcp, TokenScope::Wake);
    let ids = [
        scene.token(mcp, "oak-ada", "mcp-ada").await,
        scene.token(mcp, "oak-bob", "mcp-bob").await,
        scene.token(wake, "oak-ada", "wake-ada").await,
        scene.token(wake, "oak-bob", "wake-bob").await,
    ];
    let opens = async |token: &str, path: &str| {
        let body = if path.ends_with("wake") {
            json!({"body": "x", "from": token})
        } else {
            tool(1, "whoami")
        };
        let body =
            if token == OWNER { body.to_string().replace(OWNER, "ci") } else { body.to_string() };
        let more = [("content-type", "application/json"), ("mcp-session-id", "s")];
        scene.post(path, token, (&more, body)).await.0
    };
    for (token, statuses) in [
        (OWNER, [200, 200, 200, 200, 200]),
        ("mcp-ada", [403, 200, 403, 403, 403]),
        ("mcp-bob", [403, 403, 403, 403, 403]),
        ("wake-ada", [200, 403, 403, 403, 403]),
        ("wake-bob", [403, 403, 403, 403, 403]),
        ("nobody's", [401, 401, 401, 401, 401]),
        ("", [401, 401, 401, 401, 401]),
    ] {
        for (path, status) in PATHS.into_iter().zip(statuses) {
            assert_eq!(opens(token, path).await, status, "{token} {path}");
        }
    }
    let ordered = [Order::Compact, Order::NewSession, Order::Compact];
    let ordered = ordered.map(|order| ("oak-ada".to_owned(), order));
    assert_eq!(*scene.daemons.orders.lock().unwrap(), ordered, "the owner's, and no other");
    let used = scene.shared.store.tokens().await.unwrap();
    assert!(used.iter().all(|row| row.used_at.is_some()), "{used:?}");
    for id in ids {
        scene.shared.store.revoke_token(id).await.unwrap();
    }
    for token in ["mcp-ada", "wake-ada"] {
        for path in PATHS {
            assert_eq!(opens(token, path).await, 401, "{token} {path}");
        }
    }
}

/// Every route that the document names needs a token, and opens to no scope but its own.
#[tokio::test]
async fn every_route_opens_to_its_scope_and_to_no_other() {
    let scene = Scene::open().await;
    for scope in [TokenScope::Mcp, TokenScope::Wake] {
        scene.token(scope, "oak-ada", scope.as_str()).await;
    }
    let document: Value = serde_json::from_str(crate::openapi::DOCUMENT).unwrap();
    let mut named: Vec<&str> =
        document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    let mut listed: Vec<&str> = OPEN_TO.iter().map(|(path, _)| *path).chain([OPENAPI]).collect();
    named.sort_unstable();
    listed.sort_unstable();
    assert_eq!(named, listed);
    for (route, open_to) in OPEN_TO {
        let path = route.replace("{nick}", "oak-ada").replace("{number}", "9");
        let methods = document["paths"][route].as_object().unwrap();
        for method in methods.keys().filter(|method| ["get", "post"].contains(&method.as_str())) {
            for scope in [TokenScope::Mcp, TokenScope::Wake] {
                let request = Request::builder()
                    .method(method.to_uppercase().as_str())
                    .uri(&path)
                    .header("host", HOST)
                    .header(header::AUTHORIZATION, format!("Bearer {scope}"));
                let request = request.body(Body::empty()).unwrap();
                let status = scene.answer(request).await.status().as_u16();
                assert_eq!(status == 403, open_to != Some(scope), "{method} {path} {scope}");
            }
        }
    }
}

/// R2-16: a program's token opens the tools that read and speak. The others are not listed, and a call of
/// one is told that it needs the owner's token.
#[tokio::test]
async fn a_programs_token_calls_what_reads_and_speaks() {
    let scene = Scene::open().await;
    scene.token(TokenScope::Mcp, "oak-ada", "mcp-ada").await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut listed = Vec::new();
    for token in ["mcp-ada", OWNER] {
        let (_, told) = scene.mcp(token, &SESSION, list.clone()).await;
        listed.push(told["result"]["tools"].as_array().unwrap().clone());
    }
    let has = |tools: &[Value], name: &str| tools.iter().any(|tool| tool["name"] == name);
    for spec in offered(User::Person) {
        let is_open = has(&listed[0], spec.name);
        assert!(has(&listed[1], spec.name), "{}", spec.name);
        if spec.name == "recv" {
            continue;
        }
        for token in ["mcp-ada", OWNER] {
            let (status, told) = scene.mcp(token, &SESSION, tool(1, spec.name)).await;
            let refused = told["result"]["isError"] == true;
            assert_eq!(
                (status, refused),
                (200, token != OWNER && !is_open),
                "{} {told}",
                spec.name
            );
            let text = told["result"]["content"][0]["text"].as_str().unwrap();
            assert_eq!(text.contains("needs the owner's token"), refused, "{text}");
        }
    }
    let called = scene.daemons.called.lock().unwrap();
    assert_eq!(called.iter().filter(|name| *name == "pause").count(), 1, "the owner's alone");
    assert_eq!(called.iter().filter(|name| *name == "send").count(), 2);
}

/// C16, R1-35: nobody but the owner pauses, whispers, lists or answers what waits for people.
#[tokio::test]
async fn the_other_routes_are_the_owners_alone() {
    let scene = Scene::open().await;
    scene.token(TokenScope::Mcp, "oak-ada", "mcp-ada").await;
    scene.token(TokenScope::Wake, "oak-ada", "wake-ada").await;
    for token in [OWNER, "mcp-ada", "wake-ada", "nobody's", ""] {
        for (method, path, body, status) in OWNERS {
            let status = match token {
                OWNER => status,
                "nobody's" | "" => 401,
                _ => 403,
            };
            let request = Request::builder().method(method).uri(path).header("host", HOST);
            let request = match token {
                "" => request,
                token => request.header(header::AUTHORIZATION, format!("Bearer {token}")),
            };
            let answer = scene.answer(request.body(Body::from(body)).unwrap()).await;
            assert_eq!(answer.status().as_u16(), status, "{token} {method} {path}");
        }
    }
    let ordered = [Order::Pause { until: None }, Order::Resume, Order::Abort, Order::NewSession];
    let ordered = ordered.map(|order| ("oak-ada".to_owned(), order));
    assert_eq!(*scene.daemons.orders.lock().unwrap(), ordered, "the owner's, and no other");
}

/// R1-35, C10: the owner pauses, resumes and aborts; a pause has an end or none, and nobody else does.
#[tokio::test]
async fn the_owner_pauses_resumes_and_aborts() {
    let scene = Scene::open().await;
    scene.token(TokenScope::Wake, "oak-ada", "waker").await;
    let post = |word: &'static str, token: &'static str, body: &'static str| {
        let scene = &scene;
        async move {
            let path = format!("/api/v1/agents/oak-ada/{word}");
            scene.post(&path, token, (&[], body.to_owned())).await.0
        }
    };
    for word in ["pause", "resume", "abort"] {
        assert_eq!(post(word, "waker", "").await, 403, "{word}");
    }
    for bad in [
        r#"{"for": "2h", "until": "9:00"}"#,
        r#"{"for": "ever"}"#,
        r#"{"until": "2020-01-01 09:00"}"#,
        r#"{"till": "9:00"}"#,
        r#"{"for": 2}"#,
        "2h",
    ] {
        assert_eq!(post("pause", OWNER, bad).await, 400, "{bad}");
    }
    assert!(scene.daemons.orders.lock().unwrap().is_empty());
    let before = scene.shared.clock.now();
    for (word, body) in
        [("pause", ""), ("pause", r#"{"for": "2h"}"#), ("resume", ""), ("abort", "")]
    {
        assert_eq!(post(word, OWNER, body).await, 200, "{word} {body}");
    }
    let path = "/api/v1/agents/oak-ada/resume";
    let body = scene.post(path, OWNER, (&[], String::new())).await.1;
    assert_eq!(body["held"], "oak-ada is still held", "{body}");
    scene.daemons.orders.lock().unwrap().pop();
    let orders = scene.daemons.orders.lock().unwrap();
    let orders: Vec<Order> = orders.iter().map(|(_, order)| *order).collect();
    let [Order::Pause { until: None }, Order::Pause { until: Some(until) }, rest @ ..] =
        &orders[..]
    else {
        panic!("{orders:?}")
    };
    assert_eq!(rest, [Order::Resume, Order::Abort]);
    let minutes = (until.0 - before.0) / 60_000_000;
    assert!((119..=121).contains(&minutes), "{minutes}");
}

/// A request with two tokens, or from elsewhere, is not served, whatever it shows.
#[tokio::test]
async fn a_request_from_elsewhere_or_with_two_tokens_is_not_served() {
    let scene = Scene::open().await;
    let (ours, basic) = (("host", HOST), ("authorization", "Basic x"));
    for path in PATHS {
        for (headers, status) in [
            (&[("host", "evil.example:8667")][..], 403),
            (&[], 403),
            (&[ours, ("origin", "http://evil.example")], 403),
            (&[ours, basic], 401),
        ] {
            let request = request(path, headers, (OWNER, String::new()));
            assert_eq!(scene.send(request).await.0, status, "{path} {headers:?}");
        }
    }
    assert!(scene.daemons.orders.lock().unwrap().is_empty());
}

/// R2-30, R2-32: a wake is the program's under its token's label, with the trust of who made the token;
/// the same key is the same wake; ten a minute.
#[tokio::test]
async fn a_wake_is_one_message_for_each_key_and_at_most_ten_a_minute() {
    let scene = Scene::open().await;
    scene.token(TokenScope::Wake, "oak-ada", "ci").await;
    let key = [("idempotency-key", "k1")];
    let (_, first) = scene.wake("ci", &key, json!({"body": "built"})).await;
    let (_, again) = scene.wake("ci", &key, json!({"body": "built"})).await;
    assert_eq!((&first["duplicate"], &again["duplicate"]), (&json!(false), &json!(true)));
    assert_eq!(first["message"], again["message"]);
    for (body, status) in [
        (json!({"body": "x", "from": "cd"}), 403),
        (json!({"body": " "}), 400),
        (json!({"body": "x", "tier": "owner"}), 400),
        (json!({"body": "x".repeat(BODY_MAX)}), 413),
    ] {
        assert_eq!(scene.wake("ci", &[], body).await.0, status);
    }
    assert_eq!(scene.wake("ci", &[("idempotency-key", "a b")], json!({"body": "x"})).await.0, 400);
    assert_eq!(scene.wake(OWNER, &[], json!({"body": "x"})).await.0, 400, "it names nobody");
    assert_eq!(scene.wake(OWNER, &[], json!({"body": "x", "from": "owner"})).await.0, 400);
    for _ in 0..9 {
        assert_eq!(scene.wake("ci", &[], json!({"body": "x"})).await.0, 200);
    }
    assert_eq!(scene.wake("ci", &[], json!({"body": "x"})).await.0, 429);
    assert_eq!(scene.wake(OWNER, &[], json!({"body": "x", "from": "cd"})).await.0, 200);
    let rows = scene.shared.store.messages(MessageFilter::default(), 99).await.unwrap();
    assert_eq!(rows.len(), 11);
    let who =
        |row: &gangline_store::MessageRow| (row.principal.account.clone(), row.principal.tier);
    assert_eq!(who(&rows[10]), ("wake:ci".to_owned(), Tier::Member));
    assert_eq!(who(&rows[0]), ("wake:cd".to_owned(), Tier::Owner));
}

/// Half a character is replaced; what is no JSON is refused with a reason, by its id if it has one.
#[tokio::test]
async fn a_body_with_half_a_character_is_taken_and_a_broken_one_is_refused() {
    let scene = Scene::open().await;
    scene.token(TokenScope::Wake, "oak-ada", "ci").await;
    let wake = async |body: &str| scene.post(PATHS[0], "ci", (&[], body.to_owned())).await;
    assert_eq!(wake(r#"{"body": "cut \ud83d"}"#).await.0, 200);
    let rows = scene.shared.store.messages(MessageFilter::default(), 9).await.unwrap();
    assert_eq!(rows[0].body.as_str(), "cut \u{fffd}");
    for broken in [r#"{"body": "cut \ud83d"#, r#"{"body": "\u12"}"#, ""] {
        let (status, refusal) = wake(broken).await;
        let why = refusal["error"].as_str().unwrap();
        assert!(status == 400 && why.starts_with("the body is not a valid wake: "), "{refusal}");
    }
    let rows = scene.shared.store.messages(MessageFilter::default(), 9).await.unwrap();
    assert_eq!(rows.len(), 1);

    scene.token(TokenScope::Mcp, "oak-ada", "mine").await;
    let kind = [("content-type", "application/json")];
    let broken = r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params": broken"#;
    let (status, error) = scene.post(PATHS[1], "mine", (&kind, broken.to_owned())).await;
    assert_eq!((status, &error["id"], &error["error"]["code"]), (400, &json!(5), &json!(-32700)));
}

/// R2-16: a call belongs to its session and its token; its client takes it back, and no other.
#[tokio::test]
async fn a_call_is_taken_back_by_its_own_session_only() {
    let scene = Scene::open().await;
    let token = scene.token(TokenScope::Mcp, "oak-ada", "mine").await;
    scene.token(TokenScope::Mcp, "oak-ada", "another").await;
    let (_, me) = scene.mcp("mine", &SESSION, tool(1, "whoami")).await;
    let named = format!("oak-ada Some({token}) mine");
    assert_eq!(me["result"]["content"][0]["text"], named, "{me}");
    let (_, owner) = scene.mcp(OWNER, &SESSION, tool(1, "whoami")).await;
    assert_eq!(owner["result"]["content"][0]["text"], "oak-ada None ", "{owner}");
    let cancel = async |token: &str, session: &str, id: i64| {
        let params = json!({"requestId": id});
        let method = "notifications/cancelled";
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        assert_eq!(scene.mcp(token, &[("mcp-session-id", session)], message).await.0, 202);
    };
    let mut under_way = scene.daemons.under_way.subscribe();
    let call = scene.mcp("mine", &SESSION, tool(7, "recv"));
    let others = async {
        under_way.wait_for(|count| *count == 1).await.unwrap();
        cancel("mine", "s", 8).await;
        cancel("mine", "t", 7).await;
        cancel("another", "s", 7).await;
    };
    tokio::pin!(call);
    tokio::select! {
        ended = &mut call => panic!("{ended:?}"),
        () = others => {}
    }
    let (ended, ()) = tokio::join!(call, cancel("mine", "s", 7));
    assert_eq!(ended, (202, Value::Null));
}

/// R2-16: calls without a session, too many at once, too long, of another kind or version are told.
#[tokio::test]
async fn a_message_that_cannot_be_served_is_told_why() {
    let scene = Scene::open().await;
    let call = tool(1, "whoami");
    let (status, told) = scene.mcp(OWNER, &[], call.clone()).await;
    assert_eq!((status, &told["error"]["code"]), (400, &json!(-32_600)), "{told}");
    let old = [("mcp-protocol-version", "1999-01-01"), SESSION[0]];
    assert_eq!(scene.mcp(OWNER, &old, call.clone()).await.0, 400);
    let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"});
    let (status, told) = scene.mcp(OWNER, &old, discover).await;
    assert_eq!((status, &told["error"]["code"]), (200, &json!(-32_601)), "it falls back: {told}");
    let long = format!("\"{}\"", "x".repeat(MESSAGE_MAX));
    let json = [("content-type", "application/json"), SESSION[0]];
    assert_eq!(scene.post("/mcp/oak-ada", OWNER, (&json, long)).await.0, 413);
    let plain = [("content-type", "text/plain"), SESSION[0]];
    assert_eq!(scene.post("/mcp/oak-ada", OWNER, (&plain, call.to_string())).await.0, 415);
    let all = scene.shared.calls.room.try_acquire_many(u32::try_from(CALLS_MAX).unwrap()).unwrap();
    let (_, told) = scene.mcp(OWNER, &SESSION, call.clone()).await;
    let why = told["result"]["content"][0]["text"].as_str().unwrap();
    assert!(told["result"]["isError"] == true && why.starts_with("too many calls"), "{told}");
    drop(all);
    let (_, told) = scene.mcp(OWNER, &SESSION, call).await;
    assert_ne!(told["result"]["isError"], true, "{told}");
}

/// The owner lists what waits, sees it and answers it by its number; nobody else does.
#[tokio::test]
async fn the_owner_answers_what_waits_by_its_number() {
    let scene = Scene::open().await;
    let text = |text: &str| Redacted::from_store(text.to_owned());
    let new = NewFinding {
        choices: vec![Choice::new(ChoiceWord::Abort, "ends the turn")],
        recommended: Some(ChoiceWord::Abort),
        ..NewFinding::new(agent("oak-ada"), FindingKind::SilentTurn, text("no output"))
    };
    let number = scene.shared.store.raise_finding(new).await.unwrap().number;
    let list = |token: &str| {
        let mut request = Request::get("/api/v1/attention").header("host", HOST);
        if !token.is_empty() {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        scene.send(request.body(Body::empty()).unwrap())
    };
    assert_eq!(list("").await.0, 401);
    scene.token(TokenScope::Wake, "oak-ada", "waker").await;
    assert_eq!(list("waker").await.0, 403);
    let (status, items) = list(OWNER).await;
    assert_eq!((status, &items[0]["number"]), (200, &json!(number)));
    assert_eq!(items[0]["options"], json!([{"word": "abort", "what": "ends the turn"}]));
    assert_eq!((&items[0]["state"], &items[0]["recommended"]), (&json!("open"), &json!("abort")));
    let path = format!("/api/v1/attention/{number}");
    let post = |token: &'static str, body: Value| {
        let path = path.clone();
        let scene = &scene;
        async move { scene.post(&path, token, (&[], body.to_string())).await }
    };
    assert_eq!(post("waker", json!({"answer": "abort"})).await.0, 403);
    for bad in [json!({}), json!({"answer": "abort", "seen": true}), json!({"say": 1}), json!(7)] {
        assert_eq!(post(OWNER, bad).await.0, 400);
    }
    let (status, seen) = post(OWNER, json!({"seen": true})).await;
    assert_eq!((status, &seen["item"]["state"]), (200, &json!("seen")));
    assert_eq!(post(OWNER, json!({"answer": "perhaps"})).await.0, 409);
    let (status, done) = post(OWNER, json!({"answer": "abort"})).await;
    assert_eq!((status, &done["done"]), (200, &json!("abort is done")));
    assert_eq!(post(OWNER, json!({"answer": "abort"})).await.0, 409);
    assert_eq!(list(OWNER).await.1, json!([]));
    let other = scene.post("/api/v1/attention/99", OWNER, (&[], json!({"seen": true}).to_string()));
    assert_eq!(other.await.0, 404);
    let other = scene.post("/api/v1/attention/x", OWNER, (&[], json!({"seen": true}).to_string()));
    assert_eq!(other.await.0, 400);
}

/// The next event of a stream: its kind and the item's number.
async fn next_event(stream: &mut Body) -> String {
    let frame = stream.frame().await.unwrap().unwrap();
    let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let item: Value = serde_json::from_str(line("data: ")).unwrap();
    format!("{} {}", line("event: "), item["number"])
}

/// The owner's program reads the attention list as it changes; a stream begins with all of it, and there
/// are only so many.
#[tokio::test]
async fn the_attention_list_is_told_as_it_changes() {
    let scene = Scene::open().await;
    scene.token(TokenScope::Wake, "oak-ada", "waker").await;
    let raise = async |nick: &str| {
        let new = NewFinding {
            choices: vec![Choice::new(ChoiceWord::Abort, "ends the turn")],
            ..NewFinding::new(agent(nick), FindingKind::SilentTurn, Redacted::default())
        };
        scene.shared.store.raise_finding(new).await.unwrap().number
    };
    let first = raise("oak-ada").await;
    assert_eq!(scene.send(get(ATTENTION_CHANGES, "waker")).await.0, 403);
    let of_bob = format!("{ATTENTION_CHANGES}?agent=oak-bob");
    let [mut all, mut bobs] = [
        scene.answer(get(ATTENTION_CHANGES, OWNER)).await.into_body(),
        scene.answer(get(&of_bob, OWNER)).await.into_body(),
    ];
    assert_eq!(next_event(&mut all).await, format!("added {first}"));
    let second = raise("oak-bob").await;
    assert_eq!(next_event(&mut all).await, format!("added {second}"));
    assert_eq!(next_event(&mut bobs).await, format!("added {second}"), "Ada's is not told");
    scene.shared.store.see_finding(second, "ori").await.unwrap();
    assert_eq!(next_event(&mut all).await, format!("changed {second}"));
    scene.shared.store.resolve_finding(&agent("oak-ada"), "silent_turn").await.unwrap();
    assert_eq!(next_event(&mut all).await, format!("removed {first}"));
    let mut others = Vec::new();
    for _ in 2..WATCHERS_MAX {
        others.push(scene.answer(get(ATTENTION_CHANGES, OWNER)).await);
    }
    assert_eq!(scene.send(get(ATTENTION_CHANGES, OWNER)).await.0, 429);
    drop(all);
    assert_eq!(scene.answer(get(ATTENTION_CHANGES, OWNER)).await.status(), 200);
    let unknown = format!("{ATTENTION_CHANGES}?agent=oak-eve");
    assert_eq!(scene.send(get(&unknown, OWNER)).await.0, 404);
}

/// Budgets are the owner's to see.
#[tokio::test]
async fn budgets_are_shown_to_the_owner_only() {
    let scene = Scene::open().await;
    scene.token(TokenScope::Wake, "oak-ada", "waker").await;
    assert_eq!(scene.send(get(BUDGETS, "waker")).await.0, 403);
    assert_eq!(
        scene.send(get(BUDGETS, OWNER)).await.0,
        503,
        "asked of who knows the configuration"
    );
}
