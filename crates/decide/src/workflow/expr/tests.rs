//! What conditions and templates mean, and that none of them can take for ever.

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Scope, StepView, check_condition, check_template, holds, render};

struct World {
    inputs: Arc<Map<String, Value>>,
    steps: HashMap<&'static str, Value>,
}

impl Scope for World {
    fn inputs(&self) -> &Arc<Map<String, Value>> {
        &self.inputs
    }

    fn step(&self, id: &str) -> Option<StepView<'_>> {
        let output = self.steps.get(id)?;
        let output_bytes = output.to_string().len();
        Some(StepView { state: "succeeded", output, output_bytes, error: None })
    }

    fn run(&self) -> Value {
        json!({ "id": "r1" })
    }

    fn input_bytes(&self) -> usize {
        Value::Object(self.inputs.as_ref().clone()).to_string().len()
    }
}

fn world(inputs: Value, steps: &[(&'static str, Value)]) -> World {
    let Value::Object(inputs) = inputs else { panic!("inputs are a mapping") };
    World { inputs: Arc::new(inputs), steps: steps.iter().cloned().collect() }
}

fn usual() -> World {
    world(
        json!({"name": "ann", "n": 3, "big": 18_446_744_073_709_551_615_u64, "list": ["a", "b"], "none": null}),
        &[("build", json!({"path": "/tmp/x", "files": [1, 2, 3]})), ("build-all", json!(7))],
    )
}

#[test]
fn a_template_gives_a_text_or_the_value_itself() {
    for (template, expected) in [
        (json!("hello {{ inputs.name }}"), json!("hello ann")),
        (json!("{{ inputs.n }}"), json!(3)),
        (json!("{{ inputs.n + 1 }}"), json!(4)),
        (json!("{{ inputs.big }}"), json!(18_446_744_073_709_551_615_u64)),
        (json!(" {{ inputs.list }} "), json!(["a", "b"])),
        (json!("{{ inputs.none }}"), json!(null)),
        (json!("{{ steps.build.output.path }}/bin"), json!("/tmp/x/bin")),
        (json!("{{ steps.build.output }}"), json!({"path": "/tmp/x", "files": [1, 2, 3]})),
        (json!("{{ steps[\"build-all\"].output }}"), json!(7)),
        (json!("{{ steps.build.state }}"), json!("succeeded")),
        (json!("{{ run.id }}"), json!("r1")),
        (json!("{{ inputs.list|join('+') }}"), json!("a+b")),
        (json!("{{ inputs.absent|default('x') }}"), json!("x")),
        (json!("{% for x in inputs.list %}<{{ x|upper }}>{% endfor %}"), json!("<A><B>")),
        (
            json!({"a": ["{{ inputs.n }}", 1, true], "b": "plain"}),
            json!({"a": [3, 1, true], "b": "plain"}),
        ),
        (json!("{{ inputs.name }}{{ inputs.n }}"), json!("ann3")),
        (json!("<b>{{ '<&>' }}</b>"), json!("<b><&></b>")),
        (json!("{{ steps.build.output.files[1] }}"), json!(2)),
        (json!("{{ steps.build.output|json }}"), json!("{\"files\":[1,2,3],\"path\":\"/tmp/x\"}")),
    ] {
        assert_eq!(render(&template, &usual()), Ok(expected), "{template}");
    }
}

#[test]
fn what_has_no_value_is_an_error_and_not_an_empty_text() {
    for template in [
        "{{ inputs.absent }}",
        "x{{ inputs.absent }}",
        "{{ steps.build.output.absent }}",
        "{{ steps.build.output.absent + 1 }}",
        "{{ steps.nobody.output }}",
        "{% if inputs.absent %}x{% endif %}",
    ] {
        assert!(render(&json!(template), &usual()).is_err(), "{template}");
    }
}

#[test]
fn a_condition_is_true_or_false_or_an_error() {
    for (text, expected) in [
        ("inputs.n > 2 && inputs.name == 'ann'", true),
        ("steps.build.output.files.exists(f, f == 3)", true),
        ("steps['build-all'].output >= 8", false),
        ("has(steps.build.output.absent)", false),
        ("steps.build.state == 'succeeded'", true),
        ("inputs.n + 1 == 4 && inputs.n % 2 == 1 && double(inputs.n) > 2.5", true),
        ("steps.build.output.files.map(f, f * 2)[2] == 6", true),
        ("inputs.none == null", true),
        ("inputs == inputs && inputs.list.size() == 2", true),
        ("size(inputs.list) == 2 && 'a' in inputs.list", true),
        ("inputs.name.startsWith('a') ? true : false", true),
    ] {
        assert_eq!(check_condition(text), Ok(()), "{text}");
        assert_eq!(holds(text, &usual()), Ok(expected), "{text}");
    }
    for text in
        ["inputs.n", "inputs.absent", "inputs.n + 'x' == ''", "steps.build.output.absent == 1"]
    {
        assert!(holds(text, &usual()).is_err(), "{text}");
    }
    for text in ["", "1 +", "name == 1", "nothing(1)[", &"(".repeat(1_500)] {
        assert!(check_condition(text).is_err(), "{text}");
    }
    let chain = |part: &str, times| vec![part; times].join("");
    for (text, fits) in [
        (chain("(", 20) + "true" + &chain(")", 20), true),
        (chain("(", 900) + "true" + &chain(")", 900), true),
        (chain("1+", 20) + "1 > 0", true),
        (chain("1+", 900) + "1 > 0", false),
        (chain("[", 900) + &chain("]", 900), false),
        (chain("true && ", 200) + "true", true),
        (chain("true ? true : ", 100) + "true", false),
        ("inputs".to_owned() + &chain(".a", 900), false),
    ] {
        assert_eq!(check_condition(&text).is_ok(), fits, "{text}");
        if fits {
            assert_eq!(holds(&text, &usual()), Ok(true), "{text}");
        }
    }
}

#[test]
fn what_would_take_for_ever_is_refused_or_stopped() {
    let many: Vec<u32> = (0..20_000).collect();
    let long = "x".repeat(200_000);
    let world = world(json!({}), &[("many", json!(many)), ("long", json!(long))]);
    for text in [
        "steps.many.output.map(a, steps.many.output.map(b, a + b)).size() > 0",
        "steps.many.output.all(a, steps.many.output.all(b, steps.many.output.all(c, true)))",
        "steps.many.output.map(a, steps.long.output + steps.long.output).size() > 0",
    ] {
        assert!(holds(text, &world).is_err(), "{text}");
    }
    assert_eq!(holds("steps.many.output.all(a, a >= 0)", &world), Ok(true));
    let loops =
        "{% for a in steps.many.output %}{% for b in steps.many.output %}{% endfor %}{% endfor %}";
    let lists = format!("{{{{ [{}] }}}}", vec!["steps.long.output"; 25].join(","));
    let doubled =
        "{% for a in steps.many.output %}{{ steps.long.output ~ steps.long.output }}{% endfor %}";
    for text in [loops, &lists, doubled] {
        assert_eq!(check_template(text), Ok(()), "{text}");
        assert!(render(&json!(text), &world).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_them_panic(text in "[a-z{}%#|.()\\[\\]\"'*+~ <>=!0-9-]{0,60}") {
        let _ = check_condition(&text);
        let template = format!("{{{{ {text} }}}} {{% {text} %}}");
        let _ = check_template(&template);
        let _ = render(&Value::String(format!("{{{{ {text} }}}}")), &usual());
        let _ = holds(&text, &usual());
    }

    #[test]
    fn what_is_given_back_as_a_whole_is_what_was_given(text in ".{0,40}", number in any::<i64>()) {
        let world = world(json!({"text": text, "number": number}), &[]);
        prop_assert_eq!(render(&json!("{{ inputs.text }}"), &world), Ok(json!(text)));
        prop_assert_eq!(render(&json!("{{ inputs.number }}"), &world), Ok(json!(number)));
        prop_assert_eq!(render(&json!("{{ inputs['text'] ~ '' }}"), &world), Ok(json!(text)));
        let filled = render(&json!("<{{ inputs.text }}>"), &world);
        prop_assert_eq!(filled, Ok(json!(format!("<{text}>"))));
    }
}
