use gangline_core::{MessageId, Tier};
use gangline_os::clock::UnixMicros;
use proptest::prelude::*;

use super::{Became, By, Order, Ring, Spoken, Wanted};

fn line(number: i64) -> Spoken {
    Spoken {
        nick: "alice".into(),
        text: format!("line {number}"),
        at: UnixMicros(1_795_296_828_000_000 + number * 1_000),
        msgid: Some(format!("id{number}")),
        cursor: format!("msgid=id{number}").parse().ok(),
        became: Became::Nothing,
        tier: Tier::Member,
        by: By::Others,
    }
}

fn numbers(ring: &mut Ring, limit: usize, order: Order) -> (Vec<String>, u64, u64) {
    let page = ring.read(wanted(limit, order), |_| true);
    let texts = page.lines.iter().map(|line| line.text.replace("line ", "")).collect();
    (texts, page.remaining, page.lost)
}

fn wanted(limit: usize, order: Order) -> Wanted {
    Wanted { limit, order, by: By::Others }
}

fn texts(range: std::ops::Range<i64>) -> Vec<String> {
    range.map(|n| n.to_string()).collect()
}

/// R1-19, C19: oldest first, and the cursor moves only past what was returned.
#[test]
fn reading_goes_on_where_it_stopped() {
    let mut ring = Ring::new(500, None);
    assert_eq!(numbers(&mut ring, 50, Order::Oldest), (vec![], 0, 0));
    (0..120).for_each(|n| assert!(ring.push(line(n))));
    assert_eq!(ring.unread(), 120);
    assert_eq!(numbers(&mut ring, 50, Order::Oldest), (texts(0..50), 70, 0));
    assert_eq!(numbers(&mut ring, 50, Order::Oldest), (texts(50..100), 20, 0));
    ring.push(line(120));
    assert_eq!(numbers(&mut ring, 50, Order::Oldest), (texts(100..121), 0, 0));
    assert_eq!(numbers(&mut ring, 50, Order::Oldest), (vec![], 0, 0));
    assert_eq!(ring.moved_to().unwrap().as_str(), "msgid=id120");
    ring.kept(&"msgid=id99".parse().unwrap());
    assert!(ring.moved_to().is_some(), "it has moved since");
    ring.kept(&"msgid=id120".parse().unwrap());
    assert_eq!(ring.moved_to(), None);
}

/// C19: culture's order on request: the newest, and the cursor jumps to the end.
#[test]
fn the_newest_are_given_on_request_and_the_rest_counts_as_read() {
    let mut ring = Ring::new(500, None);
    (0..10).for_each(|n| assert!(ring.push(line(n))));
    assert_eq!(numbers(&mut ring, 3, Order::Newest), (texts(7..10), 0, 0));
    assert_eq!(numbers(&mut ring, 3, Order::Oldest), (vec![], 0, 0));
}

/// R1-27, C18: the ring holds so many lines; what was dropped unread is counted, and the kept
/// place moves with it, so that a refill is never longer than the ring.
#[test]
fn a_full_ring_drops_the_oldest_and_says_how_many_were_unread() {
    let mut ring = Ring::new(3, None);
    (0..2).for_each(|n| assert!(ring.push(line(n))));
    assert_eq!(numbers(&mut ring, 1, Order::Oldest), (texts(0..1), 1, 0));
    (2..6).for_each(|n| assert!(ring.push(line(n))));
    assert_eq!(ring.moved_to().unwrap().as_str(), "msgid=id2");
    assert_eq!(numbers(&mut ring, 9, Order::Oldest), (texts(3..6), 0, 2));
    assert_eq!(numbers(&mut ring, 9, Order::Oldest), (vec![], 0, 0));
}

/// C19: what was read by an earlier daemon comes again from history as a message; it is not kept.
#[test]
fn what_a_line_has_become_is_told_of_lines_that_are_there_only() {
    let mut ring = Ring::new(500, "msgid=id1".parse().ok());
    ring.push(line(2));
    assert!(!ring.known(&Spoken { became: Became::Message(MessageId(6)), ..line(1) }));
    assert!(ring.known(&Spoken { became: Became::Message(MessageId(7)), ..line(2) }));
    let page = ring.read(wanted(9, Order::Oldest), |_| true);
    assert_eq!(page.lines, [Spoken { became: Became::Message(MessageId(7)), ..line(2) }]);
}

