//! An agent's long answer: one message where the client takes it, lines where it does not, and once
//! whenever its daemon dies.

use gangline_testkit::{IrcPeer, Running, Stage, eventually, irc};

const ADA: &str = "lo-ada";
const BOB: &str = "lo-bob";
/// What a client asks for that takes messages of several lines.
const SEVERAL: &str = "message-tags server-time batch draft/multiline draft/chathistory";
/// Every moment of a message on its way: before and after its form is stored, it is said, and its
/// confirmation is stored.
const POINTS: [&str; 9] = [
    "mark_sent.before_commit",
    "mark_sent.after_commit",
    "mark_sent.after_sync",
    "chat.before_say",
    "chat.after_say",
    "chat.before_confirm",
    "confirm.before_commit",
    "confirm.after_commit",
    "confirm.after_sync",
];

/// A line that is cut twice, and a mention in the last one.
fn answer(token: &str) -> String {
    let words: Vec<String> = (0..130).map(|n| format!("word{n}")).collect();
    format!("{token} begins\n{}\n@{BOB} {token} ends", words.join(" "))
}

fn stage(agents: &[&str]) -> Stage {
    let text = answer("$1").replace('\n', "\\n");
    let script = format!(
        "rules:\n  - when: {{model: standin-{BOB}}}\n    reply: [text: NO_REPLY]\n  - when: {{user: \
         'long (\\S+)'}}\n    reply: [text: \"{text}\"]\n"
    );
    Stage::new(env!("CARGO_BIN_EXE_gangline"), agents, Some(&script), ("", ""))
}

fn comes(stage: &Stage, nick: &str, caps: &str) -> IrcPeer {
    let mut peer = IrcPeer::connect_with(&stage.irc, (nick, None), caps);
    peer.join("#general");
    peer
}

/// Returns the next message of several lines that an agent says: the line that begins it, and its
/// text.
fn whole(peer: &mut IrcPeer, agent: &str) -> (String, String) {
    let start = peer.wait("a message of several lines", |line| {
        let begins = line.contains(&format!(":{agent}!")) && line.contains(" draft/multiline ");
        begins.then(|| line.to_owned())
    });
    let mut text = String::new();
    loop {
        let line = peer.wait("its lines", |line| Some(line.to_owned()));
        let Some(said) = irc::said(&line) else { return (start, text) };
        assert_eq!((irc::tag(&line, "batch"), said.from), (Some("ml"), agent), "{line}");
        let goes_on = line.split(' ').next().is_some_and(|tags| tags.contains("multiline-concat"));
        if !text.is_empty() && !goes_on {
            text.push('\n');
        }
        text.push_str(said.text);
    }
}

/// Returns the next lines that the agent says, up to the last of the answer.
fn lines(peer: &mut IrcPeer, token: &str) -> Vec<String> {
    let (mut lines, last) = (Vec::new(), format!("@{BOB} {token} ends"));
    peer.wait("the last line", |line| {
        let said = irc::said(line).filter(|said| said.from == ADA)?;
        lines.push(line.to_owned());
        (said.text == last).then_some(())
    });
    lines
}

