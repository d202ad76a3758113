use super::{known_agents, loopback};

#[test]
fn only_loopback_hosts_are_listened_on() {
    let check = |host: &str, expect: Option<&str>| {
        assert_eq!(loopback(host).map(|ip| ip.to_string()).as_deref(), expect, "{host}");
    };
    check("localhost", Some("127.0.0.1"));
    check("LocalHost", Some("127.0.0.1"));
    check("127.0.0.1", Some("127.0.0.1"));
    check("127.8.9.1", Some("127.8.9.1"));
    check("::1", Some("::1"));
    check("[::1]", Some("::1"));
    check("0.0.0.0", None);
    check("10.0.0.7", None);
    check("irc.example.org", None);
    check("", None);
}

#[test]
fn the_known_agents_are_named_in_one_line() {
    let names = ["oak-ada", "oak-bob"].map(|name| name.parse().unwrap());
    assert_eq!(known_agents(names.iter()), "known are oak-ada, oak-bob");
    assert_eq!(known_agents([].iter()), "no agent is known yet");
}
