//! What models were asked, and what it cost.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use godel_api::{ModelCall, ModelCalls, Success, UsageReport, UsageRow, UsageTotals};
use godel_board::spending::{self, Only, Split};
use godel_books::reports::{self, Days, GroupBy, Narrow, Report, Which};
use godel_model::{CallId, Invalid, Outcome, ProjectId, TokenId, UsageSum, code};
use godel_store::CallRecord;
use http::header;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::ApiResult;
use crate::extract::Query;
use crate::guard::Caller;
use crate::state::Shared;

/// How many attempts a page has unless asked otherwise, and at most.
const LIMIT_DEFAULT: usize = 50;
const LIMIT_MAX: usize = 1_000;
/// What each report tells of.
const PROVIDER: Split = Split::Ledger(GroupBy::Provider);
const AGENT: Split = Split::Ledger(GroupBy::Agent);
/// The longest name of a time zone.
const ZONE_MAX_BYTES: usize = 64;

/// What a report is about.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageQuery {
    /// The first day, such as 2026-11-01; 30 days before the last one unless given.
    #[param(format = Date)]
    from: Option<String>,
    /// The last day; today unless given.
    #[param(format = Date)]
    to: Option<String>,
    /// Where days begin at midnight, such as Europe/Berlin; UTC unless given.
    #[param(max_length = 64)]
    time_zone: Option<String>,
    /// By what it is split, with commas: day, hour, provider, model, project, user, agent, bead, convoy,
    /// team, runtime, kind (models, runtime or storage).
    group_by: Option<String>,
    /// Only this provider.
    provider: Option<String>,
    /// Only this model.
    model: Option<String>,
    /// Only this project, by its id.
    project: Option<String>,
    /// Only this user, by its id.
    user: Option<String>,
    /// Only this agent.
    agent: Option<String>,
    /// Only this bead.
    bead: Option<String>,
    /// Only this convoy.
    convoy: Option<String>,
    /// Only agents of this team, by its id; empty for work without a team.
    team: Option<String>,
    /// Only agents in this runtime; empty for work without an agent.
    runtime: Option<String>,
    /// `json` (the default) or `csv`.
    format: Option<String>,
}

/// Which attempts are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CallsQuery {
    /// How many: 1 to 1,000, 50 unless given.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<usize>,
    /// Where the page begins: `next` of the page before.
    before: Option<String>,
    /// Only from this day on in UTC, such as 2026-11-01, or from this time on, such as 2026-11-01T08:30:00Z.
    from: Option<String>,
    /// Only up to the end of this day in UTC, or before this time.
    to: Option<String>,
    /// Only those that ended like this: open (under way), ok, failed, cancelled or lost.
    outcome: Option<String>,
    /// Only those of the session that its client calls like this.
    session: Option<String>,
    /// Only this provider.
    provider: Option<String>,
    /// Only this model.
    model: Option<String>,
    /// Only this project, by its id.
    project: Option<String>,
    /// Only this user, by its id.
    user: Option<String>,
    /// Only this agent.
    agent: Option<String>,
    /// Only this bead.
    bead: Option<String>,
    /// Only this convoy.
    convoy: Option<String>,
    /// Only agents of this team, by its id; empty for work without a team.
    team: Option<String>,
    /// Only agents in this runtime; empty for work without an agent.
    runtime: Option<String>,
    /// `json` (the default) or `csv`.
    format: Option<String>,
}

fn refuse(why: &str) -> Invalid {
    Invalid::new(code::INVALID_QUERY, why)
}

fn day(text: Option<String>) -> ApiResult<Option<Date>> {
    let parse = |text: String| text.parse().map_err(|_| refuse("a day is written like 2026-11-15"));
    Ok(text.map(parse).transpose()?)
}

/// Reads a time, or a day in UTC: its first moment, or the one after its last.
fn moment(text: Option<String>, last: bool) -> ApiResult<Option<Timestamp>> {
    let Some(text) = text else { return Ok(None) };
    if let Ok(time) = text.parse() {
        return Ok(Some(time));
    }
    let day: Option<Date> = text.parse().ok();
    let day = day.and_then(|day| if last { day.checked_add(1.day()).ok() } else { Some(day) });
    let midnight = day.and_then(|day| day.to_zoned(TimeZone::UTC).ok());
    let why = "a time is written like 2026-11-15 or 2026-11-15T08:30:00Z";
    Ok(Some(midnight.ok_or_else(|| refuse(why))?.timestamp()))
}

