//! Runs of workflows, and what is to be told to them at a time.

use godel_model::{RunId, TeamId, TenantId, UserId, WorkflowId, from_micros, micros};
use jiff::Timestamp;
use uuid::Uuid;

use crate::statement::{Param, Row, statements};
use crate::{Result, Tx};

statements! {
    INSERT = "run_insert":
        "INSERT INTO run (tenant, id, workflow, name, state, doc, version, idem, parent, parent_part,
                          team, created_at, updated_at, person)
         VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8, $9, $10, $11, $12, $13)
         ON CONFLICT DO NOTHING";
    INSERT_PLAN = "run_plan_insert":
        "INSERT INTO run_plan (tenant, run, definition) VALUES ($1, $2, $3)";
    BY_IDEM = "run_by_idem":
        "SELECT id, workflow, name, state, doc, version, parent, parent_part, team, created_at,
                updated_at, person
         FROM run WHERE tenant = $1 AND idem = $2";
    BY_ID = "run_by_id":
        "SELECT id, workflow, name, state, doc, version, parent, parent_part, team, created_at,
                updated_at, person
         FROM run WHERE tenant = $1 AND id = $2";
    PAGE = "run_page":
        "SELECT id, workflow, name, state, doc, version, parent, parent_part, team, created_at,
                updated_at, person
         FROM run WHERE tenant = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
    OF_WORKFLOW = "run_of_workflow":
        "SELECT id, workflow, name, state, doc, version, parent, parent_part, team, created_at,
                updated_at, person
         FROM run WHERE tenant = $1 AND workflow = $2 AND id < $3 ORDER BY id DESC LIMIT $4";
    PLAN = "run_plan_read": "SELECT definition FROM run_plan WHERE tenant = $1 AND run = $2";
    STEPS = "run_step_list":
        "SELECT step, doc FROM run_step WHERE tenant = $1 AND run = $2 ORDER BY step";
    PUT_STEP = "run_step_put":
        "INSERT INTO run_step (tenant, run, step, doc) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant, run, step) DO UPDATE SET doc = EXCLUDED.doc";
    TURN = "run_turn":
        "UPDATE run SET version = version + 1, updated_at = $1
         WHERE tenant = $2 AND id = $3 AND version = $4";
    TURN_CHANGED = "run_turn_changed":
        "UPDATE run SET version = version + 1, updated_at = $1, state = $2, doc = $3
         WHERE tenant = $4 AND id = $5 AND version = $6";
    ADOPT = "run_adopt":
        "UPDATE run SET idem = $1, parent_part = $2, version = version + 1, updated_at = $3
         WHERE tenant = $4 AND id = $5 AND version = $6";
    ALARM_PUT = "alarm_put":
        "INSERT INTO alarm (tenant, owner_kind, owner, what, at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant, owner_kind, owner, what) DO UPDATE SET at = EXCLUDED.at";
    ALARM_DELETE = "alarm_delete":
        "DELETE FROM alarm
         WHERE tenant = $1 AND owner_kind = $2 AND owner = $3 AND what = $4 AND at = $5";
    ALARMS_DUE = "alarm_due":
        "SELECT tenant, owner_kind, owner, what, at FROM alarm WHERE at <= $1 ORDER BY at LIMIT $2";
    ALARM_NEXT = "alarm_next": "SELECT MIN(at) FROM alarm";
    DELETE_STEPS = "run_step_delete": "DELETE FROM run_step WHERE tenant = $1 AND run = $2";
    DELETE_PLAN = "run_plan_delete": "DELETE FROM run_plan WHERE tenant = $1 AND run = $2";
    DELETE = "run_delete": "DELETE FROM run WHERE tenant = $1 AND id = $2";
}

/// A run as it is stored; `doc` is its state, which only the engine understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// The id.
    pub id: RunId,
    /// The stored workflow of which it is a run.
    pub workflow: Option<WorkflowId>,
    /// The name of the workflow.
    pub name: String,
    /// The state, as text.
    pub state: String,
    /// All about it but its steps.
    pub doc: String,
    /// How often it was moved on.
    pub version: i64,
    /// Whose step started it, and which.
    pub parent: Option<(RunId, String)>,
    /// The team whose plan it is.
    pub team: Option<TeamId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last moved on.
    pub updated_at: Timestamp,
    /// By whom.
    pub created_by: UserId,
}

