use gangline_os::secret::Secret;

use super::lines;

#[test]
fn the_lines_can_be_pasted_as_they_are() {
    let text = lines("127.0.0.1:6667", &Secret::new("t0k"), Some("#general"));
    let scram = "/server add gangline 127.0.0.1/6667 -notls -sasl_mechanism=scram-sha-256 \
                 -sasl_username=owner -sasl_password=t0k\n            then  /connect gangline   \
                 then  /join #general\n";
    let scram = text.find(scram).unwrap_or_else(|| panic!("{text}"));
    let password = text.find("owner:t0k").unwrap();
    assert!(scram < password, "the safer way is first: {text}");
    assert!(text.contains("/connect 127.0.0.1 6667 owner:t0k   then  /join #general\n"), "{text}");
    assert!(text.contains("IIPASS=owner:t0k ii -s 127.0.0.1 -p 6667 -n you -k IIPASS\n"), "{text}");
    assert!(text.contains("echo '/j #general' > ~/irc/127.0.0.1/in\n"), "{text}");
    assert!(text.contains("/connect 127.0.0.1 6667   then"), "{text}");
}

#[test]
fn an_address_of_version_six_loses_its_brackets() {
    let text = lines("[::1]:7", &Secret::new("t"), None);
    assert!(text.contains("/connect ::1 7 owner:t\n"), "{text}");
}
