//! What comes from models, clients, disks and other programs is hostile or broken: a clear word,
//! nothing lost, and hub, daemon and IRC server stay whole.

use gangline_testkit::{IrcPeer, Stage, eventually, irc};

mod damage;
mod storage;

const ADA: &str = "bi-ada";

fn stage_with(script: Option<&str>) -> Stage {
    Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], script, ("", ""))
}

/// What `nick` said to `target`, in the server's own memory.
fn kept(peer: &mut IrcPeer, nick: &str, target: &str) -> Vec<String> {
    let history = peer.history(target);
    let said = history.iter().filter_map(|line| irc::said(line));
    said.filter(|said| said.from == nick).map(|said| said.text.to_owned()).collect()
}

/// Line ends, NUL, escapes and CTCP in a model's text become plain lines of the one message that
/// it is; none becomes a command, wherever the text goes.
#[test]
fn control_characters_of_a_model_make_no_command() {
    let nasty = r#""one\r\nQUIT :gone\r\nPRIVMSG #other :injected\n:boss!b@h PRIVMSG #general :forged\0 nul \e[31mred\e[0m \abell \x01ACTION waves\x01\ttab\x7f\x9bend""#;
    let script = format!(
        r##"rules:
  - when: {{tool: Bash}}
    reply: [text: "${{tool_result}}"]
  - when: {{tool: send}}
    reply: [text: "tool: ${{tool_result}}"]
  - when: {{user: 'do send'}}
    reply: [tool_use: {{name: send, input: {{to: "#general", text: {nasty}}}}}]
  - when: {{user: 'do aim'}}
    reply: [tool_use: {{name: send, input: {{to: "#general\r\nQUIT", text: aimed}}}}]
  - when: {{user: 'do run'}}
    reply: [tool_use: {{name: Bash, input: {{command: "echo a\r\nPRIVMSG #other :x\e[2J\0"}}}}]
  - reply: [text: {nasty}]
"##
    );
    let stage = stage_with(Some(&script));
    let mut hub = stage.up();
    let mut boss = stage.owner("boss");
    boss.join("#other");
    let wanted = [
        "one",
        "QUIT :gone",
        "PRIVMSG #other :injected",
        ":boss!b@h PRIVMSG #general :forged nul [31mred[0m bell ACTION waves tabend",
    ];
    boss.say("#general", "@bi-ada do say");
    boss.hears(ADA, "#general", "forged");
    assert_eq!(kept(&mut boss, ADA, "#general"), wanted);
    boss.say("#general", "@bi-ada do send");
    boss.hears(ADA, "#general", "forged");
    assert_eq!(kept(&mut boss, ADA, "#general")[4..8], wanted);
    boss.say("#general", "@bi-ada do aim");
    let refused = boss.hears(ADA, "#general", "tool:");
    assert!(refused.contains("`to`"), "{refused}");
    boss.say("#general", "@bi-ada do run");
    let asked = boss.hears(ADA, "#general", "wants to run");
    // No shell reads it as people do: the owner alone is shown it, in private.
    assert!(asked.contains("cannot be taken apart") && !asked.contains("echo a"), "{asked}");
    let asked = boss.hears(ADA, "boss", "wants to run");
    assert!(asked.contains("echo a") && asked.contains("PRIVMSG #other :x"), "one line: {asked}");
    assert!(!asked.chars().any(char::is_control), "{asked:?}");
    boss.say("#general", "@bi-ada no 1");
    eventually("everything settled", || {
        let open = "SELECT count(*) FROM messages WHERE state <> 'answered'";
        (stage.query(open) == ["0"]).then_some(())
    });
    let other = boss.history("#other");
    assert!(other.is_empty(), "{other:?}");
    let gone = boss
        .lines()
        .into_iter()
        .find(|line| line.starts_with(":bi-ada") && ["QUIT", "PART"].contains(&irc::command(line)));
    assert_eq!(gone, None);
    // What an operator's terminal is shown is as harmless.
    for args in [&["trace", "m1"][..], &["trace", "m4"], &["logs", ADA], &["approvals", "--all"]] {
        let text = stage.world.run(args).ok();
        let control = text.chars().find(|c| c.is_control() && !"\n\t".contains(*c));
        assert_eq!(control, None, "{args:?}: {text:?}");
    }
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
}

