//! What people are told by the server.

use gangline_irc::server::store::Account;

use super::*;

fn rule() -> AgentRemarks {
    let mut accounts = Accounts::default();
    for (name, tier) in [
        ("vm-claude", Tier::Agent),
        ("vm-native", Tier::Agent),
        ("vm-gone", Tier::Agent),
        ("claudia", Tier::Member),
    ] {
        accounts.put(Account {
            name: name.parse().unwrap(),
            tier,
            credential_sha256: String::new(),
            last_nick: None,
        });
    }
    AgentRemarks::new(watch::channel(Arc::new(accounts)).1)
}

/// A wrong name is answered with the right one, or with those that there are.
#[test]
fn a_wrong_name_is_answered() {
    let rule = rule();
    let is_inside = |word: &str| ["ori", "vm-claude", "vm-native"].contains(&word);
    let is_known = |word: &str| is_inside(word) || ["claudia", "vm-gone"].contains(&word);
    let here = Names { is_known: &is_known, is_inside: &is_inside };
    let near = |said: &str| {
        format!("No agent is called `{said}`, so none got your line. Did you mean `@vm-claude`?")
    };
    let nobody = |said: &str| {
        format!(
            "Nobody here is called `{said}`, so no agent got your line. Agents here: \
             @vm-claude, @vm-native"
        )
    };
    for (line, expect) in [
        ("@claud hi", Some(near("claud"))),
        ("vm-cluade: hi", Some(near("vm-cluade"))),
        ("@nosuch hello", Some(nobody("nosuch"))),
        ("@all hello", Some(nobody("all"))),
        // Its account is left, and it is in no room: neither meant nor named.
        ("@gine hello", Some(nobody("gine"))),
        ("@gone hello", None),
        ("@claude hi", None),
        ("claude: hi", None),
        ("@claudia hi", None),
        ("ori: hi", None),
        ("warning: hot", None),
        ("hello", None),
    ] {
        assert_eq!(rule.about(line, &here), expect, "{line}");
    }
    // A word for an agent that names none; what people say to each other is no word.
    let alone = |word: &str| word == "vm-claude";
    let one = Names { is_known: &is_known, is_inside: &alone };
    let nameless = |said: &str, to: &str| {
        format!("`{said}` names no agent, so none got it. Say `@{to} {said}`")
    };
    for said in ["yes 5", "approve 5", "no 5", "show 5", "cancel m4", "yes 5 always"] {
        assert_eq!(rule.about(said, &one), Some(nameless(said, "vm-claude")), "{said}");
        assert_eq!(rule.about(said, &here), Some(nameless(said, "NICK")), "{said}");
    }
    for said in ["yes", "no", "stop", "help", "no 5 is too few", "show me 5", "@claude yes 5"] {
        assert_eq!(rule.about(said, &one), None, "{said}");
    }
    let none = AgentRemarks::new(watch::channel(Arc::default()).1);
    let told = none.about("@claude hi", &here).unwrap();
    assert_eq!(told, "Nobody here is called `claude`, and no agent is in this room");
}

/// Every line is one on any client's screen, the topic is within the server's bound.
#[test]
fn what_the_server_says_is_short() {
    for line in motd().iter().chain(&help()) {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert!(TOPIC.len() <= 300, "{}", TOPIC.len());
}