#[test]
fn a_long_answer_is_one_message_where_the_client_takes_it_and_lines_elsewhere() {
    let stage = stage(&[ADA, BOB]);
    let _hub = stage.up();
    let mut mia = comes(&stage, "mia", SEVERAL);
    let mut pia = comes(&stage, "pia", "message-tags server-time");
    mia.say("#general", &format!("@{ADA} long one"));
    let (start, text) = whole(&mut mia, ADA);
    assert_eq!(text, answer("one"), "as the model has written it, cut nowhere");
    let msgid = irc::tag(&start, "msgid");
    let plain = lines(&mut pia, "one");
    let texts: Vec<&str> = plain.iter().map(|line| irc::said(line).unwrap().text).collect();
    assert_eq!((texts.len(), texts[0]), (5, "one begins"));
    assert_eq!(texts[1..4].concat(), answer("one").lines().nth(1).unwrap());
    assert_eq!(irc::tag(&plain[0], "msgid"), msgid);
    assert!(plain[1..].iter().all(|line| irc::tag(line, "msgid").is_none()), "{plain:#?}");

    // In private it names its question, and each client gets it in its own form.
    mia.say(ADA, "long two");
    let (start, text) = whole(&mut mia, ADA);
    assert_eq!(text, answer("two"));
    assert!(start.ends_with(" draft/multiline mia") && start.contains("+draft/reply="), "{start}");
    pia.say(ADA, "long three");
    assert_eq!(lines(&mut pia, "three").len(), 5);

    // A row a line, as ever; what is one message has one id. The colleague has one prompt.
    eventually("everything confirmed", || {
        let open = stage.query("SELECT count(*) FROM outbox WHERE state <> 'confirmed'");
        (open == ["0"]).then_some(())
    });
    let rows = "SELECT count(*) || ' ' || count(DISTINCT msgid) || ' ' || sent_as FROM outbox \
                WHERE agent = 'lo-ada' AND kind = 'privmsg' GROUP BY idem_key ORDER BY min(id)";
    assert_eq!(stage.query(rows), ["5 1 whole"; 3]);
    let asked = eventually("the colleague's prompt", || {
        let bodies = stage.query("SELECT body FROM messages WHERE agent = 'lo-bob'");
        (!bodies.is_empty()).then_some(bodies)
    });
    let [prompt] = asked.try_into().unwrap();
    assert_eq!(prompt, answer("one").replace('\n', " ⏎ "));
}

/// F1, F4: the daemon is killed at each moment at which it says a long answer.
#[test]
fn a_long_answer_is_said_once_and_whole_wherever_its_daemon_dies() {
    // Each dies once, at a point that it has not passed before.
    let agents: Vec<String> = (0..POINTS.len()).map(|n| format!("lo-p{n}")).collect();
    let stage = stage(&agents.iter().map(String::as_str).collect::<Vec<_>>());
    let _hub = stage.world.start_ready(&["--config", &stage.config, "up", "--no-agents"]);
    let mut mia = comes(&stage, "mia", SEVERAL);
    for (agent, point) in agents.iter().zip(POINTS) {
        let daemon = |failpoints: &str| -> Running {
            let env = [("GANGLINE_FAILPOINTS", failpoints)];
            stage.world.start_with(&env, &["--config", &stage.config, "daemon", agent])
        };
        let mut dies = daemon(&format!("{point}=kill"));
        mia.wait("the agent in the room", |line| {
            (line.contains(&format!(":{agent}!")) && line.ends_with(" JOIN #general")).then_some(())
        });
        mia.say("#general", &format!("@{agent} long {point}"));
        eventually(&format!("{point}: its end"), || dies.ended());
        let mut again = daemon("");
        assert_eq!(whole(&mut mia, agent).1, answer(point), "{point}");
        eventually(&format!("{point}: everything confirmed"), || {
            let open = stage.query("SELECT count(*) FROM outbox WHERE state <> 'confirmed'");
            (open == ["0"]).then_some(())
        });
        eventually("the daemon is ready", || again.output().contains(": ready").then_some(()));
        assert_eq!(again.terminate(), 0, "{point}: {}", again.output());
    }
    mia.send("PING :last");
    mia.wait("nothing more", |line| {
        let repeated = irc::said(line).filter(|said| said.from.starts_with("lo-p"));
        assert!(repeated.is_none(), "said twice: {line}");
        line.ends_with(":last").then_some(())
    });
    let ends = "SELECT count(DISTINCT idem_key) || ' ' || count(DISTINCT msgid) || ' ' || sent_as FROM \
                outbox WHERE kind = 'privmsg' GROUP BY sent_as";
    assert_eq!(stage.query(ends), [format!("{0} {0} whole", POINTS.len())]);
    assert_eq!(
        stage.query("SELECT DISTINCT state FROM messages WHERE origin <> 'system'"),
        ["answered"]
    );
}
