//! Tokens of programs outside, at the command line.

use gangline_testkit::World;
use serde_json::json;

/// A token is shown once, stored hashed, listed without itself, and revoked by its number.
#[test]
fn a_token_is_shown_once_listed_and_revoked() {
    let world = World::new(env!("CARGO_BIN_EXE_gangline"));
    known(&world.state(), "oak-ada");
    let made = world.run(&["token", "add", "--scope", "mcp:ada", "--label", "an editor"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let token = made.stdout.trim().to_owned();
    assert!(token.strip_prefix("glt_").is_some_and(|hex| hex.len() == 64), "{token}");
    assert!(made.stderr.contains("token 1 for mcp:oak-ada is shown here once"), "{}", made.stderr);
    let other = world.run(&["--json", "token", "add", "--scope", "wake:oak-ada", "--label", "ci"]);
    let other = other.json();
    assert_eq!((&other["number"], &other["scope"]), (&json!(2), &json!("wake:oak-ada")));
    assert_ne!(other["token"], json!(token));

    let database = std::fs::read(world.state().join("gangline.db")).unwrap();
    let log = std::fs::read(world.state().join("gangline.db-wal")).unwrap_or_default();
    for bytes in [database, log] {
        assert!(
            !bytes.windows(token.len()).any(|part| part == token.as_bytes()),
            "stored as it is"
        );
    }
    let list = world.run(&["token", "list"]).ok();
    assert!(list.contains("mcp:oak-ada") && list.contains("an editor"), "{list}");
    assert!(!list.contains(&token), "{list}");

    let revoked = world.run(&["token", "revoke", "1"]).ok();
    assert_eq!(revoked, "token 1 for mcp:oak-ada is revoked: it is refused from now on\n");
    let again = world.run(&["token", "revoke", "1"]);
    assert!(again.stderr.contains("token 1 is revoked already"), "{}", again.stderr);
    let none = world.run(&["token", "revoke", "9"]);
    assert!(none.stderr.contains("there is no token 9"), "{}", none.stderr);
    assert!(world.run(&["--json", "token", "list"]).json()[0]["revoked_at"].is_string());
}

/// Only the owner makes and revokes tokens; a scope is one of two for an agent that there is.
#[test]
fn an_agents_shell_makes_no_tokens() {
    let mut world = World::new(env!("CARGO_BIN_EXE_gangline"));
    known(&world.state(), "oak-ada");
    for scope in ["ada", "irc:oak-ada", "mcp:", "mcp:-"] {
        let wrong = world.run(&["token", "add", "--scope", scope]);
        assert_eq!(wrong.code, 64, "{scope}");
        assert!(wrong.stderr.contains("give mcp:NICK or wake:NICK"), "{}", wrong.stderr);
    }
    let nobody = world.run(&["token", "add", "--scope", "mcp:oak-bob"]);
    assert!(nobody.stderr.contains("oak-bob"), "{}", nobody.stderr);
    assert_eq!(nobody.code, 1);
    let nameless = world.run(&["token", "add", "--scope", "wake:ada"]);
    assert!(nameless.stderr.contains("the label is empty"), "{}", nameless.stderr);
    let owner = world.run(&["token", "add", "--scope", "wake:ada", "--label", "owner"]);
    assert!(owner.stderr.contains("is reserved"), "{}", owner.stderr);
    let long = world.run(&["token", "add", "--scope", "mcp:ada", "--label", &"x".repeat(61)]);
    assert!(long.stderr.contains("at most 60 characters"), "{}", long.stderr);
    let _ = world.run(&["token", "add", "--scope", "mcp:ada"]).ok();
    world.set("GANGLINE_RUN", "x/oak-ada/1");
    for args in [&["token", "add", "--scope", "mcp:ada"][..], &["token", "revoke", "1"]] {
        let refused = world.run(args);
        assert_eq!(refused.code, 1, "{args:?}");
        assert!(refused.stderr.contains("an agent cannot"), "{}", refused.stderr);
    }
}

/// Makes an agent known to an installation that has not run.
fn known(state: &std::path::Path, agent: &str) {
    use gangline_store::{OpenOptions, Store, Whose};
    let agent: gangline_core::AgentName = agent.parse().unwrap();
    std::fs::create_dir_all(state.join("agents").join(agent.as_str())).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let path = state.join("gangline.db");
        let clock = gangline_os::clock::system();
        let store = Store::open(OpenOptions { path, clock }).await.unwrap();
        store
            .begin_epoch(&agent, (1, ""), Whose { runtime: "claude", configured: "claude" })
            .await
            .unwrap();
        store.close().await.unwrap();
    });
}
