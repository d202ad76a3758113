use gangline_irc::wire::Message;
use tokio::sync::oneshot::{self, Receiver};

use super::*;

const START: Duration = Duration::from_secs(100);

fn line(text: &str) -> Message {
    Message::parse(text.as_bytes()).unwrap()
}

fn channel() -> ChannelName {
    "#General".parse().unwrap()
}

type Asked = (Vec<String>, Receiver<Result<Answer, Unanswered>>);

/// Asks, and returns what goes to the server.
fn ask(inquiries: &mut Inquiries, question: Question) -> Asked {
    let (reply, answer) = oneshot::channel();
    let commands = inquiries.ask(START, Inquiry { question, reply });
    (written(&commands), answer)
}

fn written(commands: &[LinkCommand]) -> Vec<String> {
    let one = |command: &LinkCommand| match command {
        LinkCommand::Raw(message) => message.to_line().unwrap().trim_end().to_owned(),
        other => format!("{other:?}"),
    };
    commands.iter().map(one).collect()
}

fn user(nick: &str, modes: &str) -> WhoUser {
    WhoUser { nick: nick.to_owned(), modes: modes.to_owned() }
}

/// R0-42, R1-23, C34.
#[test]
fn who_lists_a_channels_users_with_their_modes() {
    let mut inquiries = Inquiries::default();
    let (sent, mut answer) = ask(&mut inquiries, Question::Who(Target::Channel(channel())));
    assert_eq!(sent, ["WHO #General"]);
    for text in [
        ":s 352 oak-ada #other u h s carol H :0 c",
        ":s 352 oak-ada #general u h s alice H@ :0 Alice",
        ":s 352 oak-ada #general u h s bob G :0 Bob",
        ":s 315 oak-ada #other :End of WHO list",
    ] {
        assert_eq!(inquiries.heard(&line(text)), []);
        assert!(answer.try_recv().is_err(), "{text}");
    }
    inquiries.heard(&line(":s 315 oak-ada #general :End of WHO list"));
    let users = vec![user("alice", "H@"), user("bob", "G")];
    assert_eq!(answer.try_recv().unwrap(), Ok(Answer::Users(users)));
}

#[test]
fn who_tells_about_one_nick_and_about_nobody() {
    let mut inquiries = Inquiries::default();
    let alice = || Question::Who("Alice".parse().unwrap());
    let (sent, mut answer) = ask(&mut inquiries, alice());
    assert_eq!(sent, ["WHO Alice"]);
    inquiries.heard(&line(":s 352 oak-ada * u h s alice HB :0 Alice"));
    inquiries.heard(&line(":s 315 oak-ada alice :End of WHO list"));
    assert_eq!(answer.try_recv().unwrap(), Ok(Answer::Users(vec![user("alice", "HB")])));
    let (_, mut answer) = ask(&mut inquiries, alice());
    inquiries.heard(&line(":s 315 oak-ada Alice :End of WHO list"));
    assert_eq!(answer.try_recv().unwrap(), Ok(Answer::Users(vec![])));
    let (_, mut answer) = ask(&mut inquiries, alice());
    inquiries.heard(&line(":s 401 oak-ada Alice :No such nick"));
    let refused = Unanswered::Refused("No such nick".into());
    assert_eq!(answer.try_recv().unwrap(), Err(refused));
}

/// R1-22: the members are counted by their names.
#[test]
fn names_come_over_several_lines_without_their_ranks() {
    let mut inquiries = Inquiries::default();
    let (sent, mut answer) = ask(&mut inquiries, Question::Names(channel()));
    assert_eq!(sent, ["NAMES #General"]);
    inquiries.heard(&line(":s 353 oak-ada = #general :@alice +bob @+carol!u@h "));
    inquiries.heard(&line(":s 353 oak-ada = #elsewhere :mallory"));
    inquiries.heard(&line(":s 353 oak-ada = #general :oak-ada"));
    inquiries.heard(&line(":s 366 oak-ada #general :End of NAMES list"));
    let names = ["alice", "bob", "carol", "oak-ada"].map(str::to_owned).into();
    assert_eq!(answer.try_recv().unwrap(), Ok(Answer::Names(names)));
}

#[test]
fn a_topic_is_asked_for_and_set() {
    let mut inquiries = Inquiries::default();
    let (sent, mut answer) = ask(&mut inquiries, Question::Topic(channel()));
    assert_eq!(sent, ["TOPIC #General"]);
    inquiries.heard(&line(":s 331 oak-ada #general :No topic is set"));
    assert_eq!(answer.try_recv().unwrap(), Ok(Answer::Topic(None)));

    let set = || Question::SetTopic(channel(), "a new one".into());
    let (sent, mut answer) = ask(&mut inquiries, set());
    assert_eq!(sent, ["TOPIC #General :a new one", "TOPIC #General"]);
    inquiries.heard(&line(":oak-ada!u@h TOPIC #General :a new one"));
    assert!(answer.try_recv().is_err(), "the reply is waited for");
    inquiries.heard(&line(":s 332 oak-ada #General :a new one"));
    assert_eq!(answer.try_recv().unwrap(), Ok(Answer::Topic(Some("a new one".into()))));

    let (_, mut answer) = ask(&mut inquiries, set());
    inquiries.heard(&line(":s 482 oak-ada #general :You're not channel operator"));
    let refused = Unanswered::Refused("You're not channel operator".into());
    assert_eq!(answer.try_recv().unwrap(), Err(refused));
    inquiries.heard(&line(":s 332 oak-ada #General :the old one"));
}

