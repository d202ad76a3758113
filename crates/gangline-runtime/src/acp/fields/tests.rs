//! What may stand in the fields, and what is said of the rest.

use serde_json::json;

use super::*;

fn read(extra: &Value) -> Result<Fields, String> {
    Fields::of(&extra.as_object().unwrap().clone().into_iter().collect())
}

#[test]
fn fields_are_read_or_refused_by_name() {
    assert_eq!(read(&json!({})), Ok(Fields::default()));
    assert_eq!(read(&json!({"tools": "none"})).unwrap().tools, Tools::None);
    assert_eq!(read(&json!({"tools": "stdio"})).unwrap().tools, Tools::Stdio);
    let both = json!({"model_env": {"base_url": "A_URL", "key": "A_KEY"}});
    let named = read(&both).unwrap().model_env;
    assert_eq!((named.base_url.as_deref(), named.key.as_deref()), (Some("A_URL"), Some("A_KEY")));
    for (bad, words) in [
        (json!({"tools": "sse"}), "http, stdio or none, not \"sse\""),
        (json!({"tools": ["Bash"]}), "http, stdio or none"),
        (json!({"model_env": "OPENAI_BASE_URL"}), "`model_env` names variables"),
        (json!({"model_env": {"url": "X"}}), "unknown field `url`"),
        (json!({"model_env": {"key": "sk-secret"}}), "must name environment variables"),
    ] {
        let error = read(&bad).unwrap_err();
        assert!(error.contains(words) && !error.contains("sk-secret"), "{error}");
    }
}
