//! The one API that requests go to.

use reqwest::Url;

/// Where requests go: an origin, and a path that every request has to begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    origin: Url,
    base: String,
}

/// An address that no request can go to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the model's address must begin with http:// or https:// and name a host, without a password"
)]
pub struct BadUpstream;

impl Upstream {
    /// Reads the address of an API as backends are given it: `https://api.openai.com/v1`.
    ///
    /// # Errors
    /// [`BadUpstream`]: it is not an address of `http` or `https`, or it has a name, password, query or
    /// fragment.
    pub fn parse(address: &str) -> Result<Self, BadUpstream> {
        let url = Url::parse(address).map_err(|_| BadUpstream)?;
        let secret = !url.username().is_empty() || url.password().is_some();
        let more = url.query().is_some() || url.fragment().is_some();
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() || secret || more {
            return Err(BadUpstream);
        }
        let base = url.path().trim_end_matches('/').to_owned();
        let mut origin = url;
        origin.set_path("");
        Ok(Self { origin, base })
    }

    /// Returns the path that the backend's address needs too.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the address for a request's path and query; `None`: it is outside of the base path.
    pub(crate) fn url(&self, path: &str, query: Option<&str>) -> Option<Url> {
        let below = path.strip_prefix(&self.base)?;
        let plain = below.is_empty() || below.starts_with('/');
        let mut url = self.origin.clone();
        url.set_path(path);
        url.set_query(query);
        // A path with `..` in it, however spelled, is another one now.
        (plain && url.path() == path).then_some(url)
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.origin.scheme() == "http"
    }

    pub(crate) fn is_local(&self) -> bool {
        matches!(self.origin.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"))
    }
}

#[cfg(test)]
mod tests {
    //! One API and nothing beside it.

    use super::*;

    #[test]
    fn a_request_stays_below_the_base_path() {
        let api = Upstream::parse("https://api.openai.com/v1/").unwrap();
        assert_eq!(api.base(), "/v1");
        let url = |path: &str| api.url(path, None).map(|url| url.to_string());
        let whole = api.url("/v1/responses", Some("a=b%20c")).unwrap();
        assert_eq!(whole.as_str(), "https://api.openai.com/v1/responses?a=b%20c");
        for path in
            ["/v2/x", "/v1x", "/", "/v1/../admin", "/v1/%2e%2e/admin", "/v1/./x", "//evil/v1"]
        {
            assert_eq!(url(path), None, "{path}");
        }
        let root = Upstream::parse("http://127.0.0.1:9000").unwrap();
        let url = root.url("/v1beta/models/g:generateContent", None).unwrap();
        assert_eq!(url.as_str(), "http://127.0.0.1:9000/v1beta/models/g:generateContent");
        assert_eq!(root.url("//evil.example/x", None).unwrap().host_str(), Some("127.0.0.1"));
    }

    #[test]
    fn only_an_address_without_secrets_is_one() {
        for bad in ["file:///etc", "ftp://h/", "h:1", "http://u:p@h/", "https://h/?k=1", "", "/v1"]
        {
            assert_eq!(Upstream::parse(bad), Err(BadUpstream), "{bad}");
        }
    }
}
