//! What a client may order, and what an order does.

use gangline_api::status::ShownPause;
use gangline_core::pause::PauseReason;

use super::*;

/// R0-45, C21: the owner's verbs need the owner's token; a wrong one is refused for everything.
#[tokio::test]
async fn only_the_owner_pauses_resumes_interrupts_and_shuts_down() {
    let mut fixture = Fixture::open().await;
    let (mut client, _end) = fixture.connect();
    let refused = r#""ok":false,"error":"this needs the owner's token"}"#;
    let wrong = r#""ok":false,"error":"wrong or outdated token"}"#;
    for verb in ["pause", "resume", "interrupt", "shutdown"] {
        assert_eq!(client.ask(&format!("\"type\":\"{verb}\"")).await, refused);
        let agent = client.ask(&format!("\"type\":\"{verb}\",\"token\":\"the agent\"")).await;
        assert_eq!(agent, refused);
    }
    for verb in ["pause", "hello", "status"] {
        assert_eq!(client.ask(&format!("\"type\":\"{verb}\",\"token\":\"glt_0\"")).await, wrong);
    }
    assert!(
        fixture.agent_loop.try_recv().is_err() && !fixture.requests.asked_to_end.is_cancelled()
    );
    let none = r#""ok":false,"error":"there is no turn to end"}"#;
    let owner = |verb: &str| format!("\"type\":\"{verb}\",\"token\":\"the owner\"");
    assert_eq!(client.ask(&owner("interrupt")).await, none);
    for verb in ["pause", "resume", "shutdown"] {
        assert_eq!(client.ask(&owner(verb)).await, r#""ok":true,"data":{}}"#);
    }
    assert!(matches!(
        fixture.agent_loop.recv().await,
        Some(Incoming::Operator(crate::bus::Word::Pause { until: None }))
    ));
    assert!(matches!(
        fixture.agent_loop.recv().await,
        Some(Incoming::Operator(crate::bus::Word::Resume))
    ));
    fixture.requests.asked_to_end.cancelled().await;
}

/// R0-45, R0-50: what still holds the agent after the order is in the response's data, which is empty otherwise.
#[tokio::test]
async fn what_resume_and_interrupt_do_not_end_is_in_their_data() {
    let mut fixture = Fixture::open().await;
    let mut showing = fixture.requests.showing.borrow().clone();
    showing.note.escalated = Some("stuck".to_owned());
    showing.note.pauses = [PauseReason::Escalation, PauseReason::Budget]
        .map(|reason| ShownPause { reason: reason.into(), until: None, note: None })
        .to_vec();
    Arc::get_mut(&mut fixture.requests).unwrap().showing = watch::channel(showing).1;
    let (mut client, _end) = fixture.connect();
    for (verb, word) in [("resume", "resume"), ("interrupt", "abort")] {
        let expect = format!(
            "\"ok\":true,\"data\":{{\"held\":\"oak-ada is still held: its budget is spent. `{word}` does not \
             end this: raise it with `gangline budget raise`, or wait until then\"}}}}"
        );
        let order = format!("\"type\":\"{verb}\",\"token\":\"the owner\"");
        assert_eq!(client.ask(&order).await, expect);
    }
}

/// Who a caller is: the owner, the agent, somebody without a token, an agent's earlier session.
const CALLERS: [&str; 4] =
    [r#","token":"the owner""#, r#","token":"the agent""#, "", r#","token":"glt_0""#];
/// Each verb that waits for nobody, and who is served: `+` yes, `-` no. What is served may fail for another reason.
const VERBS: [(&str, &str); 23] = [
    (r#""type":"hello""#, "+++-"),
    (r#""type":"status""#, "+++-"),
    (r#""type":"subscribe""#, "+++-"),
    (r##""type":"irc_send","channel":"#x","message":"y""##, "+++-"),
    (r##""type":"irc_read","channel":"#x""##, "+++-"),
    (r##""type":"irc_ask","channel":"#x","question":"y""##, "+++-"),
    (r##""type":"irc_ask","channel":"#x","question":"y","timeout_action":"deny""##, "+++-"),
    (r##""type":"irc_ask","channel":"#x","question":"y","timeout_action":"pause""##, "++--"),
    (r##""type":"irc_ask","channel":"#x","question":"y","timeout_action":"abort""##, "++--"),
    (r#""type":"irc_channels""#, "+++-"),
    (r#""type":"set_directory","path":"x""#, "+++-"),
    (r#""type":"compact""#, "+++-"),
    (r#""type":"clear""#, "+++-"),
    (r#""type":"model""#, "+++-"),
    (r#""type":"model","model":"other""#, "+---"),
    (r#""type":"wake","from":"ci","body":"built""#, "+++-"),
    (r#""type":"tool","name":"whoami","input":{},"call":"1""#, "-+--"),
    (r#""type":"tool","name":"answer","input":{"id":1,"answer":"x"},"call":"2""#, "-+--"),
    (r#""type":"pause""#, "+---"),
    (r#""type":"sleep""#, "+---"),
    (r#""type":"resume""#, "+---"),
    (r#""type":"interrupt""#, "+---"),
    (r#""type":"shutdown""#, "+---"),
];

/// R0-45, R1-53, R2-33, C21: on the socket each verb is for those alone who may use it.
#[tokio::test]
async fn each_verb_of_the_socket_is_for_those_alone_who_may_use_it() {
    let refusals =
        ["this needs the owner's token", "this needs the agent's token", "outdated token"];
    for (verb, expect) in VERBS {
        let mut fixture = Fixture::open().await;
        let general = "#general".parse().unwrap();
        fixture.members.send_modify(|members| {
            members.insert(general, 3);
        });
        let mut found = String::new();
        for token in CALLERS {
            // What a verb does to the connection, another caller does not see.
            let (mut client, _end) = fixture.connect();
            let answer = client.ask(&format!("{verb}{token}")).await;
            let refused = refusals.iter().any(|it| answer.contains(it));
            found.push(if refused { '-' } else { '+' });
        }
        assert_eq!(found, expect, "{verb}");
    }
}

/// R0-43, R1-25, F.2: without a running backend there is no context.
#[tokio::test]
async fn a_context_is_cared_for_only_where_there_is_one() {
    let mut fixture = Fixture::open().await;
    let (mut client, _end) = fixture.connect();
    for verb in ["compact", "clear"] {
        let answer = client.ask(&format!("\"type\":\"{verb}\"")).await;
        assert_eq!(answer, r#""ok":false,"error":"Agent runner is not running"}"#);
    }
}

/// R1-24, C14.
#[tokio::test]
async fn set_directory_answers_with_the_folders_instructions() {
    let mut fixture = Fixture::open().await;
    let work = fixture.folder.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let folder = work.display().to_string();
    let (mut client, _end) = fixture.connect();
    let ask = |path: &str| {
        format!("\"type\":\"set_directory\",\"path\":\"{path}\",\"token\":\"the agent\"")
    };
    assert!(client.ask(&ask("relative")).await.contains("must be absolute"));
    assert!(client.ask(&ask("/nowhere/at/all")).await.contains("cannot look at /nowhere/at/all"));
    let none = format!(r#""ok":true,"data":{{"directory":"{folder}","path":null,"text":""}}}}"#);
    assert_eq!(client.ask(&ask(&folder)).await, none);
    std::fs::create_dir(work.join("CLAUDE.md")).unwrap();
    assert!(client.ask(&ask(&folder)).await.contains("is not a file"));
    std::fs::remove_dir(work.join("CLAUDE.md")).unwrap();
    std::fs::write(work.join("CLAUDE.md"), "be kind\n").unwrap();
    let answer = client.ask(&ask(&folder)).await;
    let expect = format!(
        r#""ok":true,"data":{{"directory":"{folder}","path":"{folder}/CLAUDE.md","text":"be kind\n"}}}}"#
    );
    assert_eq!(answer, expect);
    let file = client.ask(&ask(&format!("{folder}/CLAUDE.md"))).await;
    assert!(file.contains("CLAUDE.md is not a folder"), "{file}");
    std::fs::write(work.join("CLAUDE.md"), "x".repeat(50_000)).unwrap();
    assert!(client.ask(&ask(&folder)).await.contains("read it yourself"));
}

/// What comes of `set_directory` for the agent: the text, none of it, or a refusal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    Text,
    Withheld,
    Refused,
}

/// R1-24: the bounds are those of the tool `Read`, links are resolved before they are judged, and other
/// callers learn only that the folder exists.
#[tokio::test]
async fn set_directory_tells_no_more_than_the_agents_own_tools_would() {
    use std::os::unix::fs::symlink;

    let mut fixture = Fixture::open().await;
    let root = fixture.folder.path().to_owned();
    for folder in
        ["work/plain", "work/inside", "work/out", "work/shut", "work/fifo", "closed", "away"]
    {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    for file in ["work/plain/CLAUDE.md", "closed/CLAUDE.md", "away/CLAUDE.md"] {
        std::fs::write(root.join(file), "the text").unwrap();
    }
    std::fs::create_dir(root.join("work/hard")).unwrap();
    std::fs::hard_link(root.join("closed/CLAUDE.md"), root.join("work/hard/CLAUDE.md")).unwrap();
    for (target, link) in [
        ("work/plain/CLAUDE.md", "work/inside/CLAUDE.md"),
        ("away/CLAUDE.md", "work/out/CLAUDE.md"),
        ("closed/CLAUDE.md", "work/shut/CLAUDE.md"),
        ("closed", "work/linked"),
        ("work/plain", "away/back"),
    ] {
        symlink(root.join(target), root.join(link)).unwrap();
    }
    let (mut client, _end) = fixture.connect();
    for (path, told) in [
        ("work/plain", Told::Text),
        ("work/inside", Told::Text),
        ("away/back", Told::Text),
        ("away/../work/plain", Told::Text),
        ("away", Told::Withheld),
        ("work/out", Told::Withheld),
        ("work/hard", Told::Refused),
        ("work/shut", Told::Refused),
        ("closed", Told::Refused),
        ("work/linked", Told::Refused),
        ("work/../closed", Told::Refused),
    ] {
        let path = root.join(path).display().to_string();
        let ask = |token: &str| format!("\"type\":\"set_directory\",\"path\":\"{path}\"{token}");
        let agent = client.ask(&ask(r#","token":"the agent""#)).await;
        let seen = match (agent.contains("\"ok\":true"), agent.contains("the text")) {
            (true, true) => Told::Text,
            (true, false) if agent.contains("use your own tool") => Told::Withheld,
            (_, false) if agent.contains("the file belongs to the Gangline installation") => {
                Told::Refused
            }
            other => panic!("{other:?} {agent}"),
        };
        assert_eq!(seen, told, "{path}: {agent}");
        for token in ["", r#","token":"the owner""#] {
            let answer = client.ask(&ask(token)).await;
            assert!(!answer.contains("the text") && !answer.contains("CLAUDE.md\""), "{answer}");
            assert!(
                answer.contains("only the agent itself can read") || answer.contains("refused: "),
                "{answer}"
            );
        }
    }
}
