//! Tables of room words and of what nearly is one.

use super::*;

#[test]
fn operators_words_are_read_only_if_they_are_the_whole_text() {
    let cancel = |id| Some(OperatorWord::Cancel(MessageId(id)));
    let show = |number| Some(OperatorWord::Show(ApprovalNumber(number)));
    for (text, expect) in [
        ("help", Some(OperatorWord::Help)),
        ("Help!", Some(OperatorWord::Help)),
        ("status", Some(OperatorWord::Status)),
        ("status?", Some(OperatorWord::Status)),
        ("queue", Some(OperatorWord::Queue)),
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
        ("more", Some(OperatorWord::More)),
        ("more tests", None),
        ("PAUSE", Some(OperatorWord::Pause)),
        ("resume ", Some(OperatorWord::Resume)),
        ("abort", Some(OperatorWord::Abort)),
        ("stop", Some(OperatorWord::Abort)),
        ("Stop!", Some(OperatorWord::Abort)),
        ("stop the server", None),
        ("stand  down", Some(OperatorWord::StandDown)),
        ("Model", Some(OperatorWord::Model)),
        ("/model", Some(OperatorWord::Model)),
        ("model Qwen/Qwen3", Some(OperatorWord::SetModel("Qwen/Qwen3".parse().ok()))),
        ("/MODEL haiku", Some(OperatorWord::SetModel("haiku".parse().ok()))),
        ("model default", Some(OperatorWord::SetModel(None))),
        ("/model --Default", Some(OperatorWord::SetModel(None))),
        ("model -x", None),
        ("model the data", None),
        ("New session", Some(OperatorWord::NewSession)),
        ("/new-session", Some(OperatorWord::NewSession)),
        ("/clear", Some(OperatorWord::NewSession)),
        ("clear", None),
        ("compact", Some(OperatorWord::Compact)),
        ("/compact", Some(OperatorWord::Compact)),
        ("/compact now", None),
        ("stand", None),
        ("status of the build?", None),
        ("help me fix the build", None),
        ("", None),
    ] {
        assert_eq!(OperatorWord::parse(text), expect, "{text:?}");
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
    ("help me", Talk),
    ("help me fix the build", Talk),
    ("stauts", Near("status")),
    ("satus", Near("status")),
    ("statuss", Near("status")),
    ("state", Near("status")),
    ("start", Talk),
    ("status please", Talk),
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
    ("cancel", Near("cancel m42")),
    ("cancle", Near("cancel m42")),
    ("cancle m42", Near("cancel m42")),
    ("cancel m4x", Near("cancel m42")),
    ("cancelm42", Near("cancel m42")),
    ("cancel that", Talk),
    ("show", Near("show 5")),
    ("shwo 5", Near("show 5")),
    ("show5", Near("show 5")),
    ("how", Talk),
    ("show logs", Talk),
    ("step 4", Talk),
    ("approve 5", Decides("yes 5")),
    ("Approve #5", Decides("yes #5")),
    ("approve", Decides("yes")),
    ("deny 5", Decides("no 5")),
    ("deny", Decides("no")),
    ("yes", Decides("yes")),
    ("5 yes", Decides("5 yes")),
    ("aprove 5", Near("approve 5")),
    ("aprove", Near("approve 5")),
    ("approve it", Begins),
    ("approve the plan and go", Begins),
    ("dney 5", Near("deny 5")),
    ("deny it", Begins),
    ("yes5", Near("yes 5")),
    ("yse 5", Near("yes 5")),
    ("no5", Near("no 5")),
    ("alow 5", Near("yes 5")),
    ("yess", NearIfAsked("yes 5")),
    ("yse", NearIfAsked("yes 5")),
    ("yes please", Begins),
    ("yes, and run it again", Begins),
    ("no, use make", Begins),
    ("No: use the trash", Begins),
    ("ok", Begins),
    ("OK, do it", Begins),
    ("okay", Talk),
    ("go on", Talk),
    ("yesterday it worked", Talk),
    ("nothing", Talk),
    ("thanks", Talk),
    ("why", Talk),
    ("", Talk),
];

#[test]
fn near_misses_are_told_from_prompts() {
    let near = |word| Reading::Miss(Miss::Word(word));
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
    for (miss, said, open, expect) in [
        (
            Miss::Word("stop"),
            "stpo",
            &[][..],
            "I know no `stpo`; did you mean `stop`? I have done nothing with it.",
        ),
        (
            Miss::Word("cancel m42"),
            "cancle m4",
            &five[..],
            "I know no `cancle m4`; did you mean `cancel m42`? I have done nothing with it.",
        ),
        (
            Miss::Decision,
            "no, use the trash",
            &five[..],
            "`no, use the trash` decides nothing: approval 5 is open. Say `yes 5` or `no 5 \
             REASON`, and nothing else on that line.",
        ),
        (
            Miss::Decision,
            "ok",
            &[][..],
            "`ok` decides nothing: no approval is open any more. If it was meant as a prompt, \
             begin the line with another word.",
        ),
    ] {
        assert_eq!(miss.answer(said, open), format!("{expect} {LIST}"), "{said:?}");
    }
}

/// What somebody said comes back to them so that all of it can be seen, and not endlessly.
#[test]
fn what_is_quoted_is_shown_and_cut() {
    let told = nothing_to_decide("yes\u{202e}");
    assert!(told.contains("`yes<U+202E>`"), "{told}");
    let told = Miss::Decision.answer(&"yes ".repeat(100), &[]);
    let quoted = format!("`{}…`", "yes ".repeat(10));
    assert!(told.starts_with(&quoted), "{told}");
}

/// One IRC line each: the list and every line of `help` fit without being cut.
#[test]
fn every_answer_fits_a_line() {
    let longest = "#".repeat(QUOTED_MAX);
    for miss in [Miss::Word("new session"), Miss::Decision] {
        let told = miss.answer(&longest, &[ApprovalNumber(123_456)]);
        assert!(told.len() <= crate::split::LINE_BYTES, "{}: {told}", told.len());
    }
    for line in help("a-server-with-a-name-claude") {
        assert!(line.len() <= crate::split::LINE_BYTES, "{}: {line}", line.len());
    }
}

/// Every word that is offered is read as one.
#[test]
fn every_word_of_the_list_is_one() {
    for (_, shown) in PLAIN.iter().chain(NUMBERED) {
        match read(shown, Asked::Not) {
            Reading::Word(_) | Reading::Decision(_) => {}
            other @ (Reading::Miss(_) | Reading::Prompt) => panic!("{shown}: {other:?}"),
        }
        assert!(LIST.contains(shown) || shown.contains("approve") || shown.contains("deny"));
    }
}
