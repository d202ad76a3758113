use super::*;

/// What the relay, the native backend and the programs say of a server that they did not reach.
#[test]
fn each_cause_is_read_from_the_words_of_whoever_tried() {
    use Unreached::*;
    for (why, expect) in [
        (
            "the API refused the request: the model's API cannot be reached: client error (Connect): invalid \
             peer certificate: UnknownIssuer; nobody whom this system trusts has signed it",
            Some(Untrusted),
        ),
        (
            "unexpected status 424: the model's API cannot be reached: invalid peer certificate: certificate not \
             valid for name \"127.0.0.1\"; certificate is only valid for DnsName(\"localhost\")",
            Some(OtherName),
        ),
        (
            "the model's API cannot be reached: invalid peer certificate: certificate expired: verified at",
            Some(Expired),
        ),
        (
            "the model's API cannot be reached: invalid peer certificate: BadSignature",
            Some(BadCertificate),
        ),
        (
            "the model's API cannot be reached: received corrupt message of type InvalidContentType; the server \
             does not speak TLS there",
            Some(NoTls),
        ),
        ("API Error: 502 the model's API cannot be reached: deadline has elapsed", Some(Away)),
        (
            "cannot connect to the API: error sending request for url (http://127.0.0.1:9/v1/messages): client \
             error (Connect): tcp connect error: Connection refused (os error 111)",
            Some(Refused),
        ),
        (
            "cannot connect to the API: client error (Connect): dns error: failed to lookup address information: \
             Name or service not known",
            Some(UnknownName),
        ),
        (
            "the API's server is not trusted: invalid peer certificate: UnknownIssuer",
            Some(Untrusted),
        ),
        ("API Error: Connection refused: is it running? (ECONNREFUSED)", Some(Refused)),
        ("API Error: self-signed certificate in certificate chain", Some(Untrusted)),
        ("getaddrinfo ENOTFOUND api.example", Some(UnknownName)),
        ("certificate has expired", Some(Expired)),
        // The server was reached; what it says is about another one.
        ("cannot get a response: the API failed: upstream connect error: Connection refused", None),
        ("the API refused the request: getaddrinfo ENOTFOUND images.example", None),
        ("the API is overloaded: overloaded_error", None),
        ("the model `x` is not served", None),
        ("", None),
    ] {
        assert_eq!(Unreached::of(why), expect, "{why}");
    }
}

/// No address is told, whatever the cause says.
#[test]
fn each_cause_has_a_clause_of_its_own() {
    let mut told: Vec<&str> = Unreached::ALL.iter().map(|cause| cause.told()).collect();
    assert!(
        told.iter().all(|text| text.starts_with("the model's server ") && !text.contains("//"))
    );
    told.sort_unstable();
    told.dedup();
    assert_eq!(told.len(), Unreached::ALL.len());
}
