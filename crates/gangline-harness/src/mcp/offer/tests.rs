//! Schemas that the API would refuse are made fit.

use super::*;

#[test]
fn a_schema_is_an_object_without_what_the_api_refuses() {
    for (given, expected) in [
        (json!({}), json!({"type": "object"})),
        (
            json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}]}},
                "anyOf": [{"required": ["a"]}], "oneOf": [], "allOf": []}),
            json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}]}}}),
        ),
        (json!({"type": ["object", "null"]}), json!({"type": "object"})),
    ] {
        assert_eq!(schema(given.as_object().unwrap()), expected);
    }
}
