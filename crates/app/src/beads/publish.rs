//! Telling what happened to beads as events, whoever did it: once, and nothing is left out.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use godel_beads::doc::{Class, Document};
use godel_beads::{Bead, Convoy, Happening};
use godel_model::{EventType, Metadata, NewEvent, Payload, Project, ProjectId, Source, TenantId};
use godel_store::Scope;
use serde_json::{Value, json};

use super::shelves::Opened;
use crate::{App, Crew, Error, Result};

/// How often repositories are looked at for changes that others made.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often projects are listed anew.
const LIST_EVERY: Duration = Duration::from_secs(2);
/// How many happenings are told in one transaction.
const CHUNK: usize = 200;
/// The longest text of a bead that an event carries, in characters.
const TEXT_MAX_CHARS: usize = 2_000;

/// Tells of changes until the crew stops.
pub fn start(app: &App, crew: &Crew) {
    let (app, stopping) = (app.clone(), crew.stopping());
    crew.spawn(async move {
        let mut watch = Watch::default();
        loop {
            tokio::select! {
                () = stopping.cancelled() => break,
                () = app.shelves.changed.notified() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            if let Err(error) = watch.look(&app).await {
                tracing::warn!(%error, "changes of beads could not be told; trying again");
            }
        }
    });
}

/// What was seen of the repositories.
#[derive(Default)]
struct Watch {
    projects: Vec<(TenantId, Project)>,
    listed: Option<Instant>,
    seen: HashMap<ProjectId, Seen>,
}

/// How a branch looked on disk; it changes with every move.
type Seen = [Option<(u64, i64, i64)>; 2];

impl Watch {
    async fn look(&mut self, app: &App) -> Result<()> {
        if self.listed.is_none_or(|listed| listed.elapsed() > LIST_EVERY) {
            self.projects = all_with_repository(app).await?;
            self.listed = Some(Instant::now());
        }
        for (tenant, project) in &self.projects {
            let Some(path) = &project.repository else { continue };
            let Ok(shelf) = app.shelves.at(path, &app.clock).await else { continue };
            let now = look_of(&shelf.place().common);
            if self.seen.get(&project.id) == Some(&now) {
                continue;
            }
            // One repository in trouble must not keep the others from being told.
            match tell(app, *tenant, project.id, &shelf).await {
                Ok(()) => drop(self.seen.insert(project.id, now)),
                Err(error) => {
                    tracing::warn!(project = %project.id, %error, "changes of beads cannot be told");
                }
            }
        }
        Ok(())
    }
}

/// Lists the projects of all tenants that have a repository.
pub(crate) async fn all_with_repository(app: &App) -> Result<Vec<(TenantId, Project)>> {
    let tenants = app.store.read(Scope::System, |tx| tx.tenants().list()).await;
    let mut found = Vec::new();
    for tenant in tenants.map_err(Error::Store)? {
        let scope = Scope::Tenant(tenant.id);
        let projects = app.store.read(scope, |tx| tx.projects().with_repository()).await;
        found.extend(projects.map_err(Error::Store)?.into_iter().map(|one| (tenant.id, one)));
    }
    Ok(found)
}

fn look_of(common: &Path) -> Seen {
    use std::os::unix::fs::MetadataExt as _;
    ["refs/heads/godel/state", "packed-refs"].map(|name| {
        let meta = common.join(name).metadata().ok()?;
        Some((meta.ino(), meta.mtime(), meta.mtime_nsec()))
    })
}

/// Tells everything of one project that was not told yet.
async fn tell(app: &App, tenant: TenantId, project: ProjectId, shelf: &Arc<Opened>) -> Result<()> {
    let scope = Scope::Tenant(tenant);
    loop {
        let told = app.store.read(scope, move |tx| tx.shelves().told(project)).await;
        let told = told.map_err(Error::Store)?;
        let since = told.clone();
        let read = shelf.read(move |shelf| {
            let since = since.filter(|since| since.is_empty() || shelf.has_commit(since));
            match since {
                // What was there before the server knew the project is no news.
                None => Ok((Vec::new(), shelf.commit()?)),
                Some(since) => shelf
                    .happenings(Some(&since).filter(|at| !at.is_empty()).map(|at| &**at), CHUNK),
            }
        });
        let (happenings, reached) = read.await?;
        let reached = reached.unwrap_or_default();
        let Some(told) = told else {
            let begun = app.store.write(scope, move |tx| tx.shelves().begin(project, &reached));
            begun.await.map_err(Error::Store)?;
            return Ok(());
        };
        if told == reached {
            return Ok(());
        }
        let events: Vec<NewEvent> = happenings.iter().map(|one| event(app, project, one)).collect();
        let written = app.store.write(scope, move |tx| {
            // Another server on the same database may have told it meanwhile.
            if tx.shelves().advance(project, &told, &reached)? {
                for event in &events {
                    tx.record_for(tenant, event.clone())?;
                }
            }
            Ok::<_, godel_store::Error>(())
        });
        written.await.map_err(Error::Store)?;
    }
}

fn event(app: &App, project: ProjectId, happening: &Happening) -> NewEvent {
    let entry = &happening.entry;
    let document = happening.after.as_ref().or(happening.before.as_ref());
    let class = document.map_or(Class::Bead, Document::class);
    let (noun, about) = match class {
        Class::Bead => ("bead", "beadId"),
        Class::Convoy => ("convoy", "convoyId"),
        Class::Memory => ("memory", "memoryId"),
    };
    // What a commit calls itself is only believed within its own kind.
    let told = entry.event.strip_prefix(noun).filter(|rest| rest.starts_with(':'));
    let kind = told.and_then(|_| entry.event.parse::<EventType>().ok());
    let fallback = format!("{noun}:updated").parse().ok();
    let kind = kind.or(fallback).unwrap_or_else(|| EventType::known("bead:updated"));
    let before = happening.before.as_ref().map(|before| summary(class, before));
    let after = happening.after.as_ref().map(|after| summary(class, after));
    let payload = json!({
        "id": entry.id, "commit": entry.commit, "line": cut(&entry.line),
        "before": before.as_ref().map(|before| &before["status"]), noun: after,
    });
    NewEvent {
        id: app.mint.id(),
        kind,
        at: entry.at,
        source: Source::component("beads"),
        payload: Payload::of(&payload),
        metadata: Metadata { actor: Some(cut(&entry.by)), ..Metadata::default() }
            .about("projectId", project)
            .about(about, &entry.id),
    }
}

/// Returns the part of a document that an event carries.
fn summary(class: Class, document: &Document) -> Value {
    match class {
        Class::Bead => {
            let bead = Bead::of(document);
            json!({
                "id": bead.id, "type": bead.kind, "title": cut(&bead.title),
                "status": bead.status, "priority": bead.priority, "rank": bead.rank,
                "agent": bead.agent, "parentBead": bead.parent_bead,
                "labels": bead.labels.iter().take(20).collect::<Vec<_>>(),
                "leaseUntil": bead.lease.map(|lease| lease.until),
                "createdAt": bead.created_at, "updatedAt": bead.updated_at,
                "deletedAt": bead.deleted_at,
            })
        }
        Class::Convoy => {
            let convoy = Convoy::of(document);
            json!({
                "id": convoy.id, "name": cut(&convoy.name), "status": convoy.status,
                "beads": convoy.beads.len(), "updatedAt": convoy.updated_at,
            })
        }
        Class::Memory => json!({ "id": document.id() }),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(TEXT_MAX_CHARS).collect()
}
