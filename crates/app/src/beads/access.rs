//! Which shelves a caller may see, and which beads are its own.

use std::sync::Arc;

use godel_beads::{Bead, Draft, Error as BeadsError};
use godel_model::{AuditResult, Need, Project, ProjectId, Reach};

use super::Placed;
use super::shelves::Opened;
use crate::{App, Call, Error, Result};

/// A project with its shelf.
#[derive(Debug, Clone)]
pub(super) struct Shelved {
    pub(super) project: ProjectId,
    pub(super) shelf: Arc<Opened>,
}

/// Returns the shelves that a caller may see: of one project, or of all that have a repository.
pub(super) async fn shelves(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
) -> Result<Vec<Shelved>> {
    let asked = project;
    let found: Vec<Project> = match asked {
        Some(id) => {
            let found = app.store.read(call.scope(), move |tx| tx.projects().by_id(id)).await;
            let found = found.map_err(Error::Store)?;
            let found = found.filter(|found| call.actor.works_in(found.id));
            let found = found.ok_or(Error::NoProject(id))?;
            if found.repository.is_none() {
                return Err(Error::NoRepository(id));
            }
            vec![found]
        }
        None => app
            .store
            .read(call.scope(), |tx| tx.projects().with_repository())
            .await
            .map_err(Error::Store)?
            .into_iter()
            .filter(|found| call.actor.works_in(found.id))
            .collect(),
    };
    let mut shelves = Vec::with_capacity(found.len());
    for project in found {
        let path = project.repository.unwrap_or_default();
        let opened = app.shelves.at(&path, &app.clock).await;
        match opened {
            Ok(shelf) => shelves.push(Shelved { project: project.id, shelf }),
            // One repository that went away must not hide the others.
            Err(error) => skip(asked, project.id, error)?,
        }
    }
    Ok(shelves)
}

/// Goes on without a repository in trouble, unless it is the one that was asked for.
pub(super) fn skip(asked: Option<ProjectId>, project: ProjectId, error: Error) -> Result<()> {
    if asked.is_some() {
        return Err(error);
    }
    tracing::warn!(%project, %error, "the beads of a project cannot be read");
    Ok(())
}

/// Returns the one shelf that something new goes on.
pub(super) async fn shelf_for_new(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
) -> Result<Shelved> {
    let mut found = shelves(app, call, project).await?;
    match (found.len(), project) {
        (1, _) => Ok(found.remove(0)),
        (0, Some(project)) => Err(Error::NoRepository(project)),
        (0, None) => Err(Error::invalid("no project has a repository yet")),
        (_, _) => Err(Error::invalid("there are several projects: say which by `projectId`")),
    }
}

/// What is looked for by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noun {
    Bead,
    Convoy,
}

impl Noun {
    const fn word(self) -> &'static str {
        match self {
            Self::Bead => "bead",
            Self::Convoy => "convoy",
        }
    }
}

/// Finds the one shelf that has a bead or convoy, and its whole id.
pub(super) async fn find(
    app: &App,
    call: &Call,
    project: Option<ProjectId>,
    noun: Noun,
    name: &str,
) -> Result<(Shelved, String)> {
    let mut found: Vec<(Shelved, String)> = Vec::new();
    for shelved in shelves(app, call, project).await? {
        let wanted = name.to_owned();
        let id = shelved.shelf.read(move |shelf| match noun {
            Noun::Bead => shelf.bead_id(&wanted),
            Noun::Convoy => shelf.convoy_id(&wanted),
        });
        match id.await {
            Ok(id) => found.push((shelved, id)),
            Err(Error::Beads(BeadsError::NotFound { .. })) => {}
            Err(error @ Error::Beads(BeadsError::Ambiguous { .. })) => return Err(error),
            Err(error) => skip(project, shelved.project, error)?,
        }
    }
    // A whole id means that bead, even if another's begins so.
    if found.iter().any(|(_, id)| id == name) {
        found.retain(|(_, id)| id == name);
    }
    if found.len() > 1 {
        let candidates =
            found.iter().map(|(shelved, id)| format!("{id} of project {}", shelved.project));
        let candidates = candidates.collect();
        let ambiguous = BeadsError::Ambiguous { prefix: name.to_owned(), candidates };
        return Err(Error::Beads(ambiguous));
    }
    let what = noun.word();
    let missing = || Error::Beads(BeadsError::NotFound { what, name: name.to_owned() });
    found.pop().ok_or_else(missing)
}

/// What a caller may do to a bead: to any of the team, or only to its own.
#[derive(Debug, Clone)]
pub(super) struct Allowed {
    team: bool,
    name: String,
    need: Need,
}

impl Allowed {
    pub(super) fn of(call: &Call, resource: &'static str, action: &'static str) -> Self {
        let need = Need { resource, action, reach: Reach::Team };
        let team = call.actor.may(&need);
        Self { team, name: call.actor.name.clone(), need }
    }

    /// Tells whether the caller may touch a bead: it made it, or works on it.
    pub(super) fn covers(&self, bead: &Bead) -> bool {
        self.made(bead.created_by.as_ref()) || bead.agent.as_ref() == Some(&self.name)
    }

    /// Tells whether the caller may touch what somebody made.
    fn made(&self, maker: Option<&String>) -> bool {
        self.team || maker == Some(&self.name)
    }

    pub(super) fn refusal(&self) -> Error {
        Error::Forbidden(self.need)
    }
}

/// A change of a bead or convoy that somebody asks for.
pub(super) struct Asked<'a> {
    pub(super) app: &'a App,
    pub(super) call: &'a Call,
    pub(super) project: Option<ProjectId>,
    pub(super) noun: Noun,
    pub(super) name: &'a str,
    pub(super) action: &'static str,
    /// What proves that the caller holds the bead, which is as good as having made it.
    pub(super) token: Option<String>,
}

/// Runs a change of what the caller may touch, and puts it on record.
pub(super) async fn change<T: Send + 'static>(
    asked: Asked<'_>,
    work: impl Fn(&mut Draft<'_>, &str) -> godel_beads::Result<T> + Send + 'static,
) -> Result<Placed<T>> {
    let Asked { app, call, project, noun, name, action, token } = asked;
    let (shelved, id) = find(app, call, project, noun, name).await?;
    let allowed = Allowed::of(call, noun.word(), action);
    let (inside, within) = (allowed.clone(), id.clone());
    let done = shelved.shelf.write(&call.actor.name, move |draft| {
        let covered = match noun {
            Noun::Bead => {
                let bead = draft.look(&within)?;
                let holds = token.as_ref().is_some_and(|token| draft.holds(&bead, token));
                holds || inside.covers(&bead)
            }
            Noun::Convoy => inside.made(draft.look_convoy(&within)?.created_by.as_ref()),
        };
        if !covered {
            return Ok(None);
        }
        let value = work(draft, &within)?;
        Ok(Some((value, draft.tag(&within)?)))
    });
    let Some((value, tag)) = done.await? else { return Err(allowed.refusal()) };
    let word = noun.word();
    record(app, call, &format!("{word}:{action}"), format!("{word}/{id}")).await?;
    Ok(Placed { project: shelved.project, value, tag: Some(tag) })
}

/// Puts a change on the record of acts, and wakes whoever tells of changes.
pub(super) async fn record(app: &App, call: &Call, action: &str, resource: String) -> Result<()> {
    app.shelves.changed.notify_one();
    let act = call.act(app, action, resource, AuditResult::Ok);
    let tenant = call.actor.tenant;
    let written = app.store.write(call.scope(), move |tx| tx.record_act(tenant, act.clone())).await;
    written.map(|_| ()).map_err(Error::Store)
}
