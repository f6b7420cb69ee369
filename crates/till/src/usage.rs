//! `godel usage` and `godel cost`: what models were used for, and what that cost.

pub(crate) mod quota;

use godel_api::{Team, UsageReport, UsageRow, UsageTotals};
use godel_args::models::Report;
use godel_console::measure::{money, money_column, number, percent};
use godel_console::output::{STRONG, styled};
use godel_console::{Context, Exit, Result, locate, lookup};
use godel_model::{Clock as _, SystemClock};
use jiff::tz::TimeZone;

use crate::names::{self, Names, Query};

/// What stands in place of a cost that a subscription covers.
const SUBSCRIPTION: &str = "subscription";

/// In what a report is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum In {
    /// In requests and tokens.
    Tokens,
    /// In dollars.
    Money,
}

/// Prints a report.
pub(crate) async fn run(context: &Context, asked: &Report, told: In) -> Result<Exit> {
    let by = kinds(&asked.by);
    let found = locate::server(context).await?;
    let mut query = names::query(&found.client, &asked.narrow).await?;
    query.extend(days(asked));
    query.push(("groupBy", by.join(",")));
    let mut report: UsageReport = found.client.get("/proxy/v1/usage", &query).await?;
    if context.output.is_json() {
        context.output.value(&report)?;
        return Ok(Exit::Done);
    }
    let has = |kind: &str| by.iter().any(|one| one == kind) && !report.rows.is_empty();
    let mut names = Names::load(context, &found.client, has("project"), has("user")).await?;
    if has("team") {
        let teams: Vec<Team> = lookup::all(context, &found.client, "/api/v1/teams", None).await?;
        teams.into_iter().for_each(|team| names.learn(team.id.to_string(), team.name));
    }
    if told == In::Money && by.first().is_none_or(|first| first != "day" && first != "hour") {
        report.rows.sort_by_key(|row| std::cmp::Reverse(row.totals.cost_micros));
    }
    let table = Table { by: &by, names: &names, report: &report };
    if asked.csv {
        context.output.csv(&table.csv())?;
    } else {
        table.print(context, told)?;
    }
    if report.total.by_login > 0 && !asked.csv {
        quota::print(context, &found.client).await?;
    }
    notes(context, &report.total);
    Ok(Exit::Done)
}

/// Returns by what is split: each kind once, by model if none is named.
fn kinds(asked: &[String]) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    for kind in asked {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }
    if kinds.is_empty() { vec!["model".to_owned()] } else { kinds }
}

fn days(asked: &Report) -> Query {
    let since = asked.since.map(|since| since.time(SystemClock.now()));
    let since = since.map(|since| since.to_zoned(TimeZone::UTC).date());
    let from = asked.from.or(since).map(|from| ("from", from.to_string()));
    let to = asked.to.map(|to| ("to", to.to_string()));
    let zone = asked.time_zone.clone().map(|zone| ("timeZone", zone));
    from.into_iter().chain(to).chain(zone).collect()
}

/// A report, and what is needed to write it.
struct Table<'a> {
    by: &'a [String],
    names: &'a Names,
    report: &'a UsageReport,
}

