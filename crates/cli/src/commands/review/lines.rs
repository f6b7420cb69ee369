//! `godel review lines`: a file as it was, or as it is.

use godel_api::ReviewFileLines;
use godel_args::review::Of;
use godel_console::lookup::NOTHING;
use godel_console::output::plain;
use godel_console::{Context, Error, Exit, Result};
use reqwest::Method;

use super::{call, with};

/// How many lines the server tells at once.
const PAGE: u32 = 1_000;

/// Which lines are wanted.
pub(super) struct Wanted<'a> {
    /// The file.
    pub(super) path: &'a str,
    /// The first line and the last; the end of the file if none is said.
    pub(super) span: (u32, Option<u32>),
    /// As it was before the change.
    pub(super) old: bool,
}

/// Shows lines of a file, page by page.
pub(super) async fn run(context: &Context, of: &Of, wanted: Wanted<'_>) -> Result<Exit> {
    let (from, last) = wanted.span;
    if last.is_some_and(|last| last < from) {
        let hint = "give --to a line that is not before --from";
        return Err(Error::usage("the last line is before the first", hint));
    }
    let what = with("/lines", "path", wanted.path);
    let what = with(&what, "side", if wanted.old { "old" } else { "new" });
    let mut all: Option<ReviewFileLines> = None;
    let mut next = Some(from);
    while let Some(from) = next {
        let to = last.unwrap_or(u32::MAX).min(from.saturating_add(PAGE - 1));
        let page = with(&with(&what, "from", &from.to_string()), "to", &to.to_string());
        let page: ReviewFileLines = call(context, of, &page, Method::GET, NOTHING).await?;
        let seen = page.lines.last().map_or(to, |line| line.number);
        let end = last.unwrap_or(u32::MAX).min(page.total);
        next = (seen < end).then(|| seen + 1);
        match all.as_mut() {
            None => all = Some(page),
            Some(known) if known.commit == page.commit => known.lines.extend(page.lines),
            Some(_) => return Err(Error::usage("the work has changed meanwhile", "ask again")),
        }
    }
    let Some(mut all) = all else { return Ok(Exit::Done) };
    all.next = None;
    if context.output.is_json() {
        context.output.value(&all)?;
        return Ok(Exit::Done);
    }
    for line in &all.lines {
        let text = plain(&line.text.trim_end_matches('\r').replace('\t', "    "));
        context.output.line(format_args!("{:>6}  {text}", line.number))?;
    }
    if all.lines.is_empty() {
        context.output.remark(format_args!("the file has {} lines", all.total));
    }
    Ok(Exit::Done)
}
