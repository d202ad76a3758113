//! Descriptions of the tools by which a manager runs the other agents (R2-35 … R2-38).

use serde_json::{Value, json};

use super::{LOG_LINES, LOG_LINES_MAX, Text, object};

type Described = (&'static str, Value);

const NAME: Text = Text("the agent's nick, with or without the server's name: spark-ada or ada");

fn named() -> Value {
    object(&json!({"name": NAME.json()}), &["name"])
}

pub(super) fn kill() -> Described {
    let myself = json!({"type": "boolean", "description": "whether you mean yourself; you then stay \
        stopped until a person starts you"});
    let properties = json!({"name": NAME.json(), "myself": myself});
    let description = "Stops an agent: its open turn may finish. It stays stopped until `start`. No \
                       approval is needed.";
    (description, object(&properties, &["name"]))
}

pub(super) fn start() -> Described {
    ("Starts a stopped agent. No approval is needed.", named())
}

pub(super) fn restart() -> Described {
    (
        "Stops an agent and starts it again; yourself once your turn is over. No approval is needed.",
        named(),
    )
}

pub(super) fn update() -> Described {
    let description = "Restarts an agent if its part of the configuration, or the program, has \
                       changed since it was started; otherwise does nothing. Call it when you get \
                       [needs_update]. No approval is needed.";
    (description, named())
}

pub(super) fn get_logs() -> Described {
    let lines = json!({"type": "integer", "minimum": 1, "maximum": LOG_LINES_MAX,
        "description": format!("how many lines at most; {LOG_LINES} if left out")});
    let properties = json!({"agent": NAME.json(), "lines": lines});
    let description = "Shows what an agent was asked and did, oldest first: messages, tools, answers, \
                       starts and ends of its backend, errors.";
    (description, object(&properties, &["agent"]))
}

/// What the four orders return.
pub(super) fn ordered() -> Value {
    let properties = json!({
        "agent": {"type": "string"},
        "changed": {"type": "boolean", "description": "whether anything was ordered"},
        "state": {"type": "string"},
    });
    object(&properties, &["agent", "changed", "state"])
}

pub(super) fn logs() -> Value {
    let lines = json!({"type": "array", "items": {"type": "string"}});
    object(&json!({"agent": {"type": "string"}, "lines": lines}), &["agent", "lines"])
}

const REASON: Text = Text("why, for the person who decides");

pub(super) fn request_spawn() -> Described {
    let properties = json!({
        "name": Text("what the new agent is called, without the server's name: ada").json(),
        "template": Text("the agent to copy, without its role; you if left out").json(),
        "reason": REASON.json(),
    });
    let description = "Asks the owners for another agent, and returns the number of the request at \
                       once. Their decision and its result come to your inbox.";
    (description, object(&properties, &["name"]))
}

pub(super) fn request_apply_commit() -> Described {
    let properties = json!({
        "agent": Text("whose configuration it is about; `hm1nd` for your own").json(),
        "commit_ref": Text("a commit of the configuration's repository that follows what is checked \
            out: its id, or a branch").json(),
        "reason": REASON.json(),
    });
    let description = "Asks the owners to apply another configuration, and returns the number of \
                       the request at once. It is validated first. Their decision and its result \
                       come to your inbox. If the agent does not start with it, it is undone.";
    (description, object(&properties, &["agent", "commit_ref"]))
}

pub(super) fn requested() -> Value {
    let properties = json!({"id": {"type": "integer"}, "state": {"type": "string"},
        "agent": {"type": "string"}, "commit": {"type": "string"},
        "validation": {"type": "string"}});
    object(&properties, &["id", "state", "agent"])
}
