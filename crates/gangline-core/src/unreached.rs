//! Why a model's server was not reached, read from the words of whoever tried: the relay, the native backend, a
//! program. Pure. Start at [`Unreached::of`].

use crate::words;

#[cfg(test)]
mod tests;

/// Begins the relay's reply to a request that it could not pass on; the cause follows.
pub const BY_RELAY: &str = "the model's API cannot be reached";
/// Begins the native backend's error without a connection; the cause follows.
const BY_NATIVE: [&str; 2] = ["cannot connect to the API", "the API's server is not trusted"];
/// The native backend's errors with a response: their words are the server's own.
const ANSWERED: [&str; 3] = ["the API failed", "the API refused", "the API is overloaded"];

words! {
    /// Why a model's server was not reached. The words are part of a message's reason (`turn_failed:api_refused`).
    Unreached, "cause of a server that was not reached" {
        /// Nobody who is trusted has signed its certificate.
        Untrusted = "api_untrusted",
        /// Its certificate is for another name.
        OtherName = "api_other_name",
        /// Its certificate has expired, or is not valid yet.
        Expired = "api_expired",
        /// Its certificate is not good for another reason.
        BadCertificate = "api_certificate",
        /// It does not speak TLS where TLS is expected.
        NoTls = "api_no_tls",
        /// Nothing listens at the address.
        Refused = "api_refused",
        /// The name has no address.
        UnknownName = "api_unknown_name",
        /// No connection, for another reason.
        Away = "api_away",
    }
}

/// What an error says in lower case, and what it means; the first one counts. rustls, OpenSSL with the names of
/// Node.js, the system's messages.
const SAID: [(&str, Unreached); 25] = [
    ("unknownissuer", Unreached::Untrusted),
    ("self-signed certificate", Unreached::Untrusted),
    ("self signed certificate", Unreached::Untrusted),
    ("self_signed_cert", Unreached::Untrusted),
    ("unable to verify the first certificate", Unreached::Untrusted),
    ("unable to get local issuer certificate", Unreached::Untrusted),
    ("unable_to_verify_leaf_signature", Unreached::Untrusted),
    ("certificate not valid for name", Unreached::OtherName),
    ("does not match certificate's altnames", Unreached::OtherName),
    ("cert_altname_invalid", Unreached::OtherName),
    ("certificate expired", Unreached::Expired),
    ("certificate not valid yet", Unreached::Expired),
    ("certificate has expired", Unreached::Expired),
    ("cert_has_expired", Unreached::Expired),
    ("invalid peer certificate", Unreached::BadCertificate),
    ("invalidcontenttype", Unreached::NoTls),
    ("wrong version number", Unreached::NoTls),
    ("does not speak tls", Unreached::NoTls),
    ("connection refused", Unreached::Refused),
    ("econnrefused", Unreached::Refused),
    ("connectionrefused", Unreached::Refused),
    ("failed to lookup address", Unreached::UnknownName),
    ("name or service not known", Unreached::UnknownName),
    ("enotfound", Unreached::UnknownName),
    ("eai_again", Unreached::UnknownName),
];

impl Unreached {
    /// Reads why a turn failed. `None` if its cause is another one, for example an error that the server itself
    /// sent: it may be about a server behind it.
    #[must_use]
    pub fn of(why: &str) -> Option<Self> {
        let cause = |begins: &str| why.rsplit_once(begins).map(|(_, cause)| cause);
        let ours = cause(BY_RELAY).or_else(|| BY_NATIVE.into_iter().find_map(cause));
        if ours.is_none() && ANSWERED.iter().any(|says| why.contains(says)) {
            return None;
        }
        let said = ours.unwrap_or(why).to_lowercase();
        let known = SAID.iter().find(|(says, _)| said.contains(says)).map(|(_, means)| *means);
        known.or(ours.map(|_| Self::Away))
    }

    /// Returns the cause as a clause for people. It names no address: an address may hold a secret.
    #[must_use]
    pub fn told(self) -> &'static str {
        match self {
            Self::Untrusted => {
                "the model's server is not trusted: nobody whom this machine trusts has signed its certificate"
            }
            Self::OtherName => {
                "the model's server is not trusted: its certificate is for another name"
            }
            Self::Expired => {
                "the model's server is not trusted: its certificate has expired, or is not valid yet"
            }
            Self::BadCertificate => {
                "the model's server is not trusted: its certificate is not valid"
            }
            Self::NoTls => {
                "the model's server does not speak TLS, and its address begins with https"
            }
            Self::Refused => "the model's server cannot be reached: nothing listens at its address",
            Self::UnknownName => {
                "the model's server cannot be reached: its name has no address here"
            }
            Self::Away => "the model's server cannot be reached",
        }
    }
}
