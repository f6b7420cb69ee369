//! `godel status`: how the server is doing.

use godel_api::{Check, ClientError, DetailedHealth, HealthStatus, Protection, SystemMetrics};
use godel_console::locate::{self, Found};
use godel_console::measure::{bytes, span};
use godel_console::output::{BAD, GOOD, STRONG, WARN, styled};
use godel_console::{Context, Error, Exit, Result};
use godel_model::Report as _;
use serde_json::json;

/// What only a known caller sees.
struct Details {
    health: DetailedHealth,
    numbers: SystemMetrics,
}

/// Prints how the server is doing.
pub(crate) async fn run(context: &Context) -> Result<Exit> {
    let mut found = locate::server(context).await?;
    let details = details(context, &found).await?;
    if let Some(details) = &details {
        found.health = details.health.health.clone();
        warn_of_stranger(context, &found, details);
    }
    if context.output.is_json() {
        json_answer(context, &found, details.as_ref())?;
    } else {
        text_answer(context, &found, details.as_ref())?;
    }
    Ok(match found.health.status {
        HealthStatus::Healthy | HealthStatus::Degraded => Exit::Done,
        HealthStatus::Unhealthy => Exit::Failure,
    })
}

/// Asks for details; a caller who is refused gets none.
async fn details(context: &Context, found: &Found) -> Result<Option<Details>> {
    let health = match found.client.detailed_health().await {
        Ok(health) => health,
        Err(error @ ClientError::Refused { .. }) => return Ok(missing(context, error)),
        Err(error) => return Err(error.into()),
    };
    match found.client.system_metrics().await {
        Ok(numbers) => Ok(Some(Details { health, numbers })),
        Err(error @ ClientError::Refused { .. }) => Ok(missing(context, error)),
        Err(error) => Err(error.into()),
    }
}

/// Says why there are no details; what everybody may see is an answer all the same.
fn missing(context: &Context, refused: ClientError) -> Option<Details> {
    let error = Error::from(refused);
    let hint = error.hint().unwrap_or_default();
    context.output.note(format_args!("note: details are missing: {error}; {hint}"));
    None
}

fn warn_of_stranger(context: &Context, found: &Found, details: &Details) {
    let (answers, noted) = (details.health.pid, found.discovery.as_ref().map(|d| d.pid));
    if noted.is_some_and(|noted| noted != answers) {
        context.output.note(format_args!(
            "warning: process {answers} answers, but the discovery file names {}; \
             is another server running at this address?",
            noted.unwrap_or_default()
        ));
    }
}

fn json_answer(context: &Context, found: &Found, details: Option<&Details>) -> Result<()> {
    let mut answer = json!({
        "url": found.client.url(),
        "status": found.health.status,
        "version": found.health.version,
        "checks": found.health.checks,
    });
    if found.discovery.is_some() {
        answer["dataDir"] = json!(context.data);
    }
    if let Some(Details { health, numbers }) = details {
        answer["pid"] = json!(health.pid);
        answer["startedAt"] = json!(health.started_at);
        answer["uptimeSeconds"] = json!(numbers.uptime_seconds);
        answer["database"] = json!(health.database);
        answer["durable"] = json!(health.durable);
        answer["schemaVersion"] = json!(health.schema_version);
        answer["memoryBytes"] = json!(numbers.memory_bytes);
        answer["webSockets"] = json!(health.web_sockets);
        answer["eventHead"] = json!(numbers.event_head);
        answer["eventTrimmed"] = json!(numbers.event_trimmed);
        answer["protection"] = json!(health.protection);
    }
    context.output.value(&answer)
}

fn text_answer(context: &Context, found: &Found, details: Option<&Details>) -> Result<()> {
    let health = &found.health;
    let word = status_word(health.status);
    let headline = styled(STRONG, format_args!("Godel {} is {word}", health.version));
    context.output.line(format_args!("{headline}\n"))?;
    let mut rows = vec![["url", found.client.url()].map(str::to_owned)];
    if let Some(Details { health, numbers }) = details {
        let durable = if health.durable { "" } else { " (relaxed: a power cut may lose writes)" };
        let trimmed = match numbers.event_trimmed {
            0 => String::new(),
            trimmed => format!(", {trimmed} removed by retention"),
        };
        let mut row = |name: &str, value: String| rows.push([name.to_owned(), value]);
        row("process", health.pid.to_string());
        row("uptime", span(numbers.uptime_seconds));
        row("database", format!("{}{durable}, schema {}", health.database, health.schema_version));
        row("events", format!("{}{trimmed}", numbers.event_head));
        row("WebSockets", health.web_sockets.to_string());
        row("protection", protection(&health.protection));
        if let Some(fingerprint) = &health.protection.fingerprint {
            row("fingerprint", fingerprint.clone());
        }
        if let Some(memory) = numbers.memory_bytes {
            row("memory", bytes(memory));
        }
    }
    if found.discovery.is_some() {
        rows.push(["data".to_owned(), context.data.display().to_string()]);
    }
    context.output.pairs(rows)?;
    context.output.line("")?;
    let checks = health.checks.iter().map(|(name, check)| check_row(name, check)).collect();
    context.output.table(["CHECK", "STATUS", "LATENCY", "NOTE"], checks)?;
    let style = match health.status {
        HealthStatus::Healthy => GOOD,
        HealthStatus::Degraded => WARN,
        HealthStatus::Unhealthy => BAD,
    };
    if health.status != HealthStatus::Healthy {
        context.output.note(styled(style, format_args!("{word}: `godel doctor` tells what to do")));
    }
    Ok(())
}

fn protection(found: &Protection) -> String {
    match (found.tls, found.insecure) {
        (true, _) => {
            let until = found.expires_at.map(|until| format!(", certificate until {until:.0}"));
            format!("TLS{}", until.unwrap_or_default())
        }
        (false, true) => styled(WARN, "none, and other machines can reach it (--insecure)"),
        (false, false) => "not needed: it serves this machine only".to_owned(),
    }
}

fn check_row(name: &str, check: &Check) -> [String; 4] {
    let free = check.free_bytes.map(|free| format!("{} free", bytes(free)));
    let note = [check.message.clone(), free].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let latency = format!("{:.1} ms", check.latency_ms);
    [name.to_owned(), status_word(check.status).to_owned(), latency, note]
}

fn status_word(status: HealthStatus) -> &'static str {
    match status {
        HealthStatus::Healthy => "healthy",
        HealthStatus::Degraded => "degraded",
        HealthStatus::Unhealthy => "unhealthy",
    }
}
