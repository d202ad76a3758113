use super::*;

#[test]
fn a_model_s_name_is_one_plain_word() {
    let long = "x".repeat(200);
    for good in ["haiku", "claude-haiku-5-5[1m]", "anthropic/claude", "gpt-5.1:high", &long] {
        assert_eq!(good.parse::<ModelName>().map(|it| it.to_string()), Ok(good.to_owned()));
    }
    let too_long = "x".repeat(201);
    for bad in ["", "-m", "--default", "a b", "a\nb", "ü", "a\u{7f}", &too_long] {
        assert_eq!(bad.parse::<ModelName>(), Err(BadModelName), "{bad:?}");
    }
}

/// R2-09: the window of a model that its backend does not tell; the longest beginning counts.
#[test]
fn windows_are_found_by_the_beginning_of_the_name() {
    for (model, window) in [
        ("gemini-2.5-pro", Some(1_048_576)),
        ("google/gemini-2.5-flash", Some(1_048_576)),
        ("claude-sonnet-4-6[1m]", Some(1_000_000)),
        ("Claude-Haiku-4-5-20251001", Some(200_000)),
        ("gpt-5.5", Some(272_000)),
        ("somebody/else", None),
        ("", None),
    ] {
        assert_eq!(context_window(model), window, "{model}");
    }
    for line in WINDOWS.lines().filter(|line| !line.starts_with('#')) {
        let row = line.split_once(' ').and_then(|(_, window)| window.parse::<u64>().ok());
        assert!(row.is_some(), "{line}");
    }
}
