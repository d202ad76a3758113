//! The decoder gives the same events for every way to cut the bytes.

use proptest::prelude::*;

use super::*;

fn decode(limit: usize, chunks: &[&[u8]]) -> Result<Vec<Event>, TooLong> {
    let mut decoder = Decoder::new(limit);
    chunks.iter().for_each(|chunk| decoder.push(chunk));
    std::iter::from_fn(|| decoder.next()).collect()
}

fn check(text: &str, expected: &[(&str, &str)]) {
    let events = decode(1 << 20, &[text.as_bytes()]).unwrap();
    let told = |event: &Event| (event.name.clone(), event.data.clone().unwrap_or_default());
    let events: Vec<(String, String)> = events.iter().map(told).collect();
    let expected: Vec<(String, String)> =
        expected.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect();
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

/// With `id` and `retry` MCP servers say where a broken stream continues, and when.
#[test]
fn where_a_stream_goes_on_is_told_without_data_too() {
    let events = decode(99, &[b"id: 7\nretry: 20\n\nid: a\0\nretry: soon\n\nid:\ndata: x\n\n"]);
    let told = |(id, retry, data): (Option<&str>, Option<u64>, Option<&str>)| Event {
        name: String::new(),
        data: data.map(str::to_owned),
        id: id.map(str::to_owned),
        retry,
    };
    let expected = [(Some("7"), Some(20), None), (Some(""), None, Some("x"))].map(told);
    assert_eq!(events.unwrap(), expected);
}

#[test]
fn an_event_beyond_the_limit_is_refused_whatever_its_form() {
    let long = "x".repeat(50);
    for (text, begins) in [
        (format!("data: {long}"), format!("data: {}", &long[..34])),
        (format!("event: {long}\n"), format!("event: {}", &long[..33])),
        (format!("data: {}\ndata: {}\n", &long[..30], &long[..20]), long[..30].to_owned()),
    ] {
        let too_long = TooLong { limit: 40, begins };
        assert_eq!(decode(40, &[text.as_bytes()]), Err(too_long), "{text}");
    }
    let mut decoder = Decoder::new(40);
    decoder.push(format!("data: {long}\ndata: of it\r\n\r\ndata: next\n\n").as_bytes());
    assert!(decoder.next().unwrap().is_err());
    assert_eq!(decoder.next().unwrap().unwrap().data.as_deref(), Some("next"));
    assert_eq!(decoder.next(), None, "the rest of what is too long is no event");
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
            decoder.push(chunk);
            prop_assert!(decoder.held() <= 100);
            while decoder.next().is_some() {}
        }
    }
}
