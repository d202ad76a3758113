//! Headers on their way: those of one connection stay behind, credentials are exchanged.

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Where Anthropic's clients put the key.
pub(crate) const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// Where Gemini's clients put the key.
pub(crate) const X_GOOG_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");
const BEARER: &str = "Bearer ";

/// Takes out of a request what belongs to its connection, and what the relay itself says to the API.
pub(crate) fn of_request(headers: &mut HeaderMap) {
    take_out(headers, |name| is_of_connection(name) || is_ours(name));
}

/// Takes out of a response what belongs to its connection.
pub(crate) fn of_response(headers: &mut HeaderMap) {
    take_out(headers, is_of_connection);
}

/// Returns whether a header is one of a connection, not of the message (RFC 9110, 7.6.1).
fn is_of_connection(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "connection"
            | "keep-alive"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
    )
}

/// Returns whether the relay says it itself: where the API is, how long the body is (the body knows), in
/// which form a response may come back (a compressed one could not be read), and what is asked: some servers
/// believe these headers instead of the method and the path that the relay has looked at.
fn is_ours(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "host"
            | "accept-encoding"
            | "content-length"
            | "expect"
            | "x-http-method"
            | "x-http-method-override"
            | "x-method-override"
            | "x-original-url"
            | "x-rewrite-url"
            | "x-forwarded-prefix"
            | "x-forwarded-uri"
    )
}

/// Returns whether a request wants to become a WebSocket, which the relay cannot read. Any other offer may be
/// passed over (RFC 9110, 7.8): `h2c` is one that many clients make.
pub(crate) fn wants_websocket(headers: &HeaderMap) -> bool {
    let offers = headers.get_all(header::UPGRADE).iter().map(HeaderValue::as_bytes);
    let mut protocols = offers.flat_map(|offer| offer.split(|byte| *byte == b','));
    protocols.any(|protocol| {
        let name = protocol.trim_ascii().split(|byte| *byte == b'/').next();
        name.is_some_and(|name| name.eq_ignore_ascii_case(b"websocket"))
    })
}

/// Takes out these headers, and those that the header `connection` names.
fn take_out(headers: &mut HeaderMap, is_out: impl Fn(&HeaderName) -> bool) {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named =
        named.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok());
    let out: Vec<HeaderName> =
        named.chain(headers.keys().filter(|name| is_out(name)).cloned()).collect();
    for name in out {
        headers.remove(name);
    }
}

/// Returns the key that a request carries, with the name of its header: at most one of each.
pub(crate) fn key(headers: &HeaderMap) -> Vec<(HeaderName, &str)> {
    let plain = |name: HeaderName| {
        let value = headers.get(&name)?.to_str().ok()?;
        Some((name, value))
    };
    let bearer = || {
        let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, key) = value.split_at_checked(BEARER.len())?;
        scheme.eq_ignore_ascii_case(BEARER).then_some((header::AUTHORIZATION, key))
    };
    [plain(X_API_KEY), plain(X_GOOG_API_KEY), bearer()].into_iter().flatten().collect()
}

/// Puts the real key where the token was, and takes every other credential out. Returns whether the key
/// can be carried by a header.
pub(crate) fn exchange(headers: &mut HeaderMap, at: &HeaderName, key: &str) -> bool {
    for name in [X_API_KEY, X_GOOG_API_KEY, header::AUTHORIZATION] {
        headers.remove(name);
    }
    let text = if *at == header::AUTHORIZATION { format!("{BEARER}{key}") } else { key.to_owned() };
    match HeaderValue::from_str(&text) {
        Ok(mut value) => {
            value.set_sensitive(true);
            headers.insert(at.clone(), value);
            true
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    //! What stays behind, and what is exchanged.

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn headers_of_a_connection_stay_behind() {
        let mut all = headers(&[
            ("connection", "close, x-private"),
            ("x-private", "1"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("anthropic-version", "2023-06-01"),
        ]);
        of_response(&mut all);
        assert_eq!(all, headers(&[("anthropic-version", "2023-06-01")]));
    }

    #[test]
    fn what_the_relay_says_itself_is_taken_out_of_requests_alone() {
        let pairs = [("host", "127.0.0.1:1"), ("accept-encoding", "gzip"), ("expect", "x")];
        let pairs = [&pairs[..], &[("content-length", "2"), ("accept", "*/*")]].concat();
        let mut all = headers(&pairs);
        of_response(&mut all);
        assert_eq!(all, headers(&pairs));
        of_request(&mut all);
        assert_eq!(all, headers(&[("accept", "*/*")]));
    }

    /// Google's servers take `X-HTTP-Method-Override` as the method, others the rest.
    #[test]
    fn no_header_makes_another_request_of_the_one_that_was_looked_at() {
        let mut all = headers(&[
            ("x-http-method-override", "POST"),
            ("x-original-url", "/v1/messages"),
            ("x-rewrite-url", "/v1/messages"),
            ("x-stainless-lang", "js"),
        ]);
        of_request(&mut all);
        assert_eq!(all, headers(&[("x-stainless-lang", "js")]));
    }

    #[test]
    fn only_a_websocket_is_refused_among_upgrades() {
        for (offer, is_one) in [
            ("websocket", true),
            ("WebSocket", true),
            ("h2c, websocket/13", true),
            ("h2c", false),
            ("TLS/1.0, HTTP/2.0", false),
            ("websockets", false),
        ] {
            assert_eq!(wants_websocket(&headers(&[("upgrade", offer)])), is_one, "{offer}");
        }
        let mut twice = headers(&[("upgrade", "h2c")]);
        twice.append("upgrade", HeaderValue::from_static("websocket"));
        assert!(wants_websocket(&twice) && !wants_websocket(&headers(&[])));
    }

    #[test]
    fn the_key_goes_where_the_token_was_and_nowhere_else() {
        let mut all = headers(&[("x-api-key", "t"), ("authorization", "Bearer other")]);
        let found: Vec<_> = key(&all).into_iter().map(|(_, key)| key).collect();
        assert_eq!(found, ["t", "other"]);
        assert!(exchange(&mut all, &X_API_KEY, "real"));
        assert_eq!(all, headers(&[("x-api-key", "real")]));
        let mut all = headers(&[("authorization", "bearer t")]);
        assert_eq!(key(&all)[0].1, "t");
        assert!(exchange(&mut all, &header::AUTHORIZATION, "real"));
        assert_eq!(all, headers(&[("authorization", "Bearer real")]));
        assert!(!exchange(&mut all, &header::AUTHORIZATION, "two\nlines"));
        assert!(key(&headers(&[("authorization", "Basic t")])).is_empty());
    }
}
