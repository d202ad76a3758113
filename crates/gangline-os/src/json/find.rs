//! One value of a text that cannot be read as a whole: broken, cut off, too deep or too long.
//!
//! It follows strings and brackets and checks nothing else. Of a text that is broken before the
//! value, it finds the value, another, or none: use it for refusals alone.

/// Returns the text or number at this path of keys, as it is written.
#[must_use]
pub fn find<'a>(text: &'a str, path: &[&str]) -> Option<&'a str> {
    let bytes = text.as_bytes();
    // How many brackets are open, and how many of these are objects of the path.
    let (mut depth, mut on) = (0_usize, 0_usize);
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = string_end(bytes, at)?;
                let key = text.get(at + 1..end - 1);
                at = end;
                let wanted = depth == on && on > 0 && key == path.get(on - 1).copied();
                let Some(value) = wanted.then(|| value_after(bytes, end)).flatten() else {
                    continue;
                };
                at = value;
                if on == path.len() {
                    return scalar(text, value);
                }
                if bytes.get(value) == Some(&b'{') {
                    (depth, on) = (depth + 1, on + 1);
                    at += 1;
                }
            }
            b'{' if depth == 0 => {
                (depth, on) = (1, 1);
                at += 1;
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                on = on.min(depth);
                at += 1;
            }
            _ => at += 1,
        }
    }
    None
}

/// Returns the text at this path of keys.
#[must_use]
pub fn find_text(text: &str, path: &[&str]) -> Option<String> {
    super::from_str(find(text, path)?).ok()
}

/// Returns where a string ends that begins here, behind its quote.
fn string_end(bytes: &[u8], begin: usize) -> Option<usize> {
    let mut at = begin + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Returns where the value of a key begins that ends here.
fn value_after(bytes: &[u8], key_end: usize) -> Option<usize> {
    let colon = after_space(bytes, key_end);
    (bytes.get(colon) == Some(&b':')).then(|| after_space(bytes, colon + 1))
}

fn after_space(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Returns a text or a number that is there to its end.
fn scalar(text: &str, at: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    let end = match bytes.get(at)? {
        b'"' => string_end(bytes, at)?,
        b'-' | b'0'..=b'9' => {
            let ends = |byte: &u8| b",}]".contains(byte) || byte.is_ascii_whitespace();
            at + bytes[at..].iter().position(ends)?
        }
        _ => return None,
    };
    text.get(at..end)
}
