//! Incidents: papers that somebody is told of once, whoever tells it and how often.

use godel_model::{Incident, TenantId};
use uuid::Uuid;

use super::papers;
use crate::statement::{Param, statements};
use crate::{Error, Paper, Result, Tx};

/// The kind of paper that an incident is.
pub const INCIDENT: &str = "incident";

statements! {
    INSERT = "incident_insert":
        "INSERT INTO paper (tenant, kind, id, label, owner, state, doc, version)
         VALUES ($1, 'incident', $2, $3, $4, 'open', $5, 1) ON CONFLICT DO NOTHING";
    OPEN_OF = "incident_open_of":
        "SELECT id, label, owner, state, doc, version FROM paper
         WHERE tenant = $1 AND kind = 'incident' AND owner = $2 AND state = 'open'";
    CLOSE_OTHERS = "incident_close_others":
        "UPDATE paper SET state = 'closed', version = version + 1
         WHERE tenant = $1 AND kind = 'incident' AND owner = $2 AND state = 'open' AND id <> $3";
}

/// The incidents of tenants.
pub struct Incidents<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Incidents<'_, '_> {
    /// Raises an incident and closes earlier ones of the same owner; `false` if it was raised before.
    ///
    /// # Errors
    /// If the database fails, or the scope is another tenant.
    pub fn raise(&mut self, tenant: TenantId, incident: &Incident) -> Result<bool> {
        self.tx.reaches(tenant)?;
        let (name, owner) = (incident.trouble.name(), incident.trouble.owner());
        let (doc, own) = (written(incident)?, Param::Uuid(tenant.uuid()));
        let id = Param::Uuid(incident.id);
        let name = Param::from(name.as_deref());
        let params = [own, id, name, Param::Text(&owner), Param::Text(&doc)];
        if self.tx.conn.execute(&INSERT, &params)? == 0 {
            return Ok(false);
        }
        self.tx.conn.execute(&CLOSE_OTHERS, &[own, Param::Text(&owner), id])?;
        Ok(true)
    }

    /// Closes the open incident of an owner and says what became of it; `false` if there is none.
    ///
    /// # Errors
    /// If the database fails.
    pub fn close(&mut self, owner: &str, answer: Option<&str>) -> Result<bool> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(owner)];
        let mut closed = false;
        // By its state, not by its id: the clocks of two servers differ.
        for paper in self.tx.conn.query(&OPEN_OF, &params, papers::read)? {
            closed |= self.shut(paper, answer)?;
        }
        Ok(closed)
    }

    /// Closes one incident, whatever it is about; `false` if it is not open.
    ///
    /// # Errors
    /// If the database fails.
    pub fn put_aside(&mut self, id: Uuid) -> Result<bool> {
        let found = self.tx.papers(INCIDENT).by_id(id)?.filter(|paper| paper.state == "open");
        found.map_or(Ok(false), |paper| self.shut(paper, None))
    }

    fn shut(&mut self, paper: Paper, answer: Option<&str>) -> Result<bool> {
        let mut incident: Incident = serde_json::from_str(&paper.doc).map_err(unreadable)?;
        incident.answer = answer.map(ToOwned::to_owned);
        let (state, doc) = ("closed".to_owned(), written(&incident)?);
        self.tx.papers(INCIDENT).update(&Paper { state, doc, ..paper })
    }
}

fn written(incident: &Incident) -> Result<String> {
    serde_json::to_string(incident).map_err(unreadable)
}

fn unreadable(cause: serde_json::Error) -> Error {
    Error::Unreadable { what: INCIDENT, cause: cause.into() }
}
