//! Tables of room words and of what nearly is one.

use super::*;

#[test]
fn room_words_are_read_only_if_they_are_the_whole_text() {
    let cancel = |id| Some(RoomWord::Cancel(MessageId(id)));
    let show = |number| Some(RoomWord::Show(ApprovalNumber(number)));
    for (text, expect) in [
        ("help", Some(RoomWord::Help)),
        ("Help!", Some(RoomWord::Help)),
        ("status", Some(RoomWord::Status)),
        ("status?", Some(RoomWord::Status)),
        ("queue", Some(RoomWord::Queue)),
        ("cancel m42", cancel(42)),
        ("Cancel M42.", cancel(42)),
        ("cancel 42", cancel(42)),
        ("cancel #42", cancel(42)),
        ("cancel m", None),
        ("cancel mm42", None),
        ("cancel the build", None),
        ("show 5", show(5)),
        ("show #5", show(5)),
        ("show it", None),
        ("more", Some(RoomWord::More)),
        ("more tests", None),
        ("PAUSE", Some(RoomWord::Pause(None))),
        ("pause 2h", Some(RoomWord::Pause(Some("2h".to_owned())))),
        ("pause for 90 min", Some(RoomWord::Pause(Some("for 90 min".to_owned())))),
        (
            "pause until tomorrow 9:00",
            Some(RoomWord::Pause(Some("until tomorrow 9:00".to_owned()))),
        ),
        ("pause the build", None),
        ("pause for a moment and think about what you have done", None),
        ("resume ", Some(RoomWord::Resume)),
        ("abort", Some(RoomWord::Abort)),
        ("stop", Some(RoomWord::Abort)),
        ("Stop!", Some(RoomWord::Abort)),
        ("stop,", Some(RoomWord::Abort)),
        ("stop …", Some(RoomWord::Abort)),
        ("status:", Some(RoomWord::Status)),
        ("stop the server", None),
        ("stand  down", Some(RoomWord::StandDown)),
        ("Model", Some(RoomWord::Model)),
        ("/model", Some(RoomWord::Model)),
        ("model Qwen/Qwen3", Some(RoomWord::SetModel("Qwen/Qwen3".parse().ok()))),
        ("/MODEL haiku", Some(RoomWord::SetModel("haiku".parse().ok()))),
        ("model default", Some(RoomWord::SetModel(None))),
        ("/model --Default", Some(RoomWord::SetModel(None))),
        ("model -x", None),
        ("model the data", None),
        ("New session", Some(RoomWord::NewSession)),
        ("/new-session", Some(RoomWord::NewSession)),
        ("/clear", Some(RoomWord::NewSession)),
        ("clear", None),
        ("compact", Some(RoomWord::Compact)),
        ("/compact", Some(RoomWord::Compact)),
        ("/compact now", None),
        ("stand", None),
        ("status of the build?", None),
        ("help me fix the build", None),
        ("", None),
    ] {
        assert_eq!(RoomWord::parse(text), expect, "{text:?}");
    }
}

