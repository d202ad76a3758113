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
    let folder = fixture.folder.path().display().to_string();
    let (mut client, _end) = fixture.connect();
    let ask = |path: &str| format!("\"type\":\"set_directory\",\"path\":\"{path}\"");
    assert!(client.ask(&ask("relative")).await.contains("must be absolute"));
    assert!(client.ask(&ask("/nowhere/at/all")).await.contains("cannot look at /nowhere/at/all"));
    let none = format!(r#""ok":true,"data":{{"directory":"{folder}","path":null,"text":""}}}}"#);
    assert_eq!(client.ask(&ask(&folder)).await, none);
    std::fs::create_dir(fixture.folder.path().join("CLAUDE.md")).unwrap();
    assert!(client.ask(&ask(&folder)).await.contains("is not a file"));
    std::fs::remove_dir(fixture.folder.path().join("CLAUDE.md")).unwrap();
    std::fs::write(fixture.folder.path().join("CLAUDE.md"), "be kind\n").unwrap();
    let answer = client.ask(&ask(&folder)).await;
    let expect = format!(
        r#""ok":true,"data":{{"directory":"{folder}","path":"{folder}/CLAUDE.md","text":"be kind\n"}}}}"#
    );
    assert_eq!(answer, expect);
    let file = client.ask(&ask(&format!("{folder}/CLAUDE.md"))).await;
    assert!(file.contains("CLAUDE.md is not a folder"), "{file}");
    std::fs::write(fixture.folder.path().join("CLAUDE.md"), "x".repeat(50_000)).unwrap();
    assert!(client.ask(&ask(&folder)).await.contains("read it yourself"));
}
