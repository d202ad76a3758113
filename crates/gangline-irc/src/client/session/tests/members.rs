//! R1-22: how many are in a channel is known from what the server sends anyway. First stories, then
//! a network of people who come and go, with which the count is compared at each line.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::client::session::members::{MEMBERS_MAX, ROOMS_MAX};

impl Story {
    /// Tells a line; returns what is said about counts.
    fn counts(&mut self, line: &str) -> String {
        let told = self.server(line).into_iter();
        let told = told.filter_map(|text| Some(text.strip_prefix("<members ")?.replace('>', "")));
        told.collect::<Vec<_>>().join(", ")
    }

    /// Tells several; returns what the last one said.
    fn last_count(&mut self, lines: &[&str]) -> String {
        lines.iter().fold(String::new(), |_, line| self.counts(line))
    }

    /// We are in `#den` with bob and carol.
    fn in_den() -> Self {
        let mut story = Self::plain();
        let told = story.last_count(&[
            ":ada!a@h JOIN #den",
            ":irc 353 ada = #den :ada @bob",
            ":irc 353 ada = #den :carol",
            ":irc 366 ada #den :End",
        ]);
        assert_eq!(told, "#den 3");
        story
    }
}

#[test]
fn who_comes_and_goes_is_counted() {
    let mut story = Story::in_den();
    for (line, told) in [
        (":dave!d@h JOIN #den", "#den 4"),
        (":dave!d@h JOIN #DEN", ""),
        (":erin!e@h JOIN #den * :Erin", "#den 5"),
        (":dave!d@h PART #den :bye", "#den 4"),
        (":dave!d@h PART #den :bye", ""),
        (":bob!b@h KICK #den erin :out", "#den 3"),
        (":carol!c@h NICK Karol", ""),
        (":carol!c@h QUIT :not that one", ""),
        (":KAROL!c@h QUIT :bye", "#den 2"),
        (":ada!a@h NICK Guest", ""),
        (":bob!b@h QUIT :irc.a irc.b", "#den 1"),
        (":x!x@h JOIN #other", ""),
    ] {
        assert_eq!(story.counts(line), told, "{line}");
    }
}

#[test]
fn a_list_may_show_all_ranks_and_hosts_and_its_server_tells_them() {
    let mut story = Story::plain();
    story.server(":irc 005 ada PREFIX=(Yqov)*~@+ CASEMAPPING=ascii :are supported");
    let told = story.last_count(&[
        ":ada!a@h JOIN #den",
        ":irc 353 ada = #den :@+ada!a@h *~bob!b@h  %carol ",
        ":irc 366 ada #den :End",
        ":irc 353 ada = #den :ada",
    ]);
    assert_eq!(told, "");
    assert_eq!(story.counts(":bob!b@h QUIT :bye"), "#den 2");
    assert_eq!(story.counts(":carol!c@h PART #den"), "#den 1");
}

#[test]
fn nicks_are_the_same_as_the_server_has_it() {
    for (mapping, left) in [
        ("CASEMAPPING=ascii", ["#den 4", "", "#den 3"]),
        ("CASEMAPPING=rfc1459", ["#den 4", "#den 3", "#den 2"]),
        ("CASEMAPPING=rfc1459-strict", ["#den 4", "", "#den 3"]),
        ("CASEMAPPING=precis", ["#den 4", "", "#den 3"]),
        ("", ["#den 4", "#den 3", "#den 2"]),
    ] {
        let mut story = Story::plain();
        story.server(&format!(":irc 005 ada {mapping} :are supported"));
        story.server(":ada!a@h JOIN #den");
        story.server(":irc 353 ada = #den :ada bob c^ d{ e");
        assert_eq!(story.counts(":irc 366 ada #den :End"), "#den 5", "{mapping}");
        let lines = [":BOB!b@h PART #den", ":C~!c@h PART #den", ":E!e@h PART #den"];
        assert_eq!(lines.map(|line| story.counts(line)), left, "{mapping}");
    }
    let mut strict = Story::plain();
    strict.server(":irc 005 ada CASEMAPPING=strict-rfc1459 :are supported");
    strict.server(":ada!a@h JOIN #den");
    strict.server(":irc 353 ada = #den :ada c^ d{|}");
    strict.server(":irc 366 ada #den :End");
    assert_eq!(strict.counts(":d[\\]!d@h PART #den"), "#den 2");
}

