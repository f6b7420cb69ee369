//! Lists of beads and convoys, by filter and in pages.

use std::collections::HashSet;

use gix::ObjectId;
use godel_model::{BeadStatus, Priority, from_micros};
use jiff::Timestamp;
use rusqlite::types::Value as Sql;
use rusqlite::{OptionalExtension as _, params_from_iter};
use serde::{Deserialize, Serialize};

use super::Index;
use super::terms::{Moment, Named, Query, What};
use crate::Result;

/// Which beads are wanted; what is not said does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// One of these; none means all but `done`.
    pub statuses: Vec<BeadStatus>,
    /// One of these types.
    pub kinds: Vec<String>,
    /// One of these.
    pub priorities: Vec<Priority>,
    /// All of these.
    pub labels: Vec<String>,
    /// Worked on by this agent.
    pub agent: Option<String>,
    /// A part of this bead.
    pub parent: Option<String>,
    /// In this convoy.
    pub convoy: Option<String>,
    /// With these words in it.
    pub words: Option<String>,
    /// What a person typed to find them.
    pub query: Option<Query>,
    /// Those that are deleted, too.
    pub deleted: bool,
}

impl Filter {
    /// Wants everything that is not deleted.
    pub fn everything() -> Self {
        Self { statuses: BeadStatus::ALL.to_vec(), ..Self::default() }
    }
}

/// The order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    /// The most urgent first, then the oldest.
    #[default]
    Priority,
    /// The newest first.
    Created,
    /// What was changed last first.
    Updated,
}

/// Which part of a list is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// In which order.
    pub sort: Sort,
    /// How many at most.
    pub limit: usize,
    /// After this one, which is the last of the page before.
    pub after: Option<Row>,
}

/// A line of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// The bead.
    pub id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its title.
    pub title: String,
    /// How far it has come.
    pub status: BeadStatus,
    /// How urgent it is.
    pub priority: Priority,
    /// Who works on it.
    pub agent: Option<String>,
    /// The bead it is a part of.
    pub parent: Option<String>,
    /// Whether something holds it up.
    pub blocked: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Whether it is deleted.
    #[serde(skip)]
    pub(crate) deleted: bool,
    /// Its document.
    #[serde(skip)]
    pub(crate) blob: Option<ObjectId>,
}

impl Row {
    /// Returns its place in every order, as text that [`Row::at_mark`] reads.
    pub fn mark(&self) -> String {
        let (created, updated) =
            (self.created_at.as_microsecond(), self.updated_at.as_microsecond());
        format!("{}.{created}.{updated}.{}", self.priority as u8, self.id)
    }

    /// Returns a row that stands at a place; it has nothing else.
    pub fn at_mark(mark: &str) -> Option<Self> {
        let mut parts = mark.splitn(4, '.');
        let priority: usize = parts.next()?.parse().ok()?;
        let created_at = from_micros(parts.next()?.parse().ok()?);
        let updated_at = from_micros(parts.next()?.parse().ok()?);
        Some(Self {
            id: parts.next()?.to_owned(),
            kind: String::new(),
            title: String::new(),
            status: BeadStatus::Open,
            priority: *Priority::ALL.get(priority)?,
            agent: None,
            parent: None,
            blocked: false,
            created_at,
            updated_at,
            deleted: false,
            blob: None,
        })
    }
}

/// The columns of a row, in the order in which [`row`] reads them.
pub(super) const COLUMNS: &str = "b.id, b.kind, b.title, b.status, b.priority, b.agent, b.parent, \
                                  b.blocked, b.created, b.updated, b.blob, b.deleted";

/// Reads a row of [`COLUMNS`].
pub(super) fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let word = |at: usize| -> rusqlite::Result<usize> {
        Ok(usize::try_from(row.get::<_, i64>(at)?).unwrap_or_default())
    };
    Ok(Row {
        id: row.get(0)?,
        kind: row.get(1)?,
        title: row.get(2)?,
        status: BeadStatus::ALL.get(word(3)?).copied().unwrap_or(BeadStatus::Open),
        priority: Priority::ALL.get(word(4)?).copied().unwrap_or(Priority::Medium),
        agent: row.get(5)?,
        parent: row.get(6)?,
        blocked: row.get(7)?,
        created_at: from_micros(row.get(8)?),
        updated_at: from_micros(row.get(9)?),
        blob: ObjectId::try_from(row.get_ref(10)?.as_blob()?).ok(),
        deleted: row.get(11)?,
    })
}

/// The beads that are in convoys.
const IN_CONVOYS: &str =
    "SELECT m.bead FROM members AS m JOIN convoys AS c ON c.id = m.convoy WHERE NOT c.deleted";

/// Conditions and the values for them.
#[derive(Debug, Default)]
struct Wanted {
    conditions: Vec<String>,
    values: Vec<Sql>,
}