/// What is expected of a line while no approval is open, and while one is.
enum Is {
    /// A near miss of this word.
    Near(&'static str),
    /// The same, while one is open; otherwise a prompt.
    NearIfAsked(&'static str),
    /// It begins like a decision: a near miss while one is open, otherwise a prompt.
    Begins,
    /// A decision, in these words.
    Decides(&'static str),
    /// A prompt.
    Talk,
}
use Is::{Begins, Decides, Near, NearIfAsked, Talk};

/// Wrong inputs and what comes of them.
const LINES: &[(&str, Is)] = &[
    ("hlep", Near("help")),
    ("halp", Near("help")),
    ("help1", Near("help")),
    ("/help", Near("help")),
    ("hello", Talk),
    ("help me", Near("help")),
    ("help me fix the build", Talk),
    ("stauts", Near("status")),
    ("satus", Near("status")),
    ("statuss", Near("status")),
    ("state", Near("status")),
    ("start", Talk),
    ("status please", Near("status")),
    ("qeue", Near("queue")),
    ("queu", Near("queue")),
    ("queues", Near("queue")),
    ("stpo", Near("stop")),
    ("stopp", Near("stop")),
    ("/stop", Near("stop")),
    ("STPO!", Near("stop")),
    ("abrot", Near("stop")),
    ("aborted?", Talk),
    ("sort", Talk),
    ("stop please", Near("stop")),
    ("please stop", Near("stop")),
    ("Stop, please!", Near("stop")),
    ("abort now", Near("stop")),
    ("stop it", Near("stop")),
    ("show me", Near("show N")),
    ("show m3", Near("show 3")),
    ("yes m11", Near("yes 11")),
    ("cancl 3", Near("cancel 3")),
    ("cancel it", Near("cancel mN")),
    ("resume, please", Near("resume")),
    ("compact now", Near("compact")),
    ("please help me", Talk),
    ("stop please now", Talk),
    ("help me please", Talk),
    ("stop it now", Talk),
    ("fix it", Talk),
    ("now please", Talk),
    ("stop the server", Talk),
    ("stop postgres", Talk),
    ("puase", Near("pause")),
    ("push", Talk),
    ("resmue", Near("resume")),
    ("resme", Near("resume")),
    ("continue", Talk),
    ("mroe", Near("more")),
    ("modle", Near("model")),
    ("compct", Near("compact")),
    ("/compat", Near("compact")),
    ("stan down", Near("stand down")),
    ("stand donw", Near("stand down")),
    ("standdown", Near("stand down")),
    ("sit down", Talk),
    ("new sesion", Near("new session")),
    ("newsession", Near("new session")),
    ("/cleer", Near("new session")),
    ("cancel", Near("cancel mN")),
    ("cancle", Near("cancel mN")),
    ("cancle m42", Near("cancel m42")),
    ("cancle 7", Near("cancel 7")),
    ("cancel m4x", Near("cancel mN")),
    ("cancelm42", Near("cancel m42")),
    ("cancel that", Talk),
    ("show", Near("show N")),
    ("shwo 7", Near("show 7")),
    ("show7", Near("show 7")),
    ("how", Talk),
    ("show logs", Talk),
    ("step 4", Talk),
    ("approve 5", Decides("yes 5")),
    ("yes 5 always", Decides("yes 5 always")),
    ("approve 5 always", Decides("yes 5 always")),
    ("no 5 always", Begins),
    ("Approve #5", Decides("yes #5")),
    ("approve", Decides("yes")),
    ("deny 5", Decides("no 5")),
    ("deny", Decides("no")),
    ("yes", Decides("yes")),
    ("5 yes", Decides("5 yes")),
    ("aprove 7", Near("approve 7")),
    ("aprove #7", Near("approve #7")),
    ("aprove 7x", Near("approve N")),
    ("aprove", Near("approve N")),
    ("approve it", Near("approve N")),
    ("approve the plan and go", Begins),
    ("dney 7", Near("deny 7")),
    ("deny it", Near("deny N")),
    ("yes5", Near("yes 5")),
    ("yse 5", Near("yes 5")),
    ("no5", Near("no 5")),
    ("alow 5", Near("yes 5")),
    ("yes 5,", Near("yes 5")),
    ("yes?", Begins),
    ("no,", Begins),
    ("yess", NearIfAsked("yes N")),
    ("yse", NearIfAsked("yes N")),
    ("yes please", Begins),
    ("yes, and run it again", Begins),
    ("no, use make", Begins),
    ("No: use the trash", Begins),
    ("ok", Begins),
    ("OK, do it", Begins),
    ("okay", Talk),
    // Without a number it means "continue".
    ("go on", Talk),
    ("go on!", Talk),
    ("y", Decides("y")),
    ("n 5", Decides("n 5")),
    ("yesterday it worked", Talk),
    ("nothing", Talk),
    ("thanks", Talk),
    ("why", Talk),
    ("", Talk),
];

#[test]
fn near_misses_are_told_from_prompts() {
    let near = |word: &str| Reading::Miss(Miss::Word(word.to_owned()));
    for (text, is) in LINES {
        let (not, lately) = match is {
            Near(word) => (near(word), near(word)),
            NearIfAsked(word) => (Reading::Prompt, near(word)),
            Begins => (Reading::Prompt, Reading::Miss(Miss::Decision)),
            Decides(word) => {
                (Reading::Decision((*word).to_owned()), Reading::Decision((*word).to_owned()))
            }
            Talk => (Reading::Prompt, Reading::Prompt),
        };
        assert_eq!(read(text, Asked::Not), not, "{text:?}, nothing asked");
        assert_eq!(read(text, Asked::Lately), lately, "{text:?}, something asked");
    }
}

#[test]
fn a_near_miss_is_answered_with_the_word_and_the_list() {
    let five = [ApprovalNumber(5)];
    let word = |word: &str| Miss::Word(word.to_owned());
    let listed = |text: &str| vec![text.to_owned(), list()];
    for (miss, (said, to), open, expect) in [
        (
            word("stop"),
            ("stpo", "@ada "),
            &[][..],
            listed(
                "I do not know `stpo`; did you mean `@ada stop`, which ends my turn? I have done \
                 nothing.",
            ),
        ),
        (
            word("cancel m4"),
            ("cancle m4", ""),
            &five[..],
            listed("I do not know `cancle m4`; did you mean `cancel m4`? I have done nothing."),
        ),
        (
            Miss::Decision,
            ("no, use the trash", ""),
            &five[..],
            listed(
                "`no, use the trash` decides nothing: approval 5 is open. Say `yes 5` or `no 5 \
                 REASON`, and nothing else on that line.",
            ),
        ),
        (
            Miss::Decision,
            ("ok", ""),
            &[][..],
            vec![
                "no approval is open, so `ok` decides nothing. If you meant a prompt, begin it \
                 with another word"
                    .to_owned(),
            ],
        ),
    ] {
        let reply = Reply { said, to, open, ended: None };
        assert_eq!(reply.missed(&miss), expect, "{said:?}");
    }
}

#[test]
fn what_became_of_the_last_approval_is_told() {
    let ended = Some("approval 5 was already allowed by ori, 12 s ago");
    let told = Reply { ended, ..said("yes") }.nothing_to_decide();
    let expect = "approval 5 was already allowed by ori, 12 s ago; nothing else is open, so `yes` \
                  decides nothing. ";
    assert!(told.starts_with(expect), "{told}");
}

fn said(said: &str) -> Reply<'_> {
    Reply { said, to: "", open: &[], ended: None }
}

/// What somebody said comes back to them so that all of it can be seen, and not endlessly.
#[test]
fn what_is_quoted_is_shown_and_cut() {
    let told = said("yes\u{202e}").nothing_to_decide();
    assert!(told.contains("`yes<U+202E>`"), "{told}");
    let told = said(&"yes ".repeat(100)).missed(&Miss::Decision);
    let quoted = format!("`{}…`", "yes ".repeat(10));
    assert!(told[0].contains(&quoted), "{told:?}");
}

/// One IRC line each: the list and every line of `help` fit without being cut.
#[test]
fn every_answer_fits_a_line() {
    let open = [ApprovalNumber(123_456)];
    // Hidden characters are written out, each with eight bytes or more.
    for longest in ["#", "\u{200b}", "\u{1f6f7}"].map(|one| one.repeat(2 * QUOTED_MAX)) {
        let reply =
            Reply { said: &longest, to: "@a-server-with-a-name-claude ", open: &open, ended: None };
        for miss in [Miss::Word("stop".to_owned()), Miss::Decision] {
            for line in reply.missed(&miss) {
                assert!(line.len() <= LINE_BYTES, "{}: {line}", line.len());
            }
        }
    }
    for line in help("a-server-with-a-name-claude") {
        assert!(line.len() <= LINE_BYTES, "{}: {line}", line.len());
    }
}

/// Every word that is offered is read as one, and stands in the list and in the help.
#[test]
fn every_word_is_read_listed_and_explained() {
    let (list, help) = (list(), help("ada").join(" | "));
    for word in WORDS {
        assert!(list.contains(word.listed), "{} is not listed", word.shown);
        let forms = match word.number {
            Some(number) => {
                word.said.iter().map(|said| format!("{said} {}", number.replace('N', "7")))
            }
            None => continue,
        };
        for said in forms.filter(|said| !said.starts_with("allow")) {
            let is_read =
                matches!(read(&said, Asked::Not), Reading::Word(_) | Reading::Decision(_));
            assert!(is_read, "{said}");
        }
    }
    for (said, _) in plain() {
        assert!(matches!(read(said, Asked::Not), Reading::Word(_)), "{said}");
    }
    for word in WORDS {
        let number = word.number.map(|number| number.replace("mN", " m42").replace('N', " 5"));
        let shown = format!("{}{}", word.shown, number.unwrap_or_default());
        match &word.help {
            Itself => {}
            Own(text) => {
                let (what, _) =
                    text.split_once(": ").expect("how it is said, a colon, what it does");
                let first = shown.replace("mN", "m42").replace(" N", " 5");
                assert!(what.starts_with(&first), "{what} does not begin with {first}");
                assert!(help.contains(text), "{help}");
            }
            Among => assert!(help.contains(&shown), "{help} does not name {shown}"),
        }
    }
}
