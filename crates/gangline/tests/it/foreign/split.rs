//! Two linked servers that lose one another: the agent on one, a person on the other.

use super::*;

/// So many others are on the person's server: they leave and come all at once.
const CROWD: usize = 20;

/// Two servers of one network, with a cable between them.
struct Network {
    /// The agent's.
    _here: Ircd,
    /// The person's.
    there: Ircd,
    cable: Cable,
}

fn address() -> String {
    format!("127.0.0.1:{}", stage::free_port())
}

fn network(kind: Kind, stage: &Stage) -> Network {
    let (here, there) = ("irc.here.test", "irc.there.test");
    let (a, b) = (stage.irc.clone(), address());
    // The server there asks the one here for the link, through the cable.
    let (asked, between) = (address(), address());
    let from_here = [Link { name: there.to_owned(), address: None }];
    let from_there = [Link { name: here.to_owned(), address: Some(between.clone()) }];
    match kind {
        Kind::Ngircd => {
            let cable = Cable::between(&between, &a);
            let here = Ngircd { name: here, links: &from_here, ..Ngircd::default() };
            let there = Ngircd { name: there, links: &from_there, ..Ngircd::default() };
            let _here = here.start(&stage.world, &a);
            Network { _here, there: there.start(&stage.world, &b), cable }
        }
        Kind::Inspircd | Kind::Ircv3 => {
            let modules = if kind == Kind::Ircv3 { ircd::IRCV3 } else { &[] };
            let cable = Cable::between(&between, &asked);
            let here = Inspircd {
                name: here,
                modules,
                links: Some((&asked, &from_here)),
                ..Inspircd::default()
            };
            let own = address();
            let there = Inspircd {
                name: there,
                id: "2BB",
                modules,
                links: Some((&own, &from_there)),
                ..Inspircd::default()
            };
            let _here = here.start(&stage.world, &a);
            Network { _here, there: there.start(&stage.world, &b), cable }
        }
    }
}

/// R1-47: during the split the agent speaks to its own side; somebody takes its nick on the other;
/// when the servers find one another again it has its nick, answers, and nothing is doubled.
fn splits(kind: Kind) {
    let stage = stage();
    let network = network(kind, &stage);
    let mut bob = person(&stage, "bob");
    let mut alice = person_at(&network.there.address, "alice");
    bob.wait("alice from the other server", |line| {
        (line.starts_with(":alice!") && irc::command(line) == "JOIN").then_some(())
    });
    let crowd: Vec<IrcPeer> = (0..CROWD)
        .map(|number| person_at(&network.there.address, &format!("crowd{number}")))
        .collect();
    let _hub = up(&stage, &mut alice);
    asks(&mut alice, "together");

    network.cable.cut();
    alice.wait("the split", |line| {
        (line.starts_with(":fx-ada!") && irc::command(line) == "QUIT").then_some(())
    });
    bob.say("#general", "@fx-ada say exactly on this side");
    bob.hears(ADA, "#general", "on this side");
    alice.say("#general", "@fx-ada say exactly never heard");
    let squatter = person_at(&network.there.address, ADA);

    network.cable.mend();
    alice.wait("the agent and its nick", |line| {
        let joins = line.starts_with(":fx-ada!gangline@")
            || line.starts_with(":fx-ada!~gangline@")
            || line.ends_with("NICK :fx-ada")
            || line.ends_with("NICK fx-ada");
        (joins && ["JOIN", "NICK"].contains(&irc::command(line))).then_some(())
    });
    drop(squatter);
    asks(&mut alice, "together again");
    asks(&mut bob, "all of us");
    // The other server has it a little later.
    alice.hears(ADA, "#general", "all of us");
    all_confirmed(&stage);
    tells_of_no_trouble(&stage);
    let mine = ["on this side", "together again", "all of us"];
    drop(crowd);
    let heard = said_by(&bob, ADA, "#general");
    let later = heard.iter().position(|text| text == "on this side").unwrap();
    assert_eq!(heard[later..], mine);
    assert_eq!(said_by(&alice, ADA, "#general"), ["together", "together again", "all of us"]);
    assert_eq!(stage.query("SELECT count(*) FROM messages"), ["4"]);
    assert_eq!(stage.query("SELECT count(*) FROM outbox WHERE may_be_doubled <> 0"), ["0"]);
}

#[test]
fn ngircd_servers_that_lose_one_another_and_meet_again() {
    if !Kind::Ngircd.is_missing("split::ngircd") {
        splits(Kind::Ngircd);
    }
}

#[test]
fn inspircd_servers_that_lose_one_another_and_meet_again() {
    if !Kind::Inspircd.is_missing("split::inspircd") {
        splits(Kind::Inspircd);
    }
}

#[test]
fn inspircd_servers_with_extensions_that_lose_one_another_and_meet_again() {
    if !Kind::Ircv3.is_missing("split::inspircd_with_extensions") {
        splits(Kind::Ircv3);
    }
}