fn zone(name: Option<&str>) -> ApiResult<TimeZone> {
    let name = name.unwrap_or("UTC");
    if name.eq_ignore_ascii_case("UTC") {
        return Ok(TimeZone::UTC);
    }
    let found = (name.len() <= ZONE_MAX_BYTES).then(|| TimeZone::get(name).ok()).flatten();
    found.ok_or_else(|| {
        let hint = "names are like Europe/Berlin or America/New_York";
        refuse("this server knows no such time zone").with_hint(hint).into()
    })
}

fn is_csv(format: Option<&str>) -> ApiResult<bool> {
    match format {
        None | Some("json") => Ok(false),
        Some("csv") => Ok(true),
        Some(_) => Err(refuse("the format is json or csv").into()),
    }
}

fn splits(text: Option<&str>) -> ApiResult<Vec<Split>> {
    let names = text.unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty());
    let mut splits = Vec::new();
    for name in names {
        let found = Split::named(name).ok_or_else(|| {
            let known: Vec<&str> = Split::names().collect();
            refuse(&format!("groupBy takes {}", known.join(", ")))
        })?;
        if !splits.contains(&found) {
            splits.push(found);
        }
    }
    Ok(splits)
}

fn totals(sum: &UsageSum) -> UsageTotals {
    UsageTotals {
        requests: sum.requests,
        failed: sum.failed,
        unpriced: sum.unpriced,
        by_login: sum.by_login,
        from_cache: sum.from_cache,
        estimated: sum.estimated,
        input_tokens: sum.usage.input,
        cache_read_tokens: sum.usage.cache_read,
        cache_write_tokens: sum.usage.cache_write_5m + sum.usage.cache_write_1h,
        output_tokens: sum.usage.output,
        reasoning_tokens: sum.usage.reasoning,
        cost_micros: sum.cost_micros,
        saved_by_cache_micros: sum.saved.saved_by_cache_micros,
        saved_by_routing_micros: sum.saved.saved_by_routing_micros,
    }
}

fn dollars(micros: i64) -> f64 {
    micros as f64 / 1e6
}

/// Report usage and cost
///
/// Sums of all requests to models between two days, split by what is asked for. Sums agree to the
/// millionth of a dollar with the attempts that `/proxy/v1/audit` lists.
#[utoipa::path(get, path = "/proxy/v1/usage", tag = "models", operation_id = "reportUsage", params(UsageQuery),
    responses((status = 200, description = "The report", body = Success<UsageReport>)))]
pub(crate) async fn usage(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<UsageQuery>,
) -> ApiResult<Response> {
    let csv = is_csv(query.format.as_deref())?;
    let by = splits(query.group_by.as_deref())?;
    let zone = zone(query.time_zone.as_deref())?;
    let days = Days { from: day(query.from)?, to: day(query.to)?, zone };
    let ledger = Narrow {
        provider: query.provider,
        model: query.model,
        project: query.project,
        user: query.user,
        agent: query.agent,
        bead: query.bead,
        convoy: query.convoy,
        agents: None,
    };
    let only = Only { ledger, team: query.team, runtime: query.runtime };
    // Both are always told, whatever else was asked for.
    let mut asked = by.clone();
    for always in [PROVIDER, AGENT] {
        if !asked.contains(&always) {
            asked.push(always);
        }
    }
    let time_zone = days.zone.iana_name().unwrap_or("UTC").to_owned();
    let report = spending::usage(&shared.app, &caller.call, days, &asked, only).await?;
    let told = UsageReport { time_zone, ..told(&report, &by, &asked) };
    if csv {
        return Ok(as_csv(&usage_csv(&told, &by)));
    }
    Ok(Json(Success::new(told)).into_response())
}

