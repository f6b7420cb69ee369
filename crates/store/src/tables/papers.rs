//! Papers: documents that are read and written whole, such as agents, conversations, mail and notices; and
//! the nodes of conversations.

use godel_model::TenantId;
use uuid::Uuid;

use crate::statement::{Param, Row, statements};
use crate::{Result, Tx};

statements! {
    INSERT = "paper_insert":
        "INSERT INTO paper (tenant, kind, id, label, owner, state, doc, version)
         VALUES ($1, $2, $3, $4, $5, $6, $7, 1) ON CONFLICT DO NOTHING";
    UPDATE = "paper_update":
        "UPDATE paper SET owner = $1, state = $2, doc = $3, version = version + 1
         WHERE tenant = $4 AND kind = $5 AND id = $6 AND version = $7";
    BY_ID = "paper_by_id":
        "SELECT id, label, owner, state, doc, version FROM paper
         WHERE tenant = $1 AND kind = $2 AND id = $3";
    BY_LABEL = "paper_by_label":
        "SELECT id, label, owner, state, doc, version FROM paper
         WHERE tenant = $1 AND kind = $2 AND label = $3";
    PAGE = "paper_page":
        "SELECT id, label, owner, state, doc, version FROM paper
         WHERE tenant = $1 AND kind = $2 AND id < $3 ORDER BY id DESC LIMIT $4";
    OF_OWNER = "paper_of_owner":
        "SELECT id, label, owner, state, doc, version FROM paper
         WHERE tenant = $1 AND kind = $2 AND owner = $3 AND id < $4 ORDER BY id DESC LIMIT $5";
    IN_STATE = "paper_in_state":
        "SELECT id, label, owner, state, doc, version FROM paper
         WHERE kind = $1 AND state = $2 AND tenant = $3 AND id < $4 ORDER BY id DESC LIMIT $5";
    TENANTS = "paper_tenants":
        "SELECT DISTINCT tenant FROM paper WHERE kind = $1 AND state = $2";
    COUNT = "paper_count":
        "SELECT state, COUNT(*) FROM paper WHERE tenant = $1 AND kind = $2 GROUP BY state";
    DELETE = "paper_delete": "DELETE FROM paper WHERE tenant = $1 AND kind = $2 AND id = $3";
    ADD_NODE = "talk_node_add":
        "INSERT INTO talk_node (tenant, talk, number, doc) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant, talk, number) DO NOTHING";
    NODES = "talk_nodes":
        "SELECT number, doc FROM talk_node
         WHERE tenant = $1 AND talk = $2 AND number >= $3 ORDER BY number LIMIT $4";
    DROP_NODES = "talk_nodes_drop": "DELETE FROM talk_node WHERE tenant = $1 AND talk = $2";
}

/// A document as it is stored; what it says only its kind knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paper {
    /// Its id.
    pub id: Uuid,
    /// A name that no other of the kind has.
    pub label: Option<String>,
    /// Whom it belongs to.
    pub owner: String,
    /// The state it is in.
    pub state: String,
    /// What it says.
    pub doc: String,
    /// How often it was written.
    pub version: i64,
}

/// Papers of one kind.
pub struct Papers<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
    pub(crate) kind: &'static str,
}

impl Papers<'_, '_> {
    /// Adds a paper; `false` if its id or label is taken.
    ///
    /// # Errors
    /// If the database fails.
    pub fn insert(&mut self, paper: &Paper) -> Result<bool> {
        let params = [
            Param::Uuid(self.tx.tenant()?.uuid()),
            Param::Text(self.kind),
            Param::Uuid(paper.id),
            Param::from(paper.label.as_deref()),
            Param::Text(&paper.owner),
            Param::Text(&paper.state),
            Param::Text(&paper.doc),
        ];
        Ok(self.tx.conn.execute(&INSERT, &params)? == 1)
    }

    /// Writes a paper anew if it has the version that was read; `false` if it has another.
    ///
    /// # Errors
    /// If the database fails.
    pub fn update(&mut self, paper: &Paper) -> Result<bool> {
        let params = [
            Param::Text(&paper.owner),
            Param::Text(&paper.state),
            Param::Text(&paper.doc),
            Param::Uuid(self.tx.tenant()?.uuid()),
            Param::Text(self.kind),
            Param::Uuid(paper.id),
            Param::Int(paper.version),
        ];
        Ok(self.tx.conn.execute(&UPDATE, &params)? == 1)
    }

