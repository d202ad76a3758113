//! The model table answers for aliases, current and retired ids.

use super::*;

/// R4-03, C24.
#[test]
fn aliases_resolve_to_models_that_are_not_retired() {
    for alias in ["haiku", "sonnet", "opus", DEFAULT] {
        let id = resolve(alias);
        let row = TABLE.iter().find(|model| model.id == id).unwrap();
        assert_eq!(row.retired, None, "{alias} means the retired {id}");
    }
}

/// R4-03, C24.
#[test]
fn every_id_of_the_seed_is_retired_and_its_alias_is_advised() {
    for (id, alias) in [
        ("claude-3-haiku-20240307", "haiku"),
        ("claude-3-5-sonnet-20241022", "sonnet"),
        ("claude-3-opus-20240229", "opus"),
    ] {
        assert_eq!(resolve(id), id, "a retired id is sent as asked");
        let advice = advice(id);
        assert!(advice.contains(&format!("use `{alias}`")), "{advice}");
        assert!(advice.contains("retired on 20"), "{advice}");
    }
}

#[test]
fn an_unknown_id_is_sent_as_it_is() {
    assert_eq!(resolve("my-gateway/model"), "my-gateway/model");
    assert!(advice("my-gateway/model").contains("`haiku`"));
}
