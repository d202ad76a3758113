//! SCRAM-SHA-256 (RFC 5802, RFC 7677), the server's side: a login in which the password is not sent,
//! and in which the server proves that it knows it, too. Pure.
//!
//! Without channel binding: there is no TLS here. Names and passwords are compared as they are
//! written; ours are ASCII. Start at [`First::read`].

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;

#[cfg(test)]
mod tests;

/// The mechanism's name.
pub const MECHANISM: &str = "SCRAM-SHA-256";
/// How often the password is hashed. The owner's token is random and long, so more would only cost
/// time; clients refuse less.
pub const ITERATIONS: u32 = 4096;

type Hash = [u8; 32];

/// Why an exchange failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScramError {
    /// A message is not one of SCRAM's, or asks for what is not offered.
    #[error("the message is malformed")]
    Malformed,
    /// The password is wrong.
    #[error("the proof is wrong")]
    Wrong,
}

/// What a server keeps instead of a password; `Debug` shows nothing of it.
#[derive(Clone)]
pub struct Keys {
    salt: Vec<u8>,
    iterations: u32,
    stored: Hash,
    server: Hash,
}

impl Keys {
    /// Derives the keys of a password. Takes some milliseconds.
    #[must_use]
    pub fn derive(password: &str, salt: &[u8], iterations: u32) -> Self {
        let salted = salted(password, salt, iterations);
        let client = hmac(&salted, b"Client Key");
        let server = hmac(&salted, b"Server Key");
        Self { salt: salt.to_vec(), iterations, stored: Sha256::digest(client).into(), server }
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The client's first message.
#[derive(Debug)]
pub struct First {
    account: String,
    nonce: String,
    /// What the client says of channel binding, and as whom it wants to act.
    header: String,
    bare: String,
}

impl First {
    /// Reads `n,,n=ACCOUNT,r=NONCE`.
    ///
    /// # Errors
    /// [`ScramError::Malformed`], also for channel binding and for acting as another account.
    pub fn read(message: &[u8]) -> Result<Self, ScramError> {
        let text = std::str::from_utf8(message).map_err(|_| ScramError::Malformed)?;
        let mut parts = text.splitn(3, ',');
        let (Some(binding), Some(authorise), Some(bare)) =
            (parts.next(), parts.next(), parts.next())
        else {
            return Err(ScramError::Malformed);
        };
        let mut fields = bare.split(',');
        let account = field(fields.next(), "n=").and_then(unescaped)?;
        let nonce = field(fields.next(), "r=")?;
        let legal = |byte: u8| byte.is_ascii_graphic();
        let other = match authorise {
            "" => false,
            other => field(Some(other), "a=").and_then(unescaped)? != account,
        };
        let binds = !matches!(binding, "n" | "y");
        if binds || other || account.is_empty() || nonce.is_empty() || !nonce.bytes().all(legal) {
            return Err(ScramError::Malformed);
        }
        let (nonce, bare) = (nonce.to_owned(), bare.to_owned());
        Ok(Self { account, nonce, header: format!("{binding},{authorise},"), bare })
    }

    /// Returns the account.
    #[must_use]
    pub fn account(&self) -> &str {
        &self.account
    }

    /// Returns the rest of the exchange; `nonce` is a random text of ours, without a comma.
    #[must_use]
    pub fn challenge(self, keys: Keys, nonce: &str) -> Challenge {
        let nonce = format!("{}{nonce}", self.nonce);
        let salt = STANDARD.encode(&keys.salt);
        let message = format!("r={nonce},s={salt},i={}", keys.iterations);
        Challenge { header: self.header, bare: self.bare, keys, nonce, message }
    }
}

/// An exchange that waits for the client's proof.
#[derive(Debug)]
pub struct Challenge {
    header: String,
    bare: String,
    keys: Keys,
    nonce: String,
    message: String,
}

impl Challenge {
    /// Returns the server's first message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Checks `c=…,r=NONCE,p=PROOF`; returns the server's last message, which proves to the client
    /// that the server knows the password.
    ///
    /// # Errors
    /// [`ScramError::Wrong`] for another password, [`ScramError::Malformed`] for everything else.
    pub fn check(&self, message: &[u8]) -> Result<String, ScramError> {
        let text = std::str::from_utf8(message).map_err(|_| ScramError::Malformed)?;
        let (before, proof) = text.rsplit_once(",p=").ok_or(ScramError::Malformed)?;
        let mut fields = before.split(',');
        let header = field(fields.next(), "c=")?;
        let nonce = field(fields.next(), "r=")?;
        let proof: Hash = STANDARD
            .decode(proof)
            .ok()
            .and_then(|proof| proof.try_into().ok())
            .ok_or(ScramError::Malformed)?;
        if header != STANDARD.encode(&self.header) || nonce != self.nonce {
            return Err(ScramError::Malformed);
        }
        let all = format!("{},{},{before}", self.bare, self.message);
        let mut client = hmac(&self.keys.stored, all.as_bytes());
        client.iter_mut().zip(proof).for_each(|(byte, proof)| *byte ^= proof);
        let right: bool = Sha256::digest(client).as_slice().ct_eq(&self.keys.stored).into();
        if !right {
            return Err(ScramError::Wrong);
        }
        let signature = hmac(&self.keys.server, all.as_bytes());
        Ok(format!("v={}", STANDARD.encode(signature)))
    }
}

fn field<'a>(field: Option<&'a str>, name: &str) -> Result<&'a str, ScramError> {
    field.and_then(|field| field.strip_prefix(name)).ok_or(ScramError::Malformed)
}

/// Reads a name: `=2C` is a comma, `=3D` an equals sign, and no other `=` is legal.
fn unescaped(name: &str) -> Result<String, ScramError> {
    let mut parts = name.split('=');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (sign, rest) = match (part.strip_prefix("2C"), part.strip_prefix("3D")) {
            (Some(rest), _) => (',', rest),
            (_, Some(rest)) => ('=', rest),
            (None, None) => return Err(ScramError::Malformed),
        };
        out.push(sign);
        out.push_str(rest);
    }
    Ok(out)
}

/// HMAC-SHA-256 (RFC 2104) under one key. Twelve lines over `sha2`, with the vectors of RFC 4231:
/// less to trust than three more crates.
struct Keyed {
    inner: Sha256,
    outer: Sha256,
}

impl Keyed {
    fn by(key: &[u8]) -> Self {
        let mut block = [0; 64];
        if key.len() > block.len() {
            block[..32].copy_from_slice(&Sha256::digest(key));
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let begun = |pad: u8| Sha256::new_with_prefix(block.map(|byte| byte ^ pad));
        Self { inner: begun(0x36), outer: begun(0x5c) }
    }

    fn mac(&self, parts: &[&[u8]]) -> Hash {
        let inner = parts.iter().fold(self.inner.clone(), |hash, part| hash.chain_update(part));
        self.outer.clone().chain_update(inner.finalize()).finalize().into()
    }
}

fn hmac(key: &[u8], text: &[u8]) -> Hash {
    Keyed::by(key).mac(&[text])
}

/// PBKDF2 for one block, which RFC 5802 calls `Hi`.
fn salted(password: &str, salt: &[u8], iterations: u32) -> Hash {
    let keyed = Keyed::by(password.as_bytes());
    let mut round = keyed.mac(&[salt, &[0, 0, 0, 1]]);
    let mut sum = round;
    for _ in 1..iterations {
        round = keyed.mac(&[&round]);
        sum.iter_mut().zip(round).for_each(|(sum, byte)| *sum ^= byte);
    }
    sum
}
