use axum::http::{HeaderName, HeaderValue};

use super::*;

fn stopped(named: &[(&str, &str)]) -> bool {
    let mut headers = HeaderMap::new();
    for (name, value) in named {
        let name: HeaderName = name.parse().unwrap();
        headers.append(name, HeaderValue::from_str(value).unwrap());
    }
    stops(&headers, &"/api/v1/x".parse().unwrap(), ("127.0.0.9", 8667)).is_some()
}

#[test]
fn only_this_machines_names_and_pages_come_in() {
    for host in ["127.0.0.1:8667", "LocalHost:8667", "[::1]:8667", "127.0.0.9:8667"] {
        assert!(!stopped(&[("host", host)]), "{host}");
        assert!(!stopped(&[("host", host), ("origin", &format!("http://{host}"))]), "{host}");
    }
    for host in
        ["evil.example:8667", "127.0.0.1", "127.0.0.1:80", "", "127.0.0.1.evil.example:8667"]
    {
        assert!(stopped(&[("host", host)]), "{host}");
    }
    assert!(stopped(&[]), "no host");
    let ours = ("host", "127.0.0.1:8667");
    assert!(stopped(&[ours, ours]), "two hosts");
    for origin in ["http://evil.example", "null", "https://127.0.0.1:8667", "http://localhost:8667"]
    {
        assert!(stopped(&[ours, ("origin", origin)]), "{origin}");
    }
    let same = ("origin", "http://127.0.0.1:8667");
    assert!(stopped(&[ours, same, ("origin", "http://evil.example")]), "one of two");
}
