//! Real agent programs reach their model by the relay: their environment lacks the key, the model's API
//! gets it, and the relay counts.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use gangline_testkit::{IrcPeer, Stage, World, database, eventually, programs, stage};

const CAPS: &str = "message-tags server-time batch echo-message draft/chathistory";
const KEY: &str = "sk-ant-standin-0123456789abcdef";
const SCRIPT: &str = "rules:\n  - when: {system: 'title generator'}\n    reply: [text: \"a title\"]\n  \
    - reply:\n    - text: \"by way of the relay\"\n    - usage: {input_tokens: 70, output_tokens: 5}\n";

/// What clients said on their way to a server.
type Said = Arc<Mutex<Vec<u8>>>;

/// Passes connections on to the server, and notes what clients say.
#[allow(clippy::disallowed_methods, reason = "the far side of a test")]
fn tap(to: String) -> (String, Said) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let said = Said::default();
    let noted = Arc::clone(&said);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(&to).unwrap();
            let ways = [
                (client.try_clone().unwrap(), server.try_clone().unwrap(), Some(Arc::clone(&said))),
                (server, client, None),
            ];
            for (mut from, mut to, said) in ways {
                thread::spawn(move || {
                    let mut bytes = [0; 4096];
                    while let Ok(read @ 1..) = from.read(&mut bytes) {
                        if let Some(said) = &said {
                            said.lock().unwrap().extend_from_slice(&bytes[..read]);
                        }
                        if to.write_all(&bytes[..read]).is_err() {
                            return;
                        }
                    }
                    let _ = to.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
    (address, noted)
}

/// One mention that the program answers; `program` is a part of its command line.
fn story(backend: &str, base: &str, program: &str) {
    let mut world = World::new(env!("CARGO_BIN_EXE_gangline"));
    world.set("LAB_KEY", KEY);
    let listen = format!("127.0.0.1:{}", stage::free_port());
    let script = world.file("script.yaml", SCRIPT);
    let mut standin = world.start(&["standin", "serve", "--listen", &listen, "--script", &script]);
    let (api, said) = tap(listen);
    let port = stage::free_port();
    let work = world.path("work");
    fs::create_dir_all(&work).unwrap();
    let yaml = format!(
        "server:\n  name: lab\n  host: 127.0.0.1\n  port: {port}\nprices: {{first: {{input: 1, output: \
         2}}}}\nbudgets: {{day: {{usd: 100}}}}\nagents:\n  - nick: lab-ada\n    {backend}\n    \
         directory: {}\n    base_url: http://{api}{base}\n    api_key_env: LAB_KEY\n    relay: true\n",
        work.display(),
    );
    let config = world.file("agents.yaml", &yaml);
    let mut hub = world.start_ready(&["--config", &config, "up", "--restart-delay-max", "1"]);
    let mut ori = IrcPeer::connect_with(&format!("127.0.0.1:{port}"), ("ori", None), CAPS);
    ori.join("#general");
    ori.say("#general", "@lab-ada are you there?");
    ori.hears("lab-ada", "#general", "by way of the relay");
    let said = String::from_utf8_lossy(&said.lock().unwrap()).into_owned();
    assert!(said.contains(KEY), "the API gets the key: {said}");
    let pids = world.processes_like(program);
    assert!(!pids.is_empty(), "{:?}", world.processes());
    for pid in pids {
        let bytes = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!environment.contains(KEY), "{program} has the key: {environment}");
    }
    let rows = "SELECT DISTINCT source FROM usage WHERE input = 70 OR source <> 'relay'";
    let path = world.state().join("gangline.db");
    eventually("the relay's count", || (database::query(&path, rows) == ["relay"]).then_some(()));
    let shown = world.run(&["--config", &config, "budget", "--json"]).json();
    assert_eq!(shown["spent"][0]["source"], "relay", "{shown}");
    assert_eq!(shown["relayed"][0]["outcome"], "answered", "{shown}");
    assert_eq!(shown["budgets"][0]["scope"], "day", "{shown}");
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
    standin.kill();
    let left = world.processes();
    assert!(left.is_empty(), "processes are left: {left:?}");
}

/// The real Claude Code.
#[test]
fn claude_reaches_its_model_by_the_relay() {
    let claude = programs::claude();
    story(&format!("agent: claude\n    command: [\"{}\"]", claude.display()), "", "stream-json");
}

/// The real Codex.
#[test]
fn codex_reaches_its_model_by_the_relay() {
    let codex = programs::codex();
    let backend =
        format!("agent: codex\n    model: gpt-5.5\n    command: [\"{}\"]", codex.display());
    story(&backend, "/v1", "app-server");
}

/// The real OpenCode.
#[test]
fn opencode_reaches_its_model_by_the_relay() {
    let opencode = programs::opencode();
    let nowhere = "http://127.0.0.1:9";
    let backend = format!(
        "agent: acp\n    acp_command: [\"{}\", acp]\n    model: lab/first\n    env: {{HTTPS_PROXY: \
         \"{nowhere}\", HTTP_PROXY: \"{nowhere}\", NO_PROXY: \"127.0.0.1\"}}",
        opencode.display()
    );
    story(&backend, "/v1", "opencode acp");
}

/// A daemon that is killed while a call is under way has noted it: its next life counts the call, with what it
/// is taken to have used, and nothing stays noted.
#[test]
fn a_call_that_the_daemon_was_killed_in_is_counted() {
    let yaml = "permissions: bypass\nrelay: true";
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &["oak-ada"], Some(SCRIPT), ("", yaml));
    let _hub = stage.up();
    let mut ori = stage.member("ori");
    ori.say("#general", "@oak-ada are you there?");
    ori.hears("oak-ada", "#general", "by way of the relay");
    let open = || stage.query("SELECT epoch || ' ' || (bytes > 0) FROM relay_open");
    eventually("the first call to be settled", || open().is_empty().then_some(()));
    stage.hold_model();
    ori.say("#general", "@oak-ada and now?");
    eventually("the noted call", || (open() == ["1 1"]).then_some(()));
    stage.world.processes_like("daemon oak-ada").into_iter().for_each(super::claude::kill_hard);
    let counted = "SELECT outcome || ' ' || calls FROM relay_calls ORDER BY outcome";
    eventually("the count of the next life", || {
        stage.query(counted).contains(&"unsettled 1".to_owned()).then_some(())
    });
    stage.release_model();
    ori.hears("oak-ada", "#general", "by way of the relay");
    eventually("every call to be settled", || open().is_empty().then_some(()));
    let used = "SELECT count(*) FROM usage WHERE source = 'relay' AND output = 0 AND input > 0 \
                AND model = 'standin-oak-ada'";
    assert_eq!(stage.query(used), ["1"]);
    let shown = stage.world.run(&["--config", &stage.config, "budget"]).ok();
    assert!(shown.contains("unsettled"), "{shown}");
}
