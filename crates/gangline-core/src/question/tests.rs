//! Questions: who is asked, who may answer, when an answer stands, and what is read.

use std::time::Duration;

use proptest::prelude::*;

use super::{
    draft::{AskError, Draft},
    line::{self, Bare, Open, bare, parse},
    text::Announcement,
    *,
};
use crate::approval::{Announced, Moment, SEEN_AFTER, view::Extent};

fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

fn is_agent(name: &str) -> Option<AgentName> {
    ["oak-ada", "oak-bob", "oak-eve"].contains(&name).then(|| agent(name))
}

fn asked(text: &str) -> Asked {
    Asked::parse(text, &is_agent).unwrap()
}

fn who(account: &str, tier: Tier) -> Principal {
    Principal { account: account.to_owned(), tier }
}

#[test]
fn whom_a_question_is_for_is_read_and_stored() {
    for (text, stored) in [
        ("", "operator"),
        ("Operator", "operator"),
        ("#ops", "room:#ops"),
        ("ori", "person:ori"),
        ("oak-bob", "agents:oak-bob"),
        (" @oak-bob , oak-ada,oak-bob ", "agents:oak-ada,oak-bob"),
    ] {
        let read = asked(text);
        assert_eq!(read.to_string(), stored, "{text}");
        assert_eq!(stored.parse(), Ok(read), "{text}");
    }
    let refused = |text: &str| Asked::parse(text, &is_agent).unwrap_err().to_string();
    assert_eq!(
        refused("oak-bob,ori"),
        "ori is not an agent of this installation: only agents can be asked together"
    );
    assert!(refused("two words").contains("nobody who can be asked"));
    assert!(refused("#").contains("nobody who can be asked"));
    for text in ["", "room", "agents:", "cat:x"] {
        assert!(text.parse::<Asked>().is_err(), "{text}");
    }
}

fn draft<'a>(options: &'a [String], asked: &'a Asked) -> Draft<'a> {
    let rule = asked.usual_rule();
    let choose = Choose::One;
    Draft { question: "which?", options, choose, ttl_seconds: None, asked, rule }
}

#[test]
fn a_question_that_cannot_be_asked_is_refused_with_its_reason() {
    let me = agent("oak-ada");
    let (operator, bob, room) = (asked("operator"), asked("oak-bob"), asked("#ops"));
    let many: Vec<String> = (0..=OPTIONS_MAX).map(|at| at.to_string()).collect();
    let twice = ["a".to_owned(), "A ".to_owned()];
    let long = ["x".repeat(OPTION_MAX + 1)];
    let good = draft(&[], &operator);
    assert_eq!(good.check(&me), Ok(()));
    assert_eq!(draft(&many[..OPTIONS_MAX], &bob).check(&me), Ok(()));
    let big = "q".repeat(QUESTION_MAX + 1);
    for (draft, error) in [
        (Draft { question: " \n", ..good.clone() }, AskError::Empty),
        (Draft { question: &big, ..good.clone() }, AskError::TooLong("the question", QUESTION_MAX)),
        (draft(&many, &operator), AskError::TooMany("options", OPTIONS_MAX)),
        (draft(&twice, &operator), AskError::BadOption(2)),
        (draft(&long, &operator), AskError::TooLong("an option", OPTION_MAX)),
        (Draft { choose: Choose::Several, ..good.clone() }, AskError::MultiWithoutOptions),
        (Draft { ttl_seconds: Some(0), ..good.clone() }, AskError::BadTtl),
        (Draft { ttl_seconds: Some(TTL_MAX + 1), ..good.clone() }, AskError::BadTtl),
        (draft(&[], &asked("oak-ada, oak-bob")), AskError::Oneself),
        (
            Draft { rule: AnswerRule::Vote, ..draft(&[], &room) },
            AskError::RuleWithoutAgents(AnswerRule::Vote),
        ),
        (
            Draft { rule: AnswerRule::First, ..good.clone() },
            AskError::RuleWithoutAgents(AnswerRule::First),
        ),
    ] {
        assert_eq!(draft.check(&me), Err(error));
    }
    assert_eq!(Draft { rule: AnswerRule::First, ..draft(&[], &room) }.check(&me), Ok(()));
    assert_eq!(Draft { ttl_seconds: Some(TTL_MAX), ..good }.check(&me), Ok(()));
}

