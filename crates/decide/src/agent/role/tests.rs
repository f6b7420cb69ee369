//! How roles are read, and what agents are told.

use proptest::prelude::*;

use super::*;

const WHOLE: &str = "\
name: painter
description: paints
prompt: |
  Paint {title} ({bead}):
  {task}
  Answer as {\"colour\": {\"name\": \"..\"}}. {rules}
tools: [read, 'mcp__*']
permissions:
  - bead:read:team
model: small
harness: claude
sandbox: workspace+net
maxTurns: 30
";

fn problems(text: &str) -> Vec<String> {
    let problems = Role::read(text).expect_err(text);
    problems.iter().map(|one| format!("{} {}", one.at, one.code.code())).collect()
}

#[test]
fn a_role_is_read_with_all_its_fields() {
    let role = Role::read(WHOLE).unwrap();
    assert_eq!((role.name.as_str(), role.description.as_str()), ("painter", "paints"));
    assert_eq!((role.model.as_deref(), role.harness.as_deref()), (Some("small"), Some("claude")));
    assert_eq!((role.sandbox.as_deref(), role.max_turns), (Some("workspace+net"), Some(30)));
    assert_eq!(role.permissions[0].to_string(), "bead:read:team");
    assert!(role.allows("read") && role.allows("mcp__x") && !role.allows("write"));
    let fill = Fill { task: "the {rules} wall", bead: "b-1", title: "It", rules: "No red." };
    let wanted =
        "Paint It (b-1):\nthe {rules} wall\nAnswer as {\"colour\": {\"name\": \"..\"}}. No red.\n";
    assert_eq!(role.render(&fill), wanted);
    let small = Role::read("{\"name\": \"x\", \"prompt\": \"{task}\", \"max_turns\": 2}").unwrap();
    assert_eq!((small.max_turns, small.allows("anything")), (Some(2), true));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, wanted) in [
        ("name: x\n", vec!["1:1 missing_field"]),
        ("prompt: '{task}'\n", vec!["1:1 missing_field"]),
        ("name: X y\nprompt: '{task}'\n", vec!["1:7 invalid_name"]),
        ("name: worker\nprompt: '{task}'\n", vec!["1:7 invalid_name"]),
        ("name: x\nprompt: '{task} {tsak}'\n", vec!["2:9 unknown_reference"]),
        ("name: x\nprompt: 'do it'\n", vec!["2:9 missing_field"]),
        ("name: x\nprompt: [a]\n", vec!["2:9 invalid_value"]),
        ("name: x\nprompt: '{task}'\ntool: [a]\n", vec!["3:1 unknown_field"]),
        ("name: x\nprompt: '{task}'\ntools:\n  - 'a b'\n", vec!["4:5 invalid_name"]),
        ("name: x\nprompt: '{task}'\npermissions: [all]\n", vec!["3:15 invalid_value"]),
        ("name: x\nprompt: '{task}'\nharness: emacs\n", vec!["3:10 invalid_value"]),
        ("name: x\nprompt: '{task}'\nsandbox: big\n", vec!["3:10 invalid_value"]),
        ("name: x\nprompt: '{task}'\nmaxTurns: 0\n", vec!["3:11 invalid_value"]),
        ("name: x\nname: y\nprompt: '{task}'\n", vec!["2:1 duplicate_field"]),
        ("[]", vec!["1:1 invalid_value"]),
        ("name: [", vec!["2:1 syntax"]),
    ] {
        assert_eq!(problems(text), wanted, "{text}");
    }
    let near = Role::read("name: x\nprompt: '{task} {tsak}'\n").unwrap_err().to_string();
    assert!(near.contains("is {task} meant?"), "{near}");
    let long = format!("name: x\nprompt: '{{task}}{}'\n", "x".repeat(PROMPT_MAX_BYTES));
    assert_eq!(problems(&long), ["2:9 too_large"]);
    let many = vec!["a"; TOOLS_MAX + 1].join(", ");
    let many = problems(&format!("name: x\nprompt: '{{task}}'\ntools: [{many}]\n"));
    assert_eq!(many.len(), 1);
}

#[test]
fn the_built_in_roles_keep_to_the_rules_of_all() {
    for name in BUILT_IN {
        let role = Role::built_in(name).unwrap();
        let text = serde_json::json!({
            "name": "other", "description": role.description, "prompt": role.prompt, "tools": role.tools,
            "permissions": role.permissions, "sandbox": role.sandbox,
        });
        let read = Role::read(&text.to_string()).unwrap();
        assert_eq!(Role { name: role.name.clone(), ..read }, role);
        let fill = Fill { task: "<task>", rules: "<rules>", ..Fill::default() };
        let told = role.render(&fill);
        assert!(told.contains("<task>") && told.contains("<rules>"), "{told}");
        let writes = matches!(name, "worker" | "refinery");
        assert_eq!(role.allows("write"), writes, "{name}");
        assert_eq!(role.sandbox.as_deref() == Some("workspace"), writes, "{name}");
    }
    assert_eq!(Role::built_in("painter"), None);
    assert_eq!(Role::built_in("coordinator").unwrap().permissions.len(), 3);
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in prop_oneof![
        ".{0,200}",
        "((name|prompt|tools|model|maxTurns): ([a-z{}*&\\[\\]'\"-]{0,12}|[0-9]{1,9})\n){0,6}",
    ]) {
        if let Err(problems) = Role::read(&text) {
            prop_assert!(problems.iter().len() > 0);
        }
    }

    #[test]
    fn a_prompt_is_the_sum_of_its_parts(prompt in "([a-z{}_ ä\"]|\\{task\\}|\\{x\\}){0,40}") {
        let whole: String = parts(&prompt)
            .iter()
            .map(|part| match part {
                Part::Text(text) => (*text).to_owned(),
                Part::Named(name) => format!("{{{name}}}"),
            })
            .collect();
        prop_assert_eq!(whole, prompt);
    }

    #[test]
    fn what_is_filled_in_is_told_as_it_is(task in ".{0,40}", rules in "(\\{task\\}|.){0,20}") {
        let role = Role::read("name: x\nprompt: '<{task}|{rules}>'\n").unwrap();
        let told = role.render(&Fill { task: &task, rules: &rules, ..Fill::default() });
        prop_assert_eq!(told, format!("<{task}|{rules}>"));
    }
}

#[test]
fn a_prompt_without_a_place_for_the_title_says_so() {
    let names = |name| Role::built_in(name).unwrap().names("title");
    assert!(names("worker") && names("reviewer") && !names("coordinator") && !names("monitor"));
}
