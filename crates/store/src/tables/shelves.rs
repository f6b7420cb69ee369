//! How far the changes of each project's beads are told as events.

use godel_model::ProjectId;

use crate::statement::{Param, statements};
use crate::{Result, Tx};

statements! {
    TOLD = "shelf_told": "SELECT told FROM shelf WHERE tenant = $1 AND project = $2";
    BEGIN = "shelf_begin":
        "INSERT INTO shelf (tenant, project, told) VALUES ($1, $2, $3)
         ON CONFLICT (tenant, project) DO NOTHING";
    ADVANCE = "shelf_advance":
        "UPDATE shelf SET told = $1 WHERE tenant = $2 AND project = $3 AND told = $4";
    FORGET = "shelf_forget": "DELETE FROM shelf WHERE tenant = $1 AND project = $2";
}

/// How far the changes of each project's beads are told as events.
pub struct Shelves<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Shelves<'_, '_> {
    /// Returns the last commit that was told.
    ///
    /// # Errors
    /// If the database fails.
    pub fn told(&mut self, project: ProjectId) -> Result<Option<String>> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        self.tx.conn.first(&TOLD, &[tenant, Param::Uuid(project.uuid())], |row| row.text(0))
    }

    /// Begins to tell behind a commit; `false` if somebody else began already.
    ///
    /// # Errors
    /// If the database fails.
    pub fn begin(&mut self, project: ProjectId, at: &str) -> Result<bool> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [tenant, Param::Uuid(project.uuid()), Param::Text(at)];
        Ok(self.tx.conn.execute(&BEGIN, &params)? == 1)
    }

    /// Notes that everything up to a commit is told; `false` if another server was faster.
    ///
    /// # Errors
    /// If the database fails.
    pub fn advance(&mut self, project: ProjectId, from: &str, to: &str) -> Result<bool> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let project = Param::Uuid(project.uuid());
        let params = [Param::Text(to), tenant, project, Param::Text(from)];
        Ok(self.tx.conn.execute(&ADVANCE, &params)? == 1)
    }

    /// Forgets a project, because it is gone or has another repository now.
    ///
    /// # Errors
    /// If the database fails.
    pub fn forget(&mut self, project: ProjectId) -> Result<()> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        self.tx.conn.execute(&FORGET, &[tenant, Param::Uuid(project.uuid())])?;
        Ok(())
    }
}
