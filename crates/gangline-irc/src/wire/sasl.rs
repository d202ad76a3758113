//! SASL over `AUTHENTICATE`: base64 in chunks of 400 bytes, and the PLAIN mechanism.

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The longest chunk of one `AUTHENTICATE` line; a full one says that another follows.
pub const CHUNK: usize = 400;
/// The longest answer that is put together, in base64 bytes.
pub const ANSWER_MAX: usize = 8 * CHUNK;

/// The mechanisms that the server offers, the best one first.
pub const OFFERED: &str = "SCRAM-SHA-256,PLAIN";

/// Why an answer of a client could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SaslError {
    /// A chunk is longer than [`CHUNK`], or all of them than [`ANSWER_MAX`].
    #[error("the answer is too long")]
    TooLong,
    /// The client took back the attempt (`AUTHENTICATE *`).
    #[error("the client gave up")]
    Aborted,
    /// It is not base64, or not what PLAIN sends.
    #[error("the answer is malformed")]
    Malformed,
}

/// Returns the parameters of the `AUTHENTICATE` lines that send these bytes, in order.
#[must_use]
pub fn chunks(answer: &[u8]) -> Vec<String> {
    let encoded = STANDARD.encode(answer);
    let mut chunks: Vec<String> = encoded
        .as_bytes()
        .chunks(CHUNK)
        .map(|chunk| String::from_utf8_lossy(chunk).into_owned())
        .collect();
    if chunks.last().is_none_or(|last| last.len() == CHUNK) {
        chunks.push("+".to_owned());
    }
    chunks
}

/// Returns PLAIN's `AUTHENTICATE` parameters for an account and its password.
#[must_use]
pub fn plain(account: &str, password: &str) -> Vec<String> {
    chunks(format!("{account}\0{account}\0{password}").as_bytes())
}

/// What a client has sent of its answer so far; for the server's side.
#[derive(Default)]
pub struct Answer(String);

impl Answer {
    /// Takes the parameter of one `AUTHENTICATE` line; returns the bytes when it was the last.
    ///
    /// # Errors
    /// See [`SaslError`]. The answer is empty afterwards.
    pub fn push(&mut self, chunk: &str) -> Result<Option<Vec<u8>>, SaslError> {
        let taken = std::mem::take(&mut self.0);
        if chunk == "*" {
            return Err(SaslError::Aborted);
        }
        let part = if chunk == "+" { "" } else { chunk };
        if part.len() > CHUNK || taken.len() + part.len() > ANSWER_MAX {
            return Err(SaslError::TooLong);
        }
        let whole = taken + part;
        if part.len() == CHUNK {
            self.0 = whole;
            return Ok(None);
        }
        STANDARD.decode(whole).map(Some).map_err(|_| SaslError::Malformed)
    }
}

/// Reads PLAIN's answer: the account (the authentication identity) and the password. Another
/// authorisation identity than the account or none is refused.
///
/// # Errors
/// [`SaslError::Malformed`].
pub fn read_plain(answer: &[u8]) -> Result<(String, String), SaslError> {
    let text = std::str::from_utf8(answer).map_err(|_| SaslError::Malformed)?;
    let mut parts = text.split('\0');
    let (Some(authorise), Some(account), Some(password), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(SaslError::Malformed);
    };
    let same = authorise.is_empty() || authorise == account;
    if account.is_empty() || !same {
        return Err(SaslError::Malformed);
    }
    Ok((account.to_owned(), password.to_owned()))
}
