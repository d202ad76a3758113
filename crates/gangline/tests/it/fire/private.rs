//! What must hold for private questions after the fire.

use std::collections::{BTreeMap, BTreeSet};

use gangline_testkit::{IrcPeer, eventually_within, irc};

use super::{Fire, SETTLE, answers, come_in};

/// Every private question that was answered: its asker has seen the answer, on whichever of its
/// connections, and it stands once in their conversation.
pub(super) fn check(fire: &Fire, private: &[String], seen: Vec<BTreeSet<String>>) {
    let answered: BTreeSet<String> =
        fire.query("SELECT body FROM messages WHERE state = 'answered'").into_iter().collect();
    let is_answered = |token: &String| {
        ["say exactly", "spread"].iter().any(|asks| answered.contains(&format!("{asks} {token}")))
    };
    for (n, mut seen) in seen.into_iter().enumerate() {
        let nick = format!("sender{n}");
        let mine = |token: &&String| token.starts_with(&format!("tok-{n}-"));
        let wanted: Vec<&String> =
            private.iter().filter(mine).filter(|token| is_answered(token)).collect();
        // Those that came while it was away are shown when it comes back.
        let mut back = come_in(fire, &nick);
        back.send("PING :last");
        back.wait("all that was missed", |line| line.ends_with("PONG fire :last").then_some(()));
        see(&back, &nick, &mut seen);
        let unseen: Vec<_> = wanted.iter().filter(|token| !seen.contains(**token)).collect();
        assert!(unseen.is_empty(), "{nick} never saw {unseen:?}");
        drop(back);
        let mut counts = BTreeMap::new();
        let caps = "message-tags server-time batch draft/chathistory";
        let mut reader = eventually_within(SETTLE, "the nick to be free", || {
            let mut peer = IrcPeer::open(&fire.irc, &nick);
            let hello = format!("CAP REQ :{caps}\r\nNICK {nick}\r\nUSER x 0 * :x\r\nCAP END");
            peer.send(&hello);
            let number = |line: &str| Some(irc::command(line).to_owned());
            let is_it = |number: &String| matches!(&**number, "001" | "433");
            let greeted = peer.listen(SETTLE, |line| number(line).filter(is_it));
            greeted.filter(|number| number == "001").map(|_| peer)
        });
        for agent in 0..5 {
            for (text, count) in answers(&reader.history(&format!("fire-a{agent}"))) {
                *counts.entry(text).or_insert(0) += count;
            }
        }
        for token in &wanted {
            assert_eq!(counts.get(*token), Some(&1), "{token} in the conversation of {nick}");
        }
        println!("{nick}: {} private answers, all seen", wanted.len());
    }
    let lost = "SELECT idem_key || ' to ' || target || ', answers ' || coalesce(question, '-') || \
                ', ' || why || ': ' || body FROM outbox WHERE state = 'undeliverable'";
    assert_eq!(fire.query(lost), [""; 0]);
}

/// Notes the private answers that a connection has shown.
pub(super) fn see(peer: &IrcPeer, nick: &str, seen: &mut BTreeSet<String>) {
    let lines = peer.lines();
    let said = lines.iter().filter_map(|line| irc::said(line));
    let to_it = said.filter(|said| said.from.starts_with("fire-") && said.target == nick);
    seen.extend(to_it.map(|said| said.text.to_owned()));
}