    /// Finds a paper.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_id(&mut self, id: Uuid) -> Result<Option<Paper>> {
        let params =
            [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(self.kind), Param::Uuid(id)];
        self.tx.conn.first(&BY_ID, &params, read)
    }

    /// Finds the paper that has a label.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_label(&mut self, label: &str) -> Result<Option<Paper>> {
        let params =
            [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(self.kind), Param::Text(label)];
        self.tx.conn.first(&BY_LABEL, &params, read)
    }

    /// Lists papers before an id, the newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub fn page(&mut self, before: Option<Uuid>, limit: usize) -> Result<Vec<Paper>> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let before = Param::Uuid(before.unwrap_or(Uuid::max()));
        let params = [own, Param::Text(self.kind), before, Param::Int(limit as i64)];
        self.tx.conn.query(&PAGE, &params, read)
    }

    /// Lists papers of an owner before an id, the newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub fn of(&mut self, owner: &str, before: Option<Uuid>, limit: usize) -> Result<Vec<Paper>> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let before = Param::Uuid(before.unwrap_or(Uuid::max()));
        let params =
            [own, Param::Text(self.kind), Param::Text(owner), before, Param::Int(limit as i64)];
        self.tx.conn.query(&OF_OWNER, &params, read)
    }

    /// Lists papers in a state before an id, the newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub fn in_state(
        &mut self,
        state: &str,
        before: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Paper>> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let before = Param::Uuid(before.unwrap_or(Uuid::max()));
        let params =
            [Param::Text(self.kind), Param::Text(state), own, before, Param::Int(limit as i64)];
        self.tx.conn.query(&IN_STATE, &params, read)
    }

    /// Lists the tenants that have a paper in a state.
    ///
    /// # Errors
    /// If the database fails, or the scope is one tenant.
    pub fn tenants(&mut self, state: &str) -> Result<Vec<TenantId>> {
        self.tx.system()?;
        let params = [Param::Text(self.kind), Param::Text(state)];
        self.tx.conn.query(&TENANTS, &params, |row| Ok(TenantId::from_uuid(row.uuid(0)?)))
    }

    /// Counts papers by their states.
    ///
    /// # Errors
    /// If the database fails.
    pub fn count(&mut self) -> Result<Vec<(String, i64)>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(self.kind)];
        self.tx.conn.query(&COUNT, &params, |row| Ok((row.text(0)?, row.int(1)?)))
    }

    /// Removes a paper; `false` if there is none.
    ///
    /// # Errors
    /// If the database fails.
    pub fn delete(&mut self, id: Uuid) -> Result<bool> {
        let params =
            [Param::Uuid(self.tx.tenant()?.uuid()), Param::Text(self.kind), Param::Uuid(id)];
        Ok(self.tx.conn.execute(&DELETE, &params)? == 1)
    }
}

/// Nodes of one conversation.
pub struct TalkNodes<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
    pub(crate) talk: Uuid,
}

impl TalkNodes<'_, '_> {
    /// Adds a node; one that is there already stays as it is.
    ///
    /// # Errors
    /// If the database fails.
    pub fn add(&mut self, number: u32, doc: &str) -> Result<()> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [own, Param::Uuid(self.talk), Param::Int(number.into()), Param::Text(doc)];
        self.tx.conn.execute(&ADD_NODE, &params).map(drop)
    }

    /// Lists nodes from a number on.
    ///
    /// # Errors
    /// If the database fails.
    pub fn from(&mut self, first: u32, limit: usize) -> Result<Vec<(u32, String)>> {
        let own = Param::Uuid(self.tx.tenant()?.uuid());
        let params =
            [own, Param::Uuid(self.talk), Param::Int(first.into()), Param::Int(limit as i64)];
        self.tx.conn.query(&NODES, &params, |row| {
            Ok((u32::try_from(row.int(0)?).unwrap_or(u32::MAX), row.text(1)?))
        })
    }

    /// Removes all nodes.
    ///
    /// # Errors
    /// If the database fails.
    pub fn clear(&mut self) -> Result<u64> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(self.talk)];
        self.tx.conn.execute(&DROP_NODES, &params)
    }
}

pub(super) fn read(row: &Row<'_>) -> Result<Paper> {
    Ok(Paper {
        id: row.uuid(0)?,
        label: row.opt_text(1)?,
        owner: row.text(2)?,
        state: row.text(3)?,
        doc: row.text(4)?,
        version: row.int(5)?,
    })
}
