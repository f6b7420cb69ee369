//! What all lists have in common.

use std::collections::BTreeMap;

use godel_api::{Cursor, Page, Pagination};
use godel_model::{Invalid, code};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::{ApiError, ApiResult};

/// How many items a page has unless asked otherwise.
const LIMIT_DEFAULT: usize = 20;
/// How many items a page may have.
const LIMIT_MAX: usize = 100;
/// How many items a page of a list may have that people look at as a whole.
const LONG_LIMIT_MAX: usize = 1_000;
const FILTER_MAX_BYTES: usize = 4_096;

/// The parameters of every list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// How many items a page has: 1 to 100, 20 unless given.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<usize>,
    /// The cursor of the page before.
    cursor: Option<String>,
    /// The field to sort by; with a minus before it, descending.
    sort: Option<String>,
    /// A JSON object; only items whose fields have these values are listed.
    filter: Option<String>,
}

/// The parameters of a list that people look at as a whole: a page may have more.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LongListQuery {
    /// How many items a page has: 1 to 1000, 20 unless given.
    #[param(minimum = 1, maximum = 1000, default = 20)]
    limit: Option<usize>,
    /// The cursor of the page before.
    cursor: Option<String>,
    /// The field to sort by; with a minus before it, descending.
    sort: Option<String>,
    /// A JSON object; only items whose fields have these values are listed.
    filter: Option<String>,
}

impl LongListQuery {
    /// Returns the field to sort by, without its direction.
    pub(crate) fn sort_field(&self) -> Option<&str> {
        self.sort.as_deref().map(|sort| sort.strip_prefix('-').unwrap_or(sort))
    }

    /// Checks the parameters of a list that can be sorted by one field.
    pub(crate) fn check<P: std::str::FromStr>(
        self,
        list: &str,
        field: &str,
        descending_by_default: bool,
    ) -> ApiResult<Listing<P>> {
        let Self { limit, cursor, sort, filter } = self;
        let asked = ListQuery { limit, cursor, sort, filter };
        asked.check_up_to(LONG_LIMIT_MAX, list, (field, descending_by_default))
    }
}

/// Checked parameters of a list.
#[derive(Debug)]
pub(crate) struct Listing<P> {
    pub(crate) limit: usize,
    /// The position behind which the page begins.
    pub(crate) from: Option<P>,
    pub(crate) descending: bool,
    /// The filter, with single values as lists of one.
    pub(crate) filter: BTreeMap<String, Vec<String>>,
    /// Names this list with its order and filter, so that a cursor of another one is refused.
    name: String,
}

impl ListQuery {
    /// Checks the parameters of a list that can be sorted by one field.
    pub(crate) fn check<P: std::str::FromStr>(
        self,
        list: &str,
        field: &str,
        descending_by_default: bool,
    ) -> ApiResult<Listing<P>> {
        self.check_up_to(LIMIT_MAX, list, (field, descending_by_default))
    }

    fn check_up_to<P: std::str::FromStr>(
        self,
        most: usize,
        list: &str,
        (field, descending_by_default): (&str, bool),
    ) -> ApiResult<Listing<P>> {
        let limit = self.limit.unwrap_or(LIMIT_DEFAULT);
        if !(1..=most).contains(&limit) {
            return Err(refuse(format!("limit must be 1 to {most}")).into());
        }
        let descending = match self.sort.as_deref() {
            None => descending_by_default,
            Some(sort) if sort == field => false,
            Some(sort) if sort.strip_prefix('-') == Some(field) => true,
            Some(_) => {
                return Err(
                    refuse(format!("this list can be sorted by {field} or -{field}")).into()
                );
            }
        };
        let filter_text = self.filter.unwrap_or_default();
        let name = format!("{list} {} {filter_text}", if descending { "-" } else { "+" });
        let from = self.cursor.map(|text| Cursor::decode(&text, &name)).transpose()?;
        Ok(Listing { limit, from, descending, filter: read_filter(&filter_text)?, name })
    }
}

fn refuse(why: impl Into<String>) -> Invalid {
    Invalid::new(code::INVALID_QUERY, why).with_hint("/docs lists the parameters of this path")
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

fn read_filter(text: &str) -> ApiResult<BTreeMap<String, Vec<String>>> {
    if text.is_empty() {
        return Ok(BTreeMap::new());
    }
    if text.len() > FILTER_MAX_BYTES {
        return Err(refuse(format!("a filter must have at most {FILTER_MAX_BYTES} bytes")).into());
    }
    let wanted = "filter must be a JSON object of texts, such as {\"type\":\"agent:*\"}";
    let fields: BTreeMap<String, OneOrMore> =
        serde_json::from_str(text).map_err(|_| ApiError::from(refuse(wanted)))?;
    let list = |value| match value {
        OneOrMore::One(text) => vec![text],
        OneOrMore::More(texts) => texts,
    };
    Ok(fields.into_iter().map(|(name, value)| (name, list(value))).collect())
}

impl<P: ToString> Listing<P> {
    /// Takes one field out of the filter; it may have one value only.
    pub(crate) fn take_one(&mut self, field: &str) -> ApiResult<Option<String>> {
        let Some(mut values) = self.filter.remove(field) else {
            return Ok(None);
        };
        match (values.pop(), values.is_empty()) {
            (Some(value), true) => Ok(Some(value)),
            _ => Err(refuse(format!("{field} takes one value in the filter")).into()),
        }
    }

    /// Takes all values of a field out of the filter.
    pub(crate) fn take_all(&mut self, field: &str) -> Vec<String> {
        self.filter.remove(field).unwrap_or_default()
    }

    /// Refuses to sort a list the other way round.
    pub(crate) fn ascending_only(&self, field: &str) -> ApiResult<()> {
        if self.descending {
            return Err(refuse(format!("this list can be sorted by {field} only")).into());
        }
        Ok(())
    }

    /// Refuses to sort a list the other way round.
    pub(crate) fn descending_only(&self, field: &str) -> ApiResult<()> {
        if self.descending {
            return Ok(());
        }
        Err(refuse(format!("this list can be sorted by -{field} only")).into())
    }

    /// Refuses what is left of the filter.
    pub(crate) fn no_more_fields(&self) -> ApiResult<()> {
        match self.filter.keys().next() {
            None => Ok(()),
            Some(field) => {
                Err(refuse(format!("this list has no field {field} to filter by")).into())
            }
        }
    }

    /// Wraps a page; `last` is the position up to which it reaches, if there is more behind it.
    pub(crate) fn page<T>(&self, items: Vec<T>, last: Option<P>) -> Page<T> {
        Page { items, pagination: self.pagination(last) }
    }

    /// Tells how to get the page behind `last`, if there is one.
    pub(crate) fn pagination(&self, last: Option<P>) -> Pagination {
        let cursor = last.map(|last| Cursor::new(&self.name, last).encode());
        let has_more = cursor.is_some();
        Pagination { limit: self.limit, cursor, has_more }
    }
}
