//! Whose rooms are: of accounts and sessions, never of nicks.

use std::sync::Arc;

use gangline_core::Tier;
use gangline_irc::server::{
    access::{Access, Guests},
    config::Limits,
    store::{Account, HistoryStore as _},
    trust::Origin,
};

use super::support::{Disk, Peer, Room};

fn limits() -> Limits {
    Limits { flood: None, ..Limits::default() }
}

/// A server with these members' accounts.
async fn with_accounts(names: &[&str]) -> Room {
    let room = Room::with(limits(), Origin::Own).await;
    for name in names {
        let account = Account {
            name: name.parse().unwrap(),
            tier: Tier::Member,
            credential_sha256: String::new(),
            last_nick: None,
        };
        room.disk.put_account(account).await.unwrap();
    }
    room
}

/// The same server after a restart.
async fn restarted(room: Room) -> Room {
    let disk: Arc<Disk> = room.disk.clone();
    room.shut().await;
    let access = Access { guests: Guests::Talk, ..Access::default() };
    Room::again(disk, access, Origin::Own, |config| config.limits = limits()).await
}

/// Returns the nick as NAMES shows it to its bearer after JOIN, or the number that refuses that.
async fn join(peer: &mut Peer, what: &str) -> String {
    peer.send(&format!("JOIN {what}")).await;
    let told = peer.caught_up().await;
    let refused = told.iter().find(|line| line.command.starts_with('4'));
    if let Some(refused) = refused {
        return refused.command.clone();
    }
    let names = told.iter().filter(|line| line.command == "353");
    let names = names.flat_map(|line| line.params[3].split(' '));
    let own = |name: &&str| name.trim_start_matches(['@', '+']) == peer.nick;
    names.into_iter().find(own).unwrap_or("not there").to_owned()
}

async fn part(peer: &mut Peer, room: &str) {
    peer.send(&format!("PART {room}")).await;
    peer.until("PART").await;
}

/// The hole that this closes: `mallory` takes the nick of `alma`, and with it her room.
#[tokio::test]
async fn a_taken_nick_opens_no_room() {
    let room = with_accounts(&[]).await;
    let mut alma = room.plain("alma").await;
    let mut mallory = room.plain("mallory").await;
    assert_eq!(join(&mut alma, "#board").await, "@alma");
    alma.send("MODE #board +ik s3cret").await;
    alma.until("MODE").await;
    part(&mut alma, "#board").await;
    assert_eq!(join(&mut mallory, "#board").await, "473");
    // She goes on under another nick; hers is free.
    alma.send("NICK alma2").await;
    alma.until("NICK").await;
    alma.nick = "alma2".to_owned();
    mallory.send("NICK alma").await;
    mallory.until("NICK").await;
    mallory.nick = "alma".to_owned();
    assert_eq!(join(&mut mallory, "#board").await, "473");
    assert_eq!(join(&mut mallory, "#board s3cret").await, "473");
    // The room is her session's, under whatever nick.
    assert_eq!(join(&mut alma, "#board").await, "@alma2");
    // An invitation is for the session that it was given to as well.
    let mut ben = room.plain("ben").await;
    alma.send("INVITE ben #board").await;
    ben.until("INVITE").await;
    ben.send("NICK bob").await;
    ben.until("NICK").await;
    mallory.send("NICK ben").await;
    mallory.until("NICK").await;
    assert_eq!(join(&mut mallory, "#board").await, "473");
    ben.nick = "bob".to_owned();
    assert_eq!(join(&mut ben, "#board").await, "bob");
    // With her connection it is over: the owner alone gets in.
    part(&mut alma, "#board").await;
    part(&mut ben, "#board").await;
    alma.send("QUIT").await;
    alma.until_closed().await;
    let mut alma = room.plain("alma2").await;
    assert_eq!(join(&mut alma, "#board").await, "473");
    let mut boss = room.account("boss", "owner").await;
    assert_eq!(join(&mut boss, "#board").await, "@boss");
    room.shut().await;
}

