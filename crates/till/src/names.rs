//! Which requests are meant, and the names behind ids.

use std::collections::HashMap;

use godel_api::{Client, Project, User};
use godel_args::models::Narrow;
use godel_console::{Context, Result, lookup};

/// A query as the server reads it.
pub(crate) type Query = Vec<(&'static str, String)>;

/// Writes which requests are meant as the server reads it: projects and users by their ids.
pub(crate) async fn query(client: &Client, narrow: &Narrow) -> Result<Query> {
    let mut query = Query::new();
    let given = [
        ("agent", &narrow.agent),
        ("bead", &narrow.bead),
        ("convoy", &narrow.convoy),
        ("team", &narrow.team),
        ("runtime", &narrow.runtime),
        ("provider", &narrow.provider),
        ("model", &narrow.model),
    ];
    query.extend(given.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
    if let Some(project) = &narrow.project {
        query.push(("project", lookup::project(client, project).await?.id.to_string()));
    }
    if let Some(user) = &narrow.user {
        query.push(("user", lookup::user(client, user).await?.id.to_string()));
    }
    Ok(query)
}

/// The names of projects and users by their ids.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: HashMap<String, String>,
}

impl Names {
    /// Learns the names of all projects and users that the caller may see.
    pub(crate) async fn load(
        context: &Context,
        client: &Client,
        projects: bool,
        users: bool,
    ) -> Result<Self> {
        let mut names = Self::default();
        if projects {
            let all: Vec<Project> = lookup::all(context, client, "/api/v1/projects", None).await?;
            names.known.extend(all.into_iter().map(|one| (one.id.to_string(), one.name)));
        }
        if users {
            let me = client.me().await?;
            // Only admins may look for others, and a question that is refused would be on record.
            if me.role == "admin" && me.scopes.is_empty() {
                let all: Vec<User> = lookup::all(context, client, "/api/v1/users", None).await?;
                names.known.extend(all.into_iter().map(|one| (one.id.to_string(), one.name)));
            } else if let Some(name) = me.actor.strip_prefix("user:") {
                names.known.insert(me.user_id.to_string(), name.to_owned());
            }
        }
        Ok(names)
    }

    /// Learns the name of something else.
    pub(crate) fn learn(&mut self, id: String, name: String) {
        self.known.insert(id, name);
    }

    /// Returns the name, or what was given if none is known.
    pub(crate) fn of(&self, id: &str) -> String {
        self.known.get(id).map_or_else(|| id.to_owned(), Clone::clone)
    }

    /// Returns the name behind an id, if there is one.
    pub(crate) fn maybe(&self, id: Option<impl ToString>) -> Option<String> {
        id.map(|id| self.of(&id.to_string()))
    }
}
