//! Plans that a good engineer would make: 30 texts on five repositories, and what must come of each.

use std::collections::BTreeMap;

use godel_intent::complexity::complexity;
use godel_intent::parse::{Candidate, CandidateKind, Parsed, Scene, parse};
use godel_intent::plan::{Plan, PlannedBead};
use godel_intent::rules;
use serde_json::{Value, json};

use crate::repos;

/// What must come of a text.
#[derive(Debug)]
struct Golden {
    repo: &'static str,
    text: String,
    kind: String,
    score: Option<(f64, f64)>,
    question: Option<String>,
    choices: Vec<String>,
    targets: Vec<String>,
    entities: BTreeMap<String, String>,
    /// A name for each bead, and what its title has in it; `$` is its end.
    beads: BTreeMap<String, String>,
    order: Vec<String>,
}

fn text(value: &toml::Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value:?} is no text")).to_owned()
}

fn texts(table: &toml::Table, name: &str) -> Vec<String> {
    let list = table.get(name).and_then(toml::Value::as_array);
    list.into_iter().flatten().map(text).collect()
}

fn pairs(table: &toml::Table, name: &str) -> BTreeMap<String, String> {
    let pairs = table.get(name).and_then(toml::Value::as_table);
    pairs.into_iter().flatten().map(|(name, value)| (name.clone(), text(value))).collect()
}

fn read(repo: &'static str, file: &str) -> Vec<Golden> {
    let file: toml::Table = toml::from_str(file).unwrap();
    let golden = |value: &toml::Value| {
        let table = value.as_table().unwrap();
        let band = table.get("score").and_then(toml::Value::as_array);
        Golden {
            repo,
            text: text(&table["text"]),
            kind: text(&table["type"]),
            score: band.map(|band| (band[0].as_float().unwrap(), band[1].as_float().unwrap())),
            question: table.get("question").map(text),
            choices: texts(table, "choices"),
            targets: texts(table, "targets"),
            entities: pairs(table, "entities"),
            beads: pairs(table, "beads"),
            order: texts(table, "order"),
        }
    };
    file["intent"].as_array().unwrap().iter().map(golden).collect()
}

fn all() -> Vec<Golden> {
    let files = [
        ("shop", include_str!("golden/shop.toml")),
        ("mono", include_str!("golden/mono.toml")),
        ("rusty", include_str!("golden/rusty.toml")),
        ("gosvc", include_str!("golden/gosvc.toml")),
        ("site", include_str!("golden/site.toml")),
    ];
    assert_eq!(files.map(|(name, _)| name), repos::NAMES);
    files.into_iter().flat_map(|(repo, file)| read(repo, file)).collect()
}

/// What runs while the texts are read.
pub(crate) fn candidates() -> Vec<Candidate> {
    use CandidateKind::{Agent, Bead, Convoy};
    let one = |id: &str, kind, name: &str, about: &str, of: Option<&str>| Candidate {
        id: id.to_owned(),
        kind,
        name: name.to_owned(),
        about: about.to_owned(),
        state: "running".to_owned(),
        of: of.map(str::to_owned),
    };
    vec![
        one("convoy-1", Convoy, "Sprint 1", "", None),
        one("convoy-2", Convoy, "Checkout redesign", "", None),
        one("godel-aaa", Bead, "Fix authentication bug", "", Some("convoy-1")),
        one("godel-bbb", Bead, "Write cart tests", "", Some("convoy-1")),
        one("godel-ccc", Bead, "Tidy the search index", "", Some("convoy-2")),
        one("godel-ddd", Bead, "Speed up search", "", Some("convoy-2")),
        one("agent-1", Agent, "worker-1", "Fix authentication bug", Some("godel-aaa")),
        one("agent-2", Agent, "worker-2", "Write cart tests", Some("godel-bbb")),
        one("agent-3", Agent, "worker-3", "Tidy the search index", Some("godel-ccc")),
    ]
}

pub(crate) fn roles() -> Vec<String> {
    ["coordinator", "worker", "reviewer", "refinery", "monitor"].map(str::to_owned).to_vec()
}

/// What came of a text.
struct Outcome {
    parsed: Parsed,
    score: f64,
    plan: Option<Plan>,
}

fn outcome(golden: &Golden, survey: &godel_model::Survey) -> Outcome {
    let (candidates, roles) = (candidates(), roles());
    let workflows = ["release".to_owned()];
    let scene = Scene {
        candidates: &candidates,
        workflows: &workflows,
        roles: &roles,
        survey: Some(survey),
        ..Scene::default()
    };
    let parsed = parse(&golden.text, &scene).unwrap();
    let score = complexity(parsed.intent.task(), survey).score;
    let plan = (parsed.intent.kind.is_work() && parsed.question.is_none()).then(|| {
        rules::plan(&rules::Brief { text: parsed.intent.task(), survey, score, roles: &roles })
    });
    Outcome { parsed, score, plan }
}

