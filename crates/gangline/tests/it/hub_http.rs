//! The hub's HTTP interface: who may come in, the owner's orders, tools by hand, a port that is taken.

use std::net::TcpListener;

use gangline_testkit::{Running, Stage, eventually, stage::free_port};
use serde_json::{Value, json};

use crate::{
    http::{Answer, connect, request},
    sdk::TOOLS,
};

mod crowds;

const BINARY: &str = env!("CARGO_BIN_EXE_gangline");

/// What the configuration of a hub with the interface says.
pub(crate) const HTTP: &str = "http: {enabled: true, port: 0}";

/// Returns where the hub's interface listens.
pub(crate) fn address(stage: &Stage) -> String {
    eventually("the HTTP interface", || about(stage)["http"].as_str().map(str::to_owned))
}

fn about(stage: &Stage) -> Value {
    let text = std::fs::read_to_string(stage.world.state().join("hub.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

struct Scene {
    stage: Stage,
    address: String,
    _hub: Running,
}

impl Scene {
    fn open(agents: &[&str]) -> Self {
        let stage = Stage::new(BINARY, agents, None, (HTTP, "permissions: bypass"));
        let hub = stage.up();
        let address = address(&stage);
        Self { stage, address, _hub: hub }
    }

    fn token(&self, scope: &str) -> String {
        let args = ["--config", &self.stage.config, "token", "add", "--scope", scope];
        self.stage.world.run(&args).ok().trim().to_owned()
    }

    fn post(&self, path: &str, token: &str, more: &[&str], body: &str) -> Answer {
        let mut headers = vec![format!("Authorization: Bearer {token}")];
        headers.extend(more.iter().map(ToString::to_string));
        request(&self.address, &format!("POST {path}"), &headers, body)
    }

    /// Sends one message of MCP; returns the status, the session's name and the answer.
    fn mcp(&self, token: &str, session: &str, message: &Value) -> (u16, Value) {
        let mut more = vec!["Content-Type: application/json".to_owned()];
        if !session.is_empty() {
            more.push(format!("Mcp-Session-Id: {session}"));
        }
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        let answer = self.post("/mcp/ada", token, &more, &message.to_string());
        (answer.status, serde_json::from_str(&answer.body).unwrap_or_default())
    }

    fn call(&self, token: &str, tool: &str, input: Value) -> Value {
        let params = json!({"name": tool, "arguments": input});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        self.mcp(token, "s", &message).1
    }
}

fn error(answer: &Answer) -> String {
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    body["error"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

/// R2-06, R2-11, R1-35: the owner's token shortens a context and begins a new conversation, by our
/// addresses and by the seed's own; with one agent none need be named. It pauses, resumes and aborts also
/// while no daemon runs.
#[test]
fn the_owner_gives_orders_over_http() {
    let scene = Scene::open(&["oak-ada"]);
    let owner = scene.stage.token();
    for path in [
        "/api/compact",
        "/api/new-session",
        "/api/compact?agent=oak-ada",
        "/api/new-session?agent=ada",
        "/api/v1/agents/ada/compact",
        "/api/v1/agents/oak-ada/new-session",
    ] {
        let answer = scene.post(path, &owner, &[], "");
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(body, json!({"ok": true, "agent": "oak-ada"}), "{path}");
    }
    let _ = scene.stage.world.run(&["--config", &scene.stage.config, "stop", "oak-ada"]).ok();
    let down = eventually("the daemon to be gone", || {
        let answer = scene.post("/api/new-session", &owner, &[], "");
        (answer.status != 200).then_some(answer)
    });
    assert_eq!(down.status, 503, "{down:?}");
    assert!(error(&down).contains("does not answer on its socket"), "{down:?}");
    // What is a row is done without a daemon.
    let pause = scene.post("/api/v1/agents/ada/pause", &owner, &[], r#"{"for": "2h"}"#);
    assert_eq!(pause.status, 200, "{pause:?}");
    assert_eq!(scene.stage.query("SELECT reason FROM pauses WHERE until > at"), ["operator"]);
    let nothing = scene.post("/api/v1/agents/ada/abort", &owner, &[], "");
    assert_eq!(nothing.status, 409, "{nothing:?}");
    assert!(error(&nothing).contains("there is no turn to end"), "{nothing:?}");
    assert_eq!(scene.post("/api/v1/agents/ada/resume", &owner, &[], "").status, 200);
    assert_eq!(scene.stage.query("SELECT reason FROM pauses"), [""; 0]);
    let hold = "INSERT INTO pauses (agent, reason, installation_id, holds, at) \
                SELECT agent, 'budget', installation_id, 1, 1 FROM agents";
    let _ = scene.stage.query(hold);
    let held = scene.post("/api/v1/agents/ada/resume", &owner, &[], "");
    assert!(held.body.contains("oak-ada is still held: its budget is spent."), "{held:?}");
    let signed = [format!("Authorization: Bearer {owner}")];
    let budgets = request(&scene.address, "GET /api/v1/budgets", &signed, "");
    let budgets: Value = serde_json::from_str(&budgets.body).unwrap();
    assert_eq!((&budgets["budgets"], budgets["day"].is_string()), (&json!([]), true), "{budgets}");
}

/// Every address is for those who may: what lacks a token, or comes from elsewhere, does nothing.
#[test]
fn what_may_not_come_in_is_refused_and_told_why() {
    let scene = Scene::open(&["oak-ada", "oak-bob"]);
    let (owner, mcp) = (scene.stage.token(), scene.token("mcp:ada"));
    let document = request(&scene.address, "GET /api/v1/openapi.json", &[], "");
    let document: Value = serde_json::from_str(&document.body).unwrap();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path.replace("{nick}", "oak-ada");
        if methods.get("post").is_some() {
            let answer = request(&scene.address, &format!("POST {path}"), &[], "");
            assert_eq!((answer.status, error(&answer).as_str()), (401, "the token is missing"));
            assert!(answer.head.contains("Bearer") || answer.head.contains("bearer"), "{answer:?}");
            let host = ["Host: evil.example".to_owned()];
            let twice = request(&scene.address, &format!("POST {path}"), &host, "");
            assert_eq!(twice.status, 403, "{path}: {twice:?}");
            let origin = ["Origin: http://evil.example"];
            let foreign = scene.post(&path, &owner, &origin, "");
            assert_eq!(foreign.status, 403, "{path}: {foreign:?}");
            assert_eq!(error(&foreign), "the request comes from a foreign web page");
            assert!(!foreign.head.to_lowercase().contains("access-control"), "{foreign:?}");
        }
    }
    let cases = [
        ("/api/compact", mcp.as_str(), 403, "this needs the owner's token"),
        ("/api/compact", owner.as_str(), 400, "there are several agents"),
        ("/api/v1/agents/oak-eve/compact", &owner, 404, "there is no agent oak-eve"),
        ("/mcp/bob", &mcp, 403, "this token is for mcp:oak-ada, not for mcp:oak-bob"),
        ("/api/compact", "glt_0", 401, "the token is wrong"),
        ("/nowhere", &owner, 404, "there is no such address"),
    ];
    for (path, token, status, why) in cases {
        let answer = scene.post(path, token, &[], "");
        assert_eq!((answer.status, error(&answer).as_str()), (status, why), "{path}");
    }
    let get = request(&scene.address, "GET /api/compact", &[], "");
    assert_eq!(get.status, 405, "{get:?}");
    // What no page of a browser sends, a program may: the host by another of its names.
    let port = scene.address.rsplit_once(':').unwrap().1;
    let localhost = connect(&scene.address);
    let told =
        raw(localhost, &format!("GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost:{port}"));
    assert!(told.starts_with("HTTP/1.1 200"), "{told}");
    let used = scene.stage.world.run(&["--config", &scene.stage.config, "--json", "token", "list"]);
    assert!(used.json()[0]["used_at"].is_string());
    let _ = scene.stage.world.run(&["--config", &scene.stage.config, "token", "revoke", "1"]).ok();
    let revoked = scene.post("/mcp/ada", &mcp, &[], "{}");
    assert_eq!((revoked.status, error(&revoked).as_str()), (401, "the token was revoked"));
}

fn raw(mut stream: std::net::TcpStream, head: &str) -> String {
    use std::io::{Read as _, Write as _};
    write!(stream, "{head}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// R2-30, R2-32: a program wakes an agent with a token of its own, once for each key; ten a minute.
#[test]
fn a_program_wakes_an_agent_over_http() {
    let scene = Scene::open(&["oak-ada", "oak-bob"]);
    let args = ["--config", &scene.stage.config, "token", "add", "--scope", "wake:ada"];
    let args = [&args[..], &["--label", "matrix"]].concat();
    let token = scene.stage.world.run(&args).ok().trim().to_owned();
    let wake = |more: &[&str], body: &Value| {
        scene.post("/api/v1/agents/oak-ada/wake", &token, more, &body.to_string())
    };
    let news = json!({"body": "new dm from @alice"});
    let key = ["Idempotency-Key: k1"];
    let first = wake(&key, &news);
    assert_eq!(first.status, 200, "{first:?}");
    let first: Value = serde_json::from_str(&first.body).unwrap();
    assert_eq!((&first["agent"], &first["duplicate"]), (&json!("oak-ada"), &json!(false)));
    let again: Value = serde_json::from_str(&wake(&key, &news).body).unwrap();
    assert_eq!((&again["message"], &again["duplicate"]), (&first["message"], &json!(true)));
    let rows =
        "SELECT principal || ' ' || origin || ' ' || body FROM messages WHERE origin = 'wake'";
    assert_eq!(scene.stage.query(rows), ["wake:matrix wake new dm from @alice"]);
    eventually("the turn that it starts", || {
        let state = scene.stage.query("SELECT state FROM messages WHERE origin = 'wake'");
        (state == ["answered"] || state == ["no_reply"]).then_some(())
    });
    for (more, body, status, why) in [
        (&[][..], json!({"body": " "}), 400, "the body is empty"),
        (&[], json!({"body": "x", "from": "owner"}), 403, "this token wakes as `matrix`"),
        (&[], json!({"text": "x"}), 400, "the body is not a valid wake"),
        (&[], json!({"body": "x".repeat(70_000)}), 413, "the body has more than 64 KiB"),
        (&["Idempotency-Key: a b"], news.clone(), 400, "a key has 1 to 128"),
    ] {
        let answer = wake(more, &body);
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(error(&answer).starts_with(why), "{answer:?}");
    }
    let bob = scene.post("/api/v1/agents/oak-bob/wake", &token, &[], &news.to_string());
    assert_eq!(error(&bob), "this token is for wake:oak-ada, not for wake:oak-bob");
    for _ in 0..9 {
        assert_eq!(wake(&[], &news).status, 200);
    }
    let late = wake(&[], &news);
    assert_eq!(late.status, 429, "{late:?}");
    assert!(late.head.to_lowercase().contains("retry-after: "), "{late:?}");
    let _ = scene.stage.world.run(&["--config", &scene.stage.config, "token", "revoke", "1"]).ok();
    assert_eq!(wake(&[], &news).status, 401);
}

/// R2-16: messages that are wrong are told as that, and the next one is served.
#[test]
fn wrong_messages_over_http_are_told_as_that() {
    let scene = Scene::open(&["oak-ada"]);
    let token = scene.token("mcp:oak-ada");
    let ask = |method: &str| json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {}});
    let (status, begun) = scene.mcp(&token, "", &ask("initialize"));
    assert_eq!((status, &begun["result"]["protocolVersion"]), (200, &json!("2025-11-25")));
    let (status, listed) = scene.mcp(&token, "", &ask("tools/list"));
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    let of_the_owner = [
        "answer",
        "cancel_loose_end",
        "join",
        "part",
        "compact",
        "clear",
        "set_directory",
        "pause",
        "resume",
        "abort",
        "whisper",
    ];
    let open: Vec<&str> = TOOLS.into_iter().filter(|it| !of_the_owner.contains(it)).collect();
    assert_eq!((status, names), (200, open));
    // What newer clients try first: they fall back.
    let (status, newer) = scene.mcp(&token, "", &ask("server/discover"));
    assert_eq!((status, &newer["error"]["code"]), (200, &json!(-32601)));
    let (status, nameless) = scene.mcp(&token, "", &ask("tools/call"));
    assert_eq!(status, 400, "{nameless}");
    let why = "the header Mcp-Session-Id is missing: send the one of the response to `initialize`";
    assert_eq!(nameless["error"]["message"], why);
    let unknown = scene.call(&token, "no_reply", json!({}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let wrong = scene.call(&token, "recv", json!({"wait_seconds": true}));
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    let long = "x".repeat(1_100_000);
    let long = scene.post("/mcp/ada", &token, &["Content-Type: application/json"], &long);
    assert_eq!((long.status, error(&long).as_str()), (413, "the body has more than 1024 KiB"));
    let plain = scene.post("/mcp/ada", &token, &["Content-Type: text/plain"], "{}");
    assert_eq!(plain.status, 415, "{plain:?}");
    let broken = scene.post("/mcp/ada", &token, &["Content-Type: application/json"], "{");
    assert_eq!(broken.status, 400, "{broken:?}");
    let me = || scene.call(&token, "whoami", json!({}))["result"]["structuredContent"].clone();
    assert_eq!((&me()["caller"], &me()["role"]), (&json!("operator"), &json!("agent")));
    let text = std::fs::read_to_string(&scene.stage.config).unwrap();
    let manager = text.replace("permissions: bypass", "permissions: bypass\n    role: manager");
    std::fs::write(&scene.stage.config, manager).unwrap();
    assert_eq!(me()["role"], "manager");
}

/// R2-16: a program's token for one agent decides nothing and orders nothing, and sees what waits of that
/// agent alone; the owner's token does all of it.
#[test]
fn a_programs_token_decides_nothing_and_sees_its_own_agent_alone() {
    let scene = Scene::open(&["oak-ada", "oak-bob"]);
    let (token, owner) = (scene.token("mcp:ada"), scene.stage.token());
    let state = scene.stage.world.state();
    for nick in ["oak-ada", "oak-bob"] {
        crate::inbox::ask(&state, nick, &["deploy where?"], "hello");
    }
    let agents = |token: &str| {
        let told = scene.call(token, "attention", json!({}));
        let items = told["result"]["structuredContent"]["items"].as_array().unwrap().clone();
        let mut agents: Vec<String> =
            items.iter().map(|it| it["agent"].as_str().unwrap().to_owned()).collect();
        agents.sort();
        agents
    };
    assert_eq!(agents(&token), ["oak-ada"]);
    assert_eq!(agents(&owner), ["oak-ada", "oak-bob"]);
    for (tool, input) in [
        ("answer", json!({"id": 1, "answer": "1"})),
        ("cancel_loose_end", json!({"kind": "question", "id": 1})),
        ("pause", json!({})),
        ("resume", json!({})),
        ("abort", json!({})),
        ("whisper", json!({"text": "stop"})),
        ("compact", json!({})),
        ("clear", json!({})),
        ("join", json!({"channel": "#side"})),
        ("part", json!({"channel": "#general"})),
        ("set_directory", json!({"path": "/"})),
    ] {
        let told = scene.call(&token, tool, input);
        let text = told["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("needs the owner's token"), "{tool}: {told}");
        assert_eq!(told["result"]["isError"], true, "{tool}");
    }
    let stands = "SELECT (SELECT count(*) FROM questions WHERE state = 'open') || ' ' || \
                  (SELECT count(*) FROM pauses) || ' ' || (SELECT count(*) FROM whispers)";
    assert_eq!(scene.stage.query(stands), ["2 0 0"]);
    let answered = scene.call(&owner, "answer", json!({"id": 1, "answer": "1"}));
    assert_ne!(answered["result"]["isError"], true, "{answered}");
}

/// A program's token shows what is said in rooms and nothing that is private between the agent and its owners:
/// by no tool, under no name of the conversation. The owner's token shows all of it.
#[test]
fn a_programs_token_shows_nothing_private() {
    let scene = Scene::open(&["oak-ada"]);
    let args = ["--config", &scene.stage.config, "token", "add", "--scope", "mcp:ada"];
    let args = [&args[..], &["--label", "ori"]].concat();
    let token = scene.stage.world.run(&args).ok().trim().to_owned();
    let (owner, state) = (scene.stage.token(), scene.stage.world.state());
    crate::inbox::ask(&state, "oak-ada", &["wire the plums where?"], "the plum letter");
    let mut ori = scene.stage.member("ori");
    ori.say("oak-ada", "say exactly ripe plum");
    ori.hears("oak-ada", "ori", "ripe plum");
    ori.say("#general", "a pear for all");
    let shows = |token: &str, tool: &str, input: &Value, word: &str| {
        scene.call(token, tool, input.clone()).to_string().contains(word)
    };
    let room = json!({"from": "#general"});
    eventually("the line of the room", || shows(&token, "read", &room, "pear").then_some(()));
    for (tool, input) in [
        ("attention", json!({})),
        ("get_loose_ends", json!({})),
        ("recv", json!({"max": 32})),
        ("read", json!({"from": "ori"})),
        ("read", json!({"from": "oak-ada"})),
        ("read", json!({"from": "OAK-ADA"})),
        ("read", json!({"from": " ori "})),
    ] {
        assert!(!shows(&token, tool, &input, "plum"), "{tool} {input}");
        if input["from"] != "oak-ada" && input["from"] != "OAK-ADA" {
            assert!(shows(&owner, tool, &input, "plum"), "{tool} {input}");
        }
    }
    let told = scene.call(&token, "attention", json!({}));
    let item = &told["result"]["structuredContent"]["items"][0];
    assert_eq!((&item["number"], &item["options"]), (&json!(1), &json!([])), "{told}");
}

/// Two calls that wait at once are not given the same: each letter is given to one of them.
#[test]
fn two_receives_at_once_are_given_each_letter_once() {
    let scene = Scene::open(&["oak-ada"]);
    let token = scene.stage.token();
    let given = std::thread::scope(|scope| {
        let wait = || {
            let told = scene.call(&token, "recv", json!({"wait_seconds": 20, "max": 1}));
            told["result"]["structuredContent"]["messages"][0]["body"].clone()
        };
        let both = [scope.spawn(wait), scope.spawn(wait)];
        crate::inbox::letter(&scene.stage.world.state(), "oak-ada", "first");
        crate::inbox::letter(&scene.stage.world.state(), "oak-ada", "second");
        both.map(|one| one.join().unwrap())
    });
    let mut given = given.map(|body| body.as_str().unwrap().to_owned());
    given.sort();
    assert_eq!(given, ["first", "second"]);
}

/// A port that another program has is no reason to end: it is said where people look, and tried again.
#[test]
fn a_taken_port_is_told_and_tried_again() {
    let port = free_port();
    let taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let more = format!("http: {{enabled: true, port: {port}}}");
    let stage = Stage::new(BINARY, &["oak-ada"], None, (&more, ""));
    let _hub = stage.up();
    assert_eq!(about(&stage)["http"], Value::Null);
    let config = stage.config.clone();
    let ps = stage.world.run(&["--config", &config, "ps"]).ok();
    let expected = format!("cannot listen on 127.0.0.1:{port}: another program has the port");
    assert!(ps.contains(&expected) && ps.contains("http.port"), "{ps}");
    let doctor = stage.world.run(&["--config", &config, "doctor"]);
    assert!(doctor.stdout.contains(&expected), "{}", doctor.stdout);
    drop(taken);
    assert_eq!(address(&stage), format!("http://127.0.0.1:{port}"));
    let ps = stage.world.run(&["--config", &config, "ps"]).ok();
    assert!(ps.contains(&format!("HTTP on http://127.0.0.1:{port}")), "{ps}");
}

/// The ready line names the address; without the interface it names none.
#[test]
fn the_ready_file_names_the_address() {
    for (more, there) in [(HTTP, true), ("", false)] {
        let stage = Stage::new(BINARY, &["oak-ada"], None, (more, ""));
        let file = stage.world.path("ready.json");
        let mut args = stage.up_args();
        let name = file.display().to_string();
        args.extend(["--ready-file", &name]);
        let _hub = stage.world.start(&args);
        let line = eventually("the ready file", || {
            serde_json::from_str::<Value>(&std::fs::read_to_string(&file).ok()?).ok()
        });
        match there {
            true => assert_eq!(line["http"], json!(address(&stage))),
            false => assert_eq!(line["http"], Value::Null),
        }
    }
}

/// Without TLS nothing is served beyond this machine.
#[test]
fn a_host_beyond_loopback_is_refused_by_config_check() {
    let more = "http: {enabled: true, host: 0.0.0.0}";
    let stage = Stage::new(BINARY, &["oak-ada"], None, (more, ""));
    let checked = stage.world.run(&["--config", &stage.config, "config", "check"]);
    assert_ne!(checked.code, 0);
    let said = format!("{}{}", checked.stdout, checked.stderr);
    assert!(said.contains("there is no TLS") && said.contains("write 127.0.0.1"), "{said}");
}
