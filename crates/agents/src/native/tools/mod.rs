//! The tools of the built-in agent. All that they touch is in the sandbox.

mod files;
mod shell;

use std::sync::Arc;

use godel_llm::translate::talk::Tool;
use godel_runtime::{RuntimeProvider, Sandbox, SandboxId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::SetOnce;

use crate::event::{Change, TODOS_MAX, Todo, TodoState, clip};
use crate::grant::{self, INPUT_MAX_BYTES};

/// The most bytes that a tool gives back to the model.
pub const RESULT_MAX_BYTES: usize = 32 * 1024;

/// What the model is offered, in an order that never changes.
pub const TOOLS: [Tool; 9] = [
    Tool {
        name: "read",
        description: "Read a text file of the workspace. Lines are numbered. Give offset and limit to \
            read a part of a long file.",
        schema: r#"{"type":"object","properties":{"path":{"type":"string","description":"relative to the workspace"},"offset":{"type":"integer","minimum":1,"description":"first line to read"},"limit":{"type":"integer","minimum":1,"description":"how many lines to read"}},"required":["path"]}"#,
    },
    Tool {
        name: "write",
        description: "Write a file of the workspace: a new one, or all of an existing one.",
        schema: r#"{"type":"object","properties":{"path":{"type":"string","description":"relative to the workspace"},"content":{"type":"string"}},"required":["path","content"]}"#,
    },
    Tool {
        name: "edit",
        description: "Replace text in a file of the workspace. The old text must be there exactly once, \
            unless all is true.",
        schema: r#"{"type":"object","properties":{"path":{"type":"string","description":"relative to the workspace"},"old":{"type":"string","description":"the text as it is, with its white space"},"new":{"type":"string"},"all":{"type":"boolean","description":"replace every occurrence"}},"required":["path","old","new"]}"#,
    },
    Tool {
        name: "search",
        description: "Search the files of the workspace for an extended regular expression. Files that \
            git ignores are left out.",
        schema: r#"{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string","description":"file or folder to search in"}},"required":["pattern"]}"#,
    },
    Tool {
        name: "shell",
        description: "Run a command with the shell in the workspace and wait for it. Nothing is kept \
            between commands but the files.",
        schema: r#"{"type":"object","properties":{"command":{"type":"string"},"seconds":{"type":"integer","minimum":1,"description":"how long it may take"}},"required":["command"]}"#,
    },
    Tool {
        name: "todo_write",
        description: "Write your list of things to do, whole. Keep it true while you work.",
        schema: r#"{"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"state":{"type":"string","enum":["pending","in_progress","completed"]}},"required":["text","state"]}}},"required":["todos"]}"#,
    },
    Tool {
        name: "ask",
        description: "Ask a person and wait for the answer. Use it only for what you cannot find out or \
            decide yourself.",
        schema: r#"{"type":"object","properties":{"question":{"type":"string"},"choices":{"type":"array","items":{"type":"string"}}},"required":["question"]}"#,
    },
    Tool {
        name: "message",
        description: "Write to another agent or to a person, without waiting for an answer.",
        schema: r#"{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"}},"required":["to","text"]}"#,
    },
    Tool {
        name: "done",
        description: "Say that your work is done. It must be committed, and all todos completed; that is \
            checked.",
        schema: r#"{"type":"object","properties":{"summary":{"type":"string","description":"what was done, for people"}},"required":["summary"]}"#,
    },
];

/// What the model wants to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wish {
    Read(Read),
    Write(Write),
    Edit(Edit),
    Search(Search),
    Shell(Shell),
    Todos(Vec<Todo>),
    Ask {
        question: String,
        choices: Vec<String>,
    },
    Message {
        to: String,
        text: String,
    },
    Done {
        summary: String,
    },
    /// What a permission of the role gives.
    Granted {
        tool: &'static str,
        input: serde_json::Value,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Read {
    pub(crate) path: String,
    pub(crate) offset: Option<usize>,
    pub(crate) limit: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Write {
    pub(crate) path: String,
    pub(crate) content: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Edit {
    pub(crate) path: String,
    pub(crate) old: String,
    pub(crate) new: String,
    #[serde(default)]
    pub(crate) all: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Search {
    pub(crate) pattern: String,
    pub(crate) path: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Shell {
    pub(crate) command: String,
    pub(crate) seconds: Option<u64>,
}

#[derive(Deserialize)]
struct Todos {
    todos: Vec<Thing>,
}

#[derive(Deserialize)]
struct Thing {
    text: String,
    state: TodoState,
}

#[derive(Deserialize)]
struct Ask {
    question: String,
    #[serde(default)]
    choices: Vec<String>,
}

#[derive(Deserialize)]
struct Message {
    to: String,
    text: String,
}

#[derive(Deserialize)]
struct Done {
    #[serde(default)]
    summary: String,
}

impl Wish {
    /// Reads a call; what is wrong with it is told to the model.
    pub(crate) fn read(name: &str, input: &str, tools: &[Tool]) -> Result<Self, String> {
        let granted = grant::named(name).map(|grant| grant.tool.name);
        let known = granted.is_some() || TOOLS.iter().any(|tool| tool.name == name);
        if known && !tools.iter().any(|tool| tool.name == name) {
            let names = names(tools);
            return Err(format!("your role does not let you use {name}; you have {names}"));
        }
        if let Some(tool) = granted {
            if input.len() > INPUT_MAX_BYTES {
                return Err(format!("the input has more than {INPUT_MAX_BYTES} bytes"));
            }
            return Ok(Self::Granted { tool, input: given(input)? });
        }
        Ok(match name {
            "read" => Self::Read(given(input)?),
            "write" => Self::Write(given(input)?),
            "edit" => Self::Edit(given(input)?),
            "search" => Self::Search(given(input)?),
            "shell" => Self::Shell(given(input)?),
            "todo_write" => {
                let Todos { todos } = given(input)?;
                if todos.len() > TODOS_MAX {
                    return Err(format!("there are more than {TODOS_MAX} todos"));
                }
                let todo = |thing: Thing| Todo { text: clip(&thing.text, 512), state: thing.state };
                Self::Todos(todos.into_iter().map(todo).collect())
            }
            "ask" => {
                let Ask { question, choices } = given(input)?;
                Self::Ask { question, choices }
            }
            "message" => {
                let Message { to, text } = given(input)?;
                Self::Message { to, text }
            }
            "done" => {
                let Done { summary } = given(input)?;
                Self::Done { summary }
            }
            other => {
                return Err(format!(
                    "there is no tool {}; there are {}",
                    clip(other, 100),
                    names(tools)
                ));
            }
        })
    }

    /// Tells whether it only looks, so that it may be done together with others.
    pub(crate) const fn only_looks(&self) -> bool {
        matches!(self, Self::Read(_) | Self::Search(_))
    }
}

fn names(tools: &[Tool]) -> String {
    tools.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
}

fn given<T: DeserializeOwned>(input: &str) -> Result<T, String> {
    let input = if input.trim().is_empty() { "{}" } else { input };
    serde_json::from_str(input).map_err(|error| format!("the input does not fit the tool: {error}"))
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Upshot {
    pub(crate) text: String,
    pub(crate) failed: bool,
    pub(crate) file: Option<(String, Change)>,
}

impl Upshot {
    pub(crate) fn well(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: false, file: None }
    }

    pub(crate) fn badly(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: true, file: None }
    }
}

/// The sandbox in which the tools work.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) runtime: Arc<dyn RuntimeProvider>,
    pub(crate) sandbox: SandboxId,
    /// Holds the sandbox once it is there.
    pub(crate) ready: Arc<SetOnce<Sandbox>>,
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("sandbox", &self.sandbox).finish_non_exhaustive()
    }
}

impl Bench {
    /// Does what concerns the workspace; the rest is nothing that is done here.
    pub(crate) async fn run(&self, wish: &Wish) -> Upshot {
        let done = match wish {
            Wish::Read(wish) => self.read(wish).await,
            Wish::Write(wish) => self.write(wish).await,
            Wish::Edit(wish) => self.edit(wish).await,
            Wish::Search(wish) => self.search(wish).await,
            Wish::Shell(wish) => self.shell(wish).await,
            Wish::Todos(_)
            | Wish::Ask { .. }
            | Wish::Message { .. }
            | Wish::Done { .. }
            | Wish::Granted { .. } => Ok(Upshot::well("")),
        };
        let mut done = done.unwrap_or_else(Upshot::badly);
        done.text = clip(&done.text, RESULT_MAX_BYTES);
        done
    }
}