/// What was folded by another rule says nothing any more.
#[test]
fn a_server_that_changes_its_casemapping_lists_anew() {
    let mut story = Story::in_den();
    story.server(":irc 005 ada CASEMAPPING=ascii :are supported");
    assert_eq!(story.counts(":x!x@h JOIN #den"), "");
    story.server(":irc 353 ada = #den :ada x");
    assert_eq!(story.counts(":irc 366 ada #den :End"), "#den 2");
}

/// An auditorium shows who has a rank: a MODE makes people come and go, and says nothing of it.
#[test]
fn after_a_change_of_modes_the_count_is_not_known_until_a_list() {
    let mut story = Story::in_den();
    assert_eq!(story.counts(":bob!b@h MODE #den +o carol"), "#den ?");
    assert_eq!(story.counts(":dave!d@h JOIN #den"), "");
    assert_eq!(story.counts(":ada MODE ada +B"), "");
    story.server(":irc 353 ada = #den :ada bob");
    assert_eq!(story.counts(":irc 366 ada #den :End"), "#den 2");
}

#[test]
fn a_list_in_whose_midst_somebody_comes_or_goes_says_nothing() {
    for line in [
        ":x!x@h JOIN #den",
        ":carol!c@h PART #den",
        ":bob!b@h KICK #den carol :out",
        ":carol!c@h QUIT :bye",
        ":carol!c@h NICK karol",
        ":bob!b@h MODE #den +u",
    ] {
        let mut story = Story::plain();
        story.server(":ada!a@h JOIN #den");
        story.server(":irc 353 ada = #den :ada bob");
        story.server(line);
        story.server(":irc 353 ada = #den :carol");
        assert_eq!(story.counts(":irc 366 ada #den :End"), "", "{line}");
        story.server(":irc 353 ada = #den :ada bob");
        assert_eq!(story.counts(":irc 366 ada #den :End"), "#den 2", "{line}");
    }
    // What was known is true still.
    let mut story = Story::in_den();
    story.server(":irc 353 ada = #den :ada bob");
    assert_eq!(story.counts(":x!x@h JOIN #den"), "#den 4");
    story.server(":irc 353 ada = #den :carol");
    assert_eq!(story.counts(":irc 366 ada #den :End"), "");
    assert_eq!(story.counts(":x!x@h PART #den"), "#den 3");
}

#[test]
fn a_list_mends_what_was_wrong_and_one_without_rows_says_nothing() {
    let mut story = Story::in_den();
    assert_eq!(story.counts(":irc 366 ada #den :End"), "");
    story.server(":irc 353 ada = #den :ada bob");
    story.server(":irc 353 ada = #den :@Bob");
    assert_eq!(story.counts(":irc 366 ada #den :End"), "#den 2");
    story.server(":irc 353 ada = #other :x y z");
    assert_eq!(story.counts(":irc 366 ada #other :End"), "", "we are not there");
}

