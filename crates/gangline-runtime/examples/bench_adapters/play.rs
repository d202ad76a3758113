//! Plays a program: answers what it is asked, and serves a prompt with lines as fast as they are
//! read, or with one word after it has told that the prompt is here.

use std::{
    io::{BufRead, Write},
    net::TcpStream,
};

use serde_json::Value;

use super::{
    Outcome,
    wire::{Heard, Piece, Turn, UUID, Wire},
};

/// The lengths of the texts in a round's lines, in KB: many short ones, one long one.
pub(super) const KILOBYTES: [usize; 20] =
    [1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 60, 200];
/// What texts are made of: words, and what has to be escaped or takes more than one byte.
const WORDS: &str =
    "the test `a::b` \"fails\" at line 12:\n\tassert_eq!(grün, 3); // → ✓ naïve C:\\tmp ";
/// What stands in ids: the digits are another number in each round, since a program that repeats
/// the id of a call says nothing new.
const ROUND: &str = "round-00000";
/// What is said when one word is enough.
pub(super) const WORD: &str = "pong";

/// What a prompt makes.
pub(super) enum Show {
    /// The lines of a round, so often.
    Lines(usize),
    /// A line with a text of so many bytes, and one word.
    Long(usize),
    /// A byte to this port of this machine as soon as the prompt is here, and one word. Port 0
    /// means none.
    Word(u16),
}

impl Show {
    pub(super) fn of(kind: &str, number: &str) -> Outcome<Self> {
        match kind {
            "lines" => Ok(Self::Lines(number.parse()?)),
            "long" => Ok(Self::Long(number.parse()?)),
            "word" => Ok(Self::Word(number.parse()?)),
            _ => Err(super::USAGE.into()),
        }
    }
}

/// Plays until nobody writes any more.
pub(super) fn play(wire: Wire, show: &Show) -> Outcome<()> {
    // Made before it is asked for, so that nothing but writing is measured.
    let mut payload = match show {
        Show::Lines(_) => Payload::round(wire),
        Show::Long(bytes) => {
            Payload::of(&line(&wire.piece(Piece::Text, UUID, "long", &"x".repeat(*bytes))))
        }
        Show::Word(_) => Payload::of(""),
    };
    let mut signal = match show {
        Show::Word(port) if *port != 0 => {
            let signal = TcpStream::connect(("127.0.0.1", *port))?;
            signal.set_nodelay(true)?;
            Some(signal)
        }
        _ => None,
    };
    let mut stdout = std::io::stdout().lock();
    for message in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&message?)?;
        match wire.hear(&message) {
            Heard::Nothing => {}
            Heard::Answer(answer) => write(&mut stdout, &[answer])?,
            Heard::Prompt(Turn { name, begin, end }) => {
                if let Some(signal) = &mut signal {
                    signal.write_all(b"!")?;
                }
                write(&mut stdout, &begin)?;
                match show {
                    Show::Lines(times) => payload.write(&mut stdout, *times)?,
                    Show::Long(_) => payload.write(&mut stdout, 1)?,
                    Show::Word(_) => {}
                }
                // After the enormous line too: a turn without a word is a failure.
                if !matches!(show, Show::Lines(_)) {
                    write(&mut stdout, &[wire.piece(Piece::Text, &name, &name, WORD)])?;
                }
                write(&mut stdout, &end)?;
            }
        }
    }
    Ok(())
}

fn write(to: &mut impl Write, lines: &[Value]) -> Outcome<()> {
    for value in lines {
        to.write_all(line(value).as_bytes())?;
    }
    Ok(to.flush()?)
}

/// Returns the value as a line. Its kind, where it has one, comes first, as Claude Code writes it.
fn line(value: &Value) -> String {
    let mut rest = value.clone();
    match rest.as_object_mut().and_then(|fields| fields.remove("type")) {
        Some(kind) => format!("{{\"type\":{kind},{}\n", &rest.to_string()[1..]),
        None => format!("{value}\n"),
    }
}

/// Lines, and where the number of the round stands in them.
pub(super) struct Payload {
    pub(super) bytes: Vec<u8>,
    places: Vec<usize>,
}

impl Payload {
    /// The lines of one round: what the model said, which tools it called, and what they returned.
    pub(super) fn round(wire: Wire) -> Self {
        let mut lines = String::new();
        for (number, kilobytes) in KILOBYTES.iter().enumerate() {
            let text: String = WORDS.chars().cycle().take(kilobytes * 1000).collect();
            let (piece, of) = match number % 3 {
                // The last: no call is left open.
                _ if number + 1 == KILOBYTES.len() => (Piece::Text, number),
                0 => (Piece::Text, number),
                1 => (Piece::Call, number),
                _ => (Piece::Result, number - 1),
            };
            lines.push_str(&line(&wire.piece(piece, UUID, &format!("{ROUND}-{of}"), &text)));
        }
        Self::of(&lines)
    }

    fn of(lines: &str) -> Self {
        let places = lines.match_indices(ROUND).map(|(at, found)| at + found.len()).collect();
        Self { bytes: lines.as_bytes().to_vec(), places }
    }

    fn write(&mut self, to: &mut impl Write, times: usize) -> Outcome<()> {
        for number in 0..times {
            let digits = format!("{number:05}");
            for end in &self.places {
                self.bytes[end - digits.len()..*end].copy_from_slice(digits.as_bytes());
            }
            to.write_all(&self.bytes)?;
        }
        Ok(())
    }
}