/// Replies name a subject and no question: a second one of the same kind waits.
#[test]
fn one_question_of_a_kind_is_under_way() {
    let mut inquiries = Inquiries::default();
    let (first, mut one) = ask(&mut inquiries, Question::Names("#a".parse().unwrap()));
    let (second, mut two) = ask(&mut inquiries, Question::Names("#b".parse().unwrap()));
    let (other, _topic) = ask(&mut inquiries, Question::Topic("#b".parse().unwrap()));
    assert_eq!((first.len(), second.len(), other.len()), (1, 0, 1));
    let next = inquiries.heard(&line(":s 366 oak-ada #a :End"));
    assert_eq!(written(&next), ["NAMES #b"]);
    assert_eq!(one.try_recv().unwrap(), Ok(Answer::Names(vec![])));
    inquiries.heard(&line(":s 353 oak-ada = #b :x"));
    inquiries.heard(&line(":s 366 oak-ada #b :End"));
    assert_eq!(two.try_recv().unwrap(), Ok(Answer::Names(vec!["x".into()])));
}

#[test]
fn what_is_not_answered_in_time_is_given_up_and_the_next_is_asked() {
    let mut inquiries = Inquiries::default();
    assert_eq!(inquiries.deadline(), None);
    let (_, mut one) = ask(&mut inquiries, Question::Names("#a".parse().unwrap()));
    let (_, mut gone) = ask(&mut inquiries, Question::Names("#gone".parse().unwrap()));
    let (_, mut join) = ask(&mut inquiries, Question::Join(channel()));
    gone.close();
    assert_eq!(inquiries.deadline(), Some(START + ANSWER_WITHIN));
    assert_eq!(inquiries.tick(START), (vec![], vec![]));
    let (late, next) = inquiries.tick(START + ANSWER_WITHIN);
    assert_eq!((late, next), (vec![channel()], vec![]));
    assert_eq!(one.try_recv().unwrap(), Err(Unanswered::Late));
    assert_eq!(join.try_recv().unwrap(), Err(Unanswered::Late));
    assert_eq!(inquiries.deadline(), None);
}

/// R1-21.
#[test]
fn joining_and_leaving_are_answered_by_what_happens() {
    let mut inquiries = Inquiries::default();
    let (sent, mut join) = ask(&mut inquiries, Question::Join(channel()));
    assert_eq!(sent, [r##"Join(ChannelName { text: "#General", folded: "#general" })"##]);
    let (_, mut again) = ask(&mut inquiries, Question::Join(channel()));
    inquiries.parted(&channel());
    assert!(join.try_recv().is_err());
    inquiries.joined(&channel());
    assert_eq!(join.try_recv().unwrap(), Ok(Answer::Done));
    assert_eq!(again.try_recv().unwrap(), Ok(Answer::Done));
    assert!(!inquiries.join_failed(&channel(), "banned"), "nobody asks any more");
    let (_, mut join) = ask(&mut inquiries, Question::Join(channel()));
    assert!(inquiries.join_failed(&channel(), "banned"));
    assert_eq!(join.try_recv().unwrap(), Err(Unanswered::Refused("banned".into())));
    let (_, mut part) = ask(&mut inquiries, Question::Part(channel()));
    inquiries.parted(&channel());
    assert_eq!(part.try_recv().unwrap(), Ok(Answer::Done));
}

#[test]
fn a_lost_connection_answers_all_but_a_join() {
    let mut inquiries = Inquiries::default();
    let (_, mut join) = ask(&mut inquiries, Question::Join(channel()));
    let (_, mut who) = ask(&mut inquiries, Question::Who("alice".parse().unwrap()));
    let (_, mut next) = ask(&mut inquiries, Question::Who("bob".parse().unwrap()));
    inquiries.down();
    assert_eq!(who.try_recv().unwrap(), Err(Unanswered::Down));
    assert_eq!(next.try_recv().unwrap(), Err(Unanswered::Down));
    assert!(join.try_recv().is_err());
    inquiries.joined(&channel());
    assert_eq!(join.try_recv().unwrap(), Ok(Answer::Done));
}

/// Nobody fills the memory by asking.
#[test]
fn too_many_questions_are_refused_and_endless_answers_are_cut() {
    let mut inquiries = Inquiries::default();
    let mut kept = Vec::new();
    for _ in 0..QUESTIONS_MAX {
        kept.push(ask(&mut inquiries, Question::Names(channel())));
    }
    let (sent, mut answer) = ask(&mut inquiries, Question::Names(channel()));
    assert_eq!((sent.len(), answer.try_recv().unwrap()), (0, Err(Unanswered::Busy)));
    for _ in 0..=ROWS_MAX {
        inquiries.heard(&line(":s 353 oak-ada = #general :x"));
    }
    inquiries.heard(&line(":s 366 oak-ada #general :End"));
    let Ok(Answer::Names(names)) = kept[0].1.try_recv().unwrap() else { panic!("names") };
    assert_eq!(names.len(), ROWS_MAX);
}

#[test]
fn accounts_are_asked_of_our_own_server_and_a_who_of_the_room_waits_for_its_turn() {
    let mut inquiries = Inquiries::default();
    let (sent, mut answer) = ask(&mut inquiries, Question::Accounts(channel()));
    assert_eq!(sent, ["WHO #General %na"]);
    let (sent, _kept) = ask(&mut inquiries, Question::Who(Target::Channel(channel())));
    assert_eq!(sent, [""; 0]);
    for row in [":irc 354 ada ori owner", ":irc 354 ada eve 0", ":irc 354 ada bob bob"] {
        inquiries.heard(&line(row));
    }
    let next = inquiries.heard(&line(":irc 315 ada #general :End of WHO list"));
    assert_eq!(written(&next), ["WHO #General"]);
    let accounts = ["owner", "bob"].map(str::to_owned).to_vec();
    assert_eq!(answer.try_recv().unwrap(), Ok(Answer::Accounts(accounts)));
}