#[test]
fn nothing_is_known_of_a_room_that_was_left_or_of_another_connection() {
    for leave in [":ada!a@h PART #den", ":bob!b@h KICK #den ada :out", ":ada!a@h JOIN #den"] {
        let mut story = Story::in_den();
        assert_eq!(story.counts(leave), "");
        assert_eq!(story.last_count(&[":x!x@h JOIN #den", ":bob!b@h PART #den"]), "", "{leave}");
        story.server(":ada!a@h JOIN #den");
        story.server(":irc 353 ada = #den :ada");
        assert_eq!(story.counts(":irc 366 ada #den :End"), "#den 1", "{leave}");
    }
    let mut story = Story::in_den();
    story.server(":irc 005 ada CASEMAPPING=ascii :are supported");
    story.lost();
    story.connect();
    story.server(":irc 001 ada :Welcome");
    story.server(":irc 376 ada :End");
    assert_eq!(story.counts(":x!x@h JOIN #den"), "");
    story.server(":ada!a@h JOIN #den");
    story.server(":irc 353 ada = #den :ada c^");
    assert_eq!(story.counts(":irc 366 ada #den :End"), "#den 2");
    assert_eq!(story.counts(":c~!c@h PART #den"), "#den 1", "the mapping is another server's");
}

/// Who came and went at other times.
#[test]
fn history_counts_nobody() {
    let mut story = Story::rich();
    story.server(":ada!a@h JOIN #den");
    story.server(":irc 353 ada = #den :ada bob");
    story.server(":irc 366 ada #den :End");
    story.server("BATCH +h chathistory #den");
    assert_eq!(story.counts("@batch=h :x!x@h JOIN #den"), "");
    assert_eq!(story.counts("@batch=h :bob!b@h QUIT :bye"), "");
    story.server("BATCH -h");
    story.server("BATCH +n netsplit irc.a irc.b");
    assert_eq!(story.counts("@batch=n :bob!b@h QUIT :irc.a irc.b"), "#den 1");
}

/// Lists so many; returns what is said about counts.
fn list(story: &mut Story, channel: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|number| format!("n{number}")).collect();
    let row = |names: &[String]| format!(":irc 353 ada = {channel} :{}", names.join(" "));
    let mut told: String = names.chunks(20).map(|names| story.counts(&row(names))).collect();
    told += &story.counts(&format!(":irc 366 ada {channel} :End"));
    told
}

#[test]
fn a_room_with_too_many_is_not_counted_until_they_are_fewer() {
    let mut story = Story::in_den();
    assert_eq!(list(&mut story, "#den", MEMBERS_MAX + 1), "#den ?");
    assert_eq!(story.counts(":n1!n@h PART #den"), "");
    assert_eq!(list(&mut story, "#den", MEMBERS_MAX), "#den 4096");
    assert_eq!(story.counts(":n1!n@h JOIN #den"), "", "it is there");
    assert_eq!(story.counts(":one!n@h JOIN #den"), "#den ?");
    assert_eq!(story.counts(":one!n@h PART #den"), "");
    assert_eq!(list(&mut story, "#den", 7), "#den 7");
}

#[test]
fn a_server_that_puts_us_into_any_number_of_rooms_fills_no_memory() {
    let mut story = Story::plain();
    for number in 0..=ROOMS_MAX {
        story.server(&format!(":ada!a@h JOIN #r{number}"));
    }
    assert_eq!(list(&mut story, "#r0", 2), "#r0 2");
    story.server(":ada!a@h JOIN #r0");
    assert_eq!(story.counts(":x!x@h JOIN #r0"), "", "it is another room to us");
    assert_eq!(list(&mut story, "#r0", 3), "#r0 3");
    assert_eq!(list(&mut story, &format!("#r{ROOMS_MAX}"), 2), "");
    story.server(":ada!a@h PART #r0");
    story.server(":ada!a@h JOIN #late");
    assert_eq!(list(&mut story, "#late", 2), "#late 2");
}

/// What happens on the network.
#[derive(Debug, Clone)]
enum Step {
    Joins(usize, usize),
    Parts(usize, usize),
    Kicks(usize, usize),
    Quits(usize),
    Renames(usize, usize),
    Ranks(usize, usize),
    /// All with an even number are on the other side.
    Splits,
    /// The server begins to list a room, and says so many rows of it at once, one at least.
    Lists(usize, usize),
    /// It goes on with that.
    GoesOn(usize),
    Reconnects,
}

const ROOMS: [&str; 3] = ["#den", "#Lab", "#x[y"];
const NICKS: [&str; 8] = ["ada", "bob", "Carol", "d^v", "e[r]n", "fay", "Gus_", "hal|2"];

