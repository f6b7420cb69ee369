//! What an agent can do with Godel, as text that it can read: for its tools and for a command line.

use serde_json::Value;

use super::client::{Godel, Myself, QuestionState, Refusal};
use crate::event::{CHOICES_MAX, TEXT_MAX_BYTES, TODOS_MAX, Todo, TodoState, clip};
use crate::grant;

/// The longest address of a message.
const TO_MAX_BYTES: usize = 512;
/// The longest thing to do, and the longest choice.
const SHORT_MAX_BYTES: usize = 512;

/// What came of a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// What the agent reads.
    pub text: String,
    /// Whether it must go on in another way.
    pub failed: bool,
}

impl Told {
    fn well(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: false }
    }

    fn badly(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: true }
    }
}

impl From<Refusal> for Told {
    fn from(refusal: Refusal) -> Self {
        Self::badly(refusal.to_string())
    }
}

/// Shows who I am, my bead, my task and my todos.
pub async fn bead(godel: &Godel) -> Told {
    godel.myself().await.map_or_else(Told::from, |me| Told::well(shown(&me)))
}

/// Writes the list of things to do, whole.
pub async fn todo_write(godel: &Godel, todos: &[Todo]) -> Told {
    if todos.len() > TODOS_MAX {
        return Told::badly(format!("there are more than {TODOS_MAX} todos; keep fewer"));
    }
    let short = |todo: &Todo| Todo { text: clip(&todo.text, SHORT_MAX_BYTES), state: todo.state };
    let todos: Vec<Todo> = todos.iter().map(short).collect();
    let open = todos.iter().filter(|todo| todo.state != TodoState::Completed).count();
    let written = godel.write_todos(&todos).await;
    written.map_or_else(Told::from, |()| {
        Told::well(format!("{} todos are noted, {open} of them open", todos.len()))
    })
}

/// Writes to another agent or to a person.
pub async fn mail_send(godel: &Godel, to: &str, text: &str) -> Told {
    if let Some(told) = unfit("the address", to, TO_MAX_BYTES).or_else(|| unfit_text(text)) {
        return told;
    }
    let sent = godel.send_mail(to, text).await;
    sent.map_or_else(Told::from, |id| Told::well(format!("sent as {}", clip(&id, SHORT_MAX_BYTES))))
}

/// Shows the messages that wait; they count as read then.
pub async fn mail_read(godel: &Godel) -> Told {
    let mail = match godel.read_mail().await {
        Ok(mail) => mail,
        Err(refusal) => return refusal.into(),
    };
    if mail.is_empty() {
        return Told::well("no new messages");
    }
    let letters: Vec<String> = mail
        .iter()
        .map(|one| {
            let from = clip(&one.from, SHORT_MAX_BYTES);
            format!(
                "From {from} at {}:\n{}",
                clip(&one.sent_at, 64),
                clip(&one.text, TEXT_MAX_BYTES)
            )
        })
        .collect();
    Told::well(letters.join("\n\n"))
}

/// Asks a person and waits until somebody answers, or says that the agent shall decide.
pub async fn ask_human(godel: &Godel, text: &str, choices: &[String]) -> Told {
    if let Some(told) = unfit_text(text) {
        return told;
    }
    if choices.len() > CHOICES_MAX {
        return Told::badly(format!("there are more than {CHOICES_MAX} choices; offer fewer"));
    }
    let choices: Vec<String> = choices.iter().map(|one| clip(one, SHORT_MAX_BYTES)).collect();
    let question = match godel.question(text, &choices).await {
        Ok(question) => question,
        Err(refusal) => return refusal.into(),
    };
    match (question.state, question.answer) {
        (QuestionState::Answered, Some(answer)) => Told::well(clip(&answer, TEXT_MAX_BYTES)),
        (_, answer) => {
            let why = answer.map(|text| format!(" ({})", clip(&text, TEXT_MAX_BYTES)));
            Told::badly(format!(
                "nobody answers{}; decide yourself, and say what you decided",
                why.unwrap_or_default()
            ))
        }
    }
}

/// Says that the work is done; tells what is missing if it is not.
pub async fn done(godel: &Godel, summary: &str) -> Told {
    if let Some(told) = unfit_text(summary) {
        return told;
    }
    let verdict = match godel.done(summary).await {
        Ok(verdict) => verdict,
        Err(refusal) => return refusal.into(),
    };
    if verdict.accepted {
        return Told::well("The work is accepted. Stop here.");
    }
    let missing =
        verdict.missing.iter().take(50).map(|one| format!("- {}", clip(one, TEXT_MAX_BYTES)));
    let missing: Vec<String> = missing.collect();
    let text = format!("The work is not done yet. This is missing:\n{}", missing.join("\n"));
    Told::badly(clip(&text, 2 * TEXT_MAX_BYTES))
}

/// Uses a tool that the permissions of the role give.
pub async fn granted(godel: &Godel, tool: &str, input: &Value) -> Told {
    let Some(grant) = grant::named(tool) else {
        return Told::badly(format!("there is no tool {}", clip(tool, SHORT_MAX_BYTES)));
    };
    let used = godel.use_tool(grant.tool.name, input).await;
    used.map_or_else(Told::from, |text| Told::well(clip(&text, 4 * TEXT_MAX_BYTES)))
}

/// Shows the tools that the permissions of the role give.
pub async fn tools(godel: &Godel) -> Told {
    let tools = match godel.tools().await {
        Ok(tools) => tools,
        Err(refusal) => return refusal.into(),
    };
    if tools.is_empty() {
        return Told::well("your role gives you no more tools");
    }
    let lines = tools
        .iter()
        .map(|tool| format!("{}: {}\n  {}", tool.name, tool.description, tool.input_schema));
    Told::well(clip(&lines.collect::<Vec<_>>().join("\n"), 4 * TEXT_MAX_BYTES))
}

fn unfit(what: &str, text: &str, max_bytes: usize) -> Option<Told> {
    if text.trim().is_empty() {
        return Some(Told::badly(format!("{what} is empty")));
    }
    let long = text.len() > max_bytes;
    long.then(|| {
        Told::badly(format!("{what} has {} bytes, and {max_bytes} are allowed", text.len()))
    })
}

fn unfit_text(text: &str) -> Option<Told> {
    unfit("the text", text, TEXT_MAX_BYTES)
}

fn shown(me: &Myself) -> String {
    let agent = &me.agent;
    let mut text = format!("You are {}, {} ({}).\n", agent.name, agent.role, agent.state);
    if let Some(bead) = &me.bead {
        text.push_str(&format!("\nBead {} ({}): {}\n", bead.id, bead.status, bead.title));
        if !bead.description.trim().is_empty() {
            text.push_str(&format!("\n{}\n", bead.description.trim()));
        }
    }
    if !me.task.trim().is_empty() {
        text.push_str(&format!("\nTask:\n{}\n", me.task.trim()));
    }
    if !me.todos.is_empty() {
        text.push_str("\nTodos:\n");
    }
    for todo in &me.todos {
        let mark = match todo.state {
            TodoState::Pending => ' ',
            TodoState::InProgress => '>',
            TodoState::Completed => 'x',
        };
        text.push_str(&format!("[{mark}] {}\n", todo.text));
    }
    if me.unread > 0 {
        text.push_str(&format!("\n{} unread messages wait for you.\n", me.unread));
    }
    clip(&text, 4 * TEXT_MAX_BYTES)
}
