use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Processes as a table: parent, what it holds, its run id.
#[derive(Debug, Default, Clone)]
struct Table(BTreeMap<u32, (u32, Option<Holder>, Option<RunId>)>);

impl Processes for Table {
    fn parent(&self, pid: u32) -> Option<u32> {
        self.0.get(&pid).map(|row| row.0)
    }

    fn holder(&self, pid: u32) -> Option<Holder> {
        self.0.get(&pid)?.1.clone()
    }

    fn run_id(&self, pid: u32) -> Option<RunId> {
        self.0.get(&pid)?.2.clone()
    }
}

fn daemon(nick: &str) -> Option<Holder> {
    Some(Holder::Daemon(nick.to_owned()))
}

fn mark(text: &str) -> Option<RunId> {
    Some(text.parse().unwrap())
}

fn is(nick: &str) -> Option<Owner> {
    Some(Owner { nick: nick.to_owned(), part: Part::Backend })
}

fn beside(nick: &str) -> Option<Owner> {
    Some(Owner { nick: nick.to_owned(), part: Part::Beside })
}

/// A machine on which nearly everything happens at once.
fn machine() -> Table {
    Table(BTreeMap::from([
        (1, (0, None, None)),
        // A person's terminal, from which the hub was started.
        (10, (1, None, None)),
        (11, (10, None, None)),
        (20, (1, Some(Holder::Hub), None)),
        // ada: a program, its shell without an environment, an orphan of it, a terminal server.
        (30, (20, daemon("oak-ada"), None)),
        (31, (30, None, mark("i/oak-ada/3"))),
        (32, (31, None, None)),
        (33, (30, None, None)),
        (34, (33, None, None)),
        // A hook of it, and what that started.
        (35, (30, None, mark("i/oak-ada:hook/3"))),
        (36, (35, None, None)),
        // bob's daemon lost its hub; ada's mark got into its shell.
        (40, (1, daemon("oak-bob"), None)),
        (41, (40, None, mark("i/oak-ada/3"))),
        // What a dead daemon left, with and without its mark; a child of the first.
        (50, (1, None, mark("i/oak-eve/7"))),
        (51, (50, None, None)),
        (52, (1, None, None)),
        (53, (1, None, mark("i/oak-eve:supervisor/7"))),
        // Another installation's.
        (54, (1, None, mark("other/oak-eve/7"))),
        // ada's shell started a hub, and that one the daemon of cat.
        (60, (30, Some(Holder::Hub), None)),
        (61, (60, daemon("oak-cat"), None)),
        (62, (61, None, None)),
        (63, (60, None, None)),
        // Parents that cannot be.
        (70, (71, None, None)),
        (71, (70, None, None)),
    ]))
}

#[test]
fn a_process_belongs_to_the_nearest_daemon_above_it_and_else_to_its_mark() {
    let table = machine();
    for (pid, owner) in [
        (11, None),
        (20, None),
        (30, None),
        (31, is("oak-ada")),
        (32, is("oak-ada")),
        (33, is("oak-ada")),
        (34, is("oak-ada")),
        (36, beside("oak-ada")),
        (41, is("oak-bob")),
        (50, is("oak-eve")),
        (51, is("oak-eve")),
        (52, None),
        (53, beside("oak-eve")),
        (54, None),
        (60, None),
        (61, None),
        (62, is("oak-cat")),
        (63, None),
        (70, None),
        (99, None),
    ] {
        assert_eq!(decide(pid, Some("i"), &table), owner, "{pid}");
    }
    assert_eq!(decide(50, None, &table), None, "no run id counts");
}

proptest! {
    /// However deep below a daemon, with whatever marks: it is that daemon's, until another daemon or a
    /// hub stands between. Tables with any parents, circles too, are decided.
    #[test]
    fn depth_and_marks_do_not_matter(
        depth in 1_u32..100,
        marks in proptest::collection::vec(proptest::bool::ANY, 100),
        parents in proptest::collection::vec(0_u32..40, 40),
    ) {
        let mut table = Table::default();
        table.0.insert(1, (0, daemon("oak-ada"), None));
        for pid in 2..=depth + 1 {
            let mark = marks[pid as usize % 100].then(|| mark("i/oak-bob/1")).flatten();
            table.0.insert(pid, (pid - 1, None, mark));
        }
        prop_assert_eq!(decide(depth + 1, Some("i"), &table), is("oak-ada"));
        let top = table.0.get_mut(&2).unwrap();
        top.1 = Some(Holder::Hub);
        if depth > 1 {
            prop_assert_ne!(decide(depth + 1, Some("i"), &table), is("oak-ada"));
        }
        let any = Table(parents.iter().zip(0..).map(|(up, pid)| (pid, (*up, None, None))).collect());
        for pid in 0..40 {
            prop_assert_eq!(decide(pid, Some("i"), &any), None);
        }
    }
}
