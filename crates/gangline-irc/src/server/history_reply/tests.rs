//! Searching page by page, and how lines are written.

use std::sync::Arc;

use gangline_core::{Principal, Tier};

use super::*;
use crate::server::store::{Conversation, LineKind, NewLine, Party};

fn line(seq: usize, text: &str) -> StoredLine {
    let line = NewLine {
        conversation: Conversation::Channel("#room".parse().unwrap()),
        sender: Party::Member("ann".into()),
        key: None,
        at: UnixMicros(seq as i64),
        kind: LineKind::Privmsg,
        source: "ann!a@h".into(),
        account: None,
        principal: Principal { account: "ann".into(), tier: Tier::Member },
        bot: false,
        target: "#room".into(),
        text: text.into(),
        tags: vec![],
    };
    StoredLine { seq: seq as i64, msgid: format!("s.{seq}"), line: Arc::new(line) }
}

fn search(term: &str) -> Search {
    match What::search(term) {
        Some(What::Search(search)) => search,
        Some(What::Recent | What::Since { .. }) | None => panic!("no search for {term:?}"),
    }
}

#[test]
fn a_search_goes_on_until_it_has_looked_far_enough() {
    let page = |text: &str| -> Vec<StoredLine> {
        (0..SEARCH_PAGE).map(|seq| line(seq, if seq == 7 { text } else { "x" })).collect()
    };
    let mut none = search("needle");
    let pages = (0..).take_while(|_| none.take(page("hay")) == Then::More).count();
    assert_eq!(((pages + 1) * SEARCH_PAGE, none.found.len()), (SEARCH_MAX, 0));
    let mut short = search("NEEDLE ");
    assert_eq!(short.take(page("a Needle there")), Then::More);
    assert_eq!(short.take(vec![line(1, "needle 1"), line(2, "needle 2")]), Then::Done);
    let found: Vec<&str> = short.found.iter().map(|it| it.line.text.as_str()).collect();
    assert_eq!(found, ["a Needle there", "needle 2", "needle 1"]);
    let mut many = search("x");
    assert_eq!((many.take(page("x")), many.found.len()), (Then::Done, LINES_MAX));
    assert!(What::search(" ").is_none(), "every line contains it");
}

#[test]
fn times_and_actions_are_written_for_plain_readers() {
    assert_eq!(seconds(UnixMicros(1_795_296_828_000_500)), "1795296828.000500");
    assert_eq!(text("\u{1}ACTION waves\u{1}"), "/me waves");
    assert_eq!(parts("aäb", 2), ["a", "ä", "b"]);
    assert_eq!((parts("", 9), parts("ab", 0), parts("ab", 2)), (vec![""], vec![""], vec!["ab"]));
    assert_eq!(text("\u{1}VERSION\u{1}"), "\u{1}VERSION\u{1}");
}