#[test]
fn a_line_that_comes_twice_is_kept_once_with_the_message_that_it_became() {
    let mut ring = Ring::new(500, None);
    assert!(ring.push(line(1)));
    assert!(!ring.push(Spoken { became: Became::Message(MessageId(7)), ..line(1) }));
    assert!(!ring.push(line(1)));
    let nameless = Spoken { msgid: None, ..line(2) };
    assert!(ring.push(nameless.clone()));
    assert!(!ring.push(nameless.clone()));
    assert!(ring.push(Spoken { nick: "bob".into(), ..nameless }));
    let page = ring.read(wanted(9, Order::Oldest), |_| true);
    assert_eq!(page.lines.len(), 3);
    assert_eq!(page.lines[0].message(), Some(MessageId(7)));
}

/// What history shows late stands in its place among the unread, and never before what was read.
#[test]
fn late_lines_are_put_in_order_but_not_behind_the_reader() {
    let mut ring = Ring::new(500, None);
    for n in [1, 5, 3] {
        assert!(ring.push(line(n)));
    }
    let in_order: Vec<String> = ["1", "3", "5"].map(str::to_owned).into();
    assert_eq!(numbers(&mut ring, 9, Order::Oldest), (in_order, 0, 0));
    for n in [9, 4, 2] {
        assert!(ring.push(line(n)));
    }
    let late: Vec<String> = ["2", "4", "9"].map(str::to_owned).into();
    assert_eq!(numbers(&mut ring, 9, Order::Oldest), (late, 0, 0));
}

#[test]
fn a_page_ends_where_it_would_get_too_long_but_is_never_empty() {
    let mut ring = Ring::new(500, None);
    (0..5).for_each(|n| assert!(ring.push(line(n))));
    let mut room = 2;
    let mut fits = |_: &Spoken| {
        room -= 1;
        room >= 0
    };
    let page = ring.read(wanted(9, Order::Oldest), &mut fits);
    assert_eq!((page.lines.len(), page.remaining), (2, 3));
    let page = ring.read(wanted(9, Order::Oldest), |_| false);
    assert_eq!((page.lines.len(), page.remaining), (1, 2));
    let page = ring.read(wanted(9, Order::Newest), |_| false);
    assert_eq!((page.lines[0].text.as_str(), page.remaining), ("line 4", 0));
}

/// A ring without a place begins right before its first line, by time.
#[test]
fn the_first_line_gives_a_new_ring_its_place() {
    let mut ring = Ring::new(3, None);
    assert_eq!(ring.moved_to(), None);
    ring.push(line(1));
    assert_eq!(ring.moved_to().unwrap().as_str(), "timestamp=2026-11-21T21:33:48.000Z");
    let mut known = Ring::new(3, Some("msgid=x".parse().unwrap()));
    known.push(line(1));
    assert_eq!(known.moved_to(), None);
}

/// What a prompt brought is not read once more, and not counted; who looks back sees it.
#[test]
fn what_the_agent_was_given_is_no_news() {
    let message = |n| Spoken { became: Became::Message(MessageId(n)), ..line(n) };
    let mut ring = Ring::new(500, None);
    ring.push(line(0));
    ring.push(message(1));
    ring.push(line(2));
    ring.push(message(3));
    assert_eq!((ring.unread(), ring.heard_only()), (4, 2));
    assert!(ring.given(MessageId(1)) && ring.given(MessageId(1)), "prompted again: it is here");
    assert!(!ring.given(MessageId(9)), "not here yet");
    assert_eq!((ring.unread(), ring.heard_only()), (3, 2));
    assert_eq!(numbers(&mut ring, 9, Order::Peek), (texts(0..4), 3, 0));
    let page = ring.read(wanted(2, Order::Oldest), |_| true);
    assert_eq!((page.lines, page.remaining), (vec![line(0), line(2)], 1));
    assert!(ring.given(MessageId(3)));
    assert_eq!(numbers(&mut ring, 9, Order::Newest), (vec![], 0, 0));
    assert_eq!(ring.moved_to().unwrap().as_str(), "msgid=id3", "a restart begins behind it");
    // It came as a line once more, from history.
    ring.push(Spoken { became: Became::Given(MessageId(4)), ..line(4) });
    assert_eq!(numbers(&mut ring, 9, Order::Oldest), (vec![], 0, 0));
    assert_eq!(ring.moved_to().unwrap().as_str(), "msgid=id4");
    ring.push(line(5));
    assert!(ring.known(&Spoken { became: Became::Given(MessageId(5)), ..line(5) }));
    assert_eq!(ring.unread(), 0);
}

