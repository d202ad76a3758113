use super::{Weight, differences};
use crate::{Config, parse};

fn config(agents: &str) -> Config {
    parse(&format!("server: {{name: oak}}\n{agents}"), "agents.yaml").unwrap()
}

/// R2-37: what an agent may do, and who it is, stands before everything else; a variable's value
/// nowhere.
#[test]
fn what_gives_power_is_told_first_and_no_value_of_a_variable_at_all() {
    let before = config(
        "agents:\n  - {nick: oak-a, directory: /a, tags: [one], env: {K: one}}\n  - {nick: oak-b, \
         directory: /b}\n",
    );
    let after = config(
        "buffer_size: 9\nagents:\n  - {nick: oak-a, directory: /a, tags: [two], env: {K: two}, role: \
         manager, permissions: bypass}\n  - {nick: oak-c, directory: /c, account_dir: /d}\n",
    );
    let told: Vec<(bool, String)> = differences(&before, &after)
        .into_iter()
        .map(|it| (it.weight == Weight::Power, it.text))
        .collect();
    let told: Vec<(bool, &str)> =
        told.iter().map(|(power, text)| (*power, text.as_str())).collect();
    let expect = [
        (true, "oak-a: env: other values of K"),
        (true, "oak-a: permissions: \"ask\" → \"bypass\""),
        (true, "oak-a: role: \"agent\" → \"manager\""),
        (true, "oak-b is removed"),
        (true, "oak-c is new, in /c"),
        (true, "oak-c: account_dir: none → \"/d\""),
        (false, "buffer_size: 500 → 9"),
        (false, "oak-a: tags: [\"one\"] → [\"two\"]"),
    ];
    assert_eq!(told, expect);
    assert!(differences(&after, &after).is_empty());
}

/// R2-37, R0-33: who watches an agent is a matter of power, and a variable of the watcher is a
/// variable too.
#[test]
fn another_supervisor_is_told_first_and_no_value_of_its_variables() {
    let before = config("supervisor: {agent: rules}\n");
    let after = config("buffer_size: 9\nsupervisor: {agent: off, env: {K: sesame}}\n");
    let found = differences(&before, &after);
    assert_eq!(found[0].weight, Weight::Power);
    assert!(found[0].text.contains("\"env\":[\"K\"]"), "{}", found[0].text);
    assert!(!found[0].text.contains("sesame"), "{}", found[0].text);
    assert_ne!(
        before.marks(),
        config("supervisor: {agent: off}\nagents:\n  - {nick: oak-a, directory: /a}\n").marks()
    );
}

/// R2-36: an agent's mark is its own, but for what concerns all.
#[test]
fn a_mark_changes_with_the_agents_own_part_and_with_what_concerns_all() {
    let plain = "agents:\n  - {nick: oak-a, directory: /a}\n  - {nick: oak-b, directory: /b}\n";
    let before = config(plain).marks();
    let other = config(&plain.replace("/b", "/c")).marks();
    let nick = |name: &str| name.parse().unwrap();
    assert_eq!(before[&nick("oak-a")], other[&nick("oak-a")]);
    assert_ne!(before[&nick("oak-b")], other[&nick("oak-b")]);
    let all = config(&format!("turns_per_cause: 9\n{plain}")).marks();
    assert_ne!(before[&nick("oak-a")], all[&nick("oak-a")]);
    assert_eq!(config(&format!("# a remark\n{plain}")).marks(), before);
}
