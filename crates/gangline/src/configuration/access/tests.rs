//! The file's rules as the server takes them.

use super::*;

#[test]
fn the_servers_rules_are_those_of_the_file() {
    let text = "
server:
  guests: read
  rooms:
    '#Ops': {key: s3same}
    '#own': {invite_only: true}
agents:
  - {nick: spark-ada, directory: /, channels: ['#general', '#OPS']}
  - {nick: spark-bob, directory: /, channels: ['#general']}
  - {nick: spark-off, directory: /, channels: ['#ops'], enabled: false}
";
    let access = access(&gangline_config::parse(text, "agents.yaml").unwrap());
    assert_eq!(access.guests, Guests::Read);
    let rule = |key: Option<&str>, invite_only, agents: &[&str]| RoomRule {
        key: key.map(Secret::new),
        invite_only,
        agents: agents.iter().map(|name| (*name).to_owned()).collect(),
        no_guests: false,
    };
    let expected = [
        (
            "#alerts",
            RoomRule {
                no_guests: true,
                ..rule(None, false, &["gangline", "spark-ada", "spark-bob"])
            },
        ),
        ("#general", rule(None, false, &["spark-ada", "spark-bob"])),
        ("#ops", rule(Some("s3same"), false, &["spark-ada"])),
        ("#own", rule(None, true, &[])),
    ];
    assert_eq!(access.rooms, expected.map(|(name, rule)| (name.to_owned(), rule)).into());
    assert!(!format!("{access:?}").contains("s3same"));
    assert!(access.to_let_in.contains("guests: talk"));
    assert_eq!(of_a_lone_server(gangline_config::Guests::No).guests, Guests::No);
}
