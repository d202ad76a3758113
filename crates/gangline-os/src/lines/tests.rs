//! Tests of the line reader: chunking, limits, broken text.

use super::*;
use proptest::prelude::*;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncWriteExt, ReadBuf};

/// Gives its pieces one read at a time; before each it is pending once.
struct Pieces {
    pieces: Vec<Vec<u8>>,
    ready: bool,
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.ready = !self.ready;
        if !self.ready {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if !self.pieces.is_empty() {
            buffer.put_slice(&self.pieces.remove(0));
        }
        Poll::Ready(Ok(()))
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

async fn all<R: AsyncRead + Unpin>(mut reader: LineReader<R>) -> Vec<Line> {
    let mut lines = Vec::new();
    while let Some(line) = reader.next().await.unwrap() {
        lines.push(line);
    }
    lines
}

fn text(text: &str) -> Line {
    Line::Text(text.to_owned())
}

fn oversize(kept: &str, bytes: u64) -> Line {
    Line::Oversize { kept: kept.to_owned(), bytes }
}

#[track_caller]
fn check(input: &[u8], cap: usize, expect: &[Line]) {
    assert_eq!(run(all(LineReader::new(input, cap))), expect, "{input:?} at {cap}");
}

#[test]
fn lines_come_without_their_ends() {
    check(b"", 9, &[]);
    check(b"a\nbc\r\n\n\r\nlast", 9, &[text("a"), text("bc"), text(""), text(""), text("last")]);
    check(b"a\rb\r\r\n", 9, &[text("a\rb\r")]);
    check(b"end\r", 9, &[text("end")]);
}

#[test]
fn a_line_of_just_the_cap_fits_whatever_its_end() {
    check(b"1234\n1234\r\n1234", 4, &[text("1234"), text("1234"), text("1234")]);
    check(b"\n\r\nx\n", 0, &[text(""), text(""), oversize("", 1)]);
}

#[test]
fn an_oversize_line_is_reported_with_its_length_and_reading_goes_on() {
    check(b"12345\nok\n", 4, &[oversize("1234", 5), text("ok")]);
    check(b"123456\r\nok\n12345", 4, &[oversize("1234", 6), text("ok"), oversize("1234", 5)]);
    check(b"1234\r5\n", 4, &[oversize("1234", 6)]);
}

#[test]
fn the_kept_part_is_not_cut_within_a_character() {
    check("aä€😀\n".as_bytes(), 2, &[oversize("a", 10)]);
    check("aä€😀\n".as_bytes(), 5, &[oversize("aä", 10)]);
    check("aä€😀\n".as_bytes(), 6, &[oversize("aä€", 10)]);
    check("aä€😀\n".as_bytes(), 9, &[oversize("aä€", 10)]);
}

#[test]
fn broken_utf_8_is_replaced() {
    run(async {
        let mut reader = LineReader::new(&b"a\xffb\nfine\n\x80\x80\x80\x80\x80\n"[..], 4);
        assert_eq!(reader.next().await.unwrap(), Some(text("a\u{fffd}b")));
        assert_eq!(reader.next().await.unwrap(), Some(text("fine")));
        let broken = oversize("\u{fffd}\u{fffd}\u{fffd}\u{fffd}", 5);
        assert_eq!(reader.next().await.unwrap(), Some(broken));
        assert_eq!(reader.next().await.unwrap(), None);
    });
}

#[test]
fn a_line_of_100_mb_is_passed_without_holding_it() {
    let long = tokio::io::repeat(b'x').take(100_000_000).chain(&b"\nafter\n"[..]);
    let mut reader = LineReader::new(long, 1_000);
    let lines = run(async {
        let first = reader.next().await.unwrap().unwrap();
        assert!(reader.part.kept.capacity() <= 2_002);
        [first, reader.next().await.unwrap().unwrap()]
    });
    assert_eq!(lines, [oversize(&"x".repeat(1_000), 100_000_000), text("after")]);
}

#[test]
fn a_wait_that_is_dropped_loses_nothing() {
    run(async {
        let (mut writer, reader) = tokio::io::duplex(64);
        let mut reader = LineReader::new(reader, 100);
        for part in ["first", " and", " second\nthi"] {
            let dropped = tokio::select! {
                biased;
                _ = reader.next() => false,
                () = std::future::ready(()) => true,
            };
            assert!(dropped);
            writer.write_all(part.as_bytes()).await.unwrap();
        }
        assert_eq!(reader.next().await.unwrap(), Some(text("first and second")));
        writer.write_all(b"rd\n").await.unwrap();
        assert_eq!(reader.next().await.unwrap(), Some(text("third")));
    });
}

/// What the reader must return, written the simple way over the whole input.
fn model(input: &[u8], cap: usize) -> Vec<Line> {
    let mut lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let line = |line: &[u8]| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() <= cap {
            return Line::Text(String::from_utf8_lossy(line).into_owned());
        }
        let kept = &line[..cap];
        let kept = &kept[..cap - begun(kept).len()];
        Line::Oversize {
            kept: String::from_utf8_lossy(kept).into_owned(),
            bytes: line.len() as u64,
        }
    };
    lines.into_iter().map(line).collect()
}

/// The character at the end of `bytes` that has begun and is not complete.
fn begun(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) => match error.error_len() {
            Some(length) => begun(&bytes[error.valid_up_to() + length..]),
            None => &bytes[error.valid_up_to()..],
        },
        Ok(_) => &[],
    }
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n".to_vec()),
        "[a-c]{0,6}".prop_map(String::into_bytes),
        "[ä€😀]{1,2}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn chunking_never_changes_the_lines(
        pieces in prop::collection::vec(piece(), 0..12),
        cap in 0usize..12,
    ) {
        let pieces: Vec<Vec<u8>> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        let input = pieces.concat();
        let whole = run(all(LineReader::new(&input[..], cap)));
        prop_assert_eq!(&whole, &model(&input, cap));
        let chunked = run(all(LineReader::new(Pieces { pieces, ready: false }, cap)));
        prop_assert_eq!(&chunked, &whole);
        let bytes = input.into_iter().map(|byte| vec![byte]).collect();
        let single = run(all(LineReader::new(Pieces { pieces: bytes, ready: false }, cap)));
        prop_assert_eq!(single, whole);
    }
}