/// The server's own view. Person 0 are we.
#[derive(Default)]
struct Network {
    names: Vec<String>,
    rooms: BTreeMap<usize, BTreeSet<usize>>,
    /// The rows that were not said yet.
    listing: Vec<String>,
}

impl Network {
    fn new() -> Self {
        Self { names: NICKS.map(str::to_owned).to_vec(), ..Self::default() }
    }

    fn are_we_in(&self, room: usize) -> bool {
        self.rooms.get(&room).is_some_and(|room| room.contains(&0))
    }

    fn sees(&self, who: usize) -> bool {
        who == 0 || (0..3).any(|room| self.are_we_in(room) && self.rooms[&room].contains(&who))
    }

    /// The rows of a list, made all at once, as servers do.
    fn list(&self, room: usize) -> Vec<String> {
        let members = self.rooms.get(&room).cloned().unwrap_or_default();
        let names: Vec<String> = members
            .iter()
            .map(|who| format!("{}{}!u@h", ["", "@", "@+", "+"][who % 4], self.names[*who]))
            .collect();
        let row = |names: &[String]| format!(":irc 353 ada = {} :{}", ROOMS[room], names.join(" "));
        let mut rows: Vec<String> = names.chunks(2).map(row).collect();
        rows.push(format!(":irc 366 ada {} :End", ROOMS[room]));
        rows
    }

    fn leaves(&mut self, who: usize, room: usize) -> bool {
        self.rooms.get_mut(&room).is_some_and(|room| room.remove(&who))
    }

