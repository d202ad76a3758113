use super::with_session;

fn env(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// C22: the id stands under its usual name, and under the one that the environment names.
#[test]
fn the_sessions_id_stands_where_it_is_looked_for() {
    let usual = with_session(env(&[("GT_SESSION_ID_ENV", "GT_SESSION_ID"), ("A", "1")]), "s-1");
    assert_eq!(
        usual,
        env(&[("GT_SESSION_ID_ENV", "GT_SESSION_ID"), ("A", "1"), ("GT_SESSION_ID", "s-1")])
    );
    let named = env(&[("GT_SESSION_ID_ENV", "MY_ID"), ("MY_ID", "old"), ("GT_SESSION_ID", "old")]);
    let again = with_session(with_session(named, "s-1"), "s-2");
    assert_eq!(
        again,
        env(&[("GT_SESSION_ID_ENV", "MY_ID"), ("MY_ID", "s-2"), ("GT_SESSION_ID", "s-2")])
    );
}
