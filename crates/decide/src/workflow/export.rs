//! A workflow as a picture: Mermaid or Graphviz, coloured by state.

use std::collections::BTreeMap;

use super::definition::{Step, StepKind};
use super::plan::{Plan, StepIndex};
use super::run::StepState;

/// Writes the workflow as a Mermaid flowchart; `state` colours the steps.
pub fn mermaid(plan: &Plan, state: impl Fn(StepIndex) -> Option<StepState>) -> String {
    let mut text = String::from("flowchart TD\n");
    let mut coloured: BTreeMap<&'static str, (StepState, Vec<String>)> = BTreeMap::new();
    for (index, step) in plan.steps() {
        let (open, close) = match &step.kind {
            StepKind::Task(_) => ("[\"", "\"]"),
            StepKind::Workflow(_) => ("[[\"", "\"]]"),
            StepKind::Approval(_) => ("{{\"", "\"}}"),
            StepKind::Timer(_) => ("([\"", "\"])"),
        };
        text.push_str(&format!("  s{index}{open}{}{close}\n", for_mermaid(label(step))));
        if let Some(state) = state(index) {
            let all = coloured.entry(state.as_str()).or_insert_with(|| (state, Vec::new()));
            all.1.push(format!("s{index}"));
        }
    }
    for (index, _) in plan.steps() {
        for before in plan.dependencies(index) {
            text.push_str(&format!("  s{before} --> s{index}\n"));
        }
    }
    for (name, (state, steps)) in coloured {
        let (fill, line) = colour(state);
        text.push_str(&format!("  classDef {name} fill:{fill},stroke:{line},color:#111111\n"));
        text.push_str(&format!("  class {} {name}\n", steps.join(",")));
    }
    text
}

/// Writes the workflow in the language of Graphviz; `state` colours the steps.
pub fn dot(plan: &Plan, state: impl Fn(StepIndex) -> Option<StepState>) -> String {
    let name = for_dot(&plan.definition().name);
    let mut text = format!("digraph \"{name}\" {{\n  rankdir=TB;\n");
    text.push_str(
        "  node [fontname=\"Helvetica\", style=\"rounded,filled\", fillcolor=\"#ffffff\"];\n",
    );
    for (index, step) in plan.steps() {
        let shape = match &step.kind {
            StepKind::Task(_) => "box",
            StepKind::Workflow(_) => "component",
            StepKind::Approval(_) => "hexagon",
            StepKind::Timer(_) => "ellipse",
        };
        let coloured = state(index).map_or_else(String::new, |state| {
            let (fill, line) = colour(state);
            format!(", fillcolor=\"{fill}\", color=\"{line}\", tooltip=\"{}\"", state.as_str())
        });
        let label = for_dot(label(step));
        text.push_str(&format!("  s{index} [label=\"{label}\", shape={shape}{coloured}];\n"));
    }
    for (index, _) in plan.steps() {
        for before in plan.dependencies(index) {
            text.push_str(&format!("  s{before} -> s{index};\n"));
        }
    }
    text.push_str("}\n");
    text
}

fn label(step: &Step) -> &str {
    step.name.as_deref().unwrap_or(&step.id)
}

/// Fill and line of a state; dark text is readable on each.
const fn colour(state: StepState) -> (&'static str, &'static str) {
    match state {
        StepState::Pending => ("#f1f5f9", "#94a3b8"),
        StepState::Ready => ("#e0f2fe", "#0284c7"),
        StepState::Running => ("#bfdbfe", "#2563eb"),
        StepState::Waiting => ("#fef3c7", "#d97706"),
        StepState::Succeeded => ("#bbf7d0", "#16a34a"),
        StepState::Failed => ("#fecaca", "#dc2626"),
        StepState::Skipped => ("#e5e7eb", "#6b7280"),
        StepState::Cancelled => ("#e9d5ff", "#9333ea"),
    }
}

/// Marks of Mermaid's own are written by their numbers.
fn for_mermaid(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '"' | '#' | '<' | '>' | '&' | '`' | ';' | '{' | '}' | '[' | ']' | '|' | '\\' => {
                format!("#{};", c as u32)
            }
            other => other.to_string(),
        })
        .collect()
}

fn for_dot(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan::parse(
            "name: 'a \"b\"'
steps:
  - { id: build, name: 'Build \"it\" [now]' }
  - { id: agree, dependsOn: [build], approval: {} }
  - { id: rest, dependsOn: [agree], timer: 1s }
  - { id: sub, dependsOn: [rest, build], workflow: other }
",
        )
        .unwrap()
    }

    #[test]
    fn mermaid_shows_steps_arrows_and_states() {
        let state = |step: StepIndex| (step.0 == 0).then_some(StepState::Succeeded);
        assert_eq!(
            mermaid(&plan(), state),
            "flowchart TD
  s0[\"Build #34;it#34; #91;now#93;\"]
  s1{{\"agree\"}}
  s2([\"rest\"])
  s3[[\"sub\"]]
  s0 --> s1
  s1 --> s2
  s0 --> s3
  s2 --> s3
  classDef succeeded fill:#bbf7d0,stroke:#16a34a,color:#111111
  class s0 succeeded
"
        );
    }

    #[test]
    fn dot_shows_steps_arrows_and_states() {
        let text = dot(&plan(), |step| (step.0 == 1).then_some(StepState::Waiting));
        assert!(text.starts_with("digraph \"a \\\"b\\\"\" {\n"), "{text}");
        assert!(text.contains("s0 [label=\"Build \\\"it\\\" [now]\", shape=box];"), "{text}");
        assert!(
            text.contains("s1 [label=\"agree\", shape=hexagon, fillcolor=\"#fef3c7\""),
            "{text}"
        );
        assert_eq!(text.matches(" -> ").count(), 4);
        assert!(text.ends_with("}\n"));
    }
}
