use super::*;
use crate::caller::Mark;

/// R2-30, C21: an agent's shell wakes its own agent; a person wakes every one.
#[test]
fn an_agent_wakes_itself_only() {
    let ada: AgentName = "oak-ada".parse().unwrap();
    let agent = |name: Option<&str>| Caller::Agent {
        name: name.map(|name| name.parse().unwrap()),
        mark: Mark::Variable("GANGLINE_RUN"),
    };
    for caller in [agent(Some("oak-ada")), agent(None), Caller::Person { user: None }] {
        assert!(may_wake(&caller, &ada).is_ok(), "{caller:?}");
    }
    assert!(may_wake(&agent(Some("oak-bob")), &ada).is_err());
}
