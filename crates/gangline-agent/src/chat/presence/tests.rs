//! Private answers on a network that is not ours, with a real store in front of a link that only
//! takes what it is given.

use std::time::Duration;

use gangline_core::{MessageId, MessageState, Origin, Principal, Tier, redact::Redacted};
use gangline_irc::client::LinkEvent;
use gangline_store::{NewMessage, OutboxState, Send as StoreSend};

use super::*;
use crate::chat::{
    Said,
    tests::{Rig, ada},
};

/// A day, and a little.
const A_DAY: Duration = Duration::from_secs(24 * 3600 + 1);

struct Net(Rig);

impl Net {
    async fn open() -> Self {
        let mut rig = Rig::open(false).await;
        rig.chat.up = true;
        Self(rig)
    }

    /// A question, as it was said in private by somebody with this account.
    async fn question(&self, nick: &str, account: &str) -> MessageId {
        let message = NewMessage {
            agent: ada(),
            network_id: "net".to_owned(),
            intake_key: None,
            origin: Origin::Direct,
            principal: Principal { account: account.to_owned(), tier: Tier::Member },
            sender: nick.to_owned(),
            target: nick.to_owned(),
            body: Redacted::from_store("?".to_owned()),
            in_reply_to: None,
            cause_root: None,
            hops: 0,
            state: MessageState::Accepted,
            cursor: None,
            not_before: None,
            msgid: None,
        };
        self.0.chat.deps.store.accept(message).await.unwrap().id
    }

    async fn answer(&self, key: &str, to: &str, asked: Option<MessageId>) {
        self.send(key, to, (asked, LineKind::Privmsg)).await;
    }

    async fn send(&self, key: &str, to: &str, (asked, kind): (Option<MessageId>, LineKind)) {
        let send = StoreSend {
            agent: ada(),
            turn: None,
            idem_key: key.to_owned().into(),
            target: to.to_owned(),
            lines: vec![Redacted::from_store(key.to_owned()).into()],
            kind,
            in_reply_to: asked,
            deliver: None,
        };
        self.0.chat.deps.store.send(send).await.unwrap();
    }

    /// What the link is given; whose nick is in `gone` is refused, all else confirmed.
    async fn said(&mut self, gone: &[&str]) -> Vec<String> {
        let mut texts = Vec::new();
        loop {
            self.0.chat.send_waiting().await;
            let Ok(command) = self.0.link.try_recv() else { return texts };
            match command {
                LinkCommand::Say(say) if gone.contains(&say.target.as_str()) => {
                    self.0.chat.failed(&say.key, "No such nick", Some(401)).await;
                    texts.push(format!("{} is gone", say.target));
                }
                LinkCommand::Say(say) => {
                    self.0.chat.confirmed(&say.key, Said::default()).await;
                    texts.push(format!("{} {}", say.target, say.text));
                }
                LinkCommand::Raw(message) => {
                    texts.push(message.to_line().unwrap().trim().to_owned())
                }
                other => panic!("{other:?}"),
            }
        }
    }

    async fn server(&mut self, lines: &[&str]) {
        for line in lines {
            let message = Message::parse(line).unwrap();
            self.0.chat.link_event(LinkEvent::Other(message)).await;
        }
    }

    async fn state(&self, key: &str) -> OutboxState {
        let rows = self.0.chat.deps.store.outbox_by_idem(&ada(), key).await.unwrap();
        rows[0].state
    }

    async fn tick(&mut self) -> Vec<String> {
        self.0.chat.look_for_addressees().await;
        self.said(&[]).await
    }
}

/// It was `undeliverable: No such nick` before.
#[tokio::test]
async fn an_answer_waits_until_its_nick_is_seen_and_keeps_its_order() {
    let mut net = Net::open().await;
    let asked = net.question("alice", "~alice").await;
    let bobs = net.question("bob", "~bob").await;
    net.answer("one", "alice", Some(asked)).await;
    net.answer("to-bob", "bob", Some(bobs)).await;
    assert_eq!(net.said(&["alice"]).await, ["alice is gone", "bob to-bob"]);
    assert_eq!(net.state("one").await, OutboxState::Sent);
    net.answer("two", "alice", Some(asked)).await;
    assert_eq!(net.said(&["alice"]).await, [""; 0], "it is known that she is not there");
    net.server(&[":alice!a@h JOIN #r"]).await;
    assert_eq!(net.said(&[]).await, ["alice one", "alice two"]);
    assert_eq!(net.state("one").await, OutboxState::Confirmed);
    let row = net.0.chat.deps.store.outbox_by_idem(&ada(), "one").await.unwrap().remove(0);
    assert!(!row.may_be_doubled, "a refused line was never said");
}

