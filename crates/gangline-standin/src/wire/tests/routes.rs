//! Which request goes where.

use axum::http::Request;

use crate::wire::{Endpoint, Form, Route, Vendor};

fn route(method: &str, uri: &str, headers: &[(&str, &str)]) -> String {
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let Route { vendor, endpoint } = Route::of(&parts);
    format!("{vendor:?} {endpoint:?}")
}

fn is(vendor: Vendor, endpoint: Endpoint<'_>) -> String {
    format!("{vendor:?} {endpoint:?}")
}

#[test]
fn paths_of_every_wire_are_known_behind_any_base() {
    use Endpoint::{Alive, Chat, CountContents, CountMessages, Generate, Messages, Responses};
    use Vendor::{Anthropic, Gemini, OpenAi};
    let model = "gemini-2.5-pro";
    for (uri, expected) in [
        ("/v1/messages?beta=true", is(Anthropic, Messages)),
        ("/v1/messages/count_tokens", is(Anthropic, CountMessages)),
        ("/v1/chat/completions", is(OpenAi, Chat)),
        ("/chat/completions", is(OpenAi, Chat)),
        ("/chat/completions/", is(OpenAi, Chat)),
        ("/openai/v1/chat/completions", is(OpenAi, Chat)),
        ("/openai/deployments/d/chat/completions?api-version=1", is(OpenAi, Chat)),
        ("/v1beta/openai/chat/completions", is(OpenAi, Chat)),
        ("/v1/responses", is(OpenAi, Responses)),
        ("/responses", is(OpenAi, Responses)),
        ("/openai/v1/responses", is(OpenAi, Responses)),
        (
            "/v1beta/models/gemini-2.5-pro:generateContent?key=x",
            is(Gemini, Generate { model, form: Form::Whole }),
        ),
        (
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent?key=x&alt=sse",
            is(Gemini, Generate { model, form: Form::Events }),
        ),
        (
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
            is(Gemini, Generate { model, form: Form::List }),
        ),
        (
            "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:countTokens",
            is(Gemini, CountContents { model }),
        ),
        ("/v1beta/models/m:embedContent", is(Gemini, Endpoint::Unknown)),
    ] {
        assert_eq!(route("POST", uri, &[]), expected, "{uri}");
        let vendor = expected.split(' ').next().unwrap();
        assert_eq!(route("PUT", uri, &[]), format!("{vendor} WrongMethod"), "{uri}");
    }
    assert_eq!(route("HEAD", "/", &[]), is(Anthropic, Alive));
    assert_eq!(route("POST", "/", &[]), is(Anthropic, Endpoint::WrongMethod));
    assert_eq!(route("GET", "/v1/responses", &[]), is(OpenAi, Endpoint::WrongMethod));
    let upgrade = [("connection", "Upgrade"), ("upgrade", "WebSocket")];
    assert_eq!(route("GET", "/v1/responses", &upgrade), is(OpenAi, Endpoint::Socket));
    assert_eq!(route("GET", "/v1/models", &upgrade), is(Anthropic, Endpoint::Models));
}

/// A path that several vendors have, or none, is whose the client's headers say.
#[test]
fn the_vendor_of_a_shared_path_is_told_by_its_version_or_by_the_key() {
    use Vendor::{Anthropic, Gemini, OpenAi};
    for (uri, headers, vendor) in [
        ("/v1/models", vec![], Anthropic),
        ("/v1/models", vec![("anthropic-version", "1"), ("authorization", "Bearer x")], Anthropic),
        ("/v1/models", vec![("x-api-key", "x")], Anthropic),
        ("/v1/models", vec![("authorization", "Bearer x")], OpenAi),
        ("/v1/models", vec![("api-key", "x")], OpenAi),
        ("/v1/models", vec![("x-goog-api-key", "x")], Gemini),
        ("/v1/models?key=x", vec![], Gemini),
        ("/v1beta/models", vec![("authorization", "Bearer x")], Gemini),
        ("/v1beta/openai/models", vec![], OpenAi),
        ("/openai/v1/models", vec![], OpenAi),
    ] {
        assert_eq!(route("GET", uri, &headers), is(vendor, Endpoint::Models), "{uri} {headers:?}");
        let unknown = uri.replace("models", "nothing");
        assert_eq!(route("GET", &unknown, &headers), is(vendor, Endpoint::Unknown), "{unknown}");
        let one = uri.replace("models", "models/a/b:c");
        let expected = is(vendor, Endpoint::Model("a/b:c"));
        assert_eq!(route("GET", &one, &headers), expected, "{one}");
    }
}
