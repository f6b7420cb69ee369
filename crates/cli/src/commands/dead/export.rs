//! `godel dead export`: dead letters with all that is known of them.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use godel_api::{Page, Task};
use godel_args::queue::{DeadFilter, ExportFormat};
use godel_console::lookup::PAGE_MAX;
use godel_console::output::{Output, csv};
use godel_console::{Context, Error, Exit, Result, locate};
use serde_json::{Value, json};

use super::{PATH, query};

/// The columns of comma-separated values, as the fields are called in JSON.
const COLUMNS: [&str; 12] = [
    "id",
    "title",
    "pool",
    "priority",
    "attempt",
    "createdAt",
    "startedAt",
    "endedAt",
    "error",
    "workerId",
    "key",
    "payload",
];

/// Writes all that match, page by page, so that there may be any number of them.
pub(super) async fn run(
    context: &Context,
    filter: &DeadFilter,
    format: ExportFormat,
    file: Option<&Path>,
) -> Result<Exit> {
    let filter = query(filter)?.to_string();
    let found = locate::server(context).await?;
    let file = file.filter(|file| *file != Path::new("-"));
    let mut sink = Sink::open(context.output, file)?;
    if format == ExportFormat::Csv {
        sink.write(&csv(&[COLUMNS.map(ToOwned::to_owned).to_vec()]))?;
    }
    let (mut count, mut cursor) = (0_usize, None);
    loop {
        let mut query = vec![("limit", PAGE_MAX.to_string()), ("filter", filter.clone())];
        query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let page: Page<Task> = found.client.page(PATH, &query).await?;
        count += page.items.len();
        sink.write(&page.items.iter().map(|task| written(task, format)).collect::<String>())?;
        cursor = page.pagination.cursor.filter(|_| page.pagination.has_more);
        if cursor.is_none() {
            break;
        }
    }
    let Some(file) = sink.close()? else { return Ok(Exit::Done) };
    if context.output.is_json() {
        context.output.value(&json!({ "file": file, "tasks": count }))?;
    } else {
        let path = file.display();
        context.output.line(format_args!("exported {count} dead letters to {path}"))?;
    }
    Ok(Exit::Done)
}

/// Writes one dead letter as a line.
fn written(task: &Task, format: ExportFormat) -> String {
    let fields = json!(task);
    if format == ExportFormat::Jsonl {
        return format!("{fields}\n");
    }
    let field = |name: &str| match &fields[name] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    csv(&[COLUMNS.map(field).to_vec()])
}

/// Where an export goes: to stdout, or into a file that is there as a whole or not at all.
enum Sink {
    Stdout(Output),
    File { file: BufWriter<File>, part: Part, path: PathBuf },
}

/// A file that goes away unless it gets its name.
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        // It has its name by now, if all went well.
        std::fs::remove_file(&self.0).ok();
    }
}

impl Sink {
    fn open(output: Output, path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::Stdout(output)) };
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = Part(path.with_file_name(name));
        let fail = |cause| Error::file(&path.display(), "written", cause);
        let file = BufWriter::new(File::create(&part.0).map_err(fail)?);
        Ok(Self::File { file, part, path: path.to_owned() })
    }

    fn write(&mut self, text: &str) -> Result<()> {
        match self {
            Self::Stdout(output) => output.text(text),
            Self::File { file, path, .. } => file
                .write_all(text.as_bytes())
                .map_err(|cause| Error::file(&path.display(), "written", cause)),
        }
    }

    /// Ends it, and returns the file, if it is one.
    fn close(self) -> Result<Option<PathBuf>> {
        let Self::File { file, part, path } = self else { return Ok(None) };
        let close = || -> io::Result<()> {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_all()?;
            std::fs::rename(&part.0, &path)
        };
        close().map_err(|cause| Error::file(&path.display(), "written", cause))?;
        Ok(Some(path))
    }
}
