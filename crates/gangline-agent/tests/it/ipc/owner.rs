//! What the owner does by the socket, and by the agent's row.

use gangline_testkit::eventually;
use serde_json::{Value, json};

use super::Scene;
use crate::rig::{ADA, Ipc};

/// R0-45, C3, C21: the owner pauses and lets go on by the socket and by the row; what comes
/// meanwhile is kept; an open turn is ended.
#[test]
fn the_owner_operates_the_agent_by_the_socket_and_by_its_row() {
    let scene = Scene::open();
    let mut alice = scene.rig.member("alice");
    let mut ipc = scene.dial();
    ipc.ok(scene.daemon.signed(json!({"type": "pause"})));
    let paused = |ipc: &mut Ipc| {
        let status = ipc.ok(json!({"type": "status"}));
        (status["paused"] == true && status["activity"] == "paused").then_some(status)
    };
    eventually("the pause", || paused(&mut ipc));
    alice.say("#general", "@lab-ada say exactly kept");
    let waiting = eventually("the message to wait", || {
        paused(&mut ipc).filter(|status| status["pending"] == 1)
    });
    assert_eq!(waiting["description"], "paused, 1 message waits");
    ipc.ok(scene.daemon.signed(json!({"type": "resume"})));
    alice.hears(ADA, "#general", "kept");

    // By the row and the change notice alone, as a command does it whose daemon may be down.
    let set = |sql: &'static str| {
        let _ = scene.rig.query(sql);
        scene.rig.notify();
    };
    set("UPDATE agents SET paused = 1 WHERE agent = 'lab-ada'");
    eventually("the pause of the row", || paused(&mut ipc));
    set("UPDATE agents SET paused = 0 WHERE agent = 'lab-ada'");
    ipc.sees("the end of the pause", |status| status["paused"] == false);

    assert_eq!(
        ipc.error(scene.daemon.signed(json!({"type": "interrupt"}))),
        "there is no turn to end"
    );
    alice.say("#general", "@lab-ada shell: sleep 300");
    ipc.sees("the turn", |status| status["phase"] == "working");
    ipc.ok(scene.daemon.signed(json!({"type": "interrupt"})));
    alice.hears(ADA, "#general", "a person stopped the turn");
}

/// R2-04, R2-06: the owner chooses a model and begins a new session by the socket; an agent may
/// ask which model it has.
#[test]
fn the_owner_chooses_a_model_and_a_new_session_by_the_socket() {
    let scene = Scene::open();
    let mut ipc = scene.dial();
    let told = ipc.ok(json!({"type": "model"}));
    assert_eq!(told["chosen"], Value::Null);
    let refused = ipc.error(json!({"type": "model", "model": "sonnet"}));
    assert_eq!(refused, "this needs the owner's token");
    let bad = ipc.error(scene.daemon.signed(json!({"type": "model", "model": "two words"})));
    assert!(bad.contains("'model' must be"), "{bad}");
    let chosen = ipc.ok(scene.daemon.signed(json!({"type": "model", "model": "sonnet"})));
    assert_eq!(chosen, json!({"model": "sonnet", "chosen": "sonnet"}));
    let uses = |ipc: &mut Ipc, model: &str| {
        ipc.sees("the model to be used", |status| status["model"] == model);
    };
    uses(&mut ipc, "sonnet");
    assert_eq!(ipc.ok(json!({"type": "model"}))["chosen"], "sonnet");
    let back = ipc.ok(scene.daemon.signed(json!({"type": "model", "default": true})));
    assert_eq!(back["chosen"], Value::Null);
    ipc.sees("the choice to be gone", |status| status["model"] != "sonnet");
    // It is started anew, for its own model.
    eventually("a new session", || {
        (ipc.ask(json!({"type": "new_session"}))["ok"] == true).then_some(())
    });
}

/// R0-43, F.2: without a backend there is no context to care for.
#[test]
fn a_context_is_cared_for_only_while_there_is_a_backend() {
    let scene = Scene::open();
    scene.daemon.owner("pause");
    scene.rig.sees("SELECT paused FROM agents", &["1"]);
    // A paused agent starts no backend.
    let scene = scene.begins_anew(|| {});
    let mut ipc = scene.dial();
    for verb in ["compact", "clear"] {
        assert_eq!(ipc.error(json!({"type": verb})), "Agent runner is not running");
    }
}
