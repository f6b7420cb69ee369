//! `godel agent export` and `import`: a snapshot as a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use godel_api::{Download, ImportedSnapshot};
use godel_console::lookup::segment;
use godel_console::measure::bytes;
use godel_console::output::plain;
use godel_console::{Context, Error, Exit, Result, here, locate};
use godel_model::{Invalid, code};
use serde_json::json;

use super::snapshot::SNAPSHOTS;

/// Writes a snapshot into a file, or to stdout.
pub(super) async fn export(
    context: &Context,
    id: &str,
    (file, force): (&Path, bool),
) -> Result<Exit> {
    let path = format!("{SNAPSHOTS}/{}/file", segment(id));
    if file == Path::new("-") {
        let stdout = context.output.raw()?;
        let found = locate::server(context).await?;
        receive(&mut found.client.download(&path, "snapshot").await?, stdout).await?;
        return Ok(Exit::Done);
    }
    // A name that is taken is told before the server is troubled.
    let mut part = Part::create(file, force)?;
    let found = locate::server(context).await?;
    let size =
        receive(&mut found.client.download(&path, "snapshot").await?, &mut part.file).await?;
    part.finish(force)?;
    if context.output.is_json() {
        context.output.value(&json!({ "file": file, "bytes": size }))?;
        return Ok(Exit::Done);
    }
    context.output.line(format_args!("{} is written, {}", file.display(), bytes(size)))?;
    context
        .output
        .remark("it holds all that the agent had, ignored files too: keep it confidential");
    Ok(Exit::Done)
}

async fn receive(download: &mut Download, mut to: impl Write) -> Result<u64> {
    let mut size = 0;
    while let Some(bytes) = download.next().await? {
        to.write_all(&bytes).map_err(failed("the file", "written"))?;
        size += bytes.len() as u64;
    }
    to.flush().map_err(failed("the file", "written"))?;
    Ok(size)
}

/// Takes a snapshot in from a file, or from stdin.
pub(super) async fn import(context: &Context, file: &Path, project: Option<&str>) -> Result<Exit> {
    let from: Box<dyn Read + Send> = if file == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(file).map_err(failed(&file.display().to_string(), "read"))?)
    };
    let found = locate::server(context).await?;
    let project = here::project_for_new(context, &found.client, project).await?;
    let query = [("projectId", project.to_string())];
    let made: ImportedSnapshot = found.client.upload(SNAPSHOTS, &query, from).await?;
    if context.output.is_json() {
        context.output.value(&made)?;
        return Ok(Exit::Done);
    }
    for change in &made.changed {
        context.output.note(format_args!("note: {}", plain(change)));
    }
    context.output.line(made.snapshot.id)?;
    Ok(Exit::Done)
}

/// A file on its way to disk, as `FILE.part`, readable by its user only; it goes away unless it is finished.
struct Part {
    path: PathBuf,
    part: PathBuf,
    file: File,
}

impl Part {
    fn create(path: &Path, force: bool) -> Result<Self> {
        if !force && path.symlink_metadata().is_ok() {
            return Err(taken(path));
        }
        let mut name = path.as_os_str().to_owned();
        name.push(".part");
        let part = PathBuf::from(name);
        // Made anew, never opened: a left-over may have another mode, or be a link to elsewhere.
        let _ = std::fs::remove_file(&part);
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part);
        let file = made.map_err(failed(&part.display().to_string(), "made"))?;
        Ok(Self { path: path.to_owned(), part, file })
    }

    /// Waits for the disk, and gives the file its name.
    fn finish(self, force: bool) -> Result<()> {
        let shown = self.path.display().to_string();
        self.file.sync_all().map_err(failed(&shown, "written"))?;
        if force {
            return std::fs::rename(&self.part, &self.path).map_err(failed(&shown, "written"));
        }
        match std::fs::hard_link(&self.part, &self.path) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Err(taken(&self.path)),
            // Some file systems have no links.
            Err(_) => std::fs::rename(&self.part, &self.path).map_err(failed(&shown, "written")),
            Ok(()) => Ok(()),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.part);
    }
}

fn taken(path: &Path) -> Error {
    let why = format!("{} is there already", path.display());
    Invalid::new(code::FILE_EXISTS, why).with_hint("name another file, or say --force").into()
}

fn failed(what: &str, done: &'static str) -> impl FnOnce(io::Error) -> Error {
    let what = what.to_owned();
    move |cause| Error::File { what, done, cause }
}
