//! The model forge, judged by the descriptions that it is held to.
#![cfg(test)]

use godel_smithy::{Description, Kind};

#[test]
fn the_descriptions_are_those_of_the_operations_that_are_used() {
    let hub = Description::of(Kind::GitHub);
    assert_eq!((hub.version(), hub.operations().len()), ("23.0.2", 9));
    let lab = Description::of(Kind::GitLab);
    assert_eq!((lab.version(), lab.operations().len()), ("18", 7));
}
