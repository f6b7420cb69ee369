//! `godel mcp` and `godel self`: how an agent speaks to Godel about itself.

use std::io::{Read as _, Write as _};

use godel_agents::mcp::{self, Godel, verbs};
use godel_agents::{Todo, TodoState};
use godel_args::own::{Own, Verb};
use godel_console::output::Output;
use godel_console::{Error, Exit, Result};
use godel_model::{Invalid, code};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// How much may wait between this process and the tools.
const PIPE_BYTES: usize = 64 * 1024;
const CHUNK_BYTES: usize = 16 * 1024;

/// Does what an agent asked for.
pub(crate) async fn run(output: Output, asked: Own) -> Result<Exit> {
    godel_tls::install();
    let godel = Godel::from_env(reqwest::Client::new()).map_err(|refusal| {
        Invalid::new(code::INVALID_CONFIG, refusal.to_string())
            .with_hint("only agents that Godel runs can use this: godel agent spawn")
    })?;
    let told = match asked {
        Own::Mcp => {
            let done = Box::pin(serve(godel)).await;
            done.map_err(|cause| Error::file("standard input", "served", cause))?;
            return Ok(Exit::Done);
        }
        Own::Verb(Verb::Bead) => verbs::bead(&godel).await,
        Own::Verb(Verb::Todo { things }) => {
            let todos: Vec<Todo> = things.iter().map(|text| todo(text)).collect();
            verbs::todo_write(&godel, &todos).await
        }
        Own::Verb(Verb::Mail) => verbs::mail_read(&godel).await,
        Own::Verb(Verb::Send { to, text }) => verbs::mail_send(&godel, &to, &text).await,
        Own::Verb(Verb::Ask { question, choices }) => {
            verbs::ask_human(&godel, &question, &choices).await
        }
        Own::Verb(Verb::Tools) => verbs::tools(&godel).await,
        Own::Verb(Verb::Use { tool, input }) => {
            let input = serde_json::from_str(&input).map_err(|error| {
                Invalid::new(code::INVALID_JSON, format!("the input is not JSON: {error}"))
                    .with_hint("godel self tools shows what each tool wants")
            })?;
            verbs::granted(&godel, &tool, &input).await
        }
        Own::Verb(Verb::Done { summary }) => verbs::done(&godel, &summary).await,
    };
    output.line(told.text)?;
    Ok(if told.failed { Exit::Conflict } else { Exit::Done })
}

/// Serves the tools on this process's own input and output.
async fn serve(godel: Godel) -> std::io::Result<()> {
    let (input, mut said) = tokio::io::duplex(PIPE_BYTES);
    let (output, mut answers) = tokio::io::duplex(PIPE_BYTES);
    let handle = tokio::runtime::Handle::current();
    // Reading waits for as long as the agent says nothing, so it has a thread of its own; it ends with
    // the process.
    tokio::task::spawn_blocking(move || {
        let mut chunk = [0; CHUNK_BYTES];
        while let Ok(count @ 1..) = std::io::stdin().lock().read(&mut chunk) {
            if handle.block_on(said.write_all(&chunk[..count])).is_err() {
                return;
            }
        }
    });
    let write = async {
        let mut chunk = [0; CHUNK_BYTES];
        loop {
            let count = answers.read(&mut chunk).await?;
            if count == 0 {
                return Ok(());
            }
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(&chunk[..count])?;
            stdout.flush()?;
        }
    };
    let (served, written) = tokio::join!(mcp::serve(input, output, godel), write);
    served.and(written)
}

/// Reads a thing to do with its mark.
fn todo(text: &str) -> Todo {
    let marks = [
        ("[x]", TodoState::Completed),
        ("[>]", TodoState::InProgress),
        ("[ ]", TodoState::Pending),
    ];
    let marked =
        marks.into_iter().find_map(|(mark, state)| Some((text.strip_prefix(mark)?, state)));
    let (text, state) = marked.unwrap_or((text, TodoState::Pending));
    Todo { text: text.trim().to_owned(), state }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_tells_how_far_a_thing_is() {
        assert_eq!(todo("[x] read"), Todo { text: "read".into(), state: TodoState::Completed });
        assert_eq!(todo("[>] test"), Todo { text: "test".into(), state: TodoState::InProgress });
        assert_eq!(todo("[ ] mend"), Todo { text: "mend".into(), state: TodoState::Pending });
        assert_eq!(todo("mend"), Todo { text: "mend".into(), state: TodoState::Pending });
    }
}
