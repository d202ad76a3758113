//! Reading: bytes of one line → [`Message`].

use super::{Message, PARAMS_MAX, ParseError, SERVER_TAGS_MAX, tags};

impl Message {
    /// Reads one line, with or without its line end. Invalid UTF-8 is replaced by U+FFFD; the
    /// command comes out in upper case; the length of the body is the caller's to check
    /// ([`super::body_len`]).
    ///
    /// # Errors
    /// See [`ParseError`]; above all CR, LF or NUL inside.
    pub fn parse(line: impl AsRef<[u8]>) -> Result<Self, ParseError> {
        let line = without_line_end(line.as_ref());
        if let Some(at) = line.iter().position(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return Err(ParseError::ControlByte { at });
        }
        let (tag_section, body) = tags::split(line);
        if tag_section.len() > SERVER_TAGS_MAX {
            return Err(ParseError::TagsTooLong { bytes: tag_section.len() });
        }
        if tag_section.is_empty() && body.iter().all(|byte| *byte == b' ') {
            return Err(ParseError::Empty);
        }
        let tags = tags::read(&String::from_utf8_lossy(tag_section));
        let body = String::from_utf8_lossy(body);
        let (source, rest) = split_source(body.trim_start_matches(' '))?;
        let (command, rest) = word(rest);
        if command.is_empty() {
            return Err(ParseError::NoCommand);
        }
        if !command.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(ParseError::BadCommand);
        }
        Ok(Self {
            tags,
            source: source.map(str::to_owned),
            command: command.to_ascii_uppercase(),
            params: params(rest),
        })
    }
}

/// Returns the line without its one line end: CR LF, LF or CR.
pub(super) fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn split_source(body: &str) -> Result<(Option<&str>, &str), ParseError> {
    let Some(rest) = body.strip_prefix(':') else { return Ok((None, body)) };
    let (source, rest) = word(rest);
    if source.is_empty() { Err(ParseError::EmptySource) } else { Ok((Some(source), rest)) }
}

/// Splits off the first word; the rest begins at the next word.
fn word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    (word, rest.trim_start_matches(' '))
}

fn params(mut rest: &str) -> Vec<String> {
    let mut params = Vec::new();
    while !rest.is_empty() {
        if let Some(text) = rest.strip_prefix(':') {
            params.push(text.to_owned());
            break;
        }
        if params.len() + 1 == PARAMS_MAX {
            params.push(rest.to_owned());
            break;
        }
        let (next, after) = word(rest);
        params.push(next.to_owned());
        rest = after;
    }
    params
}
