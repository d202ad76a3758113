use super::*;

/// Checked against another implementation: `printf '%s' '1700000000.{}' | openssl dgst -sha256 -hmac key`.
#[test]
fn a_request_is_signed_over_its_time_and_body() {
    let now = UnixMicros::from_seconds(1_700_000_000);
    assert_eq!(
        signature(&Secret::new("key"), now, "{}"),
        "t=1700000000,v1=9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae"
    );
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let now = UnixMicros::from_seconds(1_445_412_479);
    let check = |text: &str, expect: Option<u64>| {
        let header = reqwest::header::HeaderValue::from_str(text).unwrap();
        assert_eq!(patience(Some(&header), now), expect.map(Duration::from_secs), "{text}");
    };
    check("7", Some(7));
    check("0.0", Some(0));
    check("Wed, 21 Oct 2015 07:28:00 GMT", Some(1));
    check("Wed, 21 Oct 2015 07:20:00 GMT", Some(0));
    check("-1", None);
    check("1e99", None);
    check("soon", None);
}
