//! Tests of the run id's form. Sweeps of real processes are in `tests/it`.

use super::*;
use proptest::prelude::*;

fn run_id(installation: &str, agent: &str, epoch: i64) -> RunId {
    RunId { installation: installation.to_owned(), agent: agent.to_owned(), epoch }
}

#[test]
fn a_mark_is_found_among_other_variables() {
    let environ = b"A=1\0XGANGLINE_RUN=x/y/1\0GANGLINE_RUN=i/ada/3\0GANGLINE_RUN=i/bob/4\0";
    assert_eq!(find_run_id(environ), Some(run_id("i", "ada", 3)));
    for without in [&b""[..], b"A=GANGLINE_RUN=i/ada/3\0", b"GANGLINE_RUN=\xff/a/1\0"] {
        assert_eq!(find_run_id(without), None);
    }
}

#[test]
fn a_hook_has_a_run_id_of_its_own_and_is_the_agents() {
    let ada = run_id("i", "oak-ada", 3);
    let hook = ada.of_hooks();
    assert_eq!(hook, run_id("i", "oak-ada:hook", 3));
    assert_eq!([ada.nick(), hook.nick()], ["oak-ada"; 2]);
    assert_eq!(hook.of_hooks(), hook);
    let supervisor = ada.of_supervisor();
    assert_eq!(supervisor, run_id("i", "oak-ada:supervisor", 3));
    assert_eq!((supervisor.nick(), supervisor.of_hooks()), ("oak-ada", hook));
}

#[test]
fn what_is_no_mark_is_refused() {
    for text in ["", "i/ada", "i/ada/x", "i/ada/1/2", "/ada/1", "i//1", "i/ada/"] {
        assert_eq!(text.parse::<RunId>(), Err(NotARunId(text.to_owned())));
    }
    assert_eq!(run_id("i", "ada", 3).variable(), (RUN_ID.into(), "i/ada/3".into()));
}

#[test]
fn what_outlives_an_agent_says_so_and_has_no_mark() {
    for (environ, expect) in [
        (&b"A=1\0GANGLINE_STARTED_BY=oak-ada\0"[..], true),
        (b"GANGLINE_STARTED_BY=\0", false),
        (b"GANGLINE_STARTED_BY=oak-ada\0GANGLINE_RUN=i/ada/3\0", false),
        (b"A=GANGLINE_STARTED_BY=oak-ada\0", false),
        (b"", false),
    ] {
        assert_eq!(outlives(environ), expect, "{environ:?}");
    }
}

proptest! {
    #[test]
    fn a_mark_is_read_as_it_was_written(i in "[^/\0]{1,9}", a in "[^/\0]{1,9}", epoch: i64) {
        let run_id = run_id(&i, &a, epoch);
        prop_assert_eq!(run_id.to_string().parse(), Ok(run_id));
    }
}
