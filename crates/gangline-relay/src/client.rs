//! The HTTP client for an API, and why it could not reach it, in words for people.

use std::{error::Error, io, time::Duration};

use rustls::CertificateError;

use crate::upstream::Upstream;

/// The API must take a connection within this.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// A client for one API. It follows no redirect, and checks the certificate of an API over TLS against the
/// roots that this system trusts.
#[derive(Debug, Clone)]
pub struct Client(pub(crate) reqwest::Client);

/// No client can be made: of an API over TLS, most likely since this system has no root certificates.
#[derive(Debug, thiserror::Error)]
#[error("no client for the model's API can be made: {0}")]
pub struct NoClient(String);

impl Client {
    /// Makes the client for an API. Reads the roots that the system trusts, if the API is one over TLS.
    ///
    /// # Errors
    /// The roots cannot be used.
    pub fn of(upstream: &Upstream) -> Result<Self, NoClient> {
        // An error means that the process has a provider already, which is what is wanted.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let mut client = reqwest::Client::builder()
            .connect_timeout(CONNECT_WITHIN)
            .redirect(reqwest::redirect::Policy::none());
        if upstream.is_local() {
            client = client.no_proxy();
        }
        if upstream.is_plain() {
            // No certificate is ever looked at; the system's roots would cost memory.
            client = client.tls_certs_only(std::iter::empty());
        }
        client.build().map(Self).map_err(|error| NoClient(causes(&error)))
    }
}

/// Returns why a request failed, and what to do about it if its causes do not say it.
pub(crate) fn why(error: &reqwest::Error) -> String {
    match tls(error).and_then(advice) {
        Some(advice) => format!("{}; {advice}", causes(error)),
        None => causes(error),
    }
}

/// Returns whether the same request will fail in the same way until a person does something: a certificate
/// that is not good, a server that does not speak TLS.
pub(crate) fn is_lasting(error: &reqwest::Error) -> bool {
    use rustls::Error::{InvalidCertificate, InvalidMessage};
    matches!(tls(error), Some(InvalidCertificate(_) | InvalidMessage(_)))
}

/// Returns an error's causes, without the address.
fn causes(error: &reqwest::Error) -> String {
    let causes: Vec<String> = each(error).map(ToString::to_string).collect();
    if causes.is_empty() { "no answer".to_owned() } else { causes.join(": ") }
}

fn each<'a>(error: &'a reqwest::Error) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let source = |error: &&'a (dyn Error + 'static)| (*error).source();
    std::iter::successors(error.source(), source)
}

/// Returns the error of TLS among the causes.
fn tls(error: &reqwest::Error) -> Option<&rustls::Error> {
    each(error).find_map(within)
}

/// Returns the error of TLS that errors of reading and writing are wrapped around.
fn within<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    match error.downcast_ref::<io::Error>() {
        Some(error) => within(error.get_ref()?),
        None => error.downcast_ref(),
    }
}

fn advice(error: &rustls::Error) -> Option<&'static str> {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => Some(
            "nobody whom this system trusts has signed it: if it is the right one, let SSL_CERT_FILE in the \
             daemon's environment name a file of roots with its root",
        ),
        rustls::Error::InvalidMessage(_) => {
            Some("the server does not speak TLS there: perhaps its address begins with http://")
        }
        _ => None,
    }
}
