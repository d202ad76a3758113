//! Texts and names.

use super::*;

#[test]
fn a_refused_guest_reads_what_the_owner_would_write_and_how_to_log_in() {
    let line = "`server: {guests: talk}` in agents.yaml";
    let user = refusal(Origin::User(1001), line);
    assert_eq!(
        user,
        "Your user (uid 1001) does not run this server, and you have no account: \
         log in, such as with the server password owner:TOKEN, or ask its owner to let guests in \
         with `server: {guests: talk}` in agents.yaml"
    );
    let unknown = refusal(Origin::Unknown([172, 17, 0, 1].into()), line);
    assert!(unknown.starts_with("The system does not say which user you are"), "{unknown}");
    for text in [user, unknown] {
        assert!(text.len() < 400, "it fits into one line: {text}");
    }
}

#[test]
fn our_own_client_is_known_by_the_end_of_its_nick() {
    for (nick, ours) in [
        ("spark-ada__peek0a1b", true),
        ("spark-_peekffff", true),
        ("spark-_peek", false),
        ("spark-_peekxyzw", false),
        ("spark-_peek0a1b2", false),
        ("spark-ada", false),
    ] {
        assert_eq!(is_our_client(nick), ours, "{nick}");
    }
}