fn told(report: &Report, by: &[Split], asked: &[Split]) -> UsageReport {
    let place = |by: Split| asked.iter().position(|asked| *asked == by);
    let cost_by = |by: Split| {
        let mut costs: BTreeMap<String, i64> = BTreeMap::new();
        for (values, sum) in &report.rows {
            let name = place(by).and_then(|at| values.get(at)).cloned().unwrap_or_default();
            *costs.entry(name).or_default() += sum.cost_micros;
        }
        costs.remove("");
        costs.into_iter().map(|(name, cost)| (name, dollars(cost))).collect()
    };
    let mut rows: BTreeMap<Vec<String>, UsageSum> = BTreeMap::new();
    for (values, sum) in &report.rows {
        rows.entry(values.iter().take(by.len()).cloned().collect()).or_default().add(sum);
    }
    let rows = rows.into_iter().filter(|_| !by.is_empty()).map(|(values, sum)| {
        let names = by.iter().map(|by| by.as_str().to_owned());
        UsageRow { group: names.zip(values).collect(), totals: totals(&sum) }
    });
    UsageReport {
        from: report.from.to_string(),
        to: report.to.to_string(),
        time_zone: String::new(),
        total_cost: dollars(report.total.cost_micros),
        total: totals(&report.total),
        by_provider: cost_by(PROVIDER),
        by_agent: cost_by(AGENT),
        rows: rows.collect(),
    }
}

fn usage_csv(report: &UsageReport, by: &[Split]) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    let mut head: Vec<String> = by.iter().map(|by| by.as_str().to_owned()).collect();
    let names = [
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
    head.extend(names.map(ToOwned::to_owned));
    lines.push(head);
    let all = UsageRow { group: BTreeMap::new(), totals: report.total };
    let rows = if by.is_empty() { std::slice::from_ref(&all) } else { &report.rows };
    for row in rows {
        let mut line: Vec<String> =
            by.iter().map(|by| row.group.get(by.as_str()).cloned().unwrap_or_default()).collect();
        let totals = &row.totals;
        let counts = [
            totals.requests,
            totals.failed,
            totals.unpriced,
            totals.estimated,
            totals.input_tokens,
            totals.cache_read_tokens,
            totals.cache_write_tokens,
            totals.output_tokens,
            totals.reasoning_tokens,
        ];
        line.extend(counts.map(|count| count.to_string()));
        line.push(totals.cost_micros.to_string());
        line.extend([totals.by_login, totals.from_cache].map(|count| count.to_string()));
        let saved = [totals.saved_by_cache_micros, totals.saved_by_routing_micros];
        line.extend(saved.map(|saved| saved.to_string()));
        lines.push(line);
    }
    lines
}

/// List requests to models
///
/// One entry for each attempt to get an answer from a provider, the newest first.
#[utoipa::path(get, path = "/proxy/v1/audit", tag = "models", operation_id = "listModelCalls", params(CallsQuery),
    responses((status = 200, description = "A page of attempts", body = Success<ModelCalls>)))]
pub(crate) async fn calls(
    State(shared): State<Shared>,
    caller: Caller,
    Query(query): Query<CallsQuery>,
) -> ApiResult<Response> {
    let csv = is_csv(query.format.as_deref())?;
    let limit = query.limit.unwrap_or(LIMIT_DEFAULT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(refuse("limit must be 1 to 1000").into());
    }
    let before: Option<CallId> = query.before.map(|text| text.parse()).transpose()?;
    let ledger = Narrow {
        provider: query.provider,
        model: query.model,
        project: query.project,
        user: query.user,
        agent: query.agent,
        bead: query.bead,
        convoy: query.convoy,
        agents: None,
    };
    let (from, to) = (moment(query.from, false)?, moment(query.to, true)?);
    let outcome = query.outcome.map(|text| text.parse()).transpose()?;
    let only = Only { ledger, team: query.team, runtime: query.runtime };
    let (app, call) = (&shared.app, &caller.call);
    let ever = Some(jiff::civil::date(2020, 1, 1));
    let narrow = spending::ever(app, call, only).await?;
    let all = reports::usage(app, call, (ever, None), Vec::new(), narrow.clone()).await?;
    let which = Which { narrow, from, to, outcome, session: query.session };
    let (found, next) = reports::calls(app, call, before, limit, which).await?;
    let logs: Vec<ModelCall> = found.into_iter().map(model_call).collect();
    if csv {
        return Ok(as_csv(&calls_csv(&logs)));
    }
    let next = next.map(|next| next.to_string());
    let total = all.total.requests + all.total.from_cache;
    let told = ModelCalls { logs, total, next };
    Ok(Json(Success::new(told)).into_response())
}

