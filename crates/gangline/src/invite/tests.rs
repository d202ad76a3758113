use gangline_os::secret::{Secret, random_password};

use super::{brief, lines, without_password};

#[test]
fn the_lines_can_be_pasted_as_they_are() {
    let text = lines("127.0.0.1:6667", &Secret::new("t0k"), Some("#general"));
    let weechat = "    /server add gangline 127.0.0.1/6667 -notls\n    \
                   /set irc.server.gangline.addresses 127.0.0.1/6667\n    \
                   /set irc.server.gangline.sasl_mechanism scram-sha-256\n    \
                   /set irc.server.gangline.sasl_username owner\n    \
                   /set irc.server.gangline.sasl_password t0k\n    \
                   /set irc.server.gangline.autojoin #general\n    \
                   /save\n    /connect gangline\n";
    let scram = text.find(weechat).unwrap_or_else(|| panic!("{text}"));
    let password = text.find("owner:t0k").unwrap();
    assert!(scram < password, "the safer way is first: {text}");
    assert!(text.contains("account owner, password t0k\n"), "{text}");
    assert!(text.contains("    /connect 127.0.0.1 6667 owner:t0k\n    /join #general\n"), "{text}");
    let ii = "    export IIPASS=owner:t0k\n    ii -s 127.0.0.1 -p 6667 -n you -k IIPASS\n    \
              echo '/j #general' > ~/irc/127.0.0.1/in\n";
    assert!(text.contains(ii), "{text}");
    assert!(text.contains("    /connect 127.0.0.1 6667\n"), "{text}");
}

#[test]
fn up_says_in_two_lines_how_to_join() {
    let text = brief("127.0.0.1:6667", &random_password(), Some("#general"));
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("The room is #general; `gangline join` prints"), "{text}");
}

#[test]
fn an_agent_is_told_where_people_find_the_password() {
    let text = without_password("127.0.0.1:6667", Some("#general"));
    let expected = "The chat is at 127.0.0.1/6667, no TLS, account owner. The room is #general.\n\
                    The password is not shown to agents; a person can see it with `gangline join`.\n";
    assert_eq!(text, expected);
}

/// A line that the terminal wraps is not copied in one piece.
#[test]
fn no_line_is_wider_than_a_terminal() {
    let room = format!("#{}", "r".repeat(30));
    let text = lines("127.100.100.100:65535", &random_password(), Some(&room));
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} characters: {line}", line.chars().count());
    }
}

#[test]
fn an_address_of_version_six_loses_its_brackets() {
    let text = lines("[::1]:7", &Secret::new("t"), None);
    assert!(text.contains("/connect ::1 7 owner:t\n"), "{text}");
}
