//! Descriptions of the tools that only the person who runs the client has: the owner's words to the agent,
//! and what waits for a human.

use serde_json::{Value, json};

use super::{Text, User, object};

type Described = (&'static str, Value);

pub(super) fn pause() -> Described {
    let length = "how long: `2h`, `90 min`, `1 day`; left out: until `resume`";
    let until = "until when, by this machine's clock: `9:00`, `tomorrow 9:00`; not beside `for`";
    let properties = json!({"for": Text(length).json(), "until": Text(until).json()});
    let description = "Stops the agent from beginning new turns; messages are stored and wait. An \
                       open turn continues.";
    (description, object(&properties, &[]))
}

pub(super) fn resume() -> Described {
    ("Lets a paused, escalated or parked agent continue.", object(&json!({}), &[]))
}

pub(super) fn abort() -> Described {
    let description = "Ends the agent's open turn, whose message counts as failed, and its \
                       escalation if there is one.";
    (description, object(&json!({}), &[]))
}

pub(super) fn whisper() -> Described {
    let kind = json!({"type": "string", "enum": ["CORRECTION", "THINK_DEEPER"],
        "description": "what it asks for; CORRECTION if left out"});
    let properties = json!({"text": Text("what the agent is told").json(), "type": kind});
    let description = "Tells the agent something that nobody else sees, as soon as its backend can \
                       show it, at the latest with its next prompt. It starts no turn.";
    (description, object(&properties, &["text"]))
}

pub(super) fn attention(user: User) -> Described {
    let description = match user {
        User::Program => {
            "Lists what waits for a human of this agent, the most urgent first: questions, approvals and \
             findings, each with its cause and what may be answered. What was not said in a room is listed \
             without its words. It answers nothing."
        }
        User::Session | User::Manager | User::Agent | User::Person => {
            "Lists what waits for a human, of all agents, the most urgent first: questions, approvals and \
             findings, each with its cause and what may be answered. It answers nothing."
        }
    };
    (description, object(&json!({}), &[]))
}

/// What `attention` returns.
pub(super) fn waiting() -> Value {
    let text = json!({"type": "string"});
    let option = json!({"type": "object", "properties": {"word": text, "what": text},
        "required": ["word", "what"]});
    let item = json!({"type": "object", "properties": {
        "number": {"type": "integer"},
        "kind": {"type": "string", "enum": ["question", "approval", "finding"]},
        "what": text, "agent": text, "severity": text, "state": text, "seen_by": text,
        "cause": text, "evidence": text, "options": {"type": "array", "items": option},
        "recommended": text, "affects": {"type": "object"}, "raised_at": text,
    }, "required": ["number", "kind", "what", "agent", "severity", "state", "cause", "options"]});
    object(&json!({"items": {"type": "array", "items": item}}), &["items"])
}
