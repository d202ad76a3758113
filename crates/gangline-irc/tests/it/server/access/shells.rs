//! Processes that an agent's daemon started: they are the agent, with less.

use gangline_irc::server::{access::Guests, trust::Origin};

use super::{closed, guests};
use crate::server::support::{GONE, Room, SHELL};

async fn spark() -> Room {
    Room::configured(guests(Guests::No), Origin::Own, |config| config.name = "spark".to_owned())
        .await
}

#[tokio::test]
async fn a_shell_is_let_in_as_its_agent_under_a_nick_of_its_own() {
    let room = spark().await;
    let mut ann = room.modern("ann").await;
    ann.join("#room").await;
    let mut shell = room.dial_as(SHELL).await;
    shell.nick = "bot".to_owned();
    shell.send("NICK bot\r\nUSER bot 0 * :Bot").await;
    shell.until("422").await;
    shell.join("#room").await;
    shell.send("WHOIS bot").await;
    let told = shell.caught_up().await;
    let trusted = told.iter().filter_map(|line| line.params.last());
    assert!(trusted.into_iter().any(|text| text == "is trusted as: agent"), "{told:?}");
    // A tag that would say which of the agent's lines it is proves nothing, and is not needed.
    shell.send("PRIVMSG #room :hello").await;
    let line = ann.until("PRIVMSG").await;
    assert_eq!(line.tag("gangline/principal"), Some("~spark-ada"), "{line:?}");
    assert_eq!(line.tag("gangline/tier"), Some("agent"), "{line:?}");
    // It has neither the agent's name nor its conversations.
    for (nick, may) in [
        ("spark-ada", false),
        ("spark-ada_", false),
        ("spark-zoe", false),
        ("spark-ada__peek0a1b", true),
    ] {
        shell.send(&format!("NICK {nick}")).await;
        let told = shell.caught_up().await;
        assert_eq!(told.iter().all(|line| line.command != "433"), may, "{nick}: {told:?}");
    }
    shell.send("CHATHISTORY LATEST ann * 10").await;
    let told = shell.caught_up().await;
    assert!(told.iter().map(|line| line.command.as_str()).eq(["400"]), "{told:?}");
    room.shut().await;
}

#[tokio::test]
async fn a_shell_logs_in_as_nobody() {
    let room = spark().await;
    for pass in ["owner:pw-owner", "spark-ada:pw-spark-ada", "owner:wrong"] {
        let mut shell = room.dial_as(SHELL).await;
        shell.send(&format!("PASS {pass}\r\nNICK bot\r\nUSER b 0 * :B")).await;
        let told = closed(shell).await.join("\n");
        assert!(told.contains(" 464 ") && !told.contains(" 001 "), "{pass}: {told}");
        assert!(told.contains("This was started by spark-ada"), "{pass}: {told}");
    }
    let mut shell = room.dial_as(SHELL).await;
    shell.send("CAP REQ sasl\r\nNICK bot\r\nUSER b 0 * :B").await;
    shell.until("CAP").await;
    assert_eq!(shell.authenticate("owner", "pw-owner").await, "904");
    // Nobody is let in as less than they claimed to be.
    shell.send("CAP END").await;
    let told = closed(shell).await.join("\n");
    assert!(told.contains("The login failed") && !told.contains(" 001 "), "{told}");
    room.shut().await;
}

/// Nothing is believed of a process of our user that is gone before it is known which it was.
#[tokio::test]
async fn a_process_that_is_gone_is_nobody() {
    let room = spark().await;
    for (pass, part) in [("", " 465 "), ("PASS owner:pw-owner\r\n", "which program you are")] {
        let mut gone = room.dial_as(GONE).await;
        gone.send(&format!("{pass}NICK eve\r\nUSER e 0 * :E")).await;
        let told = closed(gone).await.join("\n");
        assert!(told.contains(part) && !told.contains(" 001 "), "{pass}: {told}");
    }
    room.shut().await;
}
