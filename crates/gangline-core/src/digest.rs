//! Short names for content: SHA-256 in hexadecimal.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

#[cfg(test)]
mod tests;

/// Returns the first `bytes` bytes of the content's SHA-256, two digits each; 32 bytes are all.
#[must_use]
pub fn sha256_hex(content: &[u8], bytes: usize) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(content).iter().take(bytes) {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
