//! States that are run before anybody asks.

use super::*;

#[test]
fn likely_states_are_run_while_nobody_waits_and_give_way_to_who_does() {
    let stage = Stage::new();
    let likely = |states: &[&str]| {
        let decision = |state: &&str| Decision {
            session: Vec::new(),
            question: "next".into(),
            state: State::text(*state),
            options: Vec::new(),
            deadline: None,
        };
        stage
            .runner
            .prepare_likely(states.iter().map(decision).collect());
    };
    likely(&["one"]);
    stage.begins("prepare");
    stage.order(Order::Answer);
    stage.send("ready", "a", "one", None);
    stage.begins("options");
    likely(&["gone"]);
    likely(&["two", "three"]);
    stage.order(Order::Answer);
    assert!(matches!(stage.outcome(), ("ready", Ok(_))));
    stage.begins("prepare");
    stage.send("other", "a", "other", None);
    stage.order(Order::UntilStopped);
    for what in ["prepare", "options"] {
        stage.begins(what);
        stage.order(Order::Answer);
    }
    assert!(matches!(stage.outcome(), ("other", Ok(_))));
    stage.begins("prepare");
    stage.order(Order::Answer);
    stage.send("three", "a", "three", None);
    stage.begins("options");
    stage.order(Order::Answer);
    assert!(matches!(stage.outcome(), ("three", Ok(_))));
}
