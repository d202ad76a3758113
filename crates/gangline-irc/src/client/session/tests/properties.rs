//! Whatever a server and a caller do: each line said gets exactly one answer, everything sent is
//! one line, and the session never wants to be woken for nothing.

use std::collections::HashMap;

use proptest::{collection::vec, prelude::*};

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Server(String),
    Say(u8),
    Wait(u64),
    Lose,
    Connect,
    CatchUp,
}

fn server_line() -> impl Strategy<Value = String> {
    let id = 0u8..12;
    prop_oneof![
        prop::sample::select(vec![
            ":irc CAP * LS :message-tags echo-message labeled-response batch draft/chathistory",
            ":irc CAP * ACK :message-tags echo-message batch draft/chathistory",
            ":irc CAP * ACK :labeled-response",
            ":irc CAP * DEL :echo-message",
            ":irc 005 ada CLIENTTAGDENY=* :are supported",
            ":irc NOTICE #den :Replaying up to 5 lines",
            "PONG irc gangline-r1",
            "PONG irc gangline-h1",
            ":b!b@h INVITE ada #den",
            ":irc 001 ada :Welcome",
            ":irc 376 ada :End",
            ":irc 433 * ada :In use",
            ":ada!a@h NICK Guest",
            ":Guest!a@h NICK ada",
            ":irc 404 ada #den :No",
            ":irc 403 ada #den :No",
            "FAIL PRIVMSG X :no",
            "FAIL CHATHISTORY X :no",
            ":b!b@h KICK #den ada :out",
            ":ada!a@h JOIN #den",
            "BATCH +h chathistory #den",
            "@label=gangline-h1 BATCH +h chathistory #den",
            "BATCH -h",
            "@batch=h;msgid=m :b!b@h PRIVMSG #den :x",
            "PING x",
            "ERROR :bye",
        ])
        .prop_map(str::to_owned),
        id.clone().prop_map(|n| format!("@+gangline/id=k{n} :ada!a@h PRIVMSG #den :x")),
        id.clone().prop_map(|n| format!("@label=gangline-{n} ACK")),
        id.clone().prop_map(|n| format!("@label=gangline-{n} :irc 404 ada #den :No")),
        id.prop_map(|n| format!("PONG irc gangline-{n}")),
        "[@:A-Z0-9 =;+#-]{1,30}",
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => server_line().prop_map(Step::Server),
        4 => (0u8..12).prop_map(Step::Say),
        2 => (0u64..90).prop_map(Step::Wait),
        1 => Just(Step::Lose),
        1 => Just(Step::Connect),
        1 => Just(Step::CatchUp),
    ]
}

/// Counts of one key: said (and not already under way), answered.
#[derive(Default)]
struct Account {
    open: HashMap<String, u32>,
    online: bool,
}

impl Account {
    fn read(&mut self, out: &[String]) -> Result<(), TestCaseError> {
        for text in out {
            prop_assert!(!text.contains(['\r', '\n', '\0']) || text.starts_with('<'), "{text:?}");
            let words: Vec<&str> = text.trim_start_matches('<').split([' ', '>']).collect();
            let (verb, key) = (words[0], words.get(1).copied().unwrap_or_default());
            if text.starts_with('[') {
                self.online = false;
            }
            if text.starts_with('<')
                && matches!(verb, "confirmed" | "failed" | "unconfirmed" | "not-sent")
            {
                let open = self.open.entry(key.to_owned()).or_default();
                prop_assert_eq!(*open, 1, "{} was answered without being open", text);
                *open = 0;
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_line_said_is_answered_exactly_once(steps in vec(step(), 1..60)) {
        let mut story = Story::new(LinkConfig {
            channels: vec!["#den".parse().unwrap()],
            ..config()
        });
        let mut account = Account::default();
        story.connect();
        for step in steps {
            let out = match step {
                Step::Server(line) => match Message::parse(&line) {
                    Ok(_) => story.server(&line),
                    Err(_) => Vec::new(),
                },
                Step::Say(n) => {
                    let key = format!("k{n}");
                    account.open.insert(key.clone(), 1);
                    story.command(say(&key, "#den", "x"))
                }
                Step::Wait(seconds) => story.after(seconds),
                Step::Lose => story.lost(),
                Step::Connect => {
                    let mut out = story.lost();
                    out.extend(story.connect());
                    out
                }
                Step::CatchUp => story.command(LinkCommand::CatchUp {
                    target: "#den".parse().unwrap(),
                    after: Some("msgid=m0".parse().unwrap()),
                    request: 1,
                }),
            };
            account.read(&out)?;
        }
        account.read(&story.lost())?;
        prop_assert!(account.open.values().all(|open| *open == 0), "{:?}", account.open);
    }
}
