//! `godel task batch`: many tasks at once.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use godel_api::{NewTask, NewTasks, TasksMade};
use godel_console::output::plain;
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{Invalid, code};
use reqwest::Method;

use super::PATH;

/// How many are made together: as many as a server takes.
const AT_ONCE: usize = 1_000;
/// How much is sent together, about.
const AT_ONCE_BYTES: usize = 256 * 1024;
/// How long a line may be.
const LINE_MAX_BYTES: u64 = 256 * 1024;

/// Makes the tasks of a file, or of stdin.
pub(super) async fn run(context: &Context, file: &Path) -> Result<Exit> {
    let name = if file == Path::new("-") { "stdin".into() } else { file.display().to_string() };
    let fail = |cause| Error::file(&name, "read", cause);
    let mut from: Box<dyn BufRead> = match file == Path::new("-") {
        true => Box::new(BufReader::new(io::stdin())),
        false => Box::new(BufReader::new(File::open(file).map_err(fail)?)),
    };
    let found = locate::server(context).await?;
    let (mut lines, mut exit) = (0, Exit::Done);
    loop {
        let (mut tasks, mut bytes) = (Vec::new(), 0);
        let first = lines + 1;
        while tasks.len() < AT_ONCE && bytes < AT_ONCE_BYTES {
            let Some(line) = line(&mut from).map_err(fail)? else { break };
            (lines, bytes) = (lines + 1, bytes + line.len());
            if !line.trim().is_empty() {
                tasks.push((lines, read(&line, lines)?));
            }
        }
        if lines < first {
            return Ok(exit);
        }
        let (numbers, tasks): (Vec<u64>, Vec<NewTask>) = tasks.into_iter().unzip();
        if tasks.is_empty() {
            continue;
        }
        let body = NewTasks { tasks };
        let path = format!("{PATH}/batch");
        let made: TasksMade = found.client.call(Method::POST, &path, Some(&body)).await?;
        if present(context, &numbers, made)? == Exit::Failure {
            exit = Exit::Failure;
        }
    }
}

/// Reads a line; one that is too long is cut, and then is no JSON.
fn line(from: &mut dyn BufRead) -> io::Result<Option<String>> {
    let mut text = String::new();
    let read = io::Read::take(from, LINE_MAX_BYTES).read_line(&mut text)?;
    Ok((read > 0).then_some(text))
}

fn read(line: &str, number: u64) -> Result<NewTask> {
    Ok(serde_json::from_str(line).map_err(|error| {
        Invalid::new(code::INVALID_JSON, format!("line {number} is no task: {error}")).with_hint(
            "for example {\"title\":\"build\",\"pool\":\"ci\"}; tasks of earlier lines were made",
        )
    })?)
}

/// Tells what became of each.
fn present(context: &Context, lines: &[u64], made: TasksMade) -> Result<Exit> {
    let mut exit = Exit::Done;
    for (number, answer) in lines.iter().zip(made.items) {
        if answer.error.is_some() {
            exit = Exit::Failure;
        }
        if context.output.is_json() {
            context.output.value(&answer)?;
            continue;
        }
        match (answer.made, answer.error) {
            (Some(made), _) => context.output.line(made.id)?,
            (None, error) => {
                let why = error.map_or_else(String::new, |error| error.message);
                context
                    .output
                    .note(format_args!("note: line {number} was refused: {}", plain(&why)));
            }
        }
    }
    Ok(exit)
}

#[cfg(test)]
mod tests {
    use godel_model::Report as _;

    use super::*;

    #[test]
    fn a_line_is_a_task_or_is_named() {
        assert_eq!(read(r#"{"title":"x","pool":"ci"}"#, 1).unwrap().pool.as_deref(), Some("ci"));
        for bad in ["{", "[]", r#"{"pool":"ci"}"#, r#"{"title":"x","colour":"red"}"#] {
            let error = read(bad, 7).unwrap_err();
            assert_eq!(error.code(), code::INVALID_JSON, "{bad}");
            assert!(error.to_string().contains("line 7"), "{error}");
        }
    }
}
