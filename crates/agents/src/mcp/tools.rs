//! The verbs of Godel as tools: what a client is shown, and how a call becomes a verb.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::client::{Godel, GrantedTool};
use super::verbs::{self, Told};
use crate::event::{Todo, TodoState, clip};
use crate::grant::{self, INPUT_MAX_BYTES};

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Call {
    Bead,
    TodoWrite(Vec<Todo>),
    MailSend {
        to: String,
        text: String,
    },
    MailRead,
    AskHuman {
        question: String,
        choices: Vec<String>,
    },
    Done {
        summary: String,
    },
    /// What a permission of the role gives.
    Granted {
        tool: &'static str,
        input: Value,
    },
}

#[derive(Deserialize)]
struct Todos {
    todos: Vec<Thing>,
}

/// Models know such lists by several names.
#[derive(Deserialize)]
struct Thing {
    #[serde(alias = "content")]
    text: String,
    #[serde(alias = "status")]
    state: TodoState,
}

#[derive(Deserialize)]
struct MailSend {
    to: String,
    text: String,
}

#[derive(Deserialize)]
struct AskHuman {
    question: String,
    #[serde(default)]
    choices: Vec<String>,
}

#[derive(Deserialize)]
struct Done {
    summary: String,
}

impl Call {
    /// Reads a call; says what is wrong with it otherwise, or nothing if there is no such tool.
    pub(super) fn read(name: &str, input: &Value) -> Option<Result<Self, String>> {
        Some(match name {
            "bead" => Ok(Self::Bead),
            "todo_write" => given(input).map(|Todos { todos }| {
                let todo = |thing: Thing| Todo { text: thing.text, state: thing.state };
                Self::TodoWrite(todos.into_iter().map(todo).collect())
            }),
            "mail_send" => given(input).map(|MailSend { to, text }| Self::MailSend { to, text }),
            "mail_read" => Ok(Self::MailRead),
            "ask_human" => given(input)
                .map(|AskHuman { question, choices }| Self::AskHuman { question, choices }),
            "done" => given(input).map(|Done { summary }| Self::Done { summary }),
            name => {
                let tool = grant::named(name)?.tool.name;
                let size = input.to_string().len();
                if size > INPUT_MAX_BYTES {
                    return Some(Err(format!(
                        "the arguments have more than {INPUT_MAX_BYTES} bytes"
                    )));
                }
                Ok(Self::Granted { tool, input: input.clone() })
            }
        })
    }

    /// Does it.
    pub(super) async fn perform(self, godel: &Godel) -> Told {
        match self {
            Self::Bead => verbs::bead(godel).await,
            Self::TodoWrite(todos) => verbs::todo_write(godel, &todos).await,
            Self::MailSend { to, text } => verbs::mail_send(godel, &to, &text).await,
            Self::MailRead => verbs::mail_read(godel).await,
            Self::AskHuman { question, choices } => {
                verbs::ask_human(godel, &question, &choices).await
            }
            Self::Done { summary } => verbs::done(godel, &summary).await,
            Self::Granted { tool, input } => verbs::granted(godel, tool, &input).await,
        }
    }
}

fn given<T: DeserializeOwned>(input: &Value) -> Result<T, String> {
    let input = if input.is_null() { &json!({}) } else { input };
    T::deserialize(input).map_err(|error| clip(&format!("the arguments are wrong: {error}"), 1024))
}

/// Lists the tools: those of every agent, and those that its role gives it.
pub(super) fn list(granted: &[GrantedTool]) -> Value {
    let mut all = own();
    all.extend(granted.iter().map(|tool| json!(tool)));
    json!({ "tools": all })
}

fn own() -> Vec<Value> {
    let text = json!({ "type": "string" });
    let tool = |name: &str, description: &str, properties: Value, required: &[&str]| {
        let schema = json!({ "type": "object", "properties": properties, "required": required });
        json!({ "name": name, "description": description, "inputSchema": schema })
    };
    let state = json!({ "type": "string", "enum": ["pending", "in_progress", "completed"] });
    let todo = json!({
        "type": "object",
        "properties": { "text": text, "state": state },
        "required": ["text", "state"],
    });
    vec![
        tool(
            "bead",
            "Show who you are, the bead that you work on, your task and your todos.",
            json!({}),
            &[],
        ),
        tool(
            "todo_write",
            "Write your list of things to do, whole. People watch it; keep it true while you work.",
            json!({ "todos": { "type": "array", "items": todo } }),
            &["todos"],
        ),
        tool(
            "mail_send",
            "Write to another agent or to a person, without waiting for an answer.",
            json!({ "to": text, "text": text }),
            &["to", "text"],
        ),
        tool("mail_read", "Read the messages that wait for you.", json!({}), &[]),
        tool(
            "ask_human",
            "Ask a person and wait for the answer. Use it only for what you cannot find out or decide \
             yourself.",
            json!({ "question": text, "choices": { "type": "array", "items": text } }),
            &["question"],
        ),
        tool(
            "done",
            "Say that your work is done. It must be committed and all todos completed; that is checked, \
             and you are told what is missing.",
            json!({ "summary": { "type": "string", "description": "what was done, for people" } }),
            &["summary"],
        ),
    ]
}