    /// Returns the lines that we get.
    #[expect(clippy::too_many_lines, reason = "a line or a few for each step or field")]
    fn step(&mut self, step: &Step) -> Vec<String> {
        let name = |network: &Self, who: usize| network.names[who].clone();
        match *step {
            Step::Joins(who, room) => {
                if !self.rooms.entry(room).or_default().insert(who) || !self.are_we_in(room) {
                    return Vec::new();
                }
                let mut lines = vec![format!(":{}!u@h JOIN {}", name(self, who), ROOMS[room])];
                if who == 0 {
                    lines.append(&mut self.listing);
                    lines.extend(self.list(room));
                }
                lines
            }
            Step::Parts(who, room) | Step::Kicks(who, room) => {
                let seen = self.are_we_in(room);
                if !self.leaves(who, room) || !seen {
                    return Vec::new();
                }
                let (name, room) = (name(self, who), ROOMS[room]);
                vec![match step {
                    Step::Parts(..) => format!(":{name}!u@h PART {room} :bye"),
                    _ => format!(":irc KICK {room} {} :out", name.to_uppercase()),
                }]
            }
            Step::Quits(0) => Vec::new(),
            Step::Quits(who) => {
                let seen = self.sees(who);
                let was_in = (0..3).filter(|room| self.leaves(who, *room)).count();
                let line = format!(":{}!u@h QUIT :bye", name(self, who));
                if seen && was_in > 0 { vec![line] } else { Vec::new() }
            }
            Step::Renames(who, to) => {
                let to = format!("{}{to}", NICKS[who]);
                let line = format!(":{}!u@h NICK {to}", name(self, who));
                self.names[who] = to;
                if self.sees(who) { vec![line] } else { Vec::new() }
            }
            Step::Ranks(who, room) => {
                let line = format!(":irc MODE {} +o {}", ROOMS[room], name(self, who));
                if self.are_we_in(room) { vec![line] } else { Vec::new() }
            }
            Step::Splits => {
                let gone: Vec<usize> = (2..NICKS.len()).step_by(2).collect();
                gone.into_iter().flat_map(|who| self.step(&Step::Quits(who))).collect()
            }
            Step::Lists(room, rows) => {
                // One at a time; a list that nobody hears to its end is another step's.
                let mut lines = std::mem::take(&mut self.listing);
                self.listing = self.list(room);
                lines.extend(self.step(&Step::GoesOn(rows.max(1))));
                lines
            }
            Step::GoesOn(rows) => {
                let rows = rows.min(self.listing.len());
                self.listing.drain(..rows).collect()
            }
            Step::Reconnects => {
                self.listing.clear();
                (0..3).for_each(|room| {
                    self.leaves(0, room);
                });
                self.names[0] = NICKS[0].to_owned();
                Vec::new()
            }
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let (who, room) = (0..NICKS.len(), 0..ROOMS.len());
    let both = || (who.clone(), room.clone());
    prop_oneof![
        6 => both().prop_map(|(who, room)| Step::Joins(who, room)),
        2 => (0..ROOMS.len()).prop_map(|room| Step::Joins(0, room)),
        3 => both().prop_map(|(who, room)| Step::Parts(who, room)),
        1 => both().prop_map(|(who, room)| Step::Kicks(who, room)),
        2 => who.clone().prop_map(Step::Quits),
        3 => (who.clone(), 0usize..5).prop_map(|(who, to)| Step::Renames(who, to)),
        1 => both().prop_map(|(who, room)| Step::Ranks(who, room)),
        1 => Just(Step::Splits),
        3 => (room.clone(), 0usize..6).prop_map(|(room, rows)| Step::Lists(room, rows)),
        3 => (0usize..6).prop_map(Step::GoesOn),
        1 => Just(Step::Reconnects),
    ]
}

/// What the caller knows of a room.
fn note(known: &mut BTreeMap<usize, u32>, told: &[String]) {
    for text in told {
        let words: Vec<&str> = text.trim_matches(['<', '>']).split(' ').collect();
        let room = |name: &str| ROOMS.iter().position(|room| *room == name).expect("a room");
        match words.as_slice() {
            ["members", name, "?"] | ["joined" | "parted" | "kicked", name, ..] => {
                known.remove(&room(name));
            }
            ["members", name, count] => {
                known.insert(room(name), count.parse().expect("a count"));
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// R1-22: what is told is true after each line, whatever people do; and where nothing happens
    /// within a list, it is told.
    #[test]
    fn the_count_is_true_whenever_it_is_told(steps in vec(step(), 1..80)) {
        let mapping = ":irc 005 ada CASEMAPPING=rfc1459 PREFIX=(ov)@+ :are supported";
        let mut story = Story::plain();
        story.server(mapping);
        let (mut network, mut known) = (Network::new(), BTreeMap::new());
        for step in &steps {
            if let Step::Reconnects = step {
                story.lost();
                story.connect();
                story.server(":irc 001 ada :Welcome");
                story.server(mapping);
                story.server(":irc 376 ada :End");
                known.clear();
            }
            let mut told = Vec::new();
            for line in network.step(step) {
                told.extend(story.server(&line));
            }
            note(&mut known, &told);
            for (room, count) in &known {
                prop_assert!(network.are_we_in(*room), "{step:?}: we are not in {room}");
                prop_assert_eq!(*count as usize, network.rooms[room].len(), "{:?}", step);
            }
            if let Step::Joins(0, room) = step
                && told.iter().any(|text| text.starts_with("<joined"))
            {
                prop_assert!(known.contains_key(room), "{step:?} told nothing");
            }
        }
        // A whole list makes every room known.
        let rest = std::mem::take(&mut network.listing);
        let all = (0..3).filter(|room| network.are_we_in(*room)).collect::<Vec<_>>();
        // Twice: the first may end a list that somebody came into.
        let lists = all.iter().chain(&all).flat_map(|room| network.list(*room));
        for line in rest.into_iter().chain(lists.collect::<Vec<_>>()) {
            let told = story.server(&line);
            note(&mut known, &told);
        }
        for room in all {
            let count = known.get(&room).map(|count| *count as usize);
            prop_assert_eq!(count, Some(network.rooms[&room].len()), "{}", ROOMS[room]);
        }
    }
}
