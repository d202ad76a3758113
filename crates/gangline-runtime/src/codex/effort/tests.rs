//! What the program's list of models says about levels.

use gangline_core::effort::EffortLevel::*;
use serde_json::json;

use super::*;

/// R1-11: the ground level is what somebody has set, else the model's default; without either there is
/// nothing to go back to.
#[test]
fn a_model_is_raised_as_far_as_it_is_listed() {
    let levels = |words: &[&str]| -> Value {
        words.iter().map(|word| json!({"reasoningEffort": word, "description": "x"})).collect()
    };
    let list = json!({"data": [
        {"id": "one", "model": "m-1", "defaultReasoningEffort": "low",
         "supportedReasoningEfforts": levels(&["none", "low", "medium", "high", "xhigh", "ultra"])},
        {"id": "two", "model": "m-2", "defaultReasoningEffort": "medium",
         "supportedReasoningEfforts": levels(&["low", "medium"])},
    ]});
    let above = |ground, level| Some(Above { ground, level });
    for (model, set, found) in [
        ("one", None, above(Low, High)),
        ("m-1", None, above(Low, High)),
        ("m-1", Some(High), above(High, XHigh)),
        ("m-1", Some(XHigh), None),
        ("m-1", read("none"), above(Off, High)),
        ("m-2", None, None),
        ("m-2", Some(Low), above(Low, Medium)),
        ("m-3", None, None),
        ("m-3", Some(Medium), above(Medium, High)),
        ("m-3", Some(High), None),
    ] {
        assert_eq!(super::above(&list, model, set), found, "{model} {set:?}");
    }
    assert_eq!(super::above(&Value::Null, "m-1", Some(Low)), above(Low, High));
    for level in EffortLevel::ALL {
        assert_eq!(read(word(*level)), Some(*level));
    }
}
