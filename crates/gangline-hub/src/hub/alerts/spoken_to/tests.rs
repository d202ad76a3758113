//! Who is answered by the hub's client, and with what.

use gangline_core::{
    Principal, Redacted,
    finding::{Choice, FindingKind},
};
use gangline_os::clock;
use gangline_store::{FindingAnswer, NewFinding, OpenOptions};

use super::*;

fn said(target: &str, text: &str) -> Line {
    Line {
        kind: LineKind::Privmsg,
        target: target.parse().unwrap(),
        nick: "ori".to_owned(),
        account: None,
        principal: Some(Principal { account: "~ori".to_owned(), tier: Tier::Member }),
        msgid: None,
        server_time: None,
        cursor: None,
        text: text.to_owned(),
        gangline_id: None,
        from_history: false,
        reply_to: None,
        bot: false,
    }
}

fn me() -> AgentName {
    "oak-gangline".parse().unwrap()
}

#[test]
fn people_who_write_to_it_are_answered_where_they_write_and_nobody_else() {
    let check = |line: &Line, to: Option<&str>| {
        let asked = addressed(line, &me());
        assert_eq!(asked.map(|it| it.to.to_string()).as_deref(), to, "{line:?}");
    };
    for text in ["@gangline 12 resume", "gangline: hello", "hello @oak-gangline"] {
        check(&said("#alerts", text), Some("#alerts"));
    }
    check(&said("gangline", "12 resume"), Some("ori"));
    check(&said("#alerts", "@oak-ada 12 resume"), None);
    check(&said("#alerts", "12 resume"), None);
    // No program, no notice, and nothing that was said before.
    let line = said("gangline", "hello");
    check(&Line { bot: true, ..line.clone() }, None);
    let agent = Principal { account: "oak-ada".to_owned(), tier: Tier::Agent };
    check(&Line { principal: Some(agent), ..line.clone() }, None);
    check(&Line { kind: LineKind::Notice, ..line.clone() }, None);
    check(&Line { from_history: true, ..line.clone() }, None);
    // On another server nobody is known.
    check(&Line { principal: None, ..line }, Some("ori"));
}

/// A person who answers a finding here has the exact line to send; of one that is not open, the words of all
/// other lines.
#[tokio::test]
async fn an_answer_to_a_finding_is_answered_with_the_line_to_send() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gangline.db");
    let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
    let bob: AgentName = "oak-bob".parse().unwrap();
    let cause = Redacted::constant("it is stuck");
    let choices = vec![Choice::new(ChoiceWord::Resume, "it continues")];
    let new =
        NewFinding { choices, ..NewFinding::new(bob.clone(), FindingKind::Escalation, cause) };
    let number = store.raise_finding(new).await.unwrap().number;
    let answers = async |target: &str, text: &str| {
        reply(&addressed(&said(target, text), &me()).unwrap(), &store).await
    };
    let line = say_to(&bob, number, ChoiceWord::Resume);
    assert_eq!(answers("gangline", &format!("{number} resume")).await, line);
    let text = format!("@gangline answer {number} resume");
    assert_eq!(answers("#alerts", &text).await, format!("ori: {line}"));
    assert_eq!(answers("gangline", &format!("{} resume", number.0 + 1)).await, ONLY_ALERTS);
    assert_eq!(answers("#alerts", "@gangline hello").await, format!("ori: {ONLY_ALERTS}"));
    store
        .answer_finding(FindingAnswer {
            number,
            choice: ChoiceWord::Resume,
            by: "ori".to_owned(),
            released: 0,
        })
        .await
        .unwrap();
    assert_eq!(answers("gangline", &format!("{number} resume")).await, ONLY_ALERTS);
}
