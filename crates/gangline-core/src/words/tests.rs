//! Tables of operators' words.

use super::*;

#[test]
fn operators_words_are_read_only_if_they_are_the_whole_text() {
    for (text, expect) in [
        ("status", Some(OperatorWord::Status)),
        ("PAUSE", Some(OperatorWord::Pause)),
        ("resume ", Some(OperatorWord::Resume)),
        ("abort", Some(OperatorWord::Abort)),
        ("stand  down", Some(OperatorWord::StandDown)),
        ("Model", Some(OperatorWord::Model)),
        ("/model", Some(OperatorWord::Model)),
        ("model Qwen/Qwen3", Some(OperatorWord::SetModel("Qwen/Qwen3".parse().ok()))),
        ("/MODEL haiku", Some(OperatorWord::SetModel("haiku".parse().ok()))),
        ("model default", Some(OperatorWord::SetModel(None))),
        ("/model --Default", Some(OperatorWord::SetModel(None))),
        ("model -x", None),
        ("model the data", None),
        ("New session", Some(OperatorWord::NewSession)),
        ("/new-session", Some(OperatorWord::NewSession)),
        ("/clear", Some(OperatorWord::NewSession)),
        ("clear", None),
        ("compact", Some(OperatorWord::Compact)),
        ("/compact", Some(OperatorWord::Compact)),
        ("/compact now", None),
        ("stand", None),
        ("status of the build?", None),
        ("", None),
    ] {
        assert_eq!(OperatorWord::parse(text), expect, "{text:?}");
    }
}
