//! Who is offered what.

use super::{ALL, Opens, Tool, User, offered, withheld};

fn names(user: User) -> Vec<&'static str> {
    offered(user).iter().map(|tool| tool.name).collect()
}

/// What reads and speaks, beside `attention`.
const OF_A_PROGRAM: [&str; 10] = [
    "send",
    "recv",
    "ask",
    "get_loose_ends",
    "remind",
    "whoami",
    "read",
    "who",
    "channels",
    "topic",
];

/// A program with a token for one agent reads and speaks; each other tool of a person is refused to it, and
/// the reason names the token that opens it.
#[test]
fn a_programs_token_opens_what_reads_and_speaks_and_nothing_else() {
    let mut refused = Vec::new();
    for tool in ALL {
        let name = tool.name();
        let is_open = OF_A_PROGRAM.contains(&name) || name == "attention";
        let why = withheld(name, User::Program);
        assert_eq!(why.is_some(), tool.is_for(User::Person) && !is_open, "{name}");
        assert!(why.iter().all(|why| why.contains("needs the owner's token")), "{why:?}");
        refused.extend(why.map(|_| name));
        for user in [User::Session, User::Manager, User::Agent, User::Person] {
            assert_eq!(withheld(name, user), None, "{name}");
        }
    }
    let all = [
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
    assert_eq!(refused, all);
}

/// What shows something that was said shows a program what was said in rooms: each of these has a test of
/// what it leaves out, in `gangline::mcp::outside::operator::tests` and `hub_http`.
#[test]
fn what_shows_words_of_others_is_open_for_rooms_only() {
    let rooms: Vec<_> = ALL.into_iter().filter(|tool| tool.opens() == Opens::Rooms).collect();
    assert_eq!(rooms, [Tool::Recv, Tool::LooseEnds, Tool::Read, Tool::Attention]);
}

#[test]
fn each_user_is_offered_the_tools_that_are_for_it() {
    // R2-19 … R2-29.
    let session = [
        "send",
        "no_reply",
        "recv",
        "ask",
        "answer",
        "get_loose_ends",
        "cancel_loose_end",
        "remind",
        "whoami",
    ];
    assert_eq!(names(User::Session), session);
    // R2-35 … R2-38: behind what every agent has.
    let manages =
        ["request_spawn", "kill", "start", "restart", "update", "request_apply_commit", "get_logs"];
    assert_eq!(names(User::Manager), [&session[..], &manages[..]].concat());
    let outside = [
        "send",
        "recv",
        "ask",
        "answer",
        "get_loose_ends",
        "cancel_loose_end",
        "remind",
        "whoami",
        "read",
        "who",
        "channels",
        "topic",
        "join",
        "part",
        "compact",
        "clear",
        "set_directory",
    ];
    assert_eq!(names(User::Agent), outside);
    // R1-35: the owner's words are no agent's.
    let words = ["pause", "resume", "abort", "whisper", "attention"];
    assert_eq!(names(User::Person), [&outside[..], &words[..]].concat());
    assert_eq!(names(User::Program), [&OF_A_PROGRAM[..], &["attention"]].concat());
    let takes =
        |user, argument: &str| offered(user)[0].input_schema["properties"].get(argument).is_some();
    assert!(takes(User::Session, "in_reply_to") && takes(User::Agent, "in_reply_to"));
    for user in [User::Person, User::Program] {
        assert!(!takes(user, "in_reply_to"), "a person answers no message of the agent's");
    }
}

#[test]
fn every_tool_is_found_by_its_name_and_needs_only_what_it_takes() {
    for tool in ALL {
        assert_eq!(Tool::named(tool.name()), Some(tool));
    }
    assert_eq!(Tool::named("shout"), None);
    for tool in
        [User::Manager, User::Agent, User::Person, User::Program].into_iter().flat_map(offered)
    {
        let schema = &tool.input_schema;
        for needed in schema["required"].as_array().into_iter().flatten() {
            assert!(schema["properties"].get(needed.as_str().unwrap()).is_some(), "{schema}");
        }
    }
}

/// R2-20, R2-21, R2-25 … R2-29: the seed's own names and bounds.
#[test]
fn the_inboxs_tools_take_what_the_seed_names() {
    let takes = |name: &str| -> Vec<String> {
        let tool = offered(User::Session).into_iter().find(|tool| tool.name == name).unwrap();
        tool.input_schema["properties"].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(takes("send"), ["body", "in_reply_to", "to"]);
    assert_eq!(takes("recv"), ["max", "wait_seconds"]);
    let ask = ["multi", "on_timeout", "options", "question", "rule", "to", "ttl_seconds"];
    assert_eq!(takes("ask"), ask);
    assert_eq!(takes("answer"), ["answer", "id"]);
    assert_eq!(takes("cancel_loose_end"), ["id", "kind"]);
    assert_eq!(takes("remind"), ["due", "message"]);
    assert_eq!((takes("whoami"), takes("get_loose_ends")), (vec![], vec![]));
    assert_eq!((super::WAIT_MAX, super::RECV_MAX), (180, 32));
}

/// R2-35 … R2-38: the seed's own names and bounds, and what they need.
#[test]
fn the_managers_tools_take_what_the_seed_names() {
    let needs = |name: &str| -> Vec<String> {
        let tool = offered(User::Manager).into_iter().find(|tool| tool.name == name).unwrap();
        let needed = tool.input_schema["required"].as_array().unwrap().clone();
        needed.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    for tool in ["request_spawn", "kill", "start", "restart", "update"] {
        assert_eq!(needs(tool), ["name"], "{tool}");
    }
    assert_eq!(needs("request_apply_commit"), ["agent", "commit_ref"]);
    assert_eq!(needs("get_logs"), ["agent"]);
    assert_eq!((super::LOG_LINES, super::LOG_LINES_MAX), (50, 500));
}
