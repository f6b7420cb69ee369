//! Workflows as they are stored, and teams.

use godel_model::{TeamId, UserId, WorkflowId, from_micros, micros};
use jiff::Timestamp;
use uuid::Uuid;

use crate::statement::{Param, Row, statements};
use crate::{Result, Tx};

statements! {
    INSERT = "workflow_insert":
        "INSERT INTO workflow (tenant, id, name, source, version, created_at, updated_at, person)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (tenant, name) DO NOTHING";
    UPDATE = "workflow_update":
        "UPDATE workflow SET source = $1, version = $2, updated_at = $3
         WHERE tenant = $4 AND id = $5 AND version = $6";
    DELETE = "workflow_delete": "DELETE FROM workflow WHERE tenant = $1 AND id = $2";
    BY_ID = "workflow_by_id":
        "SELECT id, name, source, version, created_at, updated_at, person
         FROM workflow WHERE tenant = $1 AND id = $2";
    BY_NAME = "workflow_by_name":
        "SELECT id, name, source, version, created_at, updated_at, person
         FROM workflow WHERE tenant = $1 AND name = $2";
    PAGE = "workflow_page":
        "SELECT id, name, source, version, created_at, updated_at, person
         FROM workflow WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3";
    TEAM_INSERT = "team_insert":
        "INSERT INTO team (tenant, id, name, state, doc, version, created_at, updated_at, person)
         VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8)";
    TEAM_UPDATE = "team_update":
        "UPDATE team SET state = $1, doc = $2, version = version + 1, updated_at = $3
         WHERE tenant = $4 AND id = $5 AND version = $6";
    TEAM_DELETE = "team_delete": "DELETE FROM team WHERE tenant = $1 AND id = $2";
    TEAM_BY_ID = "team_by_id":
        "SELECT id, name, state, doc, version, created_at, updated_at, person
         FROM team WHERE tenant = $1 AND id = $2";
    TEAM_PAGE = "team_page":
        "SELECT id, name, state, doc, version, created_at, updated_at, person
         FROM team WHERE tenant = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
}

/// A workflow as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowRecord {
    /// The id.
    pub id: WorkflowId,
    /// The name, unique in its tenant.
    pub name: String,
    /// The text, as it was given.
    pub source: String,
    /// How often it was changed.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// By whom it was made.
    pub created_by: UserId,
}

/// A team as it is stored; `doc` is what only its use cases understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamRecord {
    /// The id.
    pub id: TeamId,
    /// The name.
    pub name: String,
    /// The state, as text.
    pub state: String,
    /// All else about it.
    pub doc: String,
    /// How often it was changed.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// By whom it was made.
    pub created_by: UserId,
}

/// The workflows and teams of a tenant.
pub struct Workflows<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Workflows<'_, '_> {
    /// Adds a workflow; `false` if the name is taken.
    ///
    /// # Errors
    /// If the database fails.
    pub fn insert(&mut self, workflow: &WorkflowRecord) -> Result<bool> {
        let params = [
            Param::Uuid(self.tx.tenant()?.uuid()),
            Param::Uuid(workflow.id.uuid()),
            Param::Text(&workflow.name),
            Param::Text(&workflow.source),
            Param::Int(workflow.version),
            Param::Int(micros(workflow.created_at)),
            Param::Int(micros(workflow.updated_at)),
            Param::Uuid(workflow.created_by.uuid()),
        ];
        Ok(self.tx.conn.execute(&INSERT, &params)? == 1)
    }

    /// Stores another text, one version later; `false` if somebody else did.
    ///
    /// # Errors
    /// If the database fails.
    pub fn update(&mut self, workflow: &WorkflowRecord) -> Result<bool> {
        let params = [
            Param::Text(&workflow.source),
            Param::Int(workflow.version),
            Param::Int(micros(workflow.updated_at)),
            Param::Uuid(self.tx.tenant()?.uuid()),
            Param::Uuid(workflow.id.uuid()),
            Param::Int(workflow.version - 1),
        ];
        Ok(self.tx.conn.execute(&UPDATE, &params)? == 1)
    }

