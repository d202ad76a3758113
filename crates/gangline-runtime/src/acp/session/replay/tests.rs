//! Records told again in pieces that are cut anywhere, with real words behind them.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

fn says(text: &str) -> Piece {
    let update = Update::Text { message: None, text: text.to_owned() };
    Piece { update, edges: Edges::default() }
}

fn thinks(text: &str) -> Piece {
    Piece { update: Update::Thought { text: text.to_owned() }, edges: Edges::default() }
}

fn calls(id: &str) -> Piece {
    let patch = crate::acp::update::patch(&json!({"toolCallId": id})).unwrap();
    Piece { update: Update::Tool(patch), edges: Edges::default() }
}

fn shown(piece: &Piece) -> String {
    match &piece.update {
        Update::Text { text, .. } => text.clone(),
        Update::Thought { text } => format!("({text})"),
        Update::Tool(patch) => format!("[{}]", patch.id),
        other => panic!("{other:?}"),
    }
}

/// Tells these pieces. Returns what is new in the end, as the end of a turn would have it, and how
/// many pieces were told again.
fn told(past: Vec<Block>, pieces: &[Piece]) -> (String, u64) {
    let mut replay = Replay::of(past);
    let (mut new, mut again, mut over) = (Vec::new(), 0, false);
    for piece in pieces {
        if over {
            new.push(shown(piece));
            continue;
        }
        match replay.hears(piece.clone()) {
            Heard::Again(pieces) => again += pieces,
            Heard::New(pieces) => {
                over = true;
                new.extend(pieces.iter().map(shown));
            }
        }
    }
    if !over {
        new.extend(replay.take_kept().iter().map(shown));
    }
    (new.concat(), again)
}

fn check(past: &[&str], pieces: &[&str], expect: &str) {
    let past = past.iter().map(|it| text(it)).collect();
    let pieces: Vec<Piece> = pieces.iter().map(|it| says(it)).collect();
    assert_eq!(told(past, &pieces).0, expect, "{pieces:?}");
}

#[test]
fn what_repeats_the_record_is_told_again_and_the_rest_is_new() {
    let past = ["A first answer.", "A second one.", "A third."];
    check(&past, &past, "");
    check(&past, &["A fir", "st answer.", "A sec", "ond one.", "A third.", "New."], "New.");
    // From the middle on, and with gaps, but never backwards.
    check(&past, &["A third.", "New."], "New.");
    check(&past, &["A first answer.", "A third.", "New."], "New.");
    check(&past, &["A third.", "A first answer."], "A first answer.");
    // In one piece, and with other spaces.
    check(&past, &["A first answer.\n\nA second  one.", "New."], "New.");
    // Nothing is on record.
    check(&[], &["A first answer."], "A first answer.");
}

#[test]
fn what_only_begins_like_the_record_is_new_as_a_whole() {
    let past = ["A first answer.", "A second one."];
    check(&past, &["A fir", "st thing"], "A first thing");
    check(&past, &["A first ", "answer", " is this"], "A first answer is this");
    check(&past, &["A first"], "A first");
    check(&past, &["\n", "A ", "new one"], "\nA new one");
    check(&past, &["A first answer. And more"], "A first answer. And more");
    // The answer is new from where the repetition ends.
    check(&past, &["A first answer.", "A sec", "ret"], "A secret");
    // Once something is new, all that follows is.
    check(&past, &["New.", "A first answer."], "New.A first answer.");
}

#[test]
fn a_text_that_goes_on_like_a_longer_one_is_either() {
    let past = ["yes", "yes, and more"];
    check(&past, &["yes", ", and", " more", "New"], "New");
    check(&past, &["yes", ", and", " less"], ", and less");
}

#[test]
fn thoughts_and_calls_are_compared_too() {
    let thought = Block::Thinking { thinking: "hm".to_owned() };
    let call =
        |id: &str| Block::ToolUse { id: id.to_owned(), name: "x".to_owned(), input: json!({}) };
    let past = || vec![thought.clone(), text("I look."), call("c1"), call("c2"), text("Found.")];
    let all =
        [thinks("hm"), says("I look."), calls("c1"), calls("c2"), calls("c1"), says("Found.")];
    let new = |more: &[Piece]| told(past(), &[&all, more].concat()).0;
    assert_eq!(new(&[]), "");
    assert_eq!(new(&[says("New.")]), "New.");
    assert_eq!(new(&[calls("c3"), says("Found.")]), "[c3]Found.");
    assert_eq!(new(&[thinks("new")]), "(new)");
    // A call that is on record shows that the text before it is of the past.
    assert_eq!(told(past(), &[says("I lo"), calls("c1"), says("New.")]).0, "New.");
    // A thought is no text.
    assert_eq!(told(past(), &[says("hm")]).0, "hm");
}

#[test]
fn a_masked_secret_is_any_text() {
    let past = [&*format!("The key is {MASK}, keep it."), "Next."];
    check(&past, &["The key is hunt", "er2, keep", " it.", "Next.", "New."], "New.");
    check(&past, &["The key is hunter2, lose it."], "The key is hunter2, lose it.");
    check(&[&format!("The key is {MASK}")], &["The key is hun", "ter2"], "");
    // A text that is nothing but a secret would be every text.
    check(&[MASK], &["anything"], "anything");
}

