//! Nicks of people.

use super::*;

fn person(login: Option<&str>) -> Person {
    Person::new(login, Overrides::default())
}

#[test]
fn a_login_is_a_nick_that_is_no_agents() {
    for (login, nick) in [
        (Some("ori"), "ori"),
        (Some("Ori.Nachum"), "Ori_Nachum"),
        (Some("oak-ada"), "oak_ada"),
        (Some("1st_user"), "st_user"),
        (Some("日本"), "guest"),
        (Some("a_very_long_name_of_a_login"), "a_very_long_name_of_"),
        (None, "guest"),
    ] {
        let person = person(login);
        assert_eq!(person.nick().unwrap().as_str(), nick, "{login:?}");
        assert_eq!(person.nicks[1], format!("{nick}_"));
    }
}

#[test]
fn the_nick_that_the_server_took_is_the_persons() {
    let person = person(Some("ori"));
    *person.used.lock().unwrap() = Some("ori_".to_owned());
    assert_eq!(person.nick().unwrap().as_str(), "ori_");
}
