//! Rule: a crate uses only crates of lower layers.

use serde_json::Value;

use crate::workspace::Member;

const HIGHEST: u64 = 8;

/// Where a crate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    /// Part of the product, 0 at the bottom.
    Floor(u64),
    /// Help for tests: may use anything of the product, and only tests and chores may use it.
    Test,
    /// Tools of the developers: may use anything, and nobody uses them.
    Chores,
}

impl Layer {
    fn of(value: &Value) -> Option<Self> {
        match (value.as_u64(), value.as_str()) {
            (Some(floor), _) if floor <= HIGHEST => Some(Self::Floor(floor)),
            (_, Some("test")) => Some(Self::Test),
            (_, Some("chores")) => Some(Self::Chores),
            _ => None,
        }
    }

    fn may_use(self, other: Self, dev: bool) -> bool {
        match (self, other) {
            (_, Self::Chores) => false,
            (Self::Test | Self::Chores, _) => true,
            (Self::Floor(_), Self::Test) => dev,
            (Self::Floor(own), Self::Floor(below)) => below < own,
        }
    }
}

/// Complains about crates without a layer and about arrows that do not go down.
pub(crate) fn check(members: &[Member]) -> Vec<String> {
    let mut complaints = Vec::new();
    for member in members {
        let Some(own) = Layer::of(&member.layer) else {
            complaints.push(format!(
                "{} must state [package.metadata.godel] layer = 0..{HIGHEST}, \"test\" or \"chores\"",
                member.name
            ));
            continue;
        };
        for arrow in &member.arrows {
            let target = members.iter().find(|other| other.name == arrow.to);
            // A target without a layer is complained about on its own.
            let Some(other) = target.and_then(|target| Layer::of(&target.layer)) else {
                continue;
            };
            if !own.may_use(other, arrow.dev) {
                let kind = if arrow.dev { "dev-dependency" } else { "dependency" };
                complaints.push(format!(
                    "{} ({own:?}) has a {kind} on {} ({other:?})",
                    member.name, arrow.to
                ));
            }
        }
    }
    complaints
}

mod tests {
    use serde_json::json;

    use super::*;
    use crate::workspace::Arrow;

    fn member(name: &str, layer: Value, arrows: &[(&str, bool)]) -> Member {
        let arrows = arrows.iter().map(|(to, dev)| Arrow { to: (*to).to_owned(), dev: *dev });
        Member { name: name.to_owned(), folder: "".into(), layer, arrows: arrows.collect() }
    }

    fn house(extra: Member) -> Vec<String> {
        check(&[
            member("model", json!(0), &[]),
            member("store", json!(1), &[("model", false), ("kit", true)]),
            member("api", json!(1), &[("model", false)]),
            member("app", json!(3), &[("store", false)]),
            member("kit", json!("test"), &[("app", false)]),
            member("xtask", json!("chores"), &[("kit", false)]),
            extra,
        ])
    }

    #[test]
    fn a_house_in_order_passes() {
        let bench = member("bench", json!("chores"), &[("app", false), ("kit", false)]);
        assert_eq!(house(bench), Vec::<String>::new());
    }

    #[test]
    fn an_arrow_that_does_not_go_down_is_found() {
        for (layer, to, dev) in [
            (json!(1), "app", false),   // up
            (json!(1), "store", false), // sideways
            (json!(1), "store", true),  // sideways, even for tests
            (json!(4), "kit", false),   // the test kit in the product
            (json!(4), "xtask", true),  // a chore as a library
            (json!("test"), "xtask", false),
        ] {
            let complaints = house(member("new", layer.clone(), &[(to, dev)]));
            assert_eq!(complaints.len(), 1, "{layer} -> {to}: {complaints:?}");
        }
    }

    #[test]
    fn a_crate_without_a_layer_is_found() {
        for layer in [Value::Null, json!(9), json!("attic"), json!(-1)] {
            assert_eq!(house(member("new", layer, &[])).len(), 1);
        }
    }
}
