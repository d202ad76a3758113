//! Who is offered what.

use super::{ALL, Tool, User, offered};

fn names(user: User) -> Vec<&'static str> {
    offered(user).iter().map(|tool| tool.name).collect()
}

#[test]
fn each_user_is_offered_the_tools_that_are_for_it() {
    assert_eq!(names(User::Session), ["send", "no_reply"]);
    assert_eq!(names(User::Agent), ["send", "read", "who", "channels", "topic"]);
    assert_eq!(names(User::Person), names(User::Agent));
    let takes =
        |user, argument: &str| offered(user)[0].input_schema["properties"].get(argument).is_some();
    assert!(takes(User::Session, "in_reply_to") && takes(User::Agent, "in_reply_to"));
    assert!(!takes(User::Person, "in_reply_to"), "a person answers no message of the agent's");
}

#[test]
fn every_tool_is_found_by_its_name_and_needs_only_what_it_takes() {
    for tool in ALL {
        assert_eq!(Tool::named(tool.name()), Some(tool));
    }
    assert_eq!(Tool::named("ask"), None);
    for tool in [User::Session, User::Agent, User::Person].into_iter().flat_map(offered) {
        let schema = &tool.input_schema;
        for needed in schema["required"].as_array().into_iter().flatten() {
            assert!(schema["properties"].get(needed.as_str().unwrap()).is_some(), "{schema}");
        }
    }
}
