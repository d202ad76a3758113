use super::*;

#[test]
fn what_is_no_number_within_the_bounds_is_told_in_words() {
    let lines = within::<u32>(1, 500);
    assert_eq!((lines("1"), lines("500")), (Ok(1), Ok(500)));
    for text in ["0", "501", "x", "", "1.5", "99999999999999999999"] {
        let told = "give a whole number from 1 to 500".to_owned();
        assert_eq!(lines(text), Err(told), "{text:?}");
    }
    let limit = within::<u32>(1, ANY);
    assert_eq!(limit("4294967295"), Ok(u32::MAX));
    assert_eq!(limit("4294967296"), Err("give a whole number, 1 or more".to_owned()));
}
