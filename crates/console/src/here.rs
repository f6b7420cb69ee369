//! Which project is meant: the one that was named, or that of the repository one is in.

use std::path::{Path, PathBuf};

use godel_api::{Client, Project};
use godel_beads::Shelf;
use godel_model::{Invalid, ProjectName, code};
use uuid::Uuid;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::locate::is_this_machine;
use crate::lookup;

/// How many projects are named when one has to be chosen.
const NAMED_MAX: usize = 10;

/// The repository that a command is run in.
struct Here {
    /// The folder of the command.
    folder: PathBuf,
    shelf: Shelf,
}

impl Here {
    fn find() -> Result<Option<Self>> {
        let folder = std::env::current_dir()
            .map_err(|cause| Error::file("the current directory", "found", cause))?;
        Ok(Shelf::open(&folder).ok().map(|shelf| Self { folder, shelf }))
    }

    fn root(&self) -> &Path {
        let place = self.shelf.place();
        place.main.as_deref().unwrap_or(&place.common)
    }

    /// Tells whether a project is about this repository.
    fn is_of(&self, project: &Project) -> bool {
        let Some(path) = project.repository.as_deref().map(Path::new) else { return false };
        let same = |other: &Shelf| other.place().common == self.shelf.place().common;
        path == self.root() || (path.is_dir() && Shelf::open(path).is_ok_and(|other| same(&other)))
    }

    /// Says how this repository becomes a project.
    fn advice(&self) -> String {
        let root = self.root();
        let name = root.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.parse::<ProjectName>().map_or("NAME".to_owned(), |_| quoted(name));
        let canonical = self.folder.canonicalize();
        let is_root = canonical.is_ok_and(|folder| folder == root);
        let path = if is_root { ".".to_owned() } else { quoted(&root.display().to_string()) };
        format!("godel project create {name} --repository {path}")
    }
}

/// Writes a word so that a shell takes it for one.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns the project that was named, or that of this repository; nothing leaves it to the server.
/// A repository that is no project is refused with what to run.
pub async fn project(
    context: &Context,
    client: &Client,
    given: Option<&str>,
) -> Result<Option<Uuid>> {
    if let Some(name) = given {
        return Ok(Some(lookup::project(client, name).await?.id));
    }
    let Some(here) = Here::find()? else { return Ok(None) };
    let found = of_repository(context, client, &here).await?;
    // A server elsewhere has its repositories elsewhere, too.
    if found.is_some() || !is_this_machine(client.url()) {
        return Ok(found);
    }
    let message = format!("{} is not a project of the server yet", here.root().display());
    let hint =
        format!("make it one:\n  {}\nor name another one with --project NAME", here.advice());
    Err(Invalid::new(code::PROJECT_NOT_FOUND, message).with_hint(hint).into())
}

/// Returns the project that something new belongs to. Unlike an id that the server knows, it has to be
/// one.
pub async fn project_for_new(
    context: &Context,
    client: &Client,
    given: Option<&str>,
) -> Result<Uuid> {
    if let Some(found) = project(context, client, given).await? {
        return Ok(found);
    }
    let all: Vec<Project> = lookup::all(context, client, "/api/v1/projects", None).await?;
    let with: Vec<Project> = all.into_iter().filter(|one| one.repository.is_some()).collect();
    match with.as_slice() {
        [one] => Ok(one.id),
        [] => Err(Invalid::new(code::PROJECT_NOT_FOUND, "no project has a repository yet")
            .with_hint(
                "go into the repository, and run:\n  godel project create NAME --repository .",
            )
            .into()),
        several => {
            let names: Vec<&str> =
                several.iter().take(NAMED_MAX).map(|one| one.name.as_str()).collect();
            let hint = format!("say which with --project: {}", names.join(", "));
            Err(Error::usage("several projects have a repository", hint))
        }
    }
}

/// Returns the project that was named, or that of this repository if there is one.
pub async fn project_if_known(
    context: &Context,
    client: &Client,
    given: Option<&str>,
) -> Result<Option<Uuid>> {
    match (given, Here::find()?) {
        (Some(name), _) => Ok(Some(lookup::project(client, name).await?.id)),
        (None, Some(here)) => of_repository(context, client, &here).await,
        (None, None) => Ok(None),
    }
}

async fn of_repository(context: &Context, client: &Client, here: &Here) -> Result<Option<Uuid>> {
    let all: Vec<Project> = lookup::all(context, client, "/api/v1/projects", None).await?;
    Ok(all.iter().find(|project| here.is_of(project)).map(|project| project.id))
}

/// Returns the whole id of a bead if this repository has it; else what was given.
pub fn bead(given: &str) -> Result<String> {
    let found = Here::find()?.and_then(|mut here| here.shelf.bead_id(given).ok());
    Ok(found.unwrap_or_else(|| given.to_owned()))
}

/// Adds the project to a path.
pub fn within(path: String, project: Option<Uuid>) -> String {
    match project {
        Some(project) => {
            let sign = if path.contains('?') { '&' } else { '?' };
            format!("{path}{sign}projectId={project}")
        }
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_can_be_pasted_into_a_shell() {
        for (word, text) in [
            ("web", "web"),
            ("/srv/a.b-c_d", "/srv/a.b-c_d"),
            ("two words", "'two words'"),
            ("it's", r"'it'\''s'"),
            ("-rf", "'-rf'"),
            ("", "''"),
            ("$(reboot)", "'$(reboot)'"),
        ] {
            assert_eq!(quoted(word), text);
        }
    }
}
