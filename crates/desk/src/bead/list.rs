//! `godel bead list` and `search`.

use godel_args::bead::{List, Part};
use godel_beads::{Asker, Filter, Page, Query, Row, Shelf, Sort};
use godel_console::{Error, Exit, Result};
use godel_model::{
    BeadStatus, Clock as _, Invalid, Priority, SystemClock, code, from_micros, micros,
};
use serde_json::{Value, json};

use super::{found, mention_damage, state};
use crate::desk::Desk;

/// Lists beads.
pub(super) fn list(desk: &Desk, asked: List) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let parent = asked.parent.map(|name| found(&mut shelf, &name)).transpose()?;
    let convoy = asked.convoy.map(|name| shelf.convoy_id(&name)).transpose()?;
    let me = desk.name(&shelf);
    let asker = Asker { name: &me, now: SystemClock.now() };
    let query = asked.query.map(|text| Query::read(&text, asker)).transpose()?;
    let statuses = if asked.all { BeadStatus::ALL.to_vec() } else { asked.status };
    let filter = Filter {
        statuses,
        kinds: asked.kind,
        priorities: asked.priority,
        labels: asked.labels,
        agent: asked.agent,
        parent: parent.map(|parent| parent.id),
        convoy,
        words: asked.search.as_deref().map(words).transpose()?,
        query,
        deleted: asked.deleted,
    };
    print(desk, &mut shelf, &filter, asked.part)
}

/// Finds beads by words, whatever their status.
pub(super) fn search(desk: &Desk, given: &[String], part: Part) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let filter = Filter { words: Some(words(&given.join(" "))?), ..Filter::everything() };
    print(desk, &mut shelf, &filter, part)
}

/// Returns the words to search for; marks alone are none.
fn words(text: &str) -> Result<String> {
    let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
    let words: Vec<&str> = words.collect();
    if words.is_empty() {
        return Err(Error::usage("there is no word to search for", "such as login"));
    }
    Ok(words.join(" "))
}

fn print(desk: &Desk, shelf: &mut Shelf, filter: &Filter, part: Part) -> Result<Exit> {
    let limit = part.limit as usize;
    let page = page(shelf, part)?;
    let mut rows = shelf.list(filter, &page)?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let cursor = rows.last().filter(|_| more).map(|last| cursor(page.sort, last));
    mention_damage(desk, shelf)?;
    if desk.output.is_json() {
        let items = whole(shelf, &rows);
        let answer = json!({ "items": items, "hasMore": more, "cursor": cursor });
        desk.output.value(&answer)?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        desk.output.remark("there are no such beads; `godel bead create TITLE` makes one");
        return Ok(Exit::Done);
    }
    let rows = rows.into_iter().map(|row| {
        let agent = row.agent.clone().unwrap_or_else(|| "-".to_owned());
        [row.id.clone(), state(&row), row.priority.to_string(), row.kind, agent, row.title]
    });
    let header = ["ID", "STATUS", "PRIORITY", "TYPE", "AGENT", "TITLE"];
    desk.output.listing(header, rows.collect())?;
    if let Some(cursor) = cursor {
        desk.output.note(format_args!("there is more: raise --limit, or add --cursor {cursor}"));
    }
    Ok(Exit::Done)
}

/// Returns the whole beads of rows; of one that cannot be read, what the list knows.
pub(super) fn whole(shelf: &Shelf, rows: &[Row]) -> Vec<Value> {
    let one = |row: &Row| {
        let mut value = shelf.whole(row).map_or_else(|_| json!(row), |bead| json!(bead));
        value["blocked"] = row.blocked.into();
        value
    };
    rows.iter().map(one).collect()
}

/// Reads which part is wanted; one row more tells whether there is more.
fn page(shelf: &mut Shelf, part: Part) -> Result<Page> {
    let limit = part.limit as usize + 1;
    let Some(cursor) = part.cursor else {
        return Ok(Page { sort: part.sort.unwrap_or_default(), limit, after: None });
    };
    let refused = || {
        Invalid::new(code::INVALID_CURSOR, "this cursor does not belong to such a list")
            .with_hint("use the one that the list before ended with, and the same --sort")
    };
    let (sort, after) = read_cursor(shelf, &cursor)?.ok_or_else(refused)?;
    if part.sort.is_some_and(|wanted| wanted != sort) {
        return Err(refused().into());
    }
    Ok(Page { sort, limit, after: Some(after) })
}

/// Writes where a list ended: by what it was sorted there, so that a change of that bead does not
/// move the rest.
fn cursor(sort: Sort, last: &Row) -> String {
    let (letter, time) = match sort {
        Sort::Priority => ('p', last.created_at),
        Sort::Created => ('c', last.created_at),
        Sort::Updated => ('u', last.updated_at),
    };
    format!("{letter}{}.{}.{}", last.priority as u8, micros(time), last.id)
}

fn read_cursor(shelf: &mut Shelf, text: &str) -> Result<Option<(Sort, Row)>> {
    let Some((sort, priority, time, id)) = split(text) else { return Ok(None) };
    let Some(mut row) = shelf.row(id)? else { return Ok(None) };
    row.priority = priority;
    match sort {
        Sort::Updated => row.updated_at = from_micros(time),
        Sort::Priority | Sort::Created => row.created_at = from_micros(time),
    }
    Ok(Some((sort, row)))
}

fn split(text: &str) -> Option<(Sort, Priority, i64, &str)> {
    let mut parts = text.splitn(3, '.');
    let (order, time, id) = (parts.next()?, parts.next()?, parts.next()?);
    let sort = match order.get(..1)? {
        "p" => Sort::Priority,
        "c" => Sort::Created,
        "u" => Sort::Updated,
        _ => return None,
    };
    let priority = Priority::ALL.get(order.get(1..)?.parse::<usize>().ok()?)?;
    Some((sort, *priority, time.parse().ok()?, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_that_was_tampered_with_is_refused() {
        let good = split("p1.1700000000000000.godel-4k2hm");
        assert_eq!(
            good,
            Some((Sort::Priority, Priority::High, 1_700_000_000_000_000, "godel-4k2hm"))
        );
        for bad in ["", "p", "p1", "p1.2", "x1.2.id", "p9.2.id", "p1.x.id", "é1.2.id"] {
            assert_eq!(split(bad), None, "{bad}");
        }
    }

    #[test]
    fn marks_alone_are_no_words() {
        assert_eq!(words("login  -- cookie").unwrap(), "login cookie");
        assert!(words(" \" * ").is_err());
    }
}
