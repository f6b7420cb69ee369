//! Users and the projects they work in.

use std::collections::HashMap;

use godel_model::{
    Invalid, ProjectId, TenantId, User, UserId, UserName, UserStatus, from_micros, micros,
};
use jiff::Timestamp;

use crate::statement::{Param, Row, statements};
use crate::{Error, Result, Tx};

statements! {
    INSERT = "person_insert":
        "INSERT INTO person (tenant, id, name, role, status, created_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant, name) DO NOTHING";
    BY_ID = "person_by_id":
        "SELECT id, name, role, status, created_at, seen_at FROM person
         WHERE tenant = $1 AND id = $2";
    BY_NAME = "person_by_name":
        "SELECT id, name, role, status, created_at, seen_at FROM person
         WHERE tenant = $1 AND name = $2";
    PAGE = "person_page":
        "SELECT id, name, role, status, created_at, seen_at FROM person
         WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3";
    UPDATE = "person_update":
        "UPDATE person SET name = $1, role = $2, status = $3, seen_at = $4
         WHERE tenant = $5 AND id = $6";
    CAME = "person_came":
        "UPDATE person SET seen_at = $1,
             status = CASE WHEN status = 'invited' THEN 'active' ELSE status END
         WHERE tenant = $2 AND id = $3";
    SEEN = "person_seen": "UPDATE person SET seen_at = $1 WHERE tenant = $2 AND id = $3";
    SET_PASSWORD = "person_set_password":
        "UPDATE person SET password = $1 WHERE tenant = $2 AND id = $3";
    PASSWORD = "person_password": "SELECT password FROM person WHERE tenant = $1 AND id = $2";
    ADMINS = "person_admins":
        "SELECT COUNT(*) FROM person WHERE tenant = $1 AND role = 'admin' AND status = 'active'";
    PROJECTS = "membership_list": "SELECT person, project FROM membership WHERE tenant = $1";
    PROJECTS_OF = "membership_of":
        "SELECT project FROM membership WHERE tenant = $1 AND person = $2 ORDER BY project";
    ADD_PROJECT = "membership_insert":
        "INSERT INTO membership (tenant, person, project) VALUES ($1, $2, $3)
         ON CONFLICT (tenant, person, project) DO NOTHING";
    CLEAR_PROJECTS = "membership_clear":
        "DELETE FROM membership WHERE tenant = $1 AND person = $2";
}