impl Table<'_> {
    /// Returns what a row is about; what has none is written as `nothing`.
    fn group(&self, row: &UsageRow, nothing: &str) -> Vec<String> {
        let value = |kind: &String| match row.group.get(kind).map(String::as_str) {
            None | Some("") => nothing.to_owned(),
            Some(id) if ["project", "user", "team"].contains(&kind.as_str()) => self.names.of(id),
            Some(value) => value.to_owned(),
        };
        self.by.iter().map(value).collect()
    }

    fn csv(&self) -> Vec<Vec<String>> {
        let columns = [
            "requests",
            "failed",
            "unpriced",
            "estimated",
            "inputTokens",
            "cacheReadTokens",
            "cacheWriteTokens",
            "outputTokens",
            "reasoningTokens",
            "costMicros",
            "byLogin",
            "fromCache",
            "savedByCacheMicros",
            "savedByRoutingMicros",
        ];
        let mut head = self.by.to_vec();
        head.extend(columns.map(ToOwned::to_owned));
        let mut lines = vec![head];
        for row in &self.report.rows {
            let mut line = self.group(row, "");
            line.extend(counts(&row.totals).map(|count| count.to_string()));
            line.push(row.totals.cost_micros.to_string());
            line.push(row.totals.by_login.to_string());
            line.push(row.totals.from_cache.to_string());
            line.push(row.totals.saved_by_cache_micros.to_string());
            line.push(row.totals.saved_by_routing_micros.to_string());
            lines.push(line);
        }
        lines
    }

    fn print(&self, context: &Context, told: In) -> Result<()> {
        let UsageReport { from, to, time_zone, total, rows, .. } = self.report;
        let when = format!("{from} to {to} ({time_zone})");
        let requests = match total.requests {
            1 => "1 request".to_owned(),
            count => format!("{} requests", number(count)),
        };
        let headline = match told {
            In::Money => format!("{} for {requests}, {when}", money(total.cost_micros)),
            In::Tokens => format!("{requests}, {when}"),
        };
        context.output.line(styled(STRONG, headline))?;
        if rows.is_empty() {
            return Ok(());
        }
        context.output.line("")?;
        let unpriced = total.unpriced > 0;
        let mut header: Vec<String> = self.by.iter().map(|kind| kind.to_uppercase()).collect();
        let left = header.len();
        header.extend(heads(told).iter().map(|head| (*head).to_owned()));
        if unpriced {
            header.push("NO PRICE".to_owned());
        }
        let costs = rows.iter().map(|row| row.totals.cost_micros).chain([total.cost_micros]);
        let mut lines = Vec::new();
        let sum = (vec!["total".to_owned()], total);
        let groups = rows.iter().map(|row| (self.group(row, "-"), &row.totals));
        // The total of money stands above already.
        let sum = Some(sum).filter(|_| told == In::Tokens && rows.len() > 1);
        for ((mut line, totals), cost) in groups.chain(sum).zip(money_column(costs)) {
            line.resize(left, String::new());
            let unknown = totals.unpriced + totals.by_login;
            let nothing_known = unknown > 0 && unknown == totals.requests;
            let cost = match totals.by_login {
                0 if nothing_known => "-".to_owned(),
                _ if nothing_known => SUBSCRIPTION.to_owned(),
                _ => cost,
            };
            let share = percent(totals.cost_micros, total.cost_micros);
            let share = if nothing_known { "-".to_owned() } else { share };
            line.extend(cells(told, totals, cost, share));
            if unpriced {
                line.push(number(totals.unpriced));
            }
            lines.push(line);
        }
        let end = header.len();
        context.output.numbers(header, lines, left..end)
    }
}

const fn heads(told: In) -> &'static [&'static str] {
    match told {
        In::Tokens => {
            &["REQUESTS", "FAILED", "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "COST"]
        }
        In::Money => &["REQUESTS", "COST", "SHARE"],
    }
}

fn cells(told: In, totals: &UsageTotals, cost: String, share: String) -> Vec<String> {
    match told {
        In::Money => vec![number(totals.requests), cost, share],
        In::Tokens => vec![
            number(totals.requests),
            number(totals.failed),
            number(totals.input_tokens),
            number(totals.cache_read_tokens),
            number(totals.cache_write_tokens),
            number(totals.output_tokens),
            cost,
        ],
    }
}

fn counts(totals: &UsageTotals) -> [u64; 9] {
    [
        totals.requests,
        totals.failed,
        totals.unpriced,
        totals.estimated,
        totals.input_tokens,
        totals.cache_read_tokens,
        totals.cache_write_tokens,
        totals.output_tokens,
        totals.reasoning_tokens,
    ]
}

/// Says what a sum does not tell.
fn notes(context: &Context, total: &UsageTotals) {
    for (saved, why) in [
        (total.saved_by_cache_micros, "caches"),
        (total.saved_by_routing_micros, "the choice of providers by cost"),
    ] {
        match saved {
            0 => {}
            1.. => context.output.note(format_args!("note: {why} saved {}", money(saved))),
            _ => context.output.note(format_args!("note: {why} cost {} more", money(-saved))),
        }
    }
    let count = |count: u64, (one, more): (&str, &str)| match count {
        1 => format!("1 request {one}"),
        count => format!("{} requests {more}", number(count)),
    };
    if total.by_login > 0 {
        context.output.note(format_args!(
            "note: {} by a subscription, which has a quota and no price",
            count(total.by_login, ("was paid", "were paid"))
        ));
    }
    if total.from_cache > 0 {
        let answers = if total.from_cache == 1 { "answer was" } else { "answers were" };
        context.output.note(format_args!(
            "note: {} {answers} given again from memory and cost nothing",
            number(total.from_cache)
        ));
    }
    if total.unpriced > 0 {
        context.output.note(format_args!(
            "note: {} no known price, so the sums lack it",
            count(total.unpriced, ("has", "have"))
        ));
    }
    if total.estimated > 0 {
        context.output.note(format_args!(
            "note: {}, because no provider told what was used",
            count(total.estimated, ("is an estimate", "are estimates"))
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_counts_once_and_models_unless_told_otherwise() {
        let of = |kinds_: &[&str]| {
            kinds(&kinds_.iter().map(|kind| (*kind).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), ["model"]);
        assert_eq!(of(&["day", "agent", "day"]), ["day", "agent"]);
    }
}
