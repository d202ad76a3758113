use gangline_core::redact::Redactor;

use super::*;

/// R2-33, C21: on a container's socket whoever can connect is the agent, whatever is shown.
#[test]
fn a_connection_may_be_proof_enough() {
    let (_sender, agent) = watch::channel(Some(Secret::new("glt_right")));
    let run_id = RunId { installation: "i".to_owned(), agent: "lab-ada".to_owned(), epoch: 1 };
    let owner_file = "/nowhere".into();
    let tokens = Tokens { proof: Proof::Connection, agent, owner_file, run_id };
    let wrong = Token::new("wrong").unwrap();
    for (token, pid) in [(None, None), (None, Some(1)), (Some(&wrong), None)] {
        assert_eq!(tokens.who(token, pid), Ok(Who::Agent));
    }
}

/// C21: who has which rights.
#[test]
fn a_token_tells_who_somebody_is() {
    let folder = tempfile::tempdir().unwrap();
    let (generation, agent) = watch::channel(None);
    let run_id = RunId { installation: "i".into(), agent: "oak-ada".into(), epoch: 1 };
    let tokens = Tokens {
        proof: Proof::Token,
        agent,
        owner_file: folder.path().join("owner.token"),
        run_id,
    };
    let who = |text: &str| tokens.who(Some(&Token::new(text).unwrap()), None);
    let (first, second) = (fresh(), fresh());
    assert_ne!(first.expose(), second.expose());
    assert_eq!(tokens.who(None, None), Ok(Who::Somebody));
    assert_eq!(who(first.expose()), Err(Refused::Wrong));

    generation.send_replace(Some(first.clone()));
    assert_eq!(who(first.expose()), Ok(Who::Agent));
    generation.send_replace(Some(second.clone()));
    assert_eq!(who(first.expose()), Err(Refused::Wrong), "a later generation has another token");
    assert_eq!(who(second.expose()), Ok(Who::Agent));
    generation.send_replace(None);
    assert_eq!(who(second.expose()), Err(Refused::Wrong), "the backend is gone");

    for wrong in ["", "x", "owner"] {
        assert_eq!(who(wrong), Err(Refused::Wrong));
    }
    std::fs::write(&tokens.owner_file, "owner\n").unwrap();
    assert_eq!(who("owner"), Ok(Who::Owner));
    assert_eq!(who(""), Err(Refused::Wrong));
    std::fs::write(&tokens.owner_file, "\n").unwrap();
    assert_eq!(who(""), Err(Refused::Wrong), "an empty file proves nothing");
}

/// Our own process carries no run id, so without a token it is somebody.
#[test]
fn who_has_no_mark_is_somebody() {
    let (_life, agent) = watch::channel(None);
    let run_id = RunId { installation: "i".into(), agent: "oak-ada".into(), epoch: 1 };
    let tokens = Tokens { proof: Proof::Token, agent, owner_file: "/nowhere".into(), run_id };
    assert_eq!(tokens.who(None, Some(std::process::id())), Ok(Who::Somebody));
    assert_eq!(tokens.who(None, Some(u32::MAX)), Ok(Who::Somebody));
}

/// The redactor knows the form: a token that a shell prints is masked wherever it goes.
#[test]
fn a_token_has_the_form_that_is_masked() {
    let text = format!("{VARIABLE}={}", fresh().expose());
    assert_eq!(Redactor::default().redact(&text).as_str(), "GANGLINE_TOKEN=[masked]");
}