#[test]
fn halves_of_a_character_are_put_together() {
    let line = |text: &str| {
        let line = format!(r#"{{"text":"{text}"}}"#);
        let (read, edges) = gangline_os::json::read(&line, |line| serde_json::from_str(line));
        let value: serde_json::Value = read.unwrap();
        Piece { edges, ..says(value["text"].as_str().unwrap()) }
    };
    let pieces = [line(r"up \ud83d"), line(r"\ude80 and away"), says("New.")];
    assert_eq!(told(vec![text("up \u{1f680} and away")], &pieces).0, "New.");
    let pieces = [line(r"up \ud83d"), line(r"\ude81 and away")];
    let new = told(vec![text("up \u{1f680} and away")], &pieces);
    assert_eq!(new.1, 0);
}

#[test]
fn what_is_known_to_be_of_the_past_is_skipped_in_the_middle_of_a_text_too() {
    let mut replay = Replay::of(vec![text("A first answer."), text("A second one.")]);
    replay.skips(says("something that is not on record"));
    replay.skips(says("A first "));
    assert_eq!(replay.hears(says("answer.")), Heard::Again(2));
    assert!(!replay.keeps());
    assert_eq!(replay.hears(says("New.")), Heard::New(vec![says("New.")]));
}

/// How far pieces have been followed.
#[derive(Debug, Clone, Copy)]
enum At {
    /// Before any item from this one on.
    Before(usize),
    /// In this item, behind so many bytes.
    In(usize, usize),
}

/// Follows pieces by trying everything, one way after the other. Returns the last piece at whose end
/// some way was between two items, as a number from 1, among the pieces that some way could follow.
fn longest(past: &[String], at: At, pieces: &[String], number: usize) -> usize {
    let here = if matches!(at, At::Before(_)) { number } else { 0 };
    let Some((piece, rest)) = pieces.split_first() else { return here };
    let begins: Vec<(usize, usize)> = match at {
        At::Before(next) => (next..past.len()).map(|item| (item, 0)).collect(),
        At::In(item, behind) => vec![(item, behind)],
    };
    let ways = begins.into_iter().filter_map(|(item, behind)| walk(past, item, behind, piece));
    let ends = ways.map(|at| longest(past, at, rest, number + 1));
    ends.max().unwrap_or(0).max(here)
}

/// Follows one piece through an item and those behind it.
fn walk(past: &[String], item: usize, behind: usize, piece: &str) -> Option<At> {
    let left = &past.get(item)?[behind..];
    match piece.strip_prefix(left) {
        Some("") => Some(At::Before(item + 1)),
        Some(rest) => walk(past, item + 1, 0, rest),
        None => left.starts_with(piece).then_some(At::In(item, behind + piece.len())),
    }
}

fn cut(text: &str, sizes: &[usize]) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let (mut pieces, mut from) = (Vec::new(), 0);
    for size in sizes.iter().cycle() {
        if from >= chars.len() {
            break;
        }
        let to = (from + size).min(chars.len());
        pieces.push(chars[from..to].iter().collect());
        from = to;
    }
    pieces
}

proptest! {
    /// However a record is cut when it is told again, whole or in part and in its order, nothing of it
    /// is new, and every word behind it is.
    #[test]
    fn nothing_of_a_record_is_new_and_nothing_new_is_lost(
        past in prop::collection::vec("[a-c]{1,8}", 0..6),
        left_out in prop::collection::vec(any::<bool>(), 6),
        sizes in prop::collection::vec(1_usize..5, 1..6),
        new in "[x-z]{1,12}",
    ) {
        let told_again = past.iter().zip(&left_out).filter(|(_, left)| !**left);
        let mut pieces: Vec<Piece> =
            told_again.flat_map(|(item, _)| cut(item, &sizes)).map(|it| says(&it)).collect();
        let again = pieces.len() as u64;
        pieces.extend(cut(&new, &sizes).iter().map(|it| says(it)));
        let past = past.iter().map(|it| text(it)).collect();
        prop_assert_eq!(told(past, &pieces), (new, again));
    }

    /// Of any words in any pieces, those are told again that the longest beginning in whole pieces
    /// repeats; every other is passed on once, in order.
    #[test]
    fn words_are_told_again_or_passed_on(
        past in prop::collection::vec("[ab]{1,4}", 0..5),
        words in "[ab]{0,14}",
        sizes in prop::collection::vec(1_usize..5, 1..6),
    ) {
        let pieces = cut(&words, &sizes);
        let again = longest(&past, At::Before(0), &pieces, 0);
        let said: Vec<Piece> = pieces.iter().map(|it| says(it)).collect();
        let past = past.iter().map(|it| text(it)).collect();
        let (new, told_again) = told(past, &said);
        prop_assert_eq!((new, told_again), (pieces[again..].concat(), again as u64));
    }
}
