//! Headers on their way: those of one connection stay behind, credentials are exchanged.

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Headers of one connection, not of the message (RFC 9110, 7.6.1).
const OF_A_CONNECTION: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Where the vendors' clients put the key.
pub(crate) const X_API_KEY: &str = "x-api-key";
/// Gemini's.
pub(crate) const X_GOOG_API_KEY: &str = "x-goog-api-key";
const BEARER: &str = "Bearer ";

/// Takes out what belongs to the connection, and what its header `connection` names.
pub(crate) fn without_hops(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in OF_A_CONNECTION {
        headers.remove(name);
    }
}

/// Takes out what the relay itself says to the API: where it is, and in which form bodies may come back
/// (a compressed one could not be read).
pub(crate) fn without_ours(headers: &mut HeaderMap) {
    headers.remove(header::HOST);
    headers.remove(header::ACCEPT_ENCODING);
    // The body knows its own.
    headers.remove(header::CONTENT_LENGTH);
    headers.remove(header::EXPECT);
}

/// Returns the key that a request carries, with the name of its header: at most one of each.
pub(crate) fn key(headers: &HeaderMap) -> Vec<(HeaderName, &str)> {
    let plain = |name: &'static str| {
        let value = headers.get(name)?.to_str().ok()?;
        Some((HeaderName::from_static(name), value))
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
    for name in [
        HeaderName::from_static(X_API_KEY),
        HeaderName::from_static(X_GOOG_API_KEY),
        header::AUTHORIZATION,
    ] {
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
        without_hops(&mut all);
        assert_eq!(all, headers(&[("anthropic-version", "2023-06-01")]));
    }

    #[test]
    fn the_key_goes_where_the_token_was_and_nowhere_else() {
        let mut all = headers(&[("x-api-key", "t"), ("authorization", "Bearer other")]);
        let found: Vec<_> = key(&all).into_iter().map(|(_, key)| key).collect();
        assert_eq!(found, ["t", "other"]);
        assert!(exchange(&mut all, &HeaderName::from_static(X_API_KEY), "real"));
        assert_eq!(all, headers(&[("x-api-key", "real")]));
        let mut all = headers(&[("authorization", "bearer t")]);
        assert_eq!(key(&all)[0].1, "t");
        assert!(exchange(&mut all, &header::AUTHORIZATION, "real"));
        assert_eq!(all, headers(&[("authorization", "Bearer real")]));
        assert!(!exchange(&mut all, &header::AUTHORIZATION, "two\nlines"));
        assert!(key(&headers(&[("authorization", "Basic t")])).is_empty());
    }
}