#[tokio::test]
async fn a_room_without_modes_is_its_founders_while_the_session_lives() {
    let room = with_accounts(&[]).await;
    let (mut ann, mut ben) = (room.plain("ann").await, room.plain("ben").await);
    assert_eq!(join(&mut ann, "#den").await, "@ann");
    part(&mut ann, "#den").await;
    assert_eq!(join(&mut ben, "#den").await, "ben", "it is hers");
    assert_eq!(join(&mut ann, "#den").await, "@ann");
    part(&mut ben, "#den").await;
    ann.send("QUIT").await;
    ann.until_closed().await;
    assert_eq!(join(&mut ben, "#den").await, "@ben", "it is nobody's now");
    room.shut().await;
}

/// Who logs in takes along what the session has founded.
#[tokio::test]
async fn a_session_that_logs_in_gives_its_rooms_to_the_account() {
    let room = with_accounts(&["alma"]).await;
    let mut ann = room.plain("ann").await;
    ann.send("CAP REQ :sasl").await;
    ann.until("CAP").await;
    assert_eq!(join(&mut ann, "#den").await, "@ann");
    assert_eq!(ann.authenticate("alma", "pw-alma").await, "903");
    ann.caught_up().await;
    let kept = room.disk.kept_rooms().await;
    assert_eq!(kept.iter().map(|row| row.founder.as_deref()).collect::<Vec<_>>(), [Some("alma")]);
    room.shut().await;
}

/// Founder, operators and voices by account, and the time of making, outlive PART and restart.
#[tokio::test]
async fn powers_of_accounts_outlive_a_part_and_a_restart() {
    let room = with_accounts(&["fay", "iris", "wally"]).await;
    let mut fay = room.account("fay", "fay").await;
    let mut iris = room.account("iris", "iris").await;
    let mut wally = room.account("wally", "wally").await;
    let mut guest = room.plain("guest").await;
    assert_eq!(join(&mut fay, "#board").await, "@fay");
    for peer in [&mut iris, &mut wally, &mut guest] {
        let nick = peer.nick.clone();
        assert_eq!(join(peer, "#board").await, nick);
    }
    fay.send("MODE #board +oovm iris guest wally").await;
    fay.until("MODE").await;
    fay.caught_up().await;
    fay.send("MODE #board").await;
    let made = fay.until("329").await.params[2].clone();
    let again = async |iris: &mut Peer, wally: &mut Peer, guest: &mut Peer, after: &str| {
        for (peer, shown) in [(iris, "@iris"), (&mut *wally, "+wally"), (guest, "guest")] {
            assert_eq!(join(peer, "#board").await, shown, "{after}");
        }
        wally.send("PRIVMSG #board :I am heard").await;
        assert!(wally.caught_up().await.iter().all(|line| line.command != "404"), "{after}");
    };
    for peer in [&mut iris, &mut wally, &mut guest] {
        part(peer, "#board").await;
    }
    again(&mut iris, &mut wally, &mut guest, "PART").await;
    let room = restarted(room).await;
    let mut iris = room.account("iris", "iris").await;
    let mut wally = room.account("wally", "wally").await;
    let mut guest = room.plain("guest").await;
    again(&mut iris, &mut wally, &mut guest, "restart").await;
    let mut fay = room.account("fay2", "fay").await;
    assert_eq!(join(&mut fay, "#board").await, "@fay2", "the founder, under another nick");
    fay.send("MODE #board").await;
    assert_eq!(fay.until("329").await.params[2], made);
    // What is taken away stays away, by MODE or by KICK.
    fay.send("MODE #board -o iris\r\nKICK #board wally").await;
    wally.until("KICK").await;
    fay.caught_up().await;
    part(&mut iris, "#board").await;
    assert_eq!(join(&mut iris, "#board").await, "iris");
    assert_eq!(join(&mut wally, "#board").await, "wally");
    room.shut().await;
}