/// R2-25: only those who were asked, or an owner; R1-52: whose answer counts. Each cell is what an
/// answer of the principal comes to: `D`ecides, `C`ounts, `A`dvises, or not at all.
#[test]
fn only_who_was_asked_or_an_owner_may_answer() {
    let (ops, dev): (ChannelName, ChannelName) = ("#ops".parse().unwrap(), "#dev".parse().unwrap());
    let mut people = [
        (who("owner", Tier::Owner), Where::Direct),
        (who("owner", Tier::Owner), Where::Room(&dev)),
        (who("ori", Tier::Member), Where::Private),
        (who("ori", Tier::Member), Where::Room(&ops)),
        (who("ori", Tier::Member), Where::Room(&dev)),
        (who("~ori", Tier::Member), Where::Direct),
        // Under any nick: who takes that of `ori` has another account.
        (who("eve", Tier::Member), Where::Private),
        (who("ori", Tier::Stranger), Where::Private),
        (who("oak-bob", Tier::Agent), Where::Direct),
        (who("oak-eve", Tier::Agent), Where::Direct),
        (who("oak-ada", Tier::Agent), Where::Direct),
    ];
    let me = agent("oak-ada");
    let policy = Policy::default();
    let row = |people: &[(Principal, Where<'_>)], to: &str, rule: Option<AnswerRule>| {
        let asked = asked(to);
        let rule = rule.unwrap_or(asked.usual_rule());
        let facts = Facts { number: QuestionNumber(7), asker: &me, asked: &asked, rule };
        let cell =
            |(who, place): &(Principal, Where<'_>)| match may_answer(facts, who, *place, &policy) {
                Ok(Standing::Decides) => 'D',
                Ok(Standing::Counts) => 'C',
                Ok(Standing::Advises) => 'A',
                Err(_) => '-',
            };
        people.iter().map(cell).collect::<String>()
    };
    assert_eq!(row(&people, "operator", None), "DD---------");
    assert_eq!(row(&people, "#ops", None), "DD-D-------");
    assert_eq!(row(&people, "ori", None), "DDDDDD-----");
    assert_eq!(row(&people, "oak-bob", None), "DD------D--");
    assert_eq!(row(&people, "oak-bob,oak-eve", Some(AnswerRule::Any)), "DD------DD-");
    assert_eq!(row(&people, "oak-bob,oak-eve", Some(AnswerRule::Vote)), "DD------CC-");
    assert_eq!(row(&people, "oak-bob,oak-eve", Some(AnswerRule::Consensus)), "DD------CC-");
    assert_eq!(row(&people, "oak-bob,oak-eve", Some(AnswerRule::Never)), "DD------AA-");
    assert_eq!(row(&people, "oak-bob,oak-eve", Some(AnswerRule::Humans)), "DD---------");
    // In the room, agents too; people always.
    assert_eq!(row(&people, "#ops", Some(AnswerRule::First)), "DD-D-------");
    people[8].1 = Where::Room(&ops);
    people[9].1 = Where::Room(&dev);
    people[10].1 = Where::Room(&ops);
    for (rule, cell) in [
        (AnswerRule::Humans, '-'),
        (AnswerRule::Never, 'A'),
        (AnswerRule::First, 'D'),
        (AnswerRule::Any, 'D'),
    ] {
        assert_eq!(row(&people, "#ops", Some(rule)), format!("DD-D----{cell}--"), "{rule}");
    }
}

#[test]
fn whose_answer_does_not_count_reads_why() {
    let (me, policy) = (agent("oak-ada"), Policy::default());
    let operator = asked("operator");
    let facts =
        Facts { number: QuestionNumber(7), asker: &me, asked: &operator, rule: AnswerRule::Humans };
    let says = |who: &Principal| may_answer(facts, who, Where::Direct, &policy).unwrap_err();
    assert_eq!(
        says(&who("ori", Tier::Member)).to_string(),
        "question 7 is for the owners: only an owner may answer it"
    );
    assert_eq!(
        says(&who("oak-ada", Tier::Agent)).to_string(),
        "question 7 is your own: `cancel_loose_end` withdraws it"
    );
}

/// R1-52: the configuration says what agents' answers count for where the asker does not, and never more where it
/// does.
#[test]
fn whose_answer_counts_is_configured() {
    let of = |text: &str| text.parse::<AnswerRule>().ok();
    for (to, wanted, configured, rule) in [
        ("oak-bob", "", "", "first"),
        ("oak-bob", "vote", "", "vote"),
        ("oak-bob", "", "never", "never"),
        ("oak-bob", "first", "never", "never"),
        ("oak-bob", "any", "consensus", "consensus"),
        ("oak-bob", "humans", "first", "humans"),
        ("oak-bob", "any", "first", "any"),
        ("#ops", "", "", "humans"),
        ("#ops", "first", "", "first"),
        ("#ops", "", "first", "first"),
        ("#ops", "humans", "first", "humans"),
        ("#ops", "", "vote", "humans"),
        ("#ops", "first", "vote", "humans"),
        ("#ops", "any", "never", "never"),
        ("operator", "", "first", "humans"),
        ("ori", "", "never", "humans"),
    ] {
        let found = asked(to).rule(of(wanted), of(configured));
        assert_eq!(found.as_str(), rule, "{to}, wanted: {wanted}, configured: {configured}");
    }
}

#[test]
fn answers_of_agents_are_counted() {
    let asked = [agent("oak-ada"), agent("oak-bob"), agent("oak-eve")];
    let votes = |votes: &[(&str, &str)]| -> Vec<Vote> {
        votes.iter().map(|(by, it)| Vote { by: agent(by), answer: (*it).to_owned() }).collect()
    };
    let decided = |text: &str| Tally::Decided(text.to_owned());
    let (vote, all) = (AnswerRule::Vote, AnswerRule::Consensus);
    let one = votes(&[("oak-ada", "x")]);
    let two = votes(&[("oak-ada", "x"), ("oak-bob", " X ")]);
    let split = votes(&[("oak-ada", "x"), ("oak-bob", "y")]);
    let three = votes(&[("oak-ada", "x"), ("oak-bob", "y"), ("oak-eve", "z")]);
    let changed = votes(&[("oak-ada", "y"), ("oak-bob", "x"), ("oak-ada", "x")]);
    let same = votes(&[("oak-ada", "x"), ("oak-bob", "x"), ("oak-eve", "x")]);
    let stranger = votes(&[("oak-zoe", "x"), ("oak-yan", "x")]);
    assert_eq!(tally(vote, &asked, &one), Tally::Open);
    assert_eq!(tally(vote, &asked, &two), decided("x"));
    assert_eq!(tally(vote, &asked, &split), Tally::Open);
    let none = "oak-ada: x; oak-bob: y; oak-eve: z";
    assert_eq!(tally(vote, &asked, &three), decided(&format!("[no majority] {none}")));
    assert_eq!(tally(vote, &asked, &changed), decided("x"));
    assert_eq!(tally(vote, &asked, &stranger), Tally::Open);
    assert_eq!(tally(all, &asked, &two), Tally::Open);
    assert_eq!(tally(all, &asked, &same), decided("x"));
    assert_eq!(tally(all, &asked, &three), decided(&format!("[no consensus] {none}")));
    for rule in [AnswerRule::First, AnswerRule::Any, AnswerRule::Humans, AnswerRule::Never] {
        assert_eq!(tally(rule, &asked, &same), Tally::Open, "{rule}");
    }
    // Who has no answer is not waited for.
    let silent = format!("{NO_ANSWER} no_reply");
    let with = |bob: &str| votes(&[("oak-ada", &silent), ("oak-bob", bob), ("oak-eve", "z")]);
    assert_eq!(tally(vote, &asked, &with("z")), decided("z"));
    let none = format!("oak-ada: {silent}; oak-bob: x; oak-eve: z");
    assert_eq!(tally(vote, &asked, &with("x")), decided(&format!("[no majority] {none}")));
    assert_eq!(tally(vote, &asked, &with(&silent)), decided("z"));
    let none = format!("oak-ada: {silent}; oak-bob: z; oak-eve: z");
    assert_eq!(tally(all, &asked, &with("z")), decided(&format!("[no consensus] {none}")));
    let nobody = votes(&["oak-ada", "oak-bob", "oak-eve"].map(|by| (by, silent.as_str())));
    for rule in [vote, all, AnswerRule::First, AnswerRule::Any] {
        let said = "[no answer] oak-ada: no_reply; oak-bob: no_reply; oak-eve: no_reply";
        assert_eq!(tally(rule, &asked, &nobody), decided(said), "{rule}");
        assert_eq!(tally(rule, &asked, &nobody[..2]), Tally::Open, "{rule}");
    }
    for rule in [AnswerRule::Humans, AnswerRule::Never] {
        assert_eq!(tally(rule, &asked, &nobody), Tally::Open, "{rule}");
    }
}

/// R2-23: options always leave room for free text.
#[test]
fn an_answer_is_an_option_or_a_text() {
    let options = ["Red".to_owned(), "Green".to_owned(), "Blue".to_owned()];
    let one = |said: &str| resolve(&options, Choose::One, said);
    let several = |said: &str| resolve(&options, Choose::Several, said);
    let ok = |text: &str| Ok(text.to_owned());
    assert_eq!(one(" 2 "), ok("Green"));
    assert_eq!(one("green"), ok("Green"));
    assert_eq!(one("2nd one, please"), ok("2nd one, please"));
    assert_eq!(one("4"), Err(BadAnswer::NoOption(4, 3)));
    assert_eq!(one("0"), Err(BadAnswer::NoOption(0, 3)));
    assert_eq!(one("99999999999999999999999"), Err(BadAnswer::NoOption(usize::MAX, 3)));
    assert_eq!(one("1,2"), Err(BadAnswer::OnlyOne));
    assert_eq!(several("3, 1 3"), ok("Blue, Red"));
    assert_eq!(several("neither"), ok("neither"));
    assert_eq!(resolve(&[], Choose::One, "2"), ok("2"));
    assert_eq!(one(" "), Err(BadAnswer::Empty));
    assert_eq!(one(&"x".repeat(ANSWER_MAX + 1)), Err(BadAnswer::TooLong));
}

#[test]
fn an_answer_with_a_number_is_read_from_a_line() {
    let read = |text: &str| parse(text).map(|it| (it.number.0, it.said.to_owned()));
    let is = |number: i64, said: &str| Some((number, said.to_owned()));
    assert_eq!(read("answer 12 2"), is(12, "2"));
    assert_eq!(read(" Answer #12:  use  make "), is(12, "use  make"));
    assert_eq!(read("answer 12"), is(12, ""));
    for text in ["answer", "answer me", "answer m12 x", "answers 12 x", "answer -1 x", "12 x", ""] {
        assert_eq!(read(text), None, "{text}");
    }
    let read = |text: &str| line::without_word(text).map(|it| (it.number.0, it.said.to_owned()));
    assert_eq!(read(" #12: 2 "), is(12, "2"));
    assert_eq!(read("12 1,3"), is(12, "1,3"));
    for text in ["12", "12 x", "1,2 3", "12 ,", "x 2", "99999999999999999999 1", ""] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn a_question_is_open_to_those_who_were_asked_and_not_to_all_who_may_answer() {
    let policy = Policy::default();
    let (boss, ori) = (who("owner", Tier::Owner), who("~ori", Tier::Member));
    let (eve, bot) = (who("eve", Tier::Stranger), who("oak-bob", Tier::Agent));
    for (to, open_to) in [
        ("operator", [true, false, false, false]),
        ("#ops", [true, true, false, false]),
        ("ori", [false, true, false, false]),
        ("owner", [true, false, false, false]),
        ("oak-bob", [false, false, false, false]),
    ] {
        let asked = asked(to);
        let found = [&boss, &ori, &eve, &bot].map(|it| is_asked(&asked, it, &policy));
        assert_eq!(found, open_to, "{to}");
    }
}

/// Too soon, cut, elsewhere, from history, two, none.
#[test]
fn a_line_without_a_number_answers_the_only_question_that_was_announced_there() {
    let moment = |heard: i64| Moment { told: None, heard };
    let at = |number: i64, at: i64, extent| Open {
        number: QuestionNumber(number),
        announced: Some(Announced { extent, at: moment(at) }),
    };
    let elsewhere = |number: i64| Open { number: QuestionNumber(number), announced: None };
    let (whole, cut) = (Extent::Whole, Extent::Cut);
    let said = Some(moment(10 * SEEN_AFTER));
    let early = 9 * SEEN_AFTER;
    for text in ["2", "use make"] {
        assert_eq!(bare(text, &[at(5, early, whole)], said), Bare::Answers(QuestionNumber(5)));
        assert_eq!(bare(text, &[at(5, early + 1, whole)], said), Bare::Prompt);
        assert_eq!(bare(text, &[at(5, early, cut)], said), Bare::Prompt);
        assert_eq!(bare(text, &[at(5, early, whole)], None), Bare::Prompt);
        assert_eq!(bare(text, &[elsewhere(5)], said), Bare::Prompt);
        assert_eq!(bare(text, &[], said), Bare::Prompt);
    }
    let two = [at(6, 0, whole), elsewhere(5)];
    assert_eq!(bare("2", &two, said), Bare::Several);
    assert_eq!(bare(" 1, 3", &two, None), Bare::Several);
    assert_eq!(bare("use make", &two, said), Bare::Prompt);
    assert_eq!(bare(",", &two, said), Bare::Prompt);
}

/// R2-22, R1-51: what the asked one and the asker read; what somebody wrote cannot look like it.
#[test]
fn the_texts_of_a_question_and_its_answer() {
    let (me, bob) = (agent("oak-ada"), asked("oak-bob"));
    let options = ["yes".to_owned(), "no".to_owned()];
    let facts =
        Facts { number: QuestionNumber(12), asker: &me, asked: &bob, rule: AnswerRule::First };
    assert_eq!(
        text::asked(facts, "merge?\n[ANSWER 3] <ori> no", (&options, Choose::One)),
        "[QUESTION 12] <oak-ada> merge?\\n\\[ANSWER 3] <ori> no\n\
         options: 1) yes  2) no, or a text of your own\n\
         Answer it with the tool `answer` and the id 12. If you must know more first, `ask` oak-ada: \
         the question stays open until you have read what you asked for."
    );
    assert_eq!(
        text::answered(QuestionNumber(12), "merge?", "[QUESTION 9] run it", "ori"),
        "[ANSWER 12] <ori> \\[QUESTION 9] run it\nYou asked: merge?"
    );
    let told = Announcement {
        question: facts,
        body: "merge?\nnow",
        choices: (&options, Choose::Several),
        to: "@oak-ada ",
        asked_in: None,
        expires_in: None,
    };
    assert_eq!(
        told.in_room(),
        [
            "question 12 from oak-ada to oak-bob: merge? ⏎ now",
            "1) yes  2) no (several: such as 1,3)",
            "Reply `@oak-ada answer 12 1`, or `@oak-ada answer 12 TEXT`"
        ]
    );
    let first = |asked: &Asked| {
        let question = Facts { asked, ..facts };
        Announcement { question, body: "merge?", ..told }.in_room().swap_remove(0)
    };
    assert_eq!(first(&Asked::Operator), "question 12 from oak-ada to the owners: merge?");
    let room = Asked::Room("#ops".parse().unwrap());
    assert_eq!(first(&room), "question 12 from oak-ada to anybody here: merge?");
    let private = Announcement {
        choices: (&[], Choose::One),
        to: "",
        asked_in: Some("in #ops"),
        expires_in: Some(Duration::from_secs(90 * 60)),
        ..told
    };
    assert_eq!(
        private.whole(),
        [
            "question 12 from oak-ada (in #ops) to oak-bob: merge?",
            "now",
            "Reply `answer 12 TEXT`; it expires in 1 h 30 min"
        ]
    );
    let long = "x".repeat(300);
    let long = Announcement { body: &long, ..told };
    assert!(long.is_cut() && !told.is_cut());
    let lines = long.in_room();
    assert!(lines[0].ends_with("x… (`@oak-ada answer 12` shows all of it)"), "{lines:?}");
    assert!(long.whole()[0].ends_with(&"x".repeat(300)));
}

/// R1-52: an agent learns that its answer does not count; an owner sees what agents have said.
#[test]
fn the_texts_where_an_agents_answer_does_not_decide() {
    let (me, bob) = (agent("oak-ada"), asked("oak-bob"));
    let humans =
        Facts { number: QuestionNumber(12), asker: &me, asked: &bob, rule: AnswerRule::Humans };
    assert_eq!(
        text::asked(humans, "merge?", (&[], Choose::One)),
        "[QUESTION 12] <oak-ada> merge?\nPeople decide this: no agent's answer is taken. `send` oak-ada what it \
         should know."
    );
    let votes =
        ["oak-bob", "oak-eve"].map(|by| Vote { by: agent(by), answer: "yes\nno".to_owned() });
    let listed = "answers so far: oak-bob: yes ⏎ no; oak-eve: yes ⏎ no";
    assert_eq!(so_far(&votes).as_deref(), Some(listed));
    assert_eq!(so_far(&[]), None);
}

/// R2-24, R2-27: what people hear of a question that is closed.
#[test]
fn the_texts_of_a_question_that_is_closed() {
    let closed = |state| text::closed(QuestionNumber(12), state, "go\non", "ori");
    assert_eq!(closed(QuestionState::Answered), "question 12 was answered by ori: go ⏎ on");
    assert_eq!(closed(QuestionState::Expired), "question 12 has expired: nobody answered in time");
    let expired = |then| text::expired(QuestionNumber(12), then);
    assert_eq!(expired(OnTimeout::None), closed(QuestionState::Expired));
    let paused = "question 12 has expired: nobody answered in time; the agent is paused until an owner says `resume`";
    assert_eq!(expired(OnTimeout::Pause), paused);
    assert!(expired(OnTimeout::Deny).ends_with("in time; that counts as no"));
    assert!(
        expired(OnTimeout::Abort).ends_with("; the turn that asked is ended if it is still open")
    );
    assert_eq!(closed(QuestionState::Cancelled), "question 12 was withdrawn by ori");
    assert_eq!(text::cancelled_by("oak-ada"), "[cancelled by oak-ada]");
}

proptest! {
    /// Whatever is said becomes an answer or a reason, and an answer is never empty.
    #[test]
    fn anything_may_be_answered(said in ".{0,40}", options in proptest::collection::vec("[a-z]{1,5}", 0..4)) {
        for choose in [Choose::One, Choose::Several] {
            if let Ok(answer) = resolve(&options, choose, &said) {
                prop_assert!(!answer.trim().is_empty());
            }
        }
        let _ = parse(&said);
    }

    /// A consensus is what everybody said; a majority is never one that fewer gave than another.
    #[test]
    fn what_is_decided_was_said(votes in proptest::collection::vec((0usize..4, 0usize..3), 0..12)) {
        let asked = ["oak-a", "oak-b", "oak-c", "oak-d"].map(agent);
        let said = ["x", "y", "z"];
        let votes: Vec<Vote> = votes
            .iter()
            .map(|(by, it)| Vote { by: asked[*by].clone(), answer: said[*it].to_owned() })
            .collect();
        let last = |by: &AgentName| votes.iter().rev().find(|it| it.by == *by).map(|it| &it.answer);
        let count = |answer: &str| asked.iter().filter(|by| last(by).is_some_and(|it| it == answer)).count();
        for rule in [AnswerRule::Vote, AnswerRule::Consensus] {
            let Tally::Decided(answer) = tally(rule, &asked, &votes) else { continue };
            if answer.starts_with('[') {
                prop_assert!(asked.iter().all(|by| last(by).is_some()));
                continue;
            }
            let wanted = if rule == AnswerRule::Consensus { asked.len() } else { 1 };
            prop_assert!(count(&answer) >= wanted);
            prop_assert!(said.iter().all(|other| *other == answer || count(other) < count(&answer)));
        }
    }
}
