//! What `gangline effort` says.

use super::*;

const LEVELS: &[EffortLevel] = &[EffortLevel::Low, EffortLevel::High];

#[test]
fn each_origin_of_the_effort_has_its_sentence() {
    let agent: AgentName = "oak-ada".parse().unwrap();
    let said = || Thinking::Said("low".to_owned());
    for (chosen, thinking, levels, expected) in [
        (
            Some(EffortLevel::High),
            said(),
            LEVELS,
            "oak-ada thinks with effort high: chosen (agents.yaml: low)\n",
        ),
        (
            Some(EffortLevel::High),
            Thinking::Usual,
            LEVELS,
            "oak-ada thinks with effort high: chosen\n",
        ),
        (None, said(), LEVELS, "oak-ada thinks with effort low: from agents.yaml\n"),
        (None, Thinking::Usual, LEVELS, "oak-ada thinks with its backend's default effort\n"),
        (
            None,
            said(),
            &[],
            "Gangline does not know how to set the effort of oak-ada's program: set it in the program's own \
             settings\n",
        ),
    ] {
        assert_eq!(Output::new(agent.clone(), chosen, &thinking, levels).text(), expected);
    }
}

#[test]
fn a_level_that_the_backend_does_not_have_is_refused_with_those_that_it_has() {
    let agent: AgentName = "oak-ada".parse().unwrap();
    let text = cannot(&agent, EffortLevel::Max, LEVELS).text();
    let expected =
        "error: the backend of oak-ada has no effort `max`\nhint: choose one of: low, high\n";
    assert_eq!(text, expected);
    let text = cannot(&agent, EffortLevel::Max, &[]).text();
    let expected = "error: Gangline does not know how to set the effort of oak-ada's program\n\
                    hint: set it in the program's own settings\n";
    assert_eq!(text, expected);
}