pub(super) fn model_call(record: CallRecord) -> ModelCall {
    let CallRecord { start, end } = record;
    let millis = |micros: i64| micros as f64 / 1e3;
    let took = end.as_ref().map(|end| millis(end.at.duration_since(start.at).as_micros() as i64));
    let usage = end.as_ref().map(|end| end.usage).unwrap_or_default();
    let saved = end.as_ref().map(|end| end.saved).unwrap_or_default();
    let outcome = end.as_ref().map_or(Outcome::Open, |end| end.outcome);
    let cost = end.as_ref().and_then(|end| end.cost);
    ModelCall {
        id: start.id.uuid(),
        request_id: start.request.uuid(),
        attempt: start.attempt,
        timestamp: start.at,
        user_id: start.purpose.user.uuid(),
        project_id: start.purpose.project.map(ProjectId::uuid),
        agent_id: start.purpose.agent.clone(),
        bead_id: start.purpose.bead.clone(),
        convoy_id: start.purpose.convoy.clone(),
        token_id: start.purpose.token.map(TokenId::uuid),
        session: start.session,
        dialect: start.dialect.to_owned(),
        asked: start.asked.to_string(),
        provider: start.provider.to_string(),
        model: start.model.to_string(),
        streamed: start.streamed,
        paid_by: start.paid_by.as_str().to_owned(),
        outcome: outcome.to_string(),
        success: outcome == Outcome::Ok,
        status: end.as_ref().and_then(|end| end.status),
        input_tokens: usage.input,
        cache_read_tokens: usage.cache_read,
        cache_write_tokens: usage.cache_write_5m + usage.cache_write_1h,
        output_tokens: usage.output,
        reasoning_tokens: usage.reasoning,
        cost: cost.map(dollars),
        cost_micros: cost,
        price: end.as_ref().and_then(|end| end.price.as_deref()).map(ToOwned::to_owned),
        saved_by_cache_micros: saved.saved_by_cache_micros,
        saved_by_routing_micros: saved.saved_by_routing_micros,
        estimated: end.as_ref().is_some_and(|end| end.estimated),
        first_byte_ms: end.as_ref().and_then(|end| end.first_byte_micros).map(millis),
        latency: took,
        error: end.and_then(|end| end.error),
    }
}

fn calls_csv(logs: &[ModelCall]) -> Vec<Vec<String>> {
    let head = [
        "timestamp",
        "id",
        "requestId",
        "attempt",
        "userId",
        "projectId",
        "agentId",
        "beadId",
        "convoyId",
        "provider",
        "model",
        "asked",
        "outcome",
        "status",
        "inputTokens",
        "cacheReadTokens",
        "cacheWriteTokens",
        "outputTokens",
        "costMicros",
        "estimated",
        "firstByteMs",
        "latency",
        "error",
        "paidBy",
        "price",
        "savedByCacheMicros",
        "savedByRoutingMicros",
    ];
    let mut lines = vec![head.map(ToOwned::to_owned).to_vec()];
    for log in logs {
        let text = |value: Option<String>| value.unwrap_or_default();
        lines.push(vec![
            log.timestamp.to_string(),
            log.id.to_string(),
            log.request_id.to_string(),
            log.attempt.to_string(),
            log.user_id.to_string(),
            text(log.project_id.map(|id| id.to_string())),
            text(log.agent_id.clone()),
            text(log.bead_id.clone()),
            text(log.convoy_id.clone()),
            log.provider.clone(),
            log.model.clone(),
            log.asked.clone(),
            log.outcome.clone(),
            text(log.status.map(|status| status.to_string())),
            log.input_tokens.to_string(),
            log.cache_read_tokens.to_string(),
            log.cache_write_tokens.to_string(),
            log.output_tokens.to_string(),
            text(log.cost_micros.map(|cost| cost.to_string())),
            log.estimated.to_string(),
            text(log.first_byte_ms.map(|millis| format!("{millis:.1}"))),
            text(log.latency.map(|millis| format!("{millis:.1}"))),
            text(log.error.clone()),
            log.paid_by.clone(),
            text(log.price.clone()),
            log.saved_by_cache_micros.to_string(),
            log.saved_by_routing_micros.to_string(),
        ]);
    }
    lines
}

/// Writes lines as RFC 4180 has it; a field that a table program would take for a formula is quoted.
fn as_csv(lines: &[Vec<String>]) -> Response {
    let mut text = String::new();
    for line in lines {
        let fields = line.iter().map(|field| {
            let formula = field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
            let field = if formula { format!("'{field}") } else { field.clone() };
            match field.contains([',', '"', '\n', '\r']) {
                true => format!("\"{}\"", field.replace('"', "\"\"")),
                false => field,
            }
        });
        text.push_str(&fields.collect::<Vec<_>>().join(","));
        text.push_str("\r\n");
    }
    ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], text).into_response()
}
