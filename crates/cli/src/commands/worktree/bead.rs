//! The beads that worktrees are for.

use std::path::Path;

use godel_args::worktree::RepoFlag;
use godel_beads::{Bead, Error as Beads, Shelf, ops};
use godel_console::output::plain;
use godel_console::{Context, Error, Result};
use godel_desk::Desk;
use godel_git::{Name, Removed};

/// Finds the bead that is meant, by its id or the beginning of it. A worktree may also be for
/// something that is no bead.
pub(super) fn named(context: &Context, repo: &RepoFlag, id: &str) -> Result<Name> {
    let found = desk(context, repo)?.shelf().and_then(|mut shelf| {
        Ok(match shelf.commit()? {
            Some(_) => shelf.bead_id(id).map(Some).or_else(absent)?,
            None => None,
        })
    });
    match found {
        Ok(Some(whole)) => Ok(whole.parse()?),
        Ok(None) => Ok(id.parse()?),
        Err(Error::Beads(error)) if matches!(*error, Beads::NoRepository { .. }) => Ok(id.parse()?),
        Err(error) => Err(error),
    }
}

fn absent(error: Beads) -> godel_beads::Result<Option<String>> {
    if matches!(error, Beads::NotFound { .. }) { Ok(None) } else { Err(error) }
}

/// Writes down where a bead is worked on.
pub(super) fn made(context: &Context, repo: &RepoFlag, id: &Name, path: &Path) {
    note(context, repo, id, Some(path));
}

/// Writes down that beads are not worked on there any more.
pub(super) fn removed<'a>(
    context: &Context,
    repo: &RepoFlag,
    all: impl IntoIterator<Item = &'a Removed>,
) {
    all.into_iter().for_each(|removed| note(context, repo, &removed.id, None));
}

/// The worktree is there, or gone, whether or not it can be written down.
fn note(context: &Context, repo: &RepoFlag, id: &Name, path: Option<&Path>) {
    let noted = desk(context, repo).and_then(|desk| {
        let mut shelf = desk.shelf()?;
        if shelf.commit()?.is_none() {
            return Ok(());
        }
        write(&desk, &mut shelf, &id.to_string(), path)
    });
    if let Err(error) = noted {
        let line = format!("warning: bead {id} could not be told about its worktree: {error}");
        context.output.note(plain(&line));
    }
}

fn write(desk: &Desk, shelf: &mut Shelf, id: &str, path: Option<&Path>) -> Result<()> {
    let bead = shelf.find(godel_beads::doc::Class::Bead, id)?.map(|found| Bead::of(&found));
    let Some(bead) = bead.filter(|bead| bead.deleted_at.is_none()) else { return Ok(()) };
    let place = shelf.place();
    let root = place.main.as_ref().unwrap_or(&place.common);
    // Another clone has it elsewhere; what is inside the repository is told from there.
    let path = path.map(|path| path.strip_prefix(root).unwrap_or(path).display().to_string());
    if bead.worktree != path {
        desk.write(shelf, move |draft| ops::set_worktree(draft, &bead.id, path.as_deref()))?;
    }
    Ok(())
}

fn desk(context: &Context, repo: &RepoFlag) -> Result<Desk> {
    let desk = Desk::new(context.environment.clone(), context.output)?;
    Ok(repo.repo.iter().fold(desk, |desk, directory| desk.at(directory)))
}
