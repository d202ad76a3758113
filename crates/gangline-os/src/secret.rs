//! Secrets: text that never shows itself in a log, and fresh random tokens.

use std::fmt;

use uuid::Uuid;

#[cfg(test)]
mod tests;

/// A value that must not be shown. `Debug` and `Display` write `***`.
#[derive(Clone, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text itself, for the one place that has to send or store it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Says whether `other` is the same text, in a time that depends on the length alone.
    #[must_use]
    pub fn matches(&self, other: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), other.as_bytes());
        let difference =
            ours.iter().zip(theirs).fold(0, |seen, (a, b)| std::hint::black_box(seen | (a ^ b)));
        ours.len() == theirs.len() && difference == 0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.matches(&other.0)
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Returns a fresh token: 32 bytes (244 of their 256 bits random), written as 64 hex digits.
#[must_use]
pub fn random_token() -> Secret {
    Secret(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()))
}

/// The digits of a password: no letter that is taken for another one.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// How many random bits a password has.
const PASSWORD_BITS: u32 = 128;
/// How many bits a digit carries.
const DIGIT_BITS: u32 = 5;

/// Returns a fresh password for people to paste: 128 random bits in 26 characters, so that a command
/// with it fits a line of a terminal.
#[must_use]
pub fn random_password() -> Secret {
    // 14 bytes of a random UUID are random whole; the other two are taken from a second one.
    let (one, two) = (Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes());
    let mut bytes = one;
    bytes[6] = two[0];
    bytes[8] = two[1];
    let bits = u128::from_be_bytes(bytes);
    let shifts = (0..PASSWORD_BITS.div_ceil(DIGIT_BITS)).rev().map(|digit| digit * DIGIT_BITS);
    let digit = |shift: u32| char::from(DIGITS[usize::try_from(bits >> shift & 31).unwrap_or(0)]);
    Secret(shifts.map(digit).collect())
}