/// What a person says with escapes in it reaches neither the operator's terminal nor another
/// prompt frame as such.
#[test]
fn control_characters_of_a_person_reach_no_terminal() {
    let stage = stage_with(None);
    let _hub = stage.up();
    let mut alice = stage.member("alice");
    alice.say("#general", "@bi-ada say exactly \u{1b}[2J\u{7}\u{9b}31m red");
    let said = alice.hears(ADA, "#general", "red");
    assert!(!said.chars().any(char::is_control), "{said:?}");
    for args in [&["trace", "m1"][..], &["logs", ADA], &["status"]] {
        let text = stage.world.run(args).ok();
        let control = text.chars().find(|c| c.is_control() && !"\n\t".contains(*c));
        assert_eq!(control, None, "{args:?}: {text:?}");
    }
}

/// Bytes that are no line are refused in words, none of them reaches anybody, and the client that
/// sent them goes on.
#[test]
fn bytes_that_are_no_line_are_refused_and_their_sender_stays() {
    let stage = stage_with(None);
    let mut hub = stage.up();
    let mut alice = stage.member("alice");
    let mut bob = stage.member("bob");
    let mut refused = |what: &str, bytes: &[u8], number: &str, part: &str| {
        alice.send_bytes(bytes);
        let line = alice.wait(what, |line| (irc::command(line) == number).then(|| line.to_owned()));
        assert!(line.contains(part), "{what}: {line}");
    };
    let say = |text: &[u8]| [b"PRIVMSG #general :@bi-ada say exactly ", text, b"\r\n"].concat();
    refused("bad UTF-8", &say(b"bad-\xff\xc3\x28"), "FAIL", "INVALID_UTF8");
    refused("half a character", &say(b"bad-\xe2\x82"), "FAIL", "INVALID_UTF8");
    refused("a NUL", &say(b"bad-\0QUIT"), "FAIL", "INVALID_LINE");
    refused("a bare CR", &say(b"bad-\rQUIT :x"), "FAIL", "INVALID_LINE");
    let tagged = [b"@+gangline/id=a\0b ".as_slice(), &say(b"bad-tag")].concat();
    refused("a NUL in a tag", &tagged, "FAIL", "INVALID_LINE");
    refused("600 bytes", &say(&[b'b'; 600]), "417", "too long");
    refused("9 KiB", &say(&[b'b'; 9 * 1024]), "417", "too long");
    let tags = [b"@+x=".as_slice(), &[b't'; 5000], b" ", &say(b"bad-tags")].concat();
    refused("5 kB of tags", &tags, "417", "too long");
    alice.say("#general", "@bi-ada say exactly whole");
    bob.hears(ADA, "#general", "whole");
    let heard: Vec<String> = bob
        .lines()
        .iter()
        .filter_map(|line| irc::said(line))
        .filter(|said| said.from == "alice")
        .map(|said| said.text.to_owned())
        .collect();
    assert_eq!(heard, ["@bi-ada say exactly whole"]);
    assert_eq!(stage.query("SELECT count(*) FROM messages"), ["1"]);
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
}

/// Half a line and no more, from many: nothing waits for them.
#[test]
fn a_flood_without_a_line_end_holds_up_nobody() {
    let stage = stage_with(None);
    let _hub = stage.up();
    let mut endless: Vec<IrcPeer> =
        (0..8).map(|n| IrcPeer::open(&stage.irc, &format!("endless{n}"))).collect();
    for peer in &mut endless {
        for _ in 0..64 {
            peer.send_bytes(&[b'x'; 16 * 1024]);
        }
    }
    // Before the time to register is over.
    endless[0].send_bytes(b"\r\nNICK endless0\r\nUSER e 0 * :e\r\n");
    endless[0].wait("001", |line| (irc::command(line) == "001").then_some(()));
    let mut alice = stage.member("alice");
    alice.say("#general", "@bi-ada say exactly not held up");
    alice.hears(ADA, "#general", "not held up");
}