/// Complains about a plan that is not as it must be.
fn complaints(golden: &Golden, plan: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    if let Err(problems) = plan.check(&roles()) {
        found.push(format!("the plan is not sound: {problems:?}"));
    }
    if plan.beads.len() != golden.beads.len() {
        let titles: Vec<&str> = plan.beads.iter().map(|bead| bead.title.as_str()).collect();
        found.push(format!("{} beads, not {}: {titles:#?}", plan.beads.len(), golden.beads.len()));
    }
    let mut keys: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, pattern) in &golden.beads {
        let fits = |bead: &&PlannedBead| {
            let title = bead.title.to_lowercase();
            match pattern.strip_suffix('$') {
                Some(whole) => title == whole,
                None => title.contains(pattern.as_str()),
            }
        };
        let fitting: Vec<&PlannedBead> = plan.beads.iter().filter(fits).collect();
        match fitting.as_slice() {
            [one] => drop(keys.insert(name, &one.key)),
            many => found.push(format!("{} beads are like \"{pattern}\"", many.len())),
        }
    }
    for rule in &golden.order {
        let mut words = rule.split_whitespace();
        let (first, sign, second) =
            (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let (Some(a), Some(b)) = (keys.get(first), keys.get(second)) else { continue };
        let holds = match sign {
            "<" => plan.before(a, b),
            "|" => !plan.before(a, b) && !plan.before(b, a),
            other => panic!("{other} is no order"),
        };
        if !holds {
            found.push(format!("`{rule}` does not hold"));
        }
    }
    found
}

#[test]
fn thirty_texts_become_what_a_good_engineer_would_make_of_them() {
    let goldens = all();
    assert_eq!(goldens.len(), 30);
    let mut failed = Vec::new();
    for repo in repos::NAMES {
        let (_home, survey) = repos::survey(repo);
        for golden in goldens.iter().filter(|golden| golden.repo == repo) {
            let came = outcome(golden, &survey);
            let mut wrong = Vec::new();
            let mut check = |what: &str, is: Value, must: Value| {
                if is != must {
                    wrong.push(format!("{what} is {is}, not {must}"));
                }
            };
            let intent = &came.parsed.intent;
            check("the type", json!(intent.kind), json!(golden.kind));
            let question = came.parsed.question.as_ref();
            check("the question", json!(question.map(|one| one.about)), json!(golden.question));
            let offered: Vec<&str> = question
                .map(|one| one.choices.iter().map(|choice| choice.value.as_str()).collect())
                .unwrap_or_default();
            if !golden.choices.is_empty() {
                check("the choices", json!(offered), json!(golden.choices));
            }
            let targets: Vec<&str> =
                came.parsed.targets.iter().map(|one| one.id.as_str()).collect();
            check("the targets", json!(targets), json!(golden.targets));
            for (name, value) in &golden.entities {
                let named = intent.named(name).map(|entity| entity.value.clone());
                check(name, json!(named), json!(value));
            }
            if let Some((low, high)) = golden.score
                && !(low..=high).contains(&came.score)
            {
                wrong.push(format!("the score is {}, not {low} to {high}", came.score));
            }
            match &came.plan {
                Some(plan) => wrong.extend(complaints(golden, plan)),
                None if golden.beads.is_empty() => {}
                None => wrong.push("there is no plan".to_owned()),
            }
            if !wrong.is_empty() {
                failed.push(format!("[{repo}] {}\n  {}", golden.text.trim(), wrong.join("\n  ")));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_plan_in_the_wrong_order_fails() {
    let mut turned = 0;
    for repo in repos::NAMES {
        let (_home, survey) = repos::survey(repo);
        for golden in all().iter().filter(|golden| golden.repo == repo) {
            let Some(plan) = outcome(golden, &survey).plan else { continue };
            if golden.order.iter().any(|rule| rule.contains('<')) {
                turned += 1;
                assert!(!complaints(golden, &reversed(&plan)).is_empty(), "{}", golden.text);
                assert!(!complaints(golden, &unordered(&plan)).is_empty(), "{}", golden.text);
            }
            if golden.order.iter().any(|rule| rule.contains('|')) {
                assert!(!complaints(golden, &in_line(&plan)).is_empty(), "{}", golden.text);
            }
        }
    }
    assert!(turned >= 20, "{turned}");
}

/// Every need the other way round.
fn reversed(plan: &Plan) -> Plan {
    let mut turned = plan.clone();
    for bead in &mut turned.beads {
        let waiting = plan.beads.iter().filter(|other| other.needs.contains(&bead.key));
        bead.needs = waiting.map(|other| other.key.clone()).collect();
    }
    turned
}

/// No need at all.
fn unordered(plan: &Plan) -> Plan {
    let mut loose = plan.clone();
    loose.beads.iter_mut().for_each(|bead| bead.needs.clear());
    loose
}

/// One after the other.
fn in_line(plan: &Plan) -> Plan {
    let keys: Vec<String> = plan.waves().into_iter().flatten().collect();
    let mut line = plan.clone();
    for bead in &mut line.beads {
        let at = keys.iter().position(|key| *key == bead.key).unwrap();
        bead.needs = keys[..at].last().cloned().into_iter().collect();
    }
    line
}
