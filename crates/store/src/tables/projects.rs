//! Projects.

use godel_model::{Project, ProjectId, ProjectName, from_micros, micros};

use crate::statement::{Param, Row, statements};
use crate::{Error, Result, Tx};

statements! {
    INSERT = "project_insert":
        "INSERT INTO project (tenant, id, name, description, version, created_at, updated_at, limits, repository)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (tenant, name) DO NOTHING";
    NAME_TAKEN = "project_name_taken":
        "SELECT 1 FROM project WHERE tenant = $1 AND name = $2 AND id <> $3";
    UPDATE = "project_update":
        "UPDATE project SET name = $1, description = $2, version = $3, updated_at = $4, limits = $5,
             repository = $6
         WHERE tenant = $7 AND id = $8 AND version = $9";
    DELETE = "project_delete":
        "DELETE FROM project WHERE tenant = $1 AND id = $2 AND version = $3";
    BY_ID = "project_by_id":
        "SELECT id, name, description, version, created_at, updated_at, limits, repository
         FROM project WHERE tenant = $1 AND id = $2";
    BY_NAME = "project_by_name":
        "SELECT id, name, description, version, created_at, updated_at, limits, repository
         FROM project WHERE tenant = $1 AND name = $2";
    PAGE_UP = "project_page_up":
        "SELECT id, name, description, version, created_at, updated_at, limits, repository
         FROM project WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3";
    PAGE_DOWN = "project_page_down":
        "SELECT id, name, description, version, created_at, updated_at, limits, repository
         FROM project WHERE tenant = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
    WITH_REPOSITORY = "project_with_repository":
        "SELECT id, name, description, version, created_at, updated_at, limits, repository
         FROM project WHERE tenant = $1 AND repository <> '' ORDER BY id";
}

/// The projects of one tenant.
pub struct Projects<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Projects<'_, '_> {
    /// Adds a project; `false` if the name is taken.
    ///
    /// # Errors
    /// If the database fails.
    pub fn insert(&mut self, project: &Project) -> Result<bool> {
        let (tenant, limits) = (self.tx.tenant()?, limits_text(project));
        let params = [
            Param::Uuid(tenant.uuid()),
            Param::Uuid(project.id.uuid()),
            Param::Text(project.name.as_str()),
            Param::Text(&project.description),
            Param::Int(project.version),
            Param::Int(micros(project.created_at)),
            Param::Int(micros(project.updated_at)),
            Param::Text(&limits),
            Param::Text(project.repository.as_deref().unwrap_or_default()),
        ];
        Ok(self.tx.conn.execute(&INSERT, &params)? == 1)
    }

    /// Tells whether another project has this project's name.
    ///
    /// # Errors
    /// If the database fails.
    pub fn name_taken(&mut self, project: &Project) -> Result<bool> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [tenant, Param::Text(project.name.as_str()), Param::Uuid(project.id.uuid())];
        Ok(self.tx.conn.first(&NAME_TAKEN, &params, |_| Ok(()))?.is_some())
    }

    /// Stores the next version of a project; `false` if the stored one is not the one before it.
    ///
    /// # Errors
    /// If the database fails.
    pub fn update(&mut self, project: &Project) -> Result<bool> {
        let (tenant, limits) = (self.tx.tenant()?, limits_text(project));
        let params = [
            Param::Text(project.name.as_str()),
            Param::Text(&project.description),
            Param::Int(project.version),
            Param::Int(micros(project.updated_at)),
            Param::Text(&limits),
            Param::Text(project.repository.as_deref().unwrap_or_default()),
            Param::Uuid(tenant.uuid()),
            Param::Uuid(project.id.uuid()),
            Param::Int(project.version - 1),
        ];
        Ok(self.tx.conn.execute(&UPDATE, &params)? == 1)
    }

    /// Removes a project; `false` if it is not there in this version.
    ///
    /// # Errors
    /// If the database fails.
    pub fn delete(&mut self, project: &Project) -> Result<bool> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [tenant, Param::Uuid(project.id.uuid()), Param::Int(project.version)];
        Ok(self.tx.conn.execute(&DELETE, &params)? == 1)
    }

    /// Finds a project.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_id(&mut self, id: ProjectId) -> Result<Option<Project>> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        self.tx.conn.first(&BY_ID, &[tenant, Param::Uuid(id.uuid())], read)
    }

    /// Finds the project with a name.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_name(&mut self, name: &ProjectName) -> Result<Option<Project>> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        self.tx.conn.first(&BY_NAME, &[tenant, Param::Text(name.as_str())], read)
    }

    /// Lists all projects that have a repository.
    ///
    /// # Errors
    /// If the database fails.
    pub fn with_repository(&mut self) -> Result<Vec<Project>> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        self.tx.conn.query(&WITH_REPOSITORY, &[tenant], read)
    }

    /// Lists up to `limit` projects by age, behind (or, `newest_first`, before) the given one.
    ///
    /// # Errors
    /// If the database fails.
    pub fn page(
        &mut self,
        newest_first: bool,
        from: Option<ProjectId>,
        limit: usize,
    ) -> Result<Vec<Project>> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let limit = Param::Int(i64::try_from(limit).unwrap_or(i64::MAX));
        let (statement, open_end) = if newest_first {
            (&PAGE_DOWN, uuid::Uuid::max())
        } else {
            (&PAGE_UP, uuid::Uuid::nil())
        };
        let from = Param::Uuid(from.map_or(open_end, ProjectId::uuid));
        self.tx.conn.query(statement, &[tenant, from, limit], read)
    }
}

fn limits_text(project: &Project) -> String {
    serde_json::to_string(&project.limits).expect("limits are plain data, which JSON can hold")
}

fn read(row: &Row<'_>) -> Result<Project> {
    Ok(Project {
        id: row.uuid(0)?.into(),
        name: row.text(1)?.parse().map_err(|cause: godel_model::Invalid| Error::Unreadable {
            what: "project name",
            cause: cause.into(),
        })?,
        description: row.text(2)?,
        limits: serde_json::from_str(&row.text(6)?)
            .map_err(|cause| Error::Unreadable { what: "limits", cause: cause.into() })?,
        repository: Some(row.text(7)?).filter(|path| !path.is_empty()),
        version: row.int(3)?,
        created_at: from_micros(row.int(4)?),
        updated_at: from_micros(row.int(5)?),
    })
}
