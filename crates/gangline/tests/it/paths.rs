//! Where an agent's socket is: one answer for everybody (R0-46 … R0-48).

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::Stdio,
};

use gangline_testkit::{Stage, World};
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_gangline");
const ADA: &str = "oak-ada";

/// Returns the sockets that are bound now and whose path has the agent's name in it.
fn bound() -> Vec<String> {
    let table = fs::read_to_string("/proc/net/unix").unwrap();
    let paths = table.lines().filter_map(|line| line.split_whitespace().nth(7));
    paths.filter(|path| path.ends_with(&format!("{ADA}.sock"))).map(str::to_owned).collect()
}

/// Returns what the MCP server of a client's own says of the agent's channels.
fn channels_by_mcp(world: &World) -> String {
    let mut command = world.command(&["mcp", "--nick", ADA]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut ask = |id: u32, method: &str, params: Value| -> Value {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{message}").unwrap();
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let client = json!({"name": "editor", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    ask(1, "initialize", hello);
    let said = ask(2, "tools/call", json!({"name": "channels", "arguments": {}}));
    drop(input);
    assert!(child.wait().unwrap().success());
    said["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// R0-46, R0-47, R0-48: the hub starts a daemon, which binds one socket; the command line, an MCP client's server and the
/// doctor find that one, and so do culture's clients by its link. With the variable and without it.
#[test]
fn daemon_hub_command_line_mcp_child_and_doctor_agree_on_the_socket() {
    for variable in [Some("run"), None] {
        let mut stage = Stage::new(BINARY, &[ADA], None, ("", ""));
        let (ours, cultures) = match variable {
            Some(folder) => (folder, folder),
            None => {
                stage.world.unset("XDG_RUNTIME_DIR");
                (".gangline/run", ".culture/run")
            }
        };
        let world = &stage.world;
        let socket = world.path(ours).join(format!("gangline-{ADA}.sock"));
        let link = world.path(cultures).join(format!("culture-{ADA}.sock"));
        let before = bound();
        let mut hub = stage.up();
        let here = |path: &String| !before.contains(path) && Path::new(path) == socket;
        assert!(bound().iter().any(here), "{variable:?}: {:?}", bound());
        assert_eq!(fs::read_link(link).unwrap(), socket, "{variable:?}");

        let told = world.run(&["channel", "--agent", ADA, "channels"]).ok();
        assert!(told.contains("#general"), "{variable:?}: {told}");
        let status = world.run(&["status", ADA, "--json"]).json();
        assert_eq!(status["channels"], json!(["#alerts", "#general"]), "{variable:?}: {status}");
        let told = channels_by_mcp(world);
        assert!(told.contains("#general"), "{variable:?}: {told}");
        let doctor = world.run(&["doctor"]).stdout;
        let folder = world.path(ours).display().to_string();
        assert!(doctor.contains(&folder), "{variable:?}: {doctor}");
        assert!(!doctor.contains("its socket is missing"), "{variable:?}: {doctor}");

        // Nobody looks for it anywhere else.
        fs::remove_file(&socket).unwrap();
        let doctor = world.run(&["doctor"]);
        assert!(doctor.stdout.contains("its socket is missing"), "{}", doctor.stdout);
        assert_eq!(hub.terminate(), 0);
    }
}
