use gangline_core::redact::Redactor;

use super::*;

/// C21: who has which rights.
#[test]
fn a_token_tells_who_somebody_is() {
    let folder = tempfile::tempdir().unwrap();
    let (generation, agent) = watch::channel(None);
    let run_id = RunId { installation: "i".into(), agent: "oak-ada".into(), epoch: 1 };
    let tokens = Tokens { agent, owner_file: folder.path().join("owner.token"), run_id };
    let who = |text: &str| tokens.who(Some(&Token::new(text).unwrap()), None);
    let (first, second) = (fresh(), fresh());
    assert_ne!(first.expose(), second.expose());
    assert_eq!(tokens.who(None, None), Ok(Who::Somebody));
    assert_eq!(who(first.expose()), Err(Wrong));

    generation.send_replace(Some(first.clone()));
    assert_eq!(who(first.expose()), Ok(Who::Agent));
    generation.send_replace(Some(second.clone()));
    assert_eq!(who(first.expose()), Err(Wrong), "a later generation has another token");
    assert_eq!(who(second.expose()), Ok(Who::Agent));
    generation.send_replace(None);
    assert_eq!(who(second.expose()), Err(Wrong), "the backend is gone");

    for wrong in ["", "x", "owner"] {
        assert_eq!(who(wrong), Err(Wrong));
    }
    std::fs::write(&tokens.owner_file, "owner\n").unwrap();
    assert_eq!(who("owner"), Ok(Who::Owner));
    assert_eq!(who(""), Err(Wrong));
    std::fs::write(&tokens.owner_file, "\n").unwrap();
    assert_eq!(who(""), Err(Wrong), "an empty file proves nothing");
}

/// Our own process carries no run id, so without a token it is somebody.
#[test]
fn who_has_no_mark_is_somebody() {
    let (_life, agent) = watch::channel(None);
    let run_id = RunId { installation: "i".into(), agent: "oak-ada".into(), epoch: 1 };
    let tokens = Tokens { agent, owner_file: "/nowhere".into(), run_id };
    assert_eq!(tokens.who(None, Some(std::process::id())), Ok(Who::Somebody));
    assert_eq!(tokens.who(None, Some(u32::MAX)), Ok(Who::Somebody));
}

/// The redactor knows the form: a token that a shell prints is masked wherever it goes.
#[test]
fn a_token_has_the_form_that_is_masked() {
    let text = format!("{VARIABLE}={}", fresh().expose());
    assert_eq!(Redactor::default().redact(&text).as_str(), "GANGLINE_TOKEN=[masked]");
}