#[tokio::test]
async fn an_answer_that_nobody_fetches_is_given_up_after_a_day_without_a_word_to_the_nick() {
    let mut net = Net::open().await;
    let asked = net.question("alice", "~alice").await;
    net.answer("one", "alice", Some(asked)).await;
    net.said(&["alice"]).await;
    net.0.clock.forward(Duration::from_secs(3600));
    assert_eq!(net.tick().await, ["WHOIS alice"]);
    net.0.clock.forward(A_DAY);
    net.tick().await;
    let row = net.0.chat.deps.store.outbox_by_idem(&ada(), "one").await.unwrap().remove(0);
    assert_eq!(row.state, OutboxState::Undeliverable);
    assert_eq!(row.why.as_deref(), Some("alice was not seen for 24 hours"));
    assert_eq!(net.tick().await, [""; 0]);
    // One that is as old already when the server refuses it does not wait.
    net.answer("old", "alice", Some(asked)).await;
    net.0.clock.forward(A_DAY);
    net.server(&[":alice!a@h JOIN #r"]).await;
    net.said(&["alice"]).await;
    assert_eq!(net.state("old").await, OutboxState::Undeliverable);
}

/// A stranger who has taken the nick is told nothing, not even that there is something.
#[tokio::test]
async fn a_nick_with_another_account_gets_nothing() {
    let mut net = Net::open().await;
    let asked = net.question("alice", "alice-at-home").await;
    net.answer("secret", "alice", Some(asked)).await;
    net.send("notice", "alice", (Some(asked), LineKind::Notice)).await;
    assert_eq!(net.said(&[]).await, ["WHOIS alice"]);
    net.server(&[":irc 311 ada alice e h * :E", ":irc 318 ada alice :End"]).await;
    assert_eq!(net.said(&[]).await, [""; 0]);
    assert_eq!(net.state("secret").await, OutboxState::Queued);
    assert_eq!(net.state("notice").await, OutboxState::Undeliverable, "a notice does not wait");
    // She is back under another nick.
    net.server(&["@account=alice-at-home :alice_!a@h JOIN #r"]).await;
    net.0.clock.forward(Duration::from_secs(6));
    let asked: Vec<String> = net.said(&[]).await;
    assert_eq!(asked, ["WHOIS alice", "WHOIS alice_"]);
    let whois = [
        ":irc 311 ada alice_ a h * :A",
        ":irc 330 ada alice_ alice-at-home :is logged in as",
        ":irc 318 ada alice_ :End",
    ];
    net.server(&whois).await;
    assert_eq!(net.said(&[]).await, ["alice_ secret"]);
    assert_eq!(net.state("secret").await, OutboxState::Confirmed);
}

/// What nobody asked for goes to the nick or fails at once, as the model expects.
#[tokio::test]
async fn a_line_that_its_target_did_not_ask_for_does_not_wait() {
    let mut net = Net::open().await;
    let asked = net.question("alice", "~alice").await;
    net.answer("other", "bobb", Some(asked)).await;
    net.answer("none", "carol", None).await;
    let said = net.said(&["bobb", "carol"]).await;
    assert_eq!(said[..2], ["bobb is gone", "carol is gone"]);
    let told = "alice my answer could not be delivered to bobb: No such nick";
    assert!(said.contains(&told.to_owned()), "{said:?}");
    assert_eq!(net.state("none").await, OutboxState::Undeliverable);
}

/// More lines than go at once wait for one person: others have their turn.
#[tokio::test]
async fn lines_that_wait_for_their_person_hold_up_no_others() {
    let mut net = Net::open().await;
    let asked = net.question("alice", "alice-at-home").await;
    for line in 0..300 {
        net.answer(&format!("a{line}"), "alice", Some(asked)).await;
    }
    let bobs = net.question("bob", "~bob").await;
    net.answer("b", "bob", Some(bobs)).await;
    let mut said = net.said(&[]).await;
    for _ in 0..20 {
        said.extend(net.said(&[]).await);
    }
    assert_eq!(said, ["WHOIS alice", "bob b"]);
}
