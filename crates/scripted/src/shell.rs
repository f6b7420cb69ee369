//! Finding the tool that runs commands, whatever a client calls it.

use serde_json::{Value, json};

use crate::ask::{Tool, ToolKind};
use crate::schema::example;

/// What the known clients call it, the most particular first.
const NAMES: [&str; 9] = [
    "exec_command",
    "run_shell_command",
    "shell_command",
    "local_shell",
    "bash",
    "shell",
    "exec",
    "execute_command",
    "terminal",
];
/// The fields that such a tool takes its command in.
const FIELDS: [&str; 4] = ["command", "cmd", "script", "input"];

/// Chooses the shell among the tools that are offered.
pub(crate) fn choose(tools: &[Tool]) -> Option<&Tool> {
    let named = |name: &&str| tools.iter().find(|tool| tool.name.eq_ignore_ascii_case(name));
    NAMES.iter().find_map(named).or_else(|| {
        tools.iter().find(|tool| FIELDS[..2].iter().any(|name| takes(&tool.schema, name)))
    })
}

/// Writes the input that makes the tool run a command.
pub(crate) fn input(tool: &Tool, command: &str) -> Value {
    match tool.kind {
        ToolKind::LocalShell => json!({
            "type": "exec", "command": ["bash", "-lc", command], "env": {}, "timeout_ms": 60_000,
        }),
        // A JavaScript cell in which the other tools are functions.
        ToolKind::Custom => {
            let argument = json!({ "cmd": command });
            json!(format!("const r = await tools.exec_command({argument}); text(r.output);"))
        }
        ToolKind::Function => function_input(&tool.schema, command),
    }
}

fn function_input(schema: &Value, command: &str) -> Value {
    let field = FIELDS.iter().find(|name| takes(schema, name)).unwrap_or(&FIELDS[0]);
    let is_list = schema["properties"][*field]["type"]
        .as_str()
        .is_some_and(|kind| kind.eq_ignore_ascii_case("array"));
    let mut input = json!({});
    // A field that is not required may mean more than we know, such as another folder.
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        input[name] = example(&schema["properties"][name], "run a command");
    }
    input[*field] = if is_list { json!(["bash", "-lc", command]) } else { json!(command) };
    input
}

fn takes(schema: &Value, field: &str) -> bool {
    schema["properties"].get(field).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, kind: ToolKind, schema: Value) -> Tool {
        Tool { name: name.to_owned(), namespace: None, kind, schema }
    }

    fn function(name: &str, schema: Value) -> Tool {
        tool(name, ToolKind::Function, schema)
    }

    #[test]
    fn every_known_client_gets_its_shell() {
        let string = json!({"type": "string"});
        let plain = |field: &str| json!({"properties": {field: string}, "required": [field]});
        for (name, schema, expected) in [
            ("Bash", plain("command"), json!({"command": "ls"})),
            ("exec_command", plain("cmd"), json!({"cmd": "ls"})),
            (
                "shell",
                json!({"properties": {"command": {"type": "array"}, "workdir": string}}),
                json!({"command": ["bash", "-lc", "ls"]}),
            ),
            (
                "run_shell_command",
                json!({"properties": {"command": string, "description": string},
                       "required": ["command", "description"]}),
                json!({"command": "ls", "description": "run a command"}),
            ),
            ("odd_name", plain("command"), json!({"command": "ls"})),
        ] {
            let tools = [function("read", plain("path")), function(name, schema)];
            let chosen = choose(&tools).unwrap();
            assert_eq!((chosen.name.as_str(), input(chosen, "ls")), (name, expected));
        }
    }

    #[test]
    fn a_cell_of_code_calls_the_shell_inside() {
        let cell = tool("exec", ToolKind::Custom, Value::Null);
        let code = input(&cell, "echo \"x\"");
        assert!(code.as_str().unwrap().contains(r#"tools.exec_command({"cmd":"echo \"x\""})"#));
        let local = tool("local_shell", ToolKind::LocalShell, Value::Null);
        assert_eq!(input(&local, "ls")["command"][2], "ls");
        assert!(choose(&[function("read", json!({"properties": {"path": {}}}))]).is_none());
    }
}
