//! Descriptions of the tools of the inbox: messages, questions, reminders.

use serde_json::{Value, json};

use super::{RECV_MAX, Text, User, WAIT_MAX, object};

type Described = (&'static str, Value);

fn number(description: &str, minimum: u64, maximum: u64) -> Value {
    json!({"type": "integer", "minimum": minimum, "maximum": maximum, "description": description})
}

fn id(description: &str) -> Value {
    json!({"type": "integer", "minimum": 1, "description": description})
}

fn returned(properties: &Value, required: &[&str]) -> Value {
    object(properties, required)
}

pub(super) fn recv(user: User) -> Described {
    let wait = "how long to wait for the first message, in seconds; left out or 0: return at once";
    let properties = json!({
        "wait_seconds": number(wait, 0, WAIT_MAX),
        "max": number("how many messages at most; 1 if left out", 1, RECV_MAX),
    });
    let description = match user {
        User::Session | User::Manager => {
            "Takes the next messages from your inbox. They belong to this turn then: answer them by \
             `send` with in_reply_to. Without wait_seconds it returns at once, with nothing if \
             nothing waits."
        }
        User::Agent => {
            "Takes the next messages from the agent's inbox into its open turn: answer them by `send` \
             with in_reply_to. Without an open turn it lists what waits and takes nothing. Without \
             wait_seconds it returns at once."
        }
        User::Person => {
            "Takes what is new in the owners' inbox from this agent: its letters, its questions to \
             them, and its answers to what you asked here. Answer letters and questions by \
             `answer`. The agent's own inbox is not touched. Without wait_seconds it returns at once."
        }
        User::Program => {
            "Returns what is new from this agent: its answers to what you asked here, and the \
             questions that it asked the owners in a room, which only they can answer. Without \
             wait_seconds it returns at once."
        }
    };
    (description, object(&properties, &[]))
}

pub(super) fn received() -> Value {
    let text = json!({"type": "string"});
    // The names of what happened to a question, in every answer of `recv` and in the record.
    let question = json!({"type": "object", "properties": {
        "event": {"type": "string", "enum": ["QuestionAsked", "QuestionAnswered"]},
        "id": {"type": "integer"}, "question": text, "asker": text,
        "options": {"type": "array", "items": text}, "multi": {"type": "boolean"},
        "answer": text, "answerer": text,
    }, "required": ["event", "id", "question"]});
    let message = json!({"type": "object", "properties": {
        "id": {"type": "string"}, "from": {"type": "string"}, "to": {"type": "string"},
        "body": {"type": "string"}, "origin": {"type": "string"},
        "question": question,
    }, "required": ["id", "from", "to", "body", "origin"]});
    let messages = json!({"type": "array", "items": message});
    returned(
        &json!({"messages": messages, "pending": {"type": "integer"}}),
        &["messages", "pending"],
    )
}

pub(super) fn ask(user: User) -> Described {
    if user.is_a_persons() {
        let properties = json!({
            "question": Text("what the agent is asked").json(),
            "options": options(),
        });
        let description = "Asks the agent in the owner's name and returns the message's id at \
                           once. `recv` gives its answer later.";
        return (description, object(&properties, &["question"]));
    }
    let rule = json!({"type": "string",
        "enum": ["humans", "any", "first", "vote", "consensus", "never"],
        "description": "whose answer counts; if left out, the first agent's when agents are asked, and \
                        people's otherwise"});
    let on_timeout = json!({"type": "string", "enum": ["none", "pause", "deny", "abort"],
        "description": "what happens to you when nobody answers in time; `none` if left out"});
    let properties = json!({
        "question": Text("what you want to know").json(),
        "options": options(),
        "multi": {"type": "boolean", "description": "whether several options may be chosen"},
        "ttl_seconds": number("the question expires after so long", 1, 30 * 24 * 60 * 60),
        "to": Text(
            "who is asked: `operator` (if left out), a nick, #channel for any person there, or nicks \
             of agents with commas between them"
        ).json(),
        "rule": rule,
        "on_timeout": on_timeout,
    });
    let description = "Asks a question and returns its id at once; do not wait for the answer. It \
                       comes to your inbox later as a message that begins with [ANSWER id], and \
                       wakes you.";
    (description, object(&properties, &["question"]))
}

fn options() -> Value {
    json!({"type": "array", "items": {"type": "string"}, "maxItems": 20,
        "description": "answers to choose from; a text of one's own is always possible"})
}

pub(super) fn asked(user: User) -> Value {
    if user.is_a_persons() {
        let text = json!({"type": "string"});
        return returned(&json!({"id": text, "to": text}), &["id", "to"]);
    }
    returned(&json!({"id": {"type": "integer"}, "to": {"type": "string"}}), &["id", "to"])
}

pub(super) fn answer(user: User) -> Described {
    let mut properties = json!({
        "id": id("the question's id, as in [QUESTION 12]"),
        "answer": Text("the number of an option, or a text").json(),
    });
    if user.is_a_persons() {
        properties["id"] = id("the id of the question or letter, as `recv` gives it");
        properties["kind"] = json!({"type": "string", "enum": ["question", "letter"],
            "description": "which; `question` if left out"});
        let description = "Answers a question or a letter of the agent to the owners.";
        return (description, object(&properties, &["id", "answer"]));
    }
    (
        "Answers a question that you were asked. Only you or an owner may answer it.",
        object(&properties, &["id", "answer"]),
    )
}

pub(super) fn answered() -> Value {
    let properties = json!({"id": {"type": "integer"}, "state": {"type": "string"},
        "answer": {"type": "string"}});
    returned(&properties, &["id", "state"])
}

pub(super) fn loose_ends(user: User) -> Described {
    let description = match user {
        User::Person => {
            "Lists what is open between the owners and the agent: questions to them (kind `asked`), \
             letters, what waits in the agent's inbox (`message`, not taken), and its reminders."
        }
        User::Program => {
            "Lists what is open in the agent's rooms, and of what you asked here: questions to the \
             owners (kind `asked`), what waits in the agent's inbox (`message`, not taken), and its \
             reminders."
        }
        User::Session | User::Manager | User::Agent => {
            "Lists what is still open: questions that you asked, questions that you were asked, and \
             your reminders, each with its kind and id."
        }
    };
    (description, object(&json!({}), &[]))
}

pub(super) fn open(user: User) -> Value {
    let kinds = match user {
        User::Session | User::Manager | User::Agent => json!(["question", "asked", "reminder"]),
        User::Person | User::Program => {
            json!(["question", "asked", "reminder", "letter", "message"])
        }
    };
    let row = json!({"type": "object", "properties": {
        "kind": {"type": "string", "enum": kinds},
        "id": {"type": "integer"}, "agent": {"type": "string"}, "with": {"type": "string"},
        "text": {"type": "string"}, "due_at": {"type": "string"}, "repeats": {"type": "string"},
        "expires_at": {"type": "string"},
    }, "required": ["kind", "id", "agent", "text"]});
    returned(&json!({"loose_ends": {"type": "array", "items": row}}), &["loose_ends"])
}

pub(super) fn cancel_loose_end(user: User) -> Described {
    let kind = json!({"type": "string", "enum": ["question", "reminder"], "description": "which"});
    let properties = json!({"kind": kind, "id": id("its id, as get_loose_ends lists it")});
    (
        match user {
            User::Session | User::Manager | User::Agent => {
                "Withdraws a question that you asked, or deletes a reminder of yours."
            }
            User::Person | User::Program => {
                "Closes a question of the agent without an answer ([cancelled]), or deletes a \
                 reminder of the agent."
            }
        },
        object(&properties, &["kind", "id"]),
    )
}

pub(super) fn remind(user: User) -> Described {
    let due = "when: `in 20 min`, `tomorrow 9:00`, `2026-12-01T09:00Z`, or again and again: `every 2 \
               hours`, `every weekday 8:30`, a cron line such as `0 9 * * 1-5`; a zone may follow: \
               `9:00 Europe/Berlin`";
    let properties = json!({
        "message": Text("what you are reminded of").json(),
        "due": Text(due).json(),
    });
    (
        match user {
            User::Session | User::Manager => {
                "Reminds you later: the message comes to your inbox at that time, from `reminder`, \
                 and wakes you. Your final text of that turn goes where you were asked in this one."
            }
            User::Agent | User::Person | User::Program => {
                "Reminds the agent later: the message comes to its inbox at that time, from \
                 `reminder`, and wakes it."
            }
        },
        object(&properties, &["message", "due"]),
    )
}

pub(super) fn reminded() -> Value {
    let properties = json!({"id": {"type": "integer"}, "due_at": {"type": "string"},
        "repeats": {"type": "string"}});
    returned(&properties, &["id", "due_at"])
}

pub(super) fn whoami() -> Described {
    ("Tells who you are: name, role, the owner's pronouns.", object(&json!({}), &[]))
}

pub(super) fn me(user: User) -> Value {
    let text = json!({"type": "string"});
    let mut properties = json!({"name": text, "role": text, "pronouns": text,
        "gangline_rev": text, "hyperhive_rev": text});
    if user != User::Session {
        properties["caller"] = json!({"type": "string", "enum": ["agent", "operator"]});
    }
    returned(&properties, &["name", "role", "pronouns", "hyperhive_rev"])
}