/// The users of a tenant.
pub struct Users<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Users<'_, '_> {
    /// Adds a user; `false` if the name is taken.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn insert(&mut self, tenant: TenantId, user: &User) -> Result<bool> {
        self.tx.reaches(tenant)?;
        let params = [
            Param::Uuid(tenant.uuid()),
            Param::Uuid(user.id.uuid()),
            Param::Text(user.name.as_str()),
            Param::Text(user.role.as_str()),
            Param::Text(user.status.as_str()),
            Param::Int(micros(user.created_at)),
        ];
        let fresh = self.tx.conn.execute(&INSERT, &params)? == 1;
        if fresh {
            self.set_projects(tenant, user.id, &user.projects)?;
        }
        Ok(fresh)
    }

    /// Finds a user by its id.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn by_id(&mut self, tenant: TenantId, id: UserId) -> Result<Option<User>> {
        self.tx.reaches(tenant)?;
        let params = [Param::Uuid(tenant.uuid()), Param::Uuid(id.uuid())];
        let found = self.tx.conn.first(&BY_ID, &params, read)?;
        self.with_projects(tenant, found)
    }

    /// Finds a user by its name.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn by_name(&mut self, tenant: TenantId, name: &UserName) -> Result<Option<User>> {
        self.tx.reaches(tenant)?;
        let params = [Param::Uuid(tenant.uuid()), Param::Text(name.as_str())];
        let found = self.tx.conn.first(&BY_NAME, &params, read)?;
        self.with_projects(tenant, found)
    }

    fn with_projects(&mut self, tenant: TenantId, found: Option<User>) -> Result<Option<User>> {
        let Some(mut user) = found else { return Ok(None) };
        let params = [Param::Uuid(tenant.uuid()), Param::Uuid(user.id.uuid())];
        let read = |row: &Row<'_>| Ok(ProjectId::from(row.uuid(0)?));
        user.projects = self.tx.conn.query(&PROJECTS_OF, &params, read)?;
        Ok(Some(user))
    }

    /// Lists users by age, up to `limit` behind the given one.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn page(
        &mut self,
        tenant: TenantId,
        from: Option<UserId>,
        limit: usize,
    ) -> Result<Vec<User>> {
        self.tx.reaches(tenant)?;
        let own = Param::Uuid(tenant.uuid());
        let from = from.map(UserId::uuid).unwrap_or_default();
        let params = [own, Param::Uuid(from), Param::Int(limit as i64)];
        let mut users = self.tx.conn.query(&PAGE, &params, read)?;
        let pair = |row: &Row<'_>| Ok((row.uuid(0)?, ProjectId::from(row.uuid(1)?)));
        let mut projects: HashMap<_, Vec<_>> = HashMap::new();
        for (user, project) in self.tx.conn.query(&PROJECTS, &[own], pair)? {
            projects.entry(user).or_default().push(project);
        }
        for user in &mut users {
            user.projects = projects.remove(&user.id.uuid()).unwrap_or_default();
            user.projects.sort_unstable();
        }
        Ok(users)
    }

    /// Stores name, role, status and projects of a user; `false` if it is not there.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn update(&mut self, tenant: TenantId, user: &User) -> Result<bool> {
        self.tx.reaches(tenant)?;
        let params = [
            Param::Text(user.name.as_str()),
            Param::Text(user.role.as_str()),
            Param::Text(user.status.as_str()),
            user.seen_at.map_or(Param::Null, |at| Param::Int(micros(at))),
            Param::Uuid(tenant.uuid()),
            Param::Uuid(user.id.uuid()),
        ];
        let found = self.tx.conn.execute(&UPDATE, &params)? == 1;
        if found {
            self.set_projects(tenant, user.id, &user.projects)?;
        }
        Ok(found)
    }

    fn set_projects(&mut self, tenant: TenantId, user: UserId, list: &[ProjectId]) -> Result<()> {
        let (tenant, user) = (Param::Uuid(tenant.uuid()), Param::Uuid(user.uuid()));
        self.tx.conn.execute(&CLEAR_PROJECTS, &[tenant, user])?;
        for project in list {
            let params = [tenant, user, Param::Uuid(project.uuid())];
            self.tx.conn.execute(&ADD_PROJECT, &params)?;
        }
        Ok(())
    }

    /// Notes that a user opened its link: who was invited is there now. Nothing else is touched, so
    /// that a change by somebody else at the same moment is not undone.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn came(&mut self, tenant: TenantId, user: UserId, now: Timestamp) -> Result<()> {
        self.tx.reaches(tenant)?;
        let params =
            [Param::Int(micros(now)), Param::Uuid(tenant.uuid()), Param::Uuid(user.uuid())];
        self.tx.conn.execute(&CAME, &params).map(drop)
    }

    /// Notes that a user was there.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn seen(&mut self, tenant: TenantId, user: UserId, now: Timestamp) -> Result<()> {
        self.tx.reaches(tenant)?;
        let params =
            [Param::Int(micros(now)), Param::Uuid(tenant.uuid()), Param::Uuid(user.uuid())];
        self.tx.conn.execute(&SEEN, &params).map(drop)
    }

    /// Stores the hash of a password, or that there is none.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn set_password(
        &mut self,
        tenant: TenantId,
        user: UserId,
        hash: Option<&str>,
    ) -> Result<()> {
        self.tx.reaches(tenant)?;
        let params = [hash.into(), Param::Uuid(tenant.uuid()), Param::Uuid(user.uuid())];
        self.tx.conn.execute(&SET_PASSWORD, &params).map(drop)
    }

    /// Returns the hash of a user's password, if it has one.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn password(&mut self, tenant: TenantId, user: UserId) -> Result<Option<String>> {
        self.tx.reaches(tenant)?;
        let params = [Param::Uuid(tenant.uuid()), Param::Uuid(user.uuid())];
        Ok(self.tx.conn.first(&PASSWORD, &params, |row| row.opt_text(0))?.flatten())
    }

    /// Counts the admins of a tenant that can log in.
    ///
    /// # Errors
    /// If the tenant is out of reach, or the database fails.
    pub fn admins(&mut self, tenant: TenantId) -> Result<i64> {
        self.tx.reaches(tenant)?;
        let params = [Param::Uuid(tenant.uuid())];
        Ok(self.tx.conn.first(&ADMINS, &params, |row| row.int(0))?.unwrap_or_default())
    }
}

fn read(row: &Row<'_>) -> Result<User> {
    let broken = |cause: Invalid| Error::Unreadable { what: "user", cause: cause.into() };
    let status = row.text(3)?;
    Ok(User {
        id: row.uuid(0)?.into(),
        name: row.text(1)?.parse().map_err(broken)?,
        role: row.text(2)?.parse().map_err(broken)?,
        status: UserStatus::from_name(&status).ok_or_else(|| Error::Unreadable {
            what: "status of a user",
            cause: format!("{status:?} is none").into(),
        })?,
        projects: Vec::new(),
        created_at: from_micros(row.int(4)?),
        seen_at: row.opt_int(5)?.map(from_micros),
    })
}
