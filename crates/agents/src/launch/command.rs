//! Any program.

use super::{Launch, Plan};

/// Starts a program; `{prompt}`, `{model}`, `{base_url}`, `{folder}` and `{home}` in its arguments are
/// filled in. A program whose arguments have no place for the prompt gets it over its input.
pub(super) fn launch(plan: &Plan, prompt: &str) -> Launch {
    let mut line = plan.program.iter().map(|part| fill(plan, part, prompt));
    let launch = Launch { program: line.next().unwrap_or_default(), ..Launch::default() };
    let launch = Launch { args: line.collect(), ..launch };
    let named = plan.program.iter().any(|part| part.contains("{prompt}"));
    environment(plan, launch).with_input(if named { "" } else { prompt })
}

/// Adds what programs that can be pointed at a provider look for.
pub(super) fn environment(plan: &Plan, mut launch: Launch) -> Launch {
    launch.token_env.extend([
        "OPENAI_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
    ]);
    let versioned = format!("{}/v1", plan.base());
    launch.with_env([
        ("OPENAI_BASE_URL", &versioned),
        ("OPENAI_API_BASE", &versioned),
        ("ANTHROPIC_BASE_URL", plan.base()),
        ("GOOGLE_GEMINI_BASE_URL", plan.base()),
        ("GODEL_MODEL", &plan.model),
    ])
}

/// Fills in the placeholders in one go, so that nothing in the prompt is taken for one.
fn fill(plan: &Plan, part: &str, prompt: &str) -> String {
    let known = [
        ("{prompt}", prompt),
        ("{model}", plan.model.as_str()),
        ("{base_url}", plan.base()),
        ("{folder}", plan.folder.as_str()),
        ("{home}", plan.home.as_str()),
    ];
    let mut filled = String::new();
    let mut rest = part;
    while let Some(at) = rest.find('{') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let found = known.iter().find(|(name, _)| rest.starts_with(name));
        let (text, used) = found.map_or(("{", 1), |(name, value)| (value, name.len()));
        filled.push_str(text);
        rest = &rest[used..];
    }
    filled.push_str(rest);
    filled
}
