//! The table of who may do what.

use super::*;

fn who(tier: Tier) -> Principal {
    Principal { account: "ori".to_owned(), tier }
}

#[test]
fn the_default_policy_is_the_designs() {
    let policy = Policy::default();
    for (tier, may) in [
        (Tier::Stranger, [false, false, false, false]),
        (Tier::Agent, [true, false, false, false]),
        (Tier::Member, [true, true, false, false]),
        (Tier::Owner, [true, true, true, true]),
    ] {
        let found: Vec<bool> =
            Action::ALL.iter().map(|action| policy.may(&who(tier), *action, 0).is_ok()).collect();
        assert_eq!(found, may, "{tier}");
    }
}

#[test]
fn agents_prompt_within_the_hop_limit() {
    let policy = Policy::default();
    assert_eq!(policy.may(&who(Tier::Agent), Action::Prompt, 8), Ok(()));
    let refused = policy.may(&who(Tier::Agent), Action::Prompt, 9).unwrap_err();
    assert_eq!(refused.to_string(), "9 hops from agent to agent, more than the limit of 8");
    let alone = Policy { agents: Agents::Never, ..policy };
    assert!(alone.may(&who(Tier::Agent), Action::Prompt, 0).is_err());
}

#[test]
fn a_stranger_may_nothing_under_any_policy() {
    for people in [People::Members, People::Owners] {
        let policy = Policy {
            prompt: people,
            answer: people,
            approve: people,
            operate: people,
            ..Policy::default()
        };
        for action in Action::ALL {
            assert!(policy.may(&who(Tier::Stranger), *action, 0).is_err());
        }
    }
}

#[test]
fn a_refusal_is_one_line_for_a_person() {
    let policy = Policy::default();
    let text = |tier, action| policy.may(&who(tier), action, 0).unwrap_err().to_string();
    assert_eq!(
        text(Tier::Member, Action::Approve),
        "only an owner may decide approvals; you are ori, a member"
    );
    assert_eq!(
        text(Tier::Stranger, Action::Prompt),
        "ori is not known here: strangers may not prompt this agent"
    );
    let evil = Principal { account: "a\r\nb".to_owned(), tier: Tier::Stranger };
    let refused = policy.may(&evil, Action::Prompt, 0).unwrap_err().to_string();
    assert!(!refused.contains(['\r', '\n']), "{refused}");
}

#[test]
fn a_refusal_says_who_the_person_is_here() {
    let text = |account: &str, tier| {
        let who = Principal { account: account.to_owned(), tier };
        Policy::default().may(&who, Action::Operate, 0).unwrap_err().to_string()
    };
    let bob = "only an owner may operate this agent; you are bob, without a password";
    assert_eq!(text("~bob", Tier::Member), bob);
    let agent = "only an owner may operate this agent; you are oak-ada, an agent";
    assert_eq!(text("oak-ada", Tier::Agent), agent);
}

#[test]
fn a_turn_is_its_authors_if_all_its_messages_are() {
    let bob = Principal { account: "~bob".to_owned(), tier: Tier::Member };
    let eve = Principal { account: "~eve".to_owned(), tier: Tier::Member };
    let claimed = Principal { tier: Tier::Stranger, ..bob.clone() };
    assert!(owns_turn(&bob, [&bob, &bob]));
    for authors in [vec![], vec![&eve], vec![&bob, &eve], vec![&claimed]] {
        assert!(!owns_turn(&bob, authors.clone()), "{authors:?}");
    }
}