/// Something that is to be told at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// What kind of thing is told.
    pub kind: String,
    /// Which one.
    pub owner: String,
    /// What.
    pub what: String,
    /// When.
    pub at: Timestamp,
}

/// The runs of a tenant.
pub struct Runs<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl Runs<'_, '_> {
    /// Adds a run; `false` if one with the same key is there.
    ///
    /// # Errors
    /// If the database fails.
    pub fn insert(&mut self, run: &RunRecord, key: Option<&str>, definition: &str) -> Result<bool> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let parent = run.parent.as_ref();
        let params = [
            own,
            Param::Uuid(run.id.uuid()),
            Param::from(run.workflow.map(WorkflowId::uuid)),
            Param::Text(&run.name),
            Param::Text(&run.state),
            Param::Text(&run.doc),
            Param::from(key),
            Param::from(parent.map(|(id, _)| id.uuid())),
            Param::from(parent.map(|(_, part)| part.as_str())),
            Param::from(run.team.map(TeamId::uuid)),
            Param::Int(micros(run.created_at)),
            Param::Int(micros(run.updated_at)),
            Param::Uuid(run.created_by.uuid()),
        ];
        if self.tx.conn.execute(&INSERT, &params)? == 0 {
            return Ok(false);
        }
        let params = [own, Param::Uuid(run.id.uuid()), Param::Text(definition)];
        self.tx.conn.execute(&INSERT_PLAN, &params)?;
        Ok(true)
    }

    /// Finds a run.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_id(&mut self, id: RunId) -> Result<Option<RunRecord>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.first(&BY_ID, &params, read)
    }

    /// Finds the run that was made with a key.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_key(&mut self, key: &str) -> Result<Option<RunRecord>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(key)];
        self.tx.conn.first(&BY_IDEM, &params, read)
    }

    /// Lets a run belong to another round of the step that started it; `false` if somebody moved it
    /// on meanwhile.
    ///
    /// # Errors
    /// If the database fails.
    pub fn adopt(
        &mut self,
        run: &RunRecord,
        (key, part): (&str, &str),
        now: Timestamp,
    ) -> Result<bool> {
        let (own, id) = (Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(run.id.uuid()));
        let (key, part) = (Param::Text(key), Param::Text(part));
        let params = [key, part, Param::Int(micros(now)), own, id, Param::Int(run.version)];
        Ok(self.tx.conn.execute(&ADOPT, &params)? == 1)
    }

    /// Lists runs before an id, the newest first, of one workflow or of all.
    ///
    /// # Errors
    /// If the database fails.
    pub fn page(
        &mut self,
        workflow: Option<WorkflowId>,
        before: Option<RunId>,
        limit: usize,
    ) -> Result<Vec<RunRecord>> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let before = Param::Uuid(before.map_or(Uuid::max(), RunId::uuid));
        let limit = Param::Int(limit as i64);
        match workflow {
            Some(workflow) => {
                let params = [own, Param::Uuid(workflow.uuid()), before, limit];
                self.tx.conn.query(&OF_WORKFLOW, &params, read)
            }
            None => self.tx.conn.query(&PAGE, &[own, before, limit], read),
        }
    }

    /// Reads what a run carries out.
    ///
    /// # Errors
    /// If the database fails.
    pub fn definition(&mut self, id: RunId) -> Result<Option<String>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.first(&PLAN, &params, |row| row.text(0))
    }

    /// Reads the steps of a run that have begun.
    ///
    /// # Errors
    /// If the database fails.
    pub fn steps(&mut self, id: RunId) -> Result<Vec<(u32, String)>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.query(&STEPS, &params, |row| {
            Ok((u32::try_from(row.int(0)?).unwrap_or(u32::MAX), row.text(1)?))
        })
    }

    /// Writes a step.
    ///
    /// # Errors
    /// If the database fails.
    pub fn put_step(&mut self, id: RunId, step: u32, doc: &str) -> Result<()> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [own, Param::Uuid(id.uuid()), Param::Int(step.into()), Param::Text(doc)];
        self.tx.conn.execute(&PUT_STEP, &params).map(drop)
    }

    /// Moves a run on from a version, and stores its state if that changed; `false` if somebody else
    /// did.
    ///
    /// # Errors
    /// If the database fails.
    pub fn turn(
        &mut self,
        id: RunId,
        version: i64,
        changed: Option<(&str, &str)>,
        now: Timestamp,
    ) -> Result<bool> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let (now, id, version) =
            (Param::Int(micros(now)), Param::Uuid(id.uuid()), Param::Int(version));
        let touched = match changed {
            Some((state, doc)) => {
                let params = [now, Param::Text(state), Param::Text(doc), own, id, version];
                self.tx.conn.execute(&TURN_CHANGED, &params)?
            }
            None => self.tx.conn.execute(&TURN, &[now, own, id, version])?,
        };
        Ok(touched == 1)
    }

    /// Has something told at a time.
    ///
    /// # Errors
    /// If the database fails.
    pub fn set_alarm(&mut self, alarm: &Alarm) -> Result<()> {
        let params = [
            Param::Uuid(self.tx.tenant()?.uuid()),
            Param::Text(&alarm.kind),
            Param::Text(&alarm.owner),
            Param::Text(&alarm.what),
            Param::Int(micros(alarm.at)),
        ];
        self.tx.conn.execute(&ALARM_PUT, &params).map(drop)
    }

    /// Forgets an alarm; `false` if it was changed or is gone.
    ///
    /// # Errors
    /// If the database fails.
    pub fn drop_alarm(&mut self, alarm: &Alarm) -> Result<bool> {
        let params = [
            Param::Uuid(self.tx.tenant()?.uuid()),
            Param::Text(&alarm.kind),
            Param::Text(&alarm.owner),
            Param::Text(&alarm.what),
            Param::Int(micros(alarm.at)),
        ];
        Ok(self.tx.conn.execute(&ALARM_DELETE, &params)? == 1)
    }

    /// Lists alarms of all tenants whose time has come.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn due(&mut self, now: Timestamp, limit: usize) -> Result<Vec<(TenantId, Alarm)>> {
        self.tx.system()?;
        let params = [Param::Int(micros(now)), Param::Int(limit as i64)];
        self.tx.conn.query(&ALARMS_DUE, &params, |row| {
            let alarm = Alarm {
                kind: row.text(1)?,
                owner: row.text(2)?,
                what: row.text(3)?,
                at: from_micros(row.int(4)?),
            };
            Ok((TenantId::from_uuid(row.uuid(0)?), alarm))
        })
    }

    /// Tells when the next alarm of any tenant is due.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn next_alarm(&mut self) -> Result<Option<Timestamp>> {
        self.tx.system()?;
        let found = self.tx.conn.first(&ALARM_NEXT, &[], |row| row.opt_int(0))?;
        Ok(found.flatten().map(from_micros))
    }

    /// Removes a run with all its steps.
    ///
    /// # Errors
    /// If the database fails.
    pub fn delete(&mut self, id: RunId) -> Result<()> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(id.uuid())];
        for statement in [&DELETE_STEPS, &DELETE_PLAN, &DELETE] {
            self.tx.conn.execute(statement, &params)?;
        }
        Ok(())
    }
}

fn read(row: &Row<'_>) -> Result<RunRecord> {
    let parent = row.opt_uuid(6)?.map(RunId::from_uuid);
    let part = row.opt_text(7)?.unwrap_or_default();
    Ok(RunRecord {
        id: RunId::from_uuid(row.uuid(0)?),
        workflow: row.opt_uuid(1)?.map(WorkflowId::from_uuid),
        name: row.text(2)?,
        state: row.text(3)?,
        doc: row.text(4)?,
        version: row.int(5)?,
        parent: parent.map(|parent| (parent, part)),
        team: row.opt_uuid(8)?.map(TeamId::from_uuid),
        created_at: from_micros(row.int(9)?),
        updated_at: from_micros(row.int(10)?),
        created_by: UserId::from_uuid(row.uuid(11)?),
    })
}
