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
