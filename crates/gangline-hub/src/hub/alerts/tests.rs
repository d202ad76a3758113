//! As whom the hub's own client is on IRC.

use gangline_os::clock;

use super::*;
use crate::hub::OnTerm;

fn options(irc: Option<std::net::SocketAddr>) -> HubOptions {
    HubOptions {
        paths: Paths { config_file: "/c".into(), state: "/s".into(), runtime: "/r".into() },
        clock: clock::system(),
        name: "oak".to_owned(),
        irc,
        irc_elsewhere: "irc.example:6667".to_owned(),
        login_elsewhere: Some(("bots".to_owned(), Secret::new("there"))),
        keeps_agents: true,
        on_term: OnTerm::Drain,
        longest_delay: Duration::ZERO,
        up_within: Duration::ZERO,
        ready_file: None,
        shows_token: true,
        program: "/p".into(),
        http: None,
        options: Vec::new(),
    }
}

/// C11: on its own server under its own account, elsewhere under the one that agents share, if any.
#[test]
fn the_service_logs_in_where_it_has_an_account() {
    let login = |options: &HubOptions, own: Option<&str>| {
        let config = link_config(options, own.map(Secret::new)).unwrap();
        config.sasl.map(|(account, password)| format!("{account}:{}", password.expose()))
    };
    let own = options(Some(([127, 0, 0, 1], 6667).into()));
    assert_eq!(login(&own, Some("here")).as_deref(), Some("gangline:here"));
    let mut elsewhere = options(None);
    assert_eq!(login(&elsewhere, None).as_deref(), Some("bots:there"));
    elsewhere.login_elsewhere = None;
    assert_eq!(login(&elsewhere, None), None);
}
