//! Which requests may come in: those to this relay by its own name, from no web page, with the token.

use gangline_os::secret::Secret;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};

use crate::headers;

/// What stands before the token in a path, where the credentials are the backend's own.
pub(crate) const TOKEN_PATH: &str = "/t/";

/// Where a request's token was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    /// In this header, which carries the vendor's key.
    Header(HeaderName),
    /// In the path; this is the rest of it.
    Path(&'a str),
}

/// Why a request may not come in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// It names another host, or comes from a web page.
    Foreign(&'static str),
    /// It has no token, or another one.
    NoToken,
}

/// Returns the names of a relay that listens on this port.
pub(crate) fn hosts(port: u16) -> [String; 2] {
    ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"))
}

/// Returns where the token is, in a request to one of these hosts.
pub(crate) fn check<'a>(
    (headers, path): (&HeaderMap, &'a str),
    (token, hosts): (&Secret, &[String]),
) -> Result<Found<'a>, Stopped> {
    let mut given = headers.get_all(header::HOST).iter();
    let host = given.next().map(HeaderValue::as_bytes).unwrap_or_default();
    let ours = hosts.iter().any(|name| host == name.as_bytes());
    if !ours || given.next().is_some() {
        return Err(Stopped::Foreign("the header Host does not name this relay"));
    }
    if headers.contains_key(header::ORIGIN) {
        return Err(Stopped::Foreign("a web page may not use this relay"));
    }
    let in_header = headers::key(headers).into_iter().find(|(_, key)| token.matches(key));
    if let Some((name, _)) = in_header {
        return Ok(Found::Header(name));
    }
    let rest = path.strip_prefix(TOKEN_PATH).ok_or(Stopped::NoToken)?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (given, rest) = rest.split_at(end);
    if token.matches(given) { Ok(Found::Path(rest)) } else { Err(Stopped::NoToken) }
}

#[cfg(test)]
mod tests {
    //! Host, origin and token.

    use super::*;

    #[test]
    fn only_the_tokens_holder_comes_in() {
        let token = Secret::new("sesame");
        let check = |pairs: &[(&'static str, &'static str)], path: &'static str| {
            let mut all = HeaderMap::new();
            for (name, value) in pairs {
                all.append(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            check((&all, path), (&token, &hosts(80)))
        };
        let host = ("host", "127.0.0.1:80");
        let by = |name| Ok(Found::Header(HeaderName::from_static(name)));
        assert_eq!(check(&[host, ("x-api-key", "sesame")], "/"), by("x-api-key"));
        assert_eq!(check(&[host, ("x-goog-api-key", "sesame")], "/"), by("x-goog-api-key"));
        assert_eq!(check(&[host, ("authorization", "Bearer sesame")], "/"), by("authorization"));
        let wrong = [("x-api-key", "other"), ("authorization", "Bearer sesame")];
        assert_eq!(check(&[host, wrong[0], wrong[1]], "/"), by("authorization"));
        assert_eq!(check(&[host], "/t/sesame/v1/x"), Ok(Found::Path("/v1/x")));
        assert_eq!(check(&[host], "/t/sesame"), Ok(Found::Path("")));
        for (pairs, path) in [
            (&[host][..], "/v1/x"),
            (&[host], "/t/sesam/v1"),
            (&[host], "/t/"),
            (&[host, ("x-api-key", "sesame2")], "/"),
            (&[host, ("x-api-key", "")], "/"),
            (&[host, ("authorization", "sesame")], "/"),
        ] {
            assert_eq!(check(pairs, path), Err(Stopped::NoToken), "{pairs:?} {path}");
        }
        for host in [
            &[("host", "evil.example:80")][..],
            &[("host", "127.0.0.1")],
            &[],
            &[host, ("host", "evil.example")],
            &[host, ("origin", "http://127.0.0.1:80")],
        ] {
            let with: Vec<_> = host.iter().copied().chain([("x-api-key", "sesame")]).collect();
            assert!(matches!(check(&with, "/"), Err(Stopped::Foreign(_))), "{with:?}");
        }
    }
}
