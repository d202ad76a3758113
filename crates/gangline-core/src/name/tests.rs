use proptest::prelude::*;

use super::*;

#[test]
fn an_agent_name_is_server_hyphen_name() {
    let name: AgentName = "spark-code-review".parse().unwrap();
    assert_eq!((name.server(), name.short()), ("spark", "code-review"));
    for bad in ["ada", "-ada", "spark-", "Spark-ada", "spark-a/b", "../x-y", "spark-a b", "1-a", ""]
    {
        let error = bad.parse::<AgentName>().unwrap_err().to_string();
        assert!(error.contains("<server>-<name>"), "{error}");
    }
}

#[test]
fn case_fold_twins_are_one_nick() {
    let one: Nick = "Ada[".parse().unwrap();
    let two: Nick = "aDA{".parse().unwrap();
    assert_eq!(one, two);
    assert_eq!(one.as_str(), "Ada[");
}

#[test]
fn a_nick_may_be_a_number_of_its_server_and_an_agents_may_not() {
    assert_eq!("1AAAAAAAB".parse::<Nick>().unwrap().as_str(), "1AAAAAAAB");
    for bad in ["-ada", "a b", "", "a,b"] {
        assert!(bad.parse::<Nick>().is_err(), "{bad}");
    }
    assert!("1fx-ada".parse::<AgentName>().is_err());
}

#[test]
fn a_refused_name_shows_controls_escaped() {
    let error = "a\r\nQUIT".parse::<Nick>().unwrap_err().to_string();
    assert!(error.contains("a\\r\\nQUIT"), "{error}");
}

proptest! {
    /// F21: whatever is accepted stays one path component and one IRC parameter.
    #[test]
    fn no_accepted_name_leaves_its_place(text in "\\PC{0,80}|[-a-z0-9./\\\\_]{0,70}") {
        if let Ok(name) = text.parse::<AgentName>() {
            let path = std::path::Path::new("state").join(name.as_str());
            prop_assert_eq!(path.components().count(), 2);
            prop_assert_eq!(path.parent(), Some(std::path::Path::new("state")));
            prop_assert!(name.as_str().parse::<Nick>().is_ok());
        }
        if let Ok(target) = text.parse::<Target>() {
            prop_assert!(!target.as_str().contains([' ', '\r', '\n', '\0', ',']));
        }
    }
}
