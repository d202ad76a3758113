use super::*;

fn names(names: &[&str]) -> Vec<AgentName> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

#[test]
fn an_agent_is_known_by_its_nick_its_short_name_and_a_mention() {
    let known = names(&["vm-claude", "vm-native", "elm-native", "claude-two"]);
    let check = |typed: &str, expect: &str| {
        let told = meant(&typed.parse().unwrap(), &known);
        let told = told.map_or_else(|failure| failure.text(), |name| name.to_string());
        assert_eq!(told, expect, "{typed}");
    };
    check("vm-claude", "vm-claude");
    check("claude", "vm-claude");
    check("@claude", "vm-claude");
    check("@vm-claude", "vm-claude");
    check("Claude", "vm-claude");
    check("two", "claude-two");
    check("claude-two", "claude-two");
    // Somebody else says that nobody has this nick.
    check("vm-nobody", "vm-nobody");
    check(
        "native",
        "error: `native` matches several agents: vm-native, elm-native\nhint: give the whole nick\n",
    );
    check(
        "claud",
        "error: there is no agent `claud`\nhint: did you mean vm-claude?\nhint: known are \
         vm-claude, vm-native, elm-native, claude-two\n",
    );
    for wrong in ["", "@", "a b", "../x", "oak-ada!", "-x"] {
        assert!(wrong.parse::<Who>().is_err(), "{wrong}");
    }
}
