//! Who somebody is, by their environment.

use super::*;

fn agent(name: Option<&str>, mark: Mark) -> Caller {
    Caller::Agent { name: name.map(|name| name.parse().unwrap()), mark }
}

fn person(user: Option<&str>) -> Caller {
    Caller::Person { user: user.map(str::to_owned) }
}

/// C21: what an agent's daemon starts is known by its run id or its token; a nick proves nothing.
#[test]
fn marks_tell_an_agent_from_a_person() {
    let ada = Some("oak-ada");
    for (env, caller) in [
        (&[][..], person(None)),
        (&[("USER", "ori")], person(Some("ori"))),
        (&[("USER", " "), ("LOGNAME", "ori")], person(None)),
        (&[("USER", ""), ("LOGNAME", "ori")], person(Some("ori"))),
        (&[("USER", "ori"), ("CULTURE_NICK", "oak-ada")], person(Some("ori"))),
        (&[("USER", "ori"), ("GANGLINE_RUN", ""), ("GANGLINE_TOKEN", "")], person(Some("ori"))),
        (&[("USER", "ori"), ("GANGLINE_RUN", "0f/oak-ada/3")], agent(ada, Mark::Variable(RUN_ID))),
        (&[("GANGLINE_RUN", "0f/oak-ada:hook/3")], agent(ada, Mark::Variable(RUN_ID))),
        (
            &[("GANGLINE_RUN", "0f/oak-ada/3"), ("GANGLINE_NICK", "oak-bob")],
            agent(ada, Mark::Variable(RUN_ID)),
        ),
        (
            &[("GANGLINE_RUN", "0f/oak-ada/3"), ("GANGLINE_TOKEN", "glt_x")],
            agent(ada, Mark::Variable(RUN_ID)),
        ),
        (&[("GANGLINE_RUN", "0f/b/3")], agent(None, Mark::Variable(RUN_ID))),
        (
            &[("GANGLINE_RUN", "yes"), ("CULTURE_NICK", "oak-ada")],
            agent(ada, Mark::Variable(RUN_ID)),
        ),
        (&[("GANGLINE_TOKEN", "glt_x")], agent(None, Mark::Variable(TOKEN))),
        (
            &[("GANGLINE_STARTED_BY", "oak-ada"), ("USER", "ori")],
            agent(ada, Mark::Variable(STARTED_BY)),
        ),
        (&[("GANGLINE_STARTED_BY", "an agent")], agent(None, Mark::Variable(STARTED_BY))),
        (
            &[("GANGLINE_TOKEN", "glt_x"), ("CULTURE_NICK", "oak-ada")],
            agent(ada, Mark::Variable(TOKEN)),
        ),
        (
            &[("GANGLINE_TOKEN", "x"), ("CULTURE_NICK", "oak-bob"), ("GANGLINE_NICK", "oak-ada")],
            agent(ada, Mark::Variable(TOKEN)),
        ),
    ] {
        let of = |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, it)| (*it).into());
        assert_eq!(Caller::find(&of), caller, "{env:?}");
    }
}

#[test]
fn an_agent_is_refused_by_the_mark_that_tells_it() {
    let refused = agent(None, Mark::Variable(TOKEN)).may("stop agents").unwrap_err();
    let hint = "this shell was started by an agent (GANGLINE_TOKEN is set): use your own shell";
    assert_eq!(refused.text(), format!("error: an agent cannot stop agents\nhint: {hint}\n"));
    assert!(person(None).may("stop agents").is_ok());
}

#[test]
fn who_has_no_name_is_the_owner() {
    for (caller, name) in [
        (person(Some("ori")), "ori"),
        (person(None), "owner"),
        (agent(Some("oak-ada"), Mark::Variable(RUN_ID)), "oak-ada"),
        (agent(None, Mark::Variable(RUN_ID)), "an agent"),
    ] {
        assert_eq!(caller.known_as(), name);
    }
}

#[test]
fn an_agent_is_itself_and_nobody_else() {
    let (ada, bob) = (agent(Some("oak-ada"), Mark::Descent), "oak-bob".parse().unwrap());
    let refused = ada.may_be(&bob).unwrap_err();
    let hint = "`gangline channel send oak-bob TEXT` sends it a message, from oak-ada";
    let text = format!("error: oak-ada cannot speak or act as oak-bob\nhint: {hint}\n");
    assert_eq!(refused.text(), text);
    for caller in [agent(Some("oak-bob"), Mark::Descent), agent(None, Mark::Descent), person(None)]
    {
        assert!(caller.may_be(&bob).is_ok(), "{caller:?}");
    }
}