    /// Removes a workflow; `false` if there is none.
    ///
    /// # Errors
    /// If the database fails.
    pub fn delete(&mut self, id: WorkflowId) -> Result<bool> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(id.uuid())];
        Ok(self.tx.conn.execute(&DELETE, &params)? == 1)
    }

    /// Finds a workflow.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_id(&mut self, id: WorkflowId) -> Result<Option<WorkflowRecord>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.first(&BY_ID, &params, read)
    }

    /// Finds a workflow by its name.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_name(&mut self, name: &str) -> Result<Option<WorkflowRecord>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(name)];
        self.tx.conn.first(&BY_NAME, &params, read)
    }

    /// Lists workflows behind an id.
    ///
    /// # Errors
    /// If the database fails.
    pub fn page(&mut self, after: Option<WorkflowId>, limit: usize) -> Result<Vec<WorkflowRecord>> {
        let after = Param::Uuid(after.map_or(Uuid::nil(), WorkflowId::uuid));
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), after, Param::Int(limit as i64)];
        self.tx.conn.query(&PAGE, &params, read)
    }

    /// Adds a team.
    ///
    /// # Errors
    /// If the database fails.
    pub fn insert_team(&mut self, team: &TeamRecord) -> Result<()> {
        let params = [
            Param::Uuid(self.tx.tenant()?.uuid()),
            Param::Uuid(team.id.uuid()),
            Param::Text(&team.name),
            Param::Text(&team.state),
            Param::Text(&team.doc),
            Param::Int(micros(team.created_at)),
            Param::Int(micros(team.updated_at)),
            Param::Uuid(team.created_by.uuid()),
        ];
        self.tx.conn.execute(&TEAM_INSERT, &params).map(drop)
    }

    /// Stores a team that was read at this version; `false` if somebody else did.
    ///
    /// # Errors
    /// If the database fails.
    pub fn update_team(&mut self, team: &TeamRecord) -> Result<bool> {
        let params = [
            Param::Text(&team.state),
            Param::Text(&team.doc),
            Param::Int(micros(team.updated_at)),
            Param::Uuid(self.tx.tenant()?.uuid()),
            Param::Uuid(team.id.uuid()),
            Param::Int(team.version),
        ];
        Ok(self.tx.conn.execute(&TEAM_UPDATE, &params)? == 1)
    }

    /// Removes a team; `false` if there is none.
    ///
    /// # Errors
    /// If the database fails.
    pub fn delete_team(&mut self, id: TeamId) -> Result<bool> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(id.uuid())];
        Ok(self.tx.conn.execute(&TEAM_DELETE, &params)? == 1)
    }

    /// Finds a team.
    ///
    /// # Errors
    /// If the database fails.
    pub fn team(&mut self, id: TeamId) -> Result<Option<TeamRecord>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.first(&TEAM_BY_ID, &params, read_team)
    }

    /// Lists teams before an id, the newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub fn teams(&mut self, before: Option<TeamId>, limit: usize) -> Result<Vec<TeamRecord>> {
        let before = Param::Uuid(before.map_or(Uuid::max(), TeamId::uuid));
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), before, Param::Int(limit as i64)];
        self.tx.conn.query(&TEAM_PAGE, &params, read_team)
    }
}

fn read(row: &Row<'_>) -> Result<WorkflowRecord> {
    Ok(WorkflowRecord {
        id: WorkflowId::from_uuid(row.uuid(0)?),
        name: row.text(1)?,
        source: row.text(2)?,
        version: row.int(3)?,
        created_at: from_micros(row.int(4)?),
        updated_at: from_micros(row.int(5)?),
        created_by: UserId::from_uuid(row.uuid(6)?),
    })
}

fn read_team(row: &Row<'_>) -> Result<TeamRecord> {
    Ok(TeamRecord {
        id: TeamId::from_uuid(row.uuid(0)?),
        name: row.text(1)?,
        state: row.text(2)?,
        doc: row.text(3)?,
        version: row.int(4)?,
        created_at: from_micros(row.int(5)?),
        updated_at: from_micros(row.int(6)?),
        created_by: UserId::from_uuid(row.uuid(7)?),
    })
}