#[tokio::test]
async fn a_ban_keeps_out_and_quiet_and_outlives_a_restart() {
    let room = with_accounts(&["fay", "eve"]).await;
    let mut fay = room.account("fay", "fay").await;
    let mut ulf = room.plain("Ulf").await;
    let mut eve = room.account("eve2", "eve").await;
    let mut ada = room.account("spark-ada", "spark-ada").await;
    join(&mut fay, "#m").await;
    for peer in [&mut ulf, &mut eve, &mut ada] {
        join(peer, "#m").await;
    }
    fay.send("MODE #m +bb ulf ~account:EVE").await;
    assert_eq!(fay.until("MODE").await.params, ["#m", "+bb", "ulf!*@*", "~a:EVE"]);
    // Those inside are quiet, those outside stay there.
    for peer in [&mut ulf, &mut eve] {
        peer.send("PRIVMSG #m :hi").await;
        assert!(peer.until("404").await.params[2].contains("(+b)"));
    }
    fay.send("KICK #m ulf").await;
    ulf.until("KICK").await;
    assert_eq!(join(&mut ulf, "#m").await, "474");
    // An invitation lets in all the same, and a voice lets speak.
    fay.send("INVITE ulf #m").await;
    ulf.until("INVITE").await;
    assert_eq!(join(&mut ulf, "#m").await, "Ulf");
    fay.send("MODE #m +v ulf").await;
    fay.until("MODE").await;
    ulf.send("PRIVMSG #m :hi").await;
    assert!(ulf.caught_up().await.iter().all(|line| line.command != "404"));
    for (change, number) in [("+b a,b", "696"), ("+b $a:x", "696"), ("+q x", "472")] {
        fay.send(&format!("MODE #m {change}")).await;
        assert_eq!(fay.caught_up().await.last().unwrap().command, number, "{change}");
    }
    let room = restarted(room).await;
    let mut fay = room.account("fay", "fay").await;
    join(&mut fay, "#m").await;
    fay.send("MODE #m b").await;
    for mask in ["ulf!*@*", "~a:EVE"] {
        let ban = fay.until("367").await;
        assert_eq!(ban.params[1..4], ["#m", mask, "fay!~fay@localhost"]);
    }
    fay.until("368").await;
    let mut ulf = room.plain("ULF").await;
    let mut eve = room.account("x", "eve").await;
    assert_eq!(join(&mut ulf, "#m").await, "474");
    assert_eq!(join(&mut eve, "#m").await, "474");
    fay.send("MODE #m -b ULF!*@*").await;
    assert_eq!(fay.until("MODE").await.params, ["#m", "-b", "ulf!*@*"]);
    assert_eq!(join(&mut ulf, "#m").await, "ULF");
    // Nobody bans the owner, or a founder.
    fay.send("MODE #m +b *!*@*").await;
    fay.until("MODE").await;
    part(&mut fay, "#m").await;
    assert_eq!(join(&mut fay, "#m").await, "@fay");
    let mut boss = room.account("boss", "owner").await;
    assert_eq!(join(&mut boss, "#m").await, "@boss");
    room.shut().await;
}

#[tokio::test]
async fn the_list_of_bans_has_an_end() {
    let room = with_accounts(&["fay"]).await;
    let mut fay = room.account("fay", "fay").await;
    join(&mut fay, "#m").await;
    for number in 0..=100 {
        fay.send(&format!("MODE #m +b n{number}")).await;
    }
    assert_eq!(fay.until("478").await.params[1..3], ["#m", "b"]);
    let kept = room.disk.kept_rooms().await;
    assert_eq!(kept[0].bans.len(), 100);
    room.shut().await;
}

/// What is refused for a text is refused for a tag; a program that types is not answered.
#[tokio::test]
async fn a_moderated_room_takes_no_tags_and_says_why() {
    let room = with_accounts(&[]).await;
    let (mut ann, mut ben) = (room.modern("ann").await, room.modern("ben").await);
    join(&mut ann, "#m").await;
    join(&mut ben, "#m").await;
    ann.send("MODE #m +m").await;
    ann.until("MODE").await;
    for (line, answered) in [
        ("@+typing=active TAGMSG #m", false),
        ("@+draft/react=x TAGMSG #m", true),
        ("PRIVMSG #m :hi", true),
        ("@+typing=active TAGMSG #elsewhere", true),
    ] {
        ben.send(line).await;
        let told = ben.caught_up().await;
        let refused = told.iter().find(|line| line.command == "404");
        assert_eq!(refused.is_some(), answered, "{line}: {told:?}");
        if let Some(refused) = refused.filter(|_| line.ends_with("#m :hi")) {
            assert!(refused.params[2].contains("(+m)"), "{refused:?}");
        }
    }
    let heard = ann.caught_up().await;
    assert!(heard.iter().all(|line| line.command == "JOIN"), "{heard:?}");
    ann.send("MODE #m +v ben").await;
    ann.until("MODE").await;
    ben.send("@+typing=active TAGMSG #m").await;
    ann.until("TAGMSG").await;
    room.shut().await;
}
