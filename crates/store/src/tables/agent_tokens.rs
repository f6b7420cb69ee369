//! Tokens by which agents reach models.

use godel_model::{KeyHash, ProjectId, Purpose, TenantId, TokenId, UserId, from_micros, micros};
use jiff::Timestamp;
use uuid::Uuid;

use crate::statement::{Param, Row, statements};
use crate::{Result, Tx};

statements! {
    INSERT = "agent_token_insert":
        "INSERT INTO agent_token (tenant, id, person, hash, prefix, name, project, agent, bead,
             convoy, models, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    BY_HASH = "agent_token_by_hash":
        "SELECT t.tenant, t.id, t.person, t.prefix, t.name, t.project, t.agent, t.bead, t.convoy,
             t.models, t.created_at, t.expires_at, t.revoked_at, p.status, n.disabled_at
         FROM agent_token t JOIN person p ON p.id = t.person JOIN tenant n ON n.tenant = t.tenant
         WHERE t.hash = $1";
    BY_ID = "agent_token_by_id":
        "SELECT tenant, id, person, prefix, name, project, agent, bead, convoy, models, created_at,
             expires_at, revoked_at
         FROM agent_token WHERE tenant = $1 AND id = $2";
    PAGE = "agent_token_page":
        "SELECT tenant, id, person, prefix, name, project, agent, bead, convoy, models, created_at,
             expires_at, revoked_at
         FROM agent_token WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3";
    REVOKE = "agent_token_revoke":
        "UPDATE agent_token SET revoked_at = $1
         WHERE tenant = $2 AND id = $3 AND revoked_at IS NULL";
    REVOKE_AGENT = "agent_token_revoke_agent":
        "UPDATE agent_token SET revoked_at = $1
         WHERE tenant = $2 AND agent = $3 AND revoked_at IS NULL";
    LIVE = "agent_token_live":
        "SELECT COUNT(*) FROM agent_token WHERE tenant = $1 AND person = $2 AND revoked_at IS NULL
         AND (expires_at IS NULL OR expires_at > $3)";
}

/// What is known of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentTokenRecord {
    /// The id.
    pub id: TokenId,
    /// On whose behalf and for what models are asked.
    pub purpose: Purpose,
    /// The beginning of the token, by which a person recognises it.
    pub prefix: String,
    /// What it is for.
    pub name: String,
    /// Which models may be asked, as patterns with `*`; none means all.
    pub models: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// The tokens of this server.
pub struct AgentTokens<'t, 'c> {
    pub(crate) tx: &'t mut Tx<'c>,
}

impl AgentTokens<'_, '_> {
    /// Adds a token.
    ///
    /// # Errors
    /// If the database fails.
    pub fn insert(&mut self, token: &AgentTokenRecord, hash: &KeyHash) -> Result<()> {
        let (tenant, models) = (self.tx.tenant()?, token.models.join("\n"));
        let purpose = &token.purpose;
        let params = [
            Param::Uuid(tenant.uuid()),
            Param::Uuid(token.id.uuid()),
            Param::Uuid(purpose.user.uuid()),
            Param::Bytes(&hash.0),
            Param::Text(&token.prefix),
            Param::Text(&token.name),
            Param::from(purpose.project.map(ProjectId::uuid)),
            Param::from(purpose.agent.as_deref()),
            Param::from(purpose.bead.as_deref()),
            Param::from(purpose.convoy.as_deref()),
            Param::Text(&models),
            Param::Int(micros(token.created_at)),
            token.expires_at.map_or(Param::Null, |at| Param::Int(micros(at))),
        ];
        self.tx.conn.execute(&INSERT, &params).map(drop)
    }

    /// Finds a token by its hash, and tells whether its user and its tenant are active.
    ///
    /// # Errors
    /// If the database fails, or the scope is not the whole system.
    pub fn by_hash(&mut self, hash: &KeyHash) -> Result<Option<(AgentTokenRecord, bool)>> {
        self.tx.system()?;
        self.tx.conn.first(&BY_HASH, &[Param::Bytes(&hash.0)], |row| {
            let active = row.text(13)? == "active" && row.opt_int(14)?.is_none();
            Ok((read(row)?, active))
        })
    }

    /// Finds a token.
    ///
    /// # Errors
    /// If the database fails.
    pub fn by_id(&mut self, id: TokenId) -> Result<Option<AgentTokenRecord>> {
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(id.uuid())];
        self.tx.conn.first(&BY_ID, &params, read)
    }

    /// Lists tokens behind an id.
    ///
    /// # Errors
    /// If the database fails.
    pub fn page(&mut self, after: Option<TokenId>, limit: usize) -> Result<Vec<AgentTokenRecord>> {
        let after = after.map_or(Uuid::nil(), TokenId::uuid);
        let limit = Param::Int(i64::try_from(limit).unwrap_or(i64::MAX));
        let params = [Param::Uuid(self.tx.tenant()?.uuid()), Param::Uuid(after), limit];
        self.tx.conn.query(&PAGE, &params, read)
    }

    /// Revokes a token; `false` if there is none that lives.
    ///
    /// # Errors
    /// If the database fails.
    pub fn revoke(&mut self, id: TokenId, now: Timestamp) -> Result<bool> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [Param::Int(micros(now)), tenant, Param::Uuid(id.uuid())];
        Ok(self.tx.conn.execute(&REVOKE, &params)? == 1)
    }

    /// Revokes all tokens of an agent; returns how many lived.
    ///
    /// # Errors
    /// If the database fails.
    pub fn revoke_agent(&mut self, agent: &str, now: Timestamp) -> Result<u64> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        self.tx.conn.execute(&REVOKE_AGENT, &[Param::Int(micros(now)), tenant, Param::Text(agent)])
    }

    /// Counts the tokens of a user that live.
    ///
    /// # Errors
    /// If the database fails.
    pub fn live(&mut self, user: UserId, now: Timestamp) -> Result<i64> {
        let tenant = Param::Uuid(self.tx.tenant()?.uuid());
        let params = [tenant, Param::Uuid(user.uuid()), Param::Int(micros(now))];
        Ok(self.tx.conn.first(&LIVE, &params, |row| row.int(0))?.unwrap_or(0))
    }
}

fn read(row: &Row<'_>) -> Result<AgentTokenRecord> {
    let id = TokenId::from_uuid(row.uuid(1)?);
    let purpose = Purpose {
        tenant: TenantId::from_uuid(row.uuid(0)?),
        user: UserId::from_uuid(row.uuid(2)?),
        project: row.opt_uuid(5)?.map(ProjectId::from_uuid),
        agent: row.opt_text(6)?,
        bead: row.opt_text(7)?,
        convoy: row.opt_text(8)?,
        token: Some(id),
    };
    Ok(AgentTokenRecord {
        id,
        purpose,
        prefix: row.text(3)?,
        name: row.text(4)?,
        models: row.text(9)?.lines().map(ToOwned::to_owned).collect(),
        created_at: from_micros(row.int(10)?),
        expires_at: row.opt_int(11)?.map(from_micros),
        revoked_at: row.opt_int(12)?.map(from_micros),
    })
}
