//! The forms of refusals.

use crate::{reply::HttpError, wire::Vendor};

/// The bytes of a refusal: what the script says, else what the real interface usually says.
#[test]
fn every_status_has_the_words_of_its_vendor() {
    let mut out = String::new();
    for vendor in [Vendor::Anthropic, Vendor::OpenAi, Vendor::Gemini] {
        out.push_str(&format!("### {vendor:?}\n"));
        for status in [400, 401, 403, 404, 413, 418, 429, 500, 501, 503, 504, 529] {
            let body = vendor.error_body(&HttpError::new(status, ""), "req_1");
            out.push_str(&format!("{status} {body}\n"));
        }
        let told = HttpError {
            kind: Some("insufficient_quota".into()),
            headers: vec![("Retry-After".into(), "7".into())],
            ..HttpError::new(429, "no more")
        };
        out.push_str(&format!("told {}\n", vendor.error_body(&told, "req_1")));
        let coded = HttpError { code: Some("the_code".into()), param: Some("a.b".into()), ..told };
        out.push_str(&format!("with a code {}\n", vendor.error_body(&coded, "req_1")));
        let raw = HttpError { body: Some("<html>".into()), ..coded };
        out.push_str(&format!("raw {}\n", vendor.error_body(&raw, "req_1")));
        let unknown = vendor.not_found("POST", "/v1/nothing");
        out.push_str(&format!("unknown {}\n", vendor.error_body(&unknown, "req_1")));
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(out) });
}

#[test]
fn every_vendor_lists_the_model_that_is_none_and_has_any_that_is_asked_for() {
    let mut out = String::new();
    for vendor in [Vendor::Anthropic, Vendor::OpenAi, Vendor::Gemini] {
        let mut both = [vendor.models(), vendor.model("any")];
        both.iter_mut().for_each(serde_json::Value::sort_all_objects);
        out.push_str(&format!("{vendor:?}\n{}\n{}\n", both[0], both[1]));
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(out) });
}
