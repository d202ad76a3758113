use super::*;

fn item(number: i64, state: ItemState, waiting: u64) -> AttentionItem {
    AttentionItem {
        number,
        kind: ItemKind::Finding.into(),
        what: "silent_turn".to_owned(),
        agent: "oak-ada".parse().unwrap(),
        severity: Severity::Warning.into(),
        state: state.into(),
        seen_by: None,
        cause: "no output".to_owned(),
        evidence: String::new(),
        options: Vec::new(),
        recommended: None,
        affects: AttentionAffects { waiting, ..AttentionAffects::default() },
        raised_at: "2026-11-26T10:00:00Z".to_owned(),
    }
}

#[test]
fn a_list_changes_by_what_is_added_seen_or_gone() {
    let (open, seen) = (ItemState::Open, ItemState::Seen);
    let before = [item(1, open, 0), item(2, open, 0), item(3, open, 0)];
    let after = [item(4, open, 0), item(3, open, 7), item(2, seen, 0)];
    let changes: Vec<_> = AttentionChange::between(&before, &after)
        .iter()
        .map(|it| format!("{} {} {}", it.change, it.item.number, it.item.state))
        .collect();
    assert_eq!(changes, ["removed 1 open", "added 4 open", "changed 2 seen"]);
    assert_eq!(AttentionChange::between(&after, &after), []);
    let text = serde_json::to_value(&AttentionChange::between(&[], &after[..1])[0]).unwrap();
    assert_eq!((&text["change"], &text["item"]["number"]), (&"added".into(), &4.into()));
}
