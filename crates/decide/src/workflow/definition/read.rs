//! A text becomes a workflow: the whole, and what only the whole can tell.

use std::collections::{BTreeMap, HashMap};

use godel_model::{PoolName, RetryPolicy, TaskPriority};
use serde_json::Value;

use super::super::expr::{Reference, Syntax, check_template, is_template, references};
use super::super::graph::{Ancestry, Graph};
use super::super::limits::{
    CONCURRENCY_DEFAULT, CONCURRENCY_MAX, EDGES_MAX, NESTING_MAX, STEPS_MAX,
};
use super::super::problem::{Findings, Mistake, Position, Problems, nearest};
use super::super::source::{self, Node, NodeKind};
use super::fields::{Fields, wrong};
use super::inputs::misfit;
use super::step::{self, Noted};
use super::{Definition, InputKind, InputSpec, OnError, Step};

/// What steps are if they say nothing else.
#[derive(Debug, Clone, Default)]
pub(super) struct Defaults {
    pub(super) pool: PoolName,
    pub(super) priority: TaskPriority,
    pub(super) on_error: OnError,
    pub(super) retry: Option<RetryPolicy>,
    /// How many workflows are around this one.
    pub(super) depth: u32,
    /// The name of the outermost workflow, under which it is stored.
    pub(super) within: Option<String>,
}

/// Something that is named in a condition or template, and where.
#[derive(Debug)]
pub(super) struct Mention {
    pub(super) at: Position,
    pub(super) reference: Reference,
}

/// Reads a text.
pub(super) fn read(text: &str) -> Result<Definition, Problems> {
    let mut out = Findings::default();
    let node = match source::read(text) {
        Ok(node) => node,
        Err(problem) => {
            out.push(problem);
            return Err(out.fail(Mistake::Syntax, "the text cannot be read"));
        }
    };
    match definition(&node, &Defaults::default(), None, &mut out) {
        Some(definition) => out.settle(definition),
        None => Err(out.fail(Mistake::Syntax, "the text is no workflow")),
    }
}

/// Reads a workflow; one that is written inside a step may go by the name that it is given.
pub(super) fn definition(
    node: &Node,
    around: &Defaults,
    given_name: Option<&str>,
    out: &mut Findings,
) -> Option<Definition> {
    let mut fields = Fields::open(node, "a workflow", out)?;
    if around.depth > NESTING_MAX {
        let message = format!("workflows are nested more than {NESTING_MAX} levels deep");
        out.add(Mistake::TooDeep, fields.at(), message);
        return None;
    }
    let name = fields.name("name", out).or_else(|| given_name.map(str::to_owned));
    if name.is_none() && !fields.has("name") {
        out.add(Mistake::MissingField, fields.at(), "the workflow has no `name`");
    }
    let version = fields.text("version", out);
    let description = fields.text("description", out);
    let inputs = read_inputs(&mut fields, out);
    let defaults = read_defaults(&mut fields, around, name.as_deref(), out);
    let max_concurrency = fields.number("maxConcurrency", 1..=CONCURRENCY_MAX, out);
    let timeout = fields.duration("timeout", out);
    let fail_fast = fields.flag("failFast", out).unwrap_or_default();
    let (steps, noted) = read_steps(&mut fields, &defaults, out);
    let (outputs, mentions) = read_outputs(&mut fields, out);
    fields.finish(out);
    check_mentions(&inputs, &steps, &noted, &mentions, out);
    Some(Definition {
        name: name.unwrap_or_default(),
        version,
        description,
        inputs,
        steps,
        max_concurrency: max_concurrency.unwrap_or(CONCURRENCY_DEFAULT),
        timeout,
        fail_fast,
        outputs,
    })
}

fn read_defaults(
    fields: &mut Fields<'_>,
    around: &Defaults,
    name: Option<&str>,
    out: &mut Findings,
) -> Defaults {
    Defaults {
        pool: step::word(fields, "pool", out).unwrap_or_else(|| around.pool.clone()),
        priority: step::word(fields, "priority", out).unwrap_or(around.priority),
        on_error: step::on_error(fields, out).unwrap_or(around.on_error),
        retry: step::retry(fields, "retryPolicy", out).or(around.retry),
        depth: around.depth,
        within: around.within.clone().or_else(|| name.map(str::to_owned)),
    }
}