/// What pushes a line out that was given has lost nothing.
#[test]
fn a_line_that_was_given_is_not_lost() {
    let mut ring = Ring::new(2, None);
    ring.push(line(0));
    ring.push(Spoken { became: Became::Message(MessageId(1)), ..line(1) });
    ring.given(MessageId(1));
    (2..4).for_each(|n| assert!(ring.push(line(n))));
    assert_eq!(numbers(&mut ring, 9, Order::Oldest), (texts(2..4), 0, 1));
}

fn own(number: i64) -> Spoken {
    Spoken {
        nick: "oak-ada".into(),
        by: By::Agent,
        tier: Tier::Agent,
        cursor: None,
        ..line(number)
    }
}

/// The agent's own lines are no news: they count nowhere, are given to who asks for them only, and
/// do not take the place of others.
#[test]
fn own_lines_are_given_to_who_asks_for_them() {
    let all = |limit, order| Wanted { limit, order, by: By::Agent };
    let said = |page: super::Page| -> Vec<String> {
        page.lines.iter().map(|line| line.text.replace("line ", "")).collect()
    };
    let mut ring = Ring::new(500, None);
    for line in [line(0), own(1), line(2), own(3)] {
        assert!(ring.push(line));
    }
    assert_eq!(ring.unread(), 2);
    assert_eq!(said(ring.read(all(9, Order::Peek), |_| true)), texts(0..4));
    assert_eq!(said(ring.read(all(3, Order::Peek), |_| true)), texts(1..4));
    assert_eq!((ring.unread(), ring.moved_to().unwrap().as_str().len()), (2, 34), "nothing moved");
    assert_eq!(said(ring.read(all(2, Order::Oldest), |_| true)), texts(0..2));
    assert_eq!(ring.unread(), 1);
    assert_eq!(said(ring.read(wanted(0, Order::Newest), |_| true)), texts(0..0));
    assert_eq!(numbers(&mut ring, 9, Order::Oldest), (texts(2..3), 0, 0));
    assert_eq!(ring.moved_to().unwrap().as_str(), "msgid=id2", "history has no own lines");
    assert_eq!(
        said(ring.read(all(9, Order::Oldest), |_| true)),
        texts(0..0),
        "own ones are passed"
    );
    assert_eq!(said(ring.read(wanted(9, Order::Peek), |_| true)), ["0", "2"]);
    let mut small = Ring::new(2, None);
    for line in [own(0), own(1), line(2), own(3), own(4)] {
        small.push(line);
    }
    assert_eq!(
        (small.unread(), said(small.read(all(9, Order::Newest), |_| true))),
        (0, texts(3..5))
    );
    let mut small = Ring::new(1, None);
    for line in [own(0), own(1), line(2)] {
        small.push(line);
    }
    assert_eq!(numbers(&mut small, 9, Order::Oldest), (texts(2..3), 0, 0), "own ones are not lost");
}

proptest! {
    /// Whatever comes in whatever order and however it is read: each line is read at most once, and
    /// every one that the ring did not drop is read.
    #[test]
    fn every_line_is_read_once(
        steps in prop::collection::vec((0i64..40, prop::option::of(1usize..6)), 1..120),
        max in 1usize..30,
    ) {
        let mut ring = Ring::new(max, None);
        let (mut pushed, mut read, mut lost) = (Vec::new(), Vec::new(), 0);
        for (number, then_read) in steps {
            if !pushed.contains(&number) {
                prop_assert!(ring.push(line(number)));
                pushed.push(number);
            }
            if let Some(limit) = then_read {
                let page = ring.read(wanted(limit, Order::Oldest), |_| true);
                prop_assert_eq!(page.remaining, ring.unread());
                lost += page.lost;
                read.extend(page.lines.into_iter().map(|line| line.text));
            }
        }
        let page = ring.read(wanted(usize::MAX, Order::Oldest), |_| true);
        lost += page.lost;
        read.extend(page.lines.into_iter().map(|line| line.text));
        let count = read.len() as u64;
        read.sort();
        read.dedup();
        prop_assert_eq!(read.len() as u64, count);
        prop_assert_eq!(count + lost, pushed.len() as u64);
    }
}
