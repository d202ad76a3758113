//! HTTP on the chat port: what a web page in somebody's browser can make it send. Pure.
//!
//! A browser posts any text to any port of the machine it runs on, and lines of that text would be
//! commands of the person in front of it.

/// Returns whether a line is `METHOD target HTTP/version`.
pub(super) fn is_request(line: &[u8]) -> bool {
    let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let (Some(method), Some(_), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    let token = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_!#$%&'*+.^`|~".contains(byte);
    method.iter().all(token) && starts_with(version, b"HTTP/")
}

/// Returns whether a line is the header that every HTTP request has.
pub(super) fn is_host(line: &[u8]) -> bool {
    starts_with(line.trim_ascii_start(), b"Host:")
}

fn starts_with(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests;
