//! The decoder gives the same events for every way to cut the bytes.

use proptest::prelude::*;

use super::*;

fn decode(limit: usize, chunks: &[&[u8]]) -> Result<Vec<Event>, TooLong> {
    let mut decoder = Decoder::new(limit);
    for chunk in chunks {
        decoder.push(chunk)?;
    }
    Ok(std::iter::from_fn(|| decoder.next()).collect())
}

fn check(text: &str, expected: &[(&str, &str)]) {
    let events = decode(1 << 20, &[text.as_bytes()]).unwrap();
    let events: Vec<(&str, &str)> =
        events.iter().map(|event| (event.name.as_str(), event.data.as_str())).collect();
    assert_eq!(events, expected, "{text:?}");
}

#[test]
fn events_are_read_as_the_format_says() {
    check("event: a\ndata: 1\n\n", &[("a", "1")]);
    check("data: 1\r\ndata:2\r\n\r\ndata:  3\r\r", &[("", "1\n2"), ("", " 3")]);
    check(": heartbeat\n\nevent: only\n\ndata: x\n\n", &[("", "x")]);
    check("\u{feff}data: bom\n\n", &[("", "bom")]);
    check("id: 1\nretry: 2\nnonsense\ndata\n\n", &[("", "")]);
    check("data: unfinished\n", &[]);
}

#[test]
fn an_event_beyond_the_limit_is_refused_whatever_its_form() {
    let long = "x".repeat(50);
    for text in [
        format!("data: {long}"),
        format!("event: {long}\n"),
        format!("data: {}\ndata: {}\n", &long[..30], &long[..20]),
    ] {
        assert_eq!(decode(40, &[text.as_bytes()]), Err(TooLong { limit: 40 }), "{text}");
    }
    let many = "data: 0123456789\n\n".repeat(100);
    assert_eq!(decode(40, &[many.as_bytes()]).unwrap().len(), 100, "the limit is for one event");
}

proptest! {
    #[test]
    fn chunks_make_no_difference(
        lines in prop::collection::vec(
            prop_oneof![
                Just(String::new()),
                "data: \\PC{0,12}",
                "event: [a-z]{0,5}",
                "data:[ä€😀]{0,4}",
                ": \\PC{0,5}",
            ],
            0..30,
        ),
        ends in prop::collection::vec(prop_oneof![Just("\n"), Just("\r\n"), Just("\r")], 30),
        cuts in prop::collection::vec(0usize..400, 0..20),
    ) {
        let text: String = lines.iter().zip(ends).map(|(line, end)| format!("{line}{end}")).collect();
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        let expected = decode(1 << 20, &[bytes]).unwrap();
        prop_assert_eq!(&decode(1 << 20, &chunks).unwrap(), &expected);
        prop_assert_eq!(&decode(1 << 20, &single).unwrap(), &expected);
    }

    #[test]
    fn no_bytes_make_it_fail_or_keep_more_than_the_limit(
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..20),
    ) {
        let mut decoder = Decoder::new(100);
        for chunk in &chunks {
            if decoder.push(chunk).is_err() {
                return Ok(());
            }
            prop_assert!(decoder.held() <= 100);
            while decoder.next().is_some() {}
        }
    }
}
