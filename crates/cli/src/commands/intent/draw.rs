//! A plan as people read it.

use godel_api::{Intent, IntentEstimate, IntentPlan};

use godel_console::measure::money;
use godel_console::output::{Output, STRONG, WARN, plain, styled};
use godel_console::{Exit, Result};

/// A cent in millionths of a dollar.
const CENT: u64 = 10_000;

/// Shows what was understood, the plan, who does it and what it costs.
pub(super) fn present(output: Output, intent: &Intent) -> Result<Exit> {
    if output.is_json() {
        output.value(intent)?;
        return Ok(Exit::Done);
    }
    if let Some(question) = &intent.question {
        output.line(styled(STRONG, plain(&question.ask)))?;
        for (at, choice) in question.choices.iter().enumerate() {
            output.line(format_args!("  {}. {}", at + 1, plain(&choice.label)))?;
        }
        return Ok(Exit::Done);
    }
    if let Some(plan) = &intent.plan {
        output.line(format_args!("{}  {}", styled(STRONG, plain(&plan.title)), source(plan)))?;
        if let Some(judged) = &intent.complexity {
            let score = format!("complexity {} of 10 ({})", judged.score, plain(&judged.category));
            let mut factors: Vec<_> = judged.factors.values().collect();
            factors.sort_by(|a, b| (b.score * b.weight).total_cmp(&(a.score * a.weight)));
            let why = factors.first().map_or("", |factor| factor.reason.as_str());
            output.line(format_args!("  {score}: {}", plain(why)))?;
        }
        beads(output, plan)?;
    }
    if let Some(team) = &intent.team {
        let model = team.members.iter().find_map(|one| one.model.as_deref());
        let model = model.map_or_else(String::new, |model| format!(" with {}", plain(model)));
        let how = format!("{} agent(s) at once{model}, {}", team.size, team.strategy);
        output.line(format_args!("  {how}: {}", plain(&team.reason)))?;
    }
    if let Some(priced) = &intent.estimate {
        output.line(format_args!("  {}", price(priced)))?;
        output.line(format_args!("  {}", plain(&priced.words)))?;
    }
    for line in &intent.words {
        let mark = if intent.plan.is_some() { styled(WARN, "note: ") } else { String::new() };
        let indent = if intent.plan.is_some() { "  " } else { "" };
        output.line(format_args!("{indent}{mark}{}", plain(line)))?;
    }
    if intent.state == "cancelled" {
        output.line(format_args!("{} is put aside", intent.id))?;
    }
    Ok(Exit::Done)
}

fn source(plan: &IntentPlan) -> String {
    let model = plain(plan.model.as_deref().unwrap_or("a model"));
    match (plan.by.as_str(), &plan.why) {
        ("model", _) => format!("(planned by {model})"),
        (_, Some(why)) => format!("(planned by rules: {})", plain(why)),
        _ => "(planned by rules)".to_owned(),
    }
}

fn beads(output: Output, plan: &IntentPlan) -> Result<()> {
    let mut rows = Vec::new();
    for (wave, keys) in plan.waves.iter().enumerate() {
        for bead in keys.iter().filter_map(|key| plan.beads.iter().find(|bead| bead.key == *key)) {
            let needs = if bead.needs.is_empty() { "-".to_owned() } else { bead.needs.join(" ") };
            let (key, kind) = (bead.key.clone(), bead.kind.clone());
            rows.push([
                (wave + 1).to_string(),
                key,
                needs,
                kind,
                bead.size.clone(),
                bead.title.clone(),
            ]);
        }
    }
    output.listing(["WAVE", "KEY", "NEEDS", "TYPE", "SIZE", "TITLE"], rows)
}

fn price(priced: &IntentEstimate) -> String {
    // An estimate is not more exact than a cent.
    let dollars =
        |micros: u64| money(i64::try_from(micros.div_ceil(CENT) * CENT).unwrap_or(i64::MAX));
    let (cost, time) = (&priced.cost, &priced.seconds);
    format!(
        "about {} ({} to {}) and {} ({} to {}), with {:.0} % of such plans in between",
        dollars(cost.middle),
        dollars(cost.low),
        dollars(cost.high),
        minutes(time.middle),
        minutes(time.low),
        minutes(time.high),
        priced.stated * 100.0
    )
}

fn minutes(seconds: u64) -> String {
    match seconds {
        0..100 => format!("{seconds} s"),
        100..6000 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}
