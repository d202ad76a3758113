//! Framing under hostile input.

use super::*;

fn all(chunks: &[&[u8]]) -> Vec<Framed> {
    let mut framer = Framer::default();
    let mut out = Vec::new();
    for chunk in chunks {
        framer.room().extend_from_slice(chunk);
        while let Some(framed) = framer.next() {
            out.push(framed);
        }
        assert!(framer.buffer.len() <= KEPT_MAX, "a peer may not make us keep more");
    }
    out
}

fn line(text: &str) -> Framed {
    Framed::Line(text.as_bytes().to_vec())
}

fn too_long(tags: &str) -> Framed {
    Framed::TooLong { tags: tags.as_bytes().to_vec() }
}

#[test]
fn lines_are_found_however_the_bytes_are_cut() {
    assert_eq!(
        all(&[b"NI", b"CK a\r", b"\nUSER", b" b\n\r\n\nX\r\n"]),
        [line("NICK a"), line("USER b"), line("X")]
    );
}

#[test]
fn a_line_without_end_is_dropped_and_the_next_one_is_read() {
    let flood = vec![b'a'; 6000];
    let chunks: [&[u8]; 5] = [&flood, &flood, &flood, b"end\r\n", b"PING\r\n"];
    assert_eq!(all(&chunks), [too_long(""), line("PING")]);
}

#[test]
fn a_body_has_512_bytes_and_tags_do_not_count() {
    let fits = "A".repeat(510);
    let tagged = format!("@+a={} {fits}\r\n", "v".repeat(4090));
    let long = format!("{fits}A\r\n");
    let tags = format!("@+a={} PING\r\n", "v".repeat(4093));
    assert_eq!(
        all(&[tagged.as_bytes(), long.as_bytes(), tags.as_bytes()]),
        [line(tagged.trim_end()), too_long(""), too_long("")]
    );
}

#[test]
fn of_a_line_with_too_long_a_body_the_tags_are_left() {
    let long = format!("@label=a PRIVMSG #a :{}\r\n", "x".repeat(600));
    let endless = format!("@label=b {}", "x".repeat(10_000));
    let chunks = [long.as_bytes(), endless.as_bytes(), endless.as_bytes(), b"\r\n", b"PING\r\n"];
    assert_eq!(all(&chunks), [too_long("@label=a "), too_long("@label=b "), line("PING")]);
}