fn read_inputs(fields: &mut Fields<'_>, out: &mut Findings) -> BTreeMap<String, InputSpec> {
    let mut inputs = BTreeMap::new();
    let Some(entry) = fields.take("inputs") else { return inputs };
    let NodeKind::Map(entries) = &entry.value.kind else {
        wrong::<()>(&entry.value, "inputs", "a mapping", out);
        return inputs;
    };
    for entry in entries {
        if !step::is_id(&entry.key) {
            let message = format!("`{}` cannot be the name of an input", entry.key);
            out.add_with_hint(Mistake::InvalidName, entry.at, message, step::ID_HINT);
            continue;
        }
        let Some(mut fields) = Fields::open(&entry.value, "an input", out) else { continue };
        let kinds: Vec<(&'static str, InputKind)> =
            InputKind::ALL.iter().map(|kind| (kind.as_str(), *kind)).collect();
        let mut spec = InputSpec {
            kind: fields.choice("type", &kinds, out).unwrap_or_default(),
            required: fields.flag("required", out).unwrap_or_default(),
            default: None,
            description: fields.text("description", out),
            options: fields.take("options").map(|entry| list(&entry.value)).unwrap_or_default(),
        };
        if let Some(entry) = fields.take("default") {
            let value = entry.value.to_json();
            if let Some(why) = misfit(&spec, &value) {
                out.add(Mistake::InvalidValue, entry.value.at, format!("the default {why}"));
            }
            spec.default = Some(value);
        }
        fields.finish(out);
        inputs.insert(entry.key.clone(), spec);
    }
    inputs
}

fn list(node: &Node) -> Vec<Value> {
    match node.to_json() {
        Value::Array(items) => items,
        one => vec![one],
    }
}

fn read_steps(
    fields: &mut Fields<'_>,
    defaults: &Defaults,
    out: &mut Findings,
) -> (Vec<Step>, Vec<Noted>) {
    let none = (Vec::new(), Vec::new());
    let Some(entry) = fields.take("steps") else {
        out.add(Mistake::MissingField, fields.at(), "the workflow has no `steps`");
        return none;
    };
    let NodeKind::List(items) = &entry.value.kind else {
        wrong::<()>(&entry.value, "steps", "a list", out);
        return none;
    };
    if items.is_empty() {
        out.add(Mistake::MissingField, entry.value.at, "the workflow has no steps");
    }
    if items.len() > STEPS_MAX {
        let message = format!("there are {} steps; at most {STEPS_MAX} can be", items.len());
        out.add(Mistake::TooManySteps, entry.value.at, message);
        return none;
    }
    items.iter().filter_map(|item| step::read(item, defaults, out)).unzip()
}

fn read_outputs(
    fields: &mut Fields<'_>,
    out: &mut Findings,
) -> (BTreeMap<String, Value>, Vec<Mention>) {
    let mut mentions = Vec::new();
    let Some(entry) = fields.take("outputs") else { return (BTreeMap::new(), mentions) };
    let NodeKind::Map(entries) = &entry.value.kind else {
        wrong::<()>(&entry.value, "outputs", "a mapping", out);
        return (BTreeMap::new(), mentions);
    };
    let outputs = entries
        .iter()
        .map(|entry| {
            note_templates(&entry.value, &mut mentions, out);
            (entry.key.clone(), entry.value.to_json())
        })
        .collect();
    (outputs, mentions)
}

/// Checks the templates in a value, and notes what they name.
pub(super) fn note_templates(node: &Node, mentions: &mut Vec<Mention>, out: &mut Findings) {
    match &node.kind {
        NodeKind::Plain(text) | NodeKind::Text(text) => {
            if is_template(text) {
                note_template(text, node.at, mentions, out);
            }
        }
        NodeKind::List(items) => items.iter().for_each(|item| note_templates(item, mentions, out)),
        NodeKind::Map(entries) => {
            entries.iter().for_each(|entry| note_templates(&entry.value, mentions, out));
        }
    }
}

fn note_template(text: &str, at: Position, mentions: &mut Vec<Mention>, out: &mut Findings) {
    if let Err(why) = check_template(text) {
        out.add(Mistake::InvalidTemplate, at, format!("this template cannot be used: {why}"));
        return;
    }
    note(text, Syntax::Template, at, mentions, out);
}

/// Notes what an expression names.
pub(super) fn note(
    text: &str,
    syntax: Syntax,
    at: Position,
    mentions: &mut Vec<Mention>,
    out: &mut Findings,
) {
    match references(text, syntax) {
        Ok(found) => {
            mentions.extend(found.into_iter().map(|reference| Mention { at, reference }));
        }
        Err(why) => out.add(Mistake::UnknownReference, at, why),
    }
}

/// Checks what only all steps together tell: ids, dependencies, circles, and what is named where.
fn check_mentions(
    inputs: &BTreeMap<String, InputSpec>,
    steps: &[Step],
    all_noted: &[Noted],
    of_outputs: &[Mention],
    out: &mut Findings,
) {
    let mut ids: HashMap<&str, u32> = HashMap::with_capacity(steps.len());
    for (index, (step, noted)) in steps.iter().zip(all_noted).enumerate() {
        if let Some(first) = ids.get(step.id.as_str()) {
            let message = format!("there are two steps `{}`", step.id);
            let hint = format!("the first is at {}", all_noted[*first as usize].id_at);
            out.add_with_hint(Mistake::DuplicateStep, noted.id_at, message, hint);
        } else {
            ids.insert(&step.id, index as u32);
        }
    }
    let graph = link(steps, all_noted, &ids, out);
    let mut ancestry = graph.as_ref().map(Ancestry::new);
    for (index, noted) in all_noted.iter().enumerate() {
        for mention in &noted.mentions {
            let before = |other| {
                ancestry.as_mut().map_or(Some(true), |all| all.depends(index as u32, other))
            };
            check_mention(mention, inputs, &ids, before, out);
        }
    }
    for mention in of_outputs {
        check_mention(mention, inputs, &ids, |_| Some(true), out);
    }
}

fn check_mention(
    mention: &Mention,
    inputs: &BTreeMap<String, InputSpec>,
    ids: &HashMap<&str, u32>,
    before: impl FnOnce(u32) -> Option<bool>,
    out: &mut Findings,
) {
    let at = mention.at;
    match &mention.reference {
        Reference::Inputs(name) if !inputs.contains_key(name) => {
            let message = format!("there is no input `{name}`");
            unknown(message, nearest(name, inputs.keys().map(String::as_str)), at, out);
        }
        Reference::Step(id) => match ids.get(id.as_str()).map(|other| before(*other)) {
            None => {
                let message = format!("there is no step `{id}`");
                unknown(message, nearest(id, ids.keys().copied()), at, out);
            }
            Some(None) => {
                let message = format!("it takes too long to find whether `{id}` comes before");
                let hint = "add it to `dependsOn`";
                out.add_with_hint(Mistake::TooComplex, at, message, hint);
            }
            Some(Some(false)) => {
                let message = format!("`{id}` may not have ended when this is needed");
                let hint = format!("add `{id}` to `dependsOn`");
                out.add_with_hint(Mistake::UnknownReference, at, message, hint);
            }
            Some(Some(true)) => {}
        },
        Reference::Inputs(_) | Reference::AllInputs | Reference::Run => {}
    }
}

fn unknown(message: String, near: Option<&str>, at: Position, out: &mut Findings) {
    match near {
        Some(near) => {
            out.add_with_hint(
                Mistake::UnknownReference,
                at,
                message,
                format!("is `{near}` meant?"),
            );
        }
        None => out.add(Mistake::UnknownReference, at, message),
    }
}

/// Builds the graph of the steps, or notes why there is none.
fn link(
    steps: &[Step],
    noted: &[Noted],
    ids: &HashMap<&str, u32>,
    out: &mut Findings,
) -> Option<Graph> {
    let mut edges = 0;
    let mut dependencies = Vec::with_capacity(steps.len());
    for (step, noted) in steps.iter().zip(noted) {
        let mut before = Vec::with_capacity(step.depends_on.len());
        for (id, at) in step.depends_on.iter().zip(&noted.depends_at) {
            match ids.get(id.as_str()) {
                Some(other) => before.push(*other),
                None => {
                    let message = format!("`{}` depends on `{id}`, which is not there", step.id);
                    let near = nearest(id, ids.keys().copied());
                    let hint = near.map_or_else(
                        || "the ids of steps are written exactly so".to_owned(),
                        |near| format!("is `{near}` meant?"),
                    );
                    out.add_with_hint(Mistake::UnknownDependency, *at, message, hint);
                }
            }
        }
        edges += before.len();
        dependencies.push(before);
    }
    if edges > EDGES_MAX {
        let message = format!("there are {edges} dependencies; at most {EDGES_MAX} can be");
        out.add(Mistake::TooComplex, Position::START, message);
        return None;
    }
    match Graph::build(&dependencies) {
        Ok(graph) => Some(graph),
        Err(circle) => {
            // Read from the one that goes first, as people think of it.
            let names: Vec<&str> =
                circle.iter().rev().map(|step| steps[*step as usize].id.as_str()).collect();
            let at = circle.first().map_or(Position::START, |step| noted[*step as usize].id_at);
            out.add(Mistake::Cycle, at, format!("steps wait for each other: {}", told(&names)));
            None
        }
    }
}

/// A circle in words; a long one is cut in the middle.
fn told(names: &[&str]) -> String {
    match names {
        [first @ .., _, _] if names.len() > 12 => {
            let tail = &names[names.len() - 2..];
            format!("{} -> .. -> {}", first[..8].join(" -> "), tail.join(" -> "))
        }
        _ => names.join(" -> "),
    }
}
