//! What may be written about guests and rooms, and that keys are shown nowhere.

use crate::{Config, Guests, parse};

use super::*;

fn server(text: &str) -> Result<Config, String> {
    let text = format!("server:\n{text}\nagents: []\n");
    parse(&text, "agents.yaml").map_err(|error| error.to_string())
}

#[test]
fn guests_are_a_word_and_an_unquoted_no_is_one() {
    for (written, read) in [
        ("  name: spark", Guests::No),
        ("  guests: no", Guests::No),
        ("  guests: 'no'", Guests::No),
        ("  guests: false", Guests::No),
        ("  guests: read", Guests::Read),
        ("  guests: talk", Guests::Talk),
    ] {
        assert_eq!(server(written).unwrap().server.guests, read, "{written}");
    }
    for wrong in ["yes", "true", "all", "[no]"] {
        let told = server(&format!("  guests: {wrong}")).unwrap_err();
        assert!(told.contains("one of no, read, talk"), "{told}");
    }
}

/// Every agent's nick begins with it.
#[test]
fn a_server_has_a_short_name_of_small_letters() {
    let longest = "a".repeat(32);
    for name in ["a", "spark-2_b", longest.as_str()] {
        assert_eq!(server(&format!("  name: {name}")).unwrap().server.name, name);
    }
    for wrong in ["Spark", "2a", "-a", "a.b", "é", &format!("{longest}a")] {
        let told = server(&format!("  name: {wrong}")).unwrap_err();
        assert!(told.contains("is not a server name"), "{wrong}: {told}");
    }
}

#[test]
fn rooms_have_a_key_or_are_by_invitation() {
    let text = "  rooms:\n    \"#Ops\": {key: s3same}\n    \"#own\": {invite_only: yes, key: '12'}";
    let rooms = server(text).unwrap().server.rooms;
    let room = |key: &str, invite_only| Room { key: Some(RoomKey(key.into())), invite_only };
    let expected = [("#ops", room("s3same", false)), ("#own", room("12", true))];
    let expected = expected.map(|(name, room)| (name.parse().unwrap(), room));
    assert_eq!(rooms, BTreeMap::from(expected));
    assert!(!format!("{rooms:?}").contains("s3same"));
    let open = server("  rooms: {\"#open\": {}}").unwrap();
    let warnings: Vec<_> = open.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings[0].contains("the room #open has no key and is open to all"), "{warnings:?}");
}

/// The line at fault often holds the key.
#[test]
fn no_message_shows_a_key() {
    for (room, part) in [
        ("'#ops': {key: s3same, invite_onl: true}", "unknown key `invite_onl`"),
        ("'#ops': {key: s3same, invite_only: 5}", "`invite_only` of #ops"),
        ("'#ops': {key: s3same s3same}", "the key of #ops cannot be used"),
        ("'#ops': {key: [s3same]}", "the key of #ops cannot be used"),
        ("'#ops': s3same", "the room `#ops` must be a mapping"),
        ("'ops': {key: s3same}", "#"),
        ("'#ops': {key: s3same}, '#OPS': {key: s3same}", "appears twice"),
        ("'#ops': {key: s3same, key: s3same}", "appears twice"),
        ("'#ops': {key: s3same", ""),
        ("'#ops': {key: \"s3same}", ""),
    ] {
        let told = server(&format!("  rooms: {{{room}}}")).unwrap_err();
        assert!(told.contains(part), "{room}: {told}");
        assert!(!told.contains("s3same"), "{room}: {told}");
    }
}
