//! Projects: what a tenant works on.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Invalid, Limits, ProjectId, ProjectName, code};

/// The longest description of a project, in characters.
const DESCRIPTION_MAX_CHARS: usize = 2_000;
/// The longest path of a repository, in bytes.
const REPOSITORY_MAX_BYTES: usize = 4_096;

/// Something that a tenant works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// The id.
    pub id: ProjectId,
    /// The name, unique in its tenant.
    pub name: ProjectName,
    /// What it is about.
    pub description: String,
    /// What its work may use.
    #[serde(default)]
    pub limits: Limits,
    /// The folder of its git repository on the server, in which its beads live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Counts the changes, from 1; it is the entity tag of the API.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// What may be changed of a project; `None` leaves the field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectChange {
    /// The new name.
    pub name: Option<ProjectName>,
    /// The new description.
    pub description: Option<String>,
    /// The new limits, all of them.
    pub limits: Option<Limits>,
    /// The new repository; an empty text means none.
    pub repository: Option<String>,
}

impl Project {
    /// Checks what can be said about a project.
    ///
    /// # Errors
    /// If the description is too long or a limit makes no sense.
    pub fn check(description: &str, limits: &Limits) -> Result<(), Invalid> {
        check_description(description)?;
        limits.check()
    }

    /// Makes a new project.
    ///
    /// # Errors
    /// If the description is too long, or a limit makes no sense.
    pub fn new(
        id: ProjectId,
        name: ProjectName,
        description: String,
        limits: Limits,
        now: Timestamp,
    ) -> Result<Self, Invalid> {
        Self::check(&description, &limits)?;
        let (repository, version) = (None, 1);
        Ok(Self {
            id,
            name,
            description,
            limits,
            repository,
            version,
            created_at: now,
            updated_at: now,
        })
    }

    /// Gives a new project a repository.
    ///
    /// # Errors
    /// If the path is not absolute, or too long.
    pub fn with_repository(mut self, path: Option<&str>) -> Result<Self, Invalid> {
        self.repository = checked_repository(path)?;
        Ok(self)
    }

    /// Returns the project as it is after a change.
    ///
    /// # Errors
    /// If the description is too long, or a limit makes no sense.
    pub fn changed(&self, change: ProjectChange, now: Timestamp) -> Result<Self, Invalid> {
        let description = change.description.unwrap_or_else(|| self.description.clone());
        check_description(&description)?;
        let limits = change.limits.unwrap_or_else(|| self.limits.clone());
        limits.check()?;
        let repository = match change.repository.as_deref() {
            None => self.repository.clone(),
            path => checked_repository(path)?,
        };
        Ok(Self {
            id: self.id,
            name: change.name.unwrap_or_else(|| self.name.clone()),
            description,
            limits,
            repository,
            version: self.version + 1,
            created_at: self.created_at,
            updated_at: now.max(self.updated_at),
        })
    }
}

fn checked_repository(path: Option<&str>) -> Result<Option<String>, Invalid> {
    let Some(path) = path.filter(|path| !path.is_empty()) else { return Ok(None) };
    let fits = path.starts_with('/')
        && path.len() <= REPOSITORY_MAX_BYTES
        && !path.chars().any(char::is_control);
    if !fits {
        let why = "a repository must be the absolute path of a folder on the server";
        return Err(Invalid::new(code::INVALID_FIELD, why).with_field("repository"));
    }
    Ok(Some(path.to_owned()))
}

fn check_description(text: &str) -> Result<(), Invalid> {
    if text.chars().count() > DESCRIPTION_MAX_CHARS {
        return Err(Invalid::new(
            code::INVALID_FIELD,
            format!("a description must have at most {DESCRIPTION_MAX_CHARS} characters"),
        )
        .with_field("description"));
    }
    if text.contains('\0') {
        return Err(Invalid::new(
            code::INVALID_FIELD,
            "a description must not have NUL characters",
        )
        .with_field("description"));
    }
    Ok(())
}