impl Wanted {
    fn value(&mut self, value: impl Into<Sql>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    fn one_of<T: Into<Sql>>(&mut self, column: &str, values: impl IntoIterator<Item = T>) {
        let places: Vec<String> = values.into_iter().map(|value| self.value(value)).collect();
        if !places.is_empty() {
            self.conditions.push(format!("{column} IN ({})", places.join(", ")));
        }
    }

    fn of(filter: &Filter) -> Self {
        let mut wanted = Self::default();
        if !filter.deleted {
            wanted.conditions.push("b.deleted = 0".to_owned());
        }
        let asked = filter.query.as_ref();
        if filter.statuses.is_empty() {
            if !asked.is_some_and(Query::names_status) {
                wanted.conditions.push("b.status < 3".to_owned());
            }
        } else if filter.statuses.len() < BeadStatus::ALL.len() {
            wanted.one_of("b.status", filter.statuses.iter().map(|status| *status as i64));
        }
        wanted.one_of("b.kind", filter.kinds.iter().cloned());
        wanted.one_of("b.priority", filter.priorities.iter().map(|priority| *priority as i64));
        for label in &filter.labels {
            let label = wanted.value(label.clone());
            let labelled = format!("b.id IN (SELECT bead FROM labels WHERE label = {label})");
            wanted.conditions.push(labelled);
        }
        wanted.one_of("b.agent", filter.agent.clone());
        wanted.one_of("b.parent", filter.parent.clone());
        if let Some(convoy) = &filter.convoy {
            let convoy = wanted.value(convoy.clone());
            let inside = format!("b.id IN (SELECT bead FROM members WHERE convoy = {convoy})");
            wanted.conditions.push(inside);
        }
        if let Some(words) = &filter.words {
            let words = wanted.value(phrase(words));
            let found = format!("b.n IN (SELECT rowid FROM words WHERE words MATCH {words})");
            wanted.conditions.push(found);
        }
        for term in asked.iter().flat_map(|query| &query.terms) {
            let holds = wanted.term(&term.what);
            // What is not known, such as the agent of a bead that has none, does not hold.
            let not = if term.not { "NOT " } else { "" };
            wanted.conditions.push(format!("{not}ifnull({holds}, 0)"));
        }
        wanted
    }

    /// Returns the condition for a term of a query.
    fn term(&mut self, what: &What) -> String {
        match what {
            What::Text(text) => {
                // Inside of quotes only a quote or the end of the text (a zero byte) means something.
                let plain = text.replace(|letter: char| letter == '"' || letter.is_control(), " ");
                let text = self.value(format!("\"{plain}\"*"));
                format!("(b.n IN (SELECT rowid FROM words WHERE words MATCH {text}))")
            }
            What::Status(values) => self.among("b.status", values.iter().map(|one| *one as i64)),
            What::Priority(values) => {
                self.among("b.priority", values.iter().map(|one| *one as i64))
            }
            What::Kind(values) => self.among("lower(b.kind)", values.iter().cloned()),
            What::Blocked(values) => {
                let values = values.iter().map(|yes| i64::from(*yes));
                self.among("(b.blocked AND b.status < 3)", values)
            }
            What::Label(values) => {
                let labelled = self.among("lower(label)", values.iter().cloned());
                format!("(b.id IN (SELECT bead FROM labels WHERE {labelled}))")
            }
            What::Agent(values) => self.named(
                values,
                |wanted, name| {
                    let name = wanted.value(name);
                    format!("lower(b.agent) IN ({name}, 'user:' || {name})")
                },
                ("b.agent IS NULL", "b.agent"),
            ),
            What::Parent(values) => self.named(
                values,
                |wanted, name| format!("lower(b.parent) = {}", wanted.value(name)),
                ("b.parent IS NULL", "b.parent"),
            ),
            What::Convoy(values) => self.named(
                values,
                |wanted, name| {
                    let name = wanted.value(name);
                    format!("b.id IN ({IN_CONVOYS} AND {name} IN (lower(c.id), lower(c.name)))")
                },
                (&format!("b.id NOT IN ({IN_CONVOYS})"), "NULL"),
            ),
            What::Moment { column, after, at } => {
                let at = self.value(at.as_microsecond());
                let column = match column {
                    Moment::Updated => "b.updated",
                    Moment::Created => "b.created",
                };
                format!("({column} {} {at})", if *after { ">" } else { "<" })
            }
        }
    }

    fn among<T: Into<Sql>>(&mut self, column: &str, values: impl Iterator<Item = T>) -> String {
        let places: Vec<String> = values.map(|value| self.value(value)).collect();
        format!("({column} IN ({}))", places.join(", "))
    }

    /// Returns the condition for names: how one is found, and (for none, for an exact one) by what.
    fn named(
        &mut self,
        values: &[Named],
        like: impl Fn(&mut Self, String) -> String,
        (nothing, column): (&str, &str),
    ) -> String {
        let one = |value: &Named| match value {
            Named::Nothing => nothing.to_owned(),
            Named::Exactly(name) => format!("{column} = {}", self.value(name.clone())),
            Named::Like(name) => like(self, name.clone()),
        };
        let any: Vec<String> = values.iter().map(one).collect();
        format!("({})", any.join(" OR "))
    }

    fn clause(&self) -> String {
        if self.conditions.is_empty() { "1".to_owned() } else { self.conditions.join(" AND ") }
    }
}

/// Turns what a person typed into a search for words that begin so.
fn phrase(words: &str) -> String {
    let words = words.split_whitespace().map(|word| format!("\"{}\"*", word.replace('"', "\"\"")));
    words.collect::<Vec<_>>().join(" ")
}

impl Index {
    /// Lists beads.
    pub(crate) fn list(&self, filter: &Filter, page: &Page) -> Result<Vec<Row>> {
        let mut wanted = Wanted::of(filter);
        if let Some(after) = &page.after {
            let id = wanted.value(after.id.clone());
            let condition = match page.sort {
                Sort::Priority => {
                    let priority = wanted.value(after.priority as i64);
                    let created = wanted.value(after.created_at.as_microsecond());
                    format!("(b.priority, b.created, b.id) > ({priority}, {created}, {id})")
                }
                Sort::Created => {
                    let created = wanted.value(after.created_at.as_microsecond());
                    format!("(b.created, b.id) < ({created}, {id})")
                }
                Sort::Updated => {
                    let updated = wanted.value(after.updated_at.as_microsecond());
                    format!("(b.updated, b.id) < ({updated}, {id})")
                }
            };
            wanted.conditions.push(condition);
        }
        let order = match page.sort {
            Sort::Priority => "b.priority, b.created, b.id",
            Sort::Created => "b.created DESC, b.id DESC",
            Sort::Updated => "b.updated DESC, b.id DESC",
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM beads AS b WHERE {} ORDER BY {order} LIMIT {}",
            wanted.clause(),
            page.limit
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(wanted.values), row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Counts beads.
    pub(crate) fn count(&self, filter: &Filter) -> Result<u64> {
        let wanted = Wanted::of(filter);
        let sql = format!("SELECT count(*) FROM beads AS b WHERE {}", wanted.clause());
        let mut statement = self.connection.prepare_cached(&sql)?;
        let count: i64 = statement.query_row(params_from_iter(wanted.values), |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// Returns one row, deleted or not.
    pub(crate) fn row(&self, id: &str) -> Result<Option<Row>> {
        let sql = format!("SELECT {COLUMNS} FROM beads AS b WHERE b.id = ?1");
        let mut statement = self.connection.prepare_cached(&sql)?;
        Ok(statement.query_row([id], row).optional()?)
    }

    /// Returns the parts of a bead.
    pub(crate) fn parts(&self, parent: &str) -> Result<Vec<Row>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM beads AS b WHERE b.parent = ?1 AND NOT b.deleted \
             ORDER BY b.created, b.id"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        Ok(statement.query_map([parent], row)?.collect::<Result<_, _>>()?)
    }

    /// Returns about how many beads there are, at no cost.
    pub(crate) fn size(&self) -> Result<u64> {
        let sql = "SELECT ifnull(max(n), 0) FROM beads";
        let size: i64 = self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
        Ok(u64::try_from(size).unwrap_or_default())
    }

    /// Returns up to six ids that begin so, of beads or of convoys.
    pub(crate) fn beginning(&self, table: Table, prefix: &str) -> Result<Vec<String>> {
        let sql = match table {
            Table::Beads => "SELECT id FROM beads WHERE id >= ?1 AND id < ?2 LIMIT 6",
            Table::Convoys => "SELECT id FROM convoys WHERE id >= ?1 AND id < ?2 LIMIT 6",
            Table::Alias => {
                "SELECT DISTINCT bead FROM aliases WHERE alias = ?1 AND ?2 <> '' LIMIT 6"
            }
            Table::Aliases => {
                "SELECT DISTINCT bead FROM aliases WHERE alias >= ?1 AND alias < ?2 LIMIT 6"
            }
        };
        let end = format!("{prefix}\u{10ffff}");
        let mut statement = self.connection.prepare_cached(sql)?;
        let ids = statement.query_map([prefix, &end], |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// Returns the convoys that hold a bead.
    pub(crate) fn convoys_of(&self, bead: &str) -> Result<Vec<String>> {
        let sql = "SELECT convoy FROM members WHERE bead = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_map([bead], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Returns the ids of all convoys that are not deleted, the newest first.
    pub(crate) fn convoys(&self) -> Result<Vec<String>> {
        let sql = "SELECT id FROM convoys WHERE NOT deleted ORDER BY created DESC, id";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Returns the blobs of all documents as they are now.
    pub(crate) fn blobs(&self) -> Result<HashSet<ObjectId>> {
        let sql = "SELECT blob FROM beads UNION ALL SELECT blob FROM convoys";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement
            .query_map([], |row| Ok(ObjectId::try_from(row.get_ref(0)?.as_blob()?).ok()))?;
        Ok(rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Returns the documents that cannot be read, and why.
    pub(crate) fn damaged(&self) -> Result<Vec<(String, String)>> {
        let sql = "SELECT path, why FROM damaged ORDER BY path";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Where ids are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Beads,
    Convoys,
    /// Whole names only.
    Alias,
    Aliases,
}
