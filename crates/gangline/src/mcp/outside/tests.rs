//! Who somebody is, and what is made of arguments.

use serde_json::json;

use super::*;

fn outside(env: &'static [(&'static str, &'static str)]) -> Result<Outside, Failure> {
    let of = |name: &str| {
        let found =
            env.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        found.or_else(|| (name == "HOME").then(|| "/home/ori".into()))
    };
    Outside::new(&of, Overrides::default(), &"oak-ada".parse().unwrap())
}

/// C21: the agent's token makes one the agent; a shell of another agent is not a person's.
#[test]
fn the_token_tells_the_agent_from_the_person() {
    let is_agent = |env| matches!(outside(env).unwrap().work.who, Who::Agent);
    assert!(is_agent(&[("GANGLINE_NICK", "oak-ada"), ("GANGLINE_TOKEN", "glt_x")]));
    assert!(is_agent(&[("CULTURE_NICK", "oak-ada"), ("GANGLINE_TOKEN", "glt_x")]));
    assert!(is_agent(&[("GANGLINE_TOKEN", "glt_x")]), "meant for the nick that was typed");
    assert!(!is_agent(&[("GANGLINE_NICK", "oak-ada")]));
    assert!(!is_agent(&[]));
    assert!(is_agent(&[("GANGLINE_RUN", "0f/oak-ada/3")]));
    assert!(is_agent(&[("GANGLINE_RUN", "0f/oak-ada:hook/3")]));
    for (bobs, whose) in [
        (&[("GANGLINE_RUN", "0f/oak-bob/3")][..], "the agent oak-bob, which is not oak-ada"),
        (&[("GANGLINE_RUN", "0f/oak-bob/3"), ("GANGLINE_TOKEN", "glt_x")], "the agent oak-bob"),
        (&[("GANGLINE_NICK", "oak-bob"), ("GANGLINE_TOKEN", "glt_x")], "the agent oak-bob"),
        (&[("GANGLINE_RUN", "unreadable")], "an agent (GANGLINE_RUN is set), not by oak-ada"),
    ] {
        let Err(refused) = outside(bobs) else { panic!("{bobs:?}") };
        let said = format!("this was started by {whose}");
        assert!(refused.text().contains(&said), "{}", refused.text());
    }
}

#[test]
fn a_person_reads_their_own_conversation_by_the_agents_nick() {
    let outside = outside(&[("USER", "ori")]).unwrap();
    let Who::Person(person) = &outside.work.who else { panic!() };
    for (from, meant) in [("oak-ada", "ori"), ("OAK-ADA", "ori"), ("bob", "bob"), ("#x", "#x")] {
        let target = outside.work.meant(person, from.parse().unwrap());
        assert_eq!(target.to_string(), meant, "{from}");
    }
}

#[test]
fn arguments_are_told_from_what_they_must_be() {
    assert_eq!(lines(&json!({})), Ok(50));
    assert_eq!(lines(&json!({"limit": 3})), Ok(3));
    assert_eq!(lines(&json!({"limit": 9999})), Ok(500));
    let wrong = Err("`limit` must be a whole number above 0".to_owned());
    assert_eq!(lines(&json!({"limit": 0})), wrong);
    assert_eq!(lines(&json!({"limit": "3"})), wrong);
    let place = |value| place(&json!({"to": value}), "to").map(|place| place.to_string());
    assert_eq!(place(json!(" #General ")), Ok("#General".to_owned()));
    assert_eq!(place(json!("")), Err("`to` is missing".to_owned()));
    assert_eq!(place(json!(7)), Err("`to` must be a string".to_owned()));
    assert!(place(json!("#a\r\nQUIT")).is_err());
}

/// A call that waits for the one before it can be taken back; nothing has been done then.
#[tokio::test]
async fn a_call_that_waits_is_taken_back() {
    let outside = outside(&[("USER", "ori")]).unwrap();
    let _turn = outside.turn.lock().await;
    let input = json!({"to": "#general", "text": "x"});
    let (turn, id, name) = (gangline_runtime::toolserver::OUTSIDE, "1".into(), "send".into());
    let taken_back = CancellationToken::new();
    let call = outside.call_unless(ToolCall { turn, id, name, input }, taken_back.clone());
    // The call is begun first, and waits.
    let (outcome, ()) = tokio::join!(call, async { taken_back.cancel() });
    assert_eq!(outcome, None);
}
