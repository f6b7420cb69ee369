//! Which kind of thing a text asks for.

use super::{About, CandidateKind, Entity, Kind, Scene, entity, targets};
use crate::text::{Word, number};

/// What was found out.
pub(super) struct Read {
    pub(super) kind: Kind,
    pub(super) confidence: f64,
    pub(super) entities: Vec<Entity>,
}

const POLITE: [&str; 22] = [
    "please", "can", "could", "would", "you", "hey", "hi", "hello", "godel", "i", "i'd", "like",
    "want", "we", "let", "lets", "to", "need", "now", "ok", "okay", "just",
];
const PEOPLE: [&str; 10] = [
    "agent",
    "agents",
    "worker",
    "workers",
    "developers",
    "engineers",
    "reviewers",
    "people",
    "bots",
    "coders",
];
const TEAMS: [&str; 5] = ["team", "swarm", "squad", "crew", "teams"];
const MAKE: [&str; 14] = [
    "create", "make", "build", "form", "assemble", "start", "spin", "get", "put", "set", "gather",
    "launch", "spawn", "use",
];
const STATUS: [&str; 24] = [
    "doing",
    "done",
    "far",
    "going",
    "progress",
    "status",
    "stuck",
    "left",
    "finished",
    "running",
    "working",
    "blocked",
    "waiting",
    "cost",
    "spent",
    "happening",
    "ready",
    "idle",
    "up",
    "busy",
    "complete",
    "completed",
    "eta",
    "remaining",
];
const ASKING: [&str; 14] = [
    "what", "how", "who", "where", "is", "are", "which", "why", "when", "has", "have", "did",
    "does", "any",
];
const STOP: [&str; 9] =
    ["stop", "kill", "cancel", "abort", "halt", "pause", "terminate", "end", "interrupt"];
const OURS: [&str; 22] = [
    "agent",
    "agents",
    "worker",
    "workers",
    "work",
    "task",
    "tasks",
    "bead",
    "beads",
    "convoy",
    "convoys",
    "team",
    "teams",
    "run",
    "runs",
    "sprint",
    "everything",
    "all",
    "job",
    "jobs",
    "reviewer",
    "swarm",
];

/// Longer texts are work: nobody asks for the status in so many words.
const TALK_MAX_WORDS: usize = 60;

/// Finds the kind, and what belongs to it.
pub(super) fn read(text: &str, words: &[Word], scene: &Scene<'_>) -> Read {
    let skipped = words.iter().take_while(|word| POLITE.contains(&word.low.as_str())).count();
    let rest = words.get(skipped..).filter(|rest| !rest.is_empty()).unwrap_or(words);
    if words.len() > TALK_MAX_WORDS {
        return team(text, rest).or_else(|| spawn(text, rest, scene)).unwrap_or_else(|| work(rest));
    }
    team(text, rest)
        .or_else(|| spawn(text, rest, scene))
        .or_else(|| scale(rest, scene))
        .or_else(|| stop(rest, scene))
        .or_else(|| workflow(rest, scene))
        .or_else(|| status(text, words, rest, scene))
        .unwrap_or_else(|| work(rest))
}

fn work(words: &[Word]) -> Read {
    Read { kind: Kind::Custom, confidence: work_confidence(words), entities: size(words) }
}

fn low(words: &[Word], at: usize) -> &str {
    words.get(at).map_or("", |word| word.low.as_str())
}

fn at_any(words: &[Word], of: &[&str]) -> Option<usize> {
    words.iter().position(|word| of.contains(&word.low.as_str()))
}

/// `create a team of 3 agents to ..`, `use 4 agents to ..`.
fn team(text: &str, words: &[Word]) -> Option<Read> {
    let verb = low(words, 0);
    let near = words.get(..words.len().min(8))?;
    let team = at_any(near, &TEAMS).filter(|_| MAKE.contains(&verb));
    let people = people(near).filter(|(_, many)| *many > 1);
    let starts =
        matches!(verb, "use" | "have" | "let" | "with" | "spawn" | "start" | "launch" | "get");
    let from = match (team, people) {
        // The team is who does it only if it is right behind the verb; `create a team page` is work.
        (Some(at), _)
            if !matches!(
                low(words, at + 1),
                "" | "of" | "to" | "for" | "that" | "with" | "and"
            ) =>
        {
            return None;
        }
        (Some(at), Some((people, _))) => at.max(people),
        (Some(at), None) => at,
        (None, Some((at, _))) if starts => at,
        _ => return None,
    };
    let task = task(text, words, from + 1, verb);
    // Without a task, `use 6 agents on sprint 1` is about something that runs.
    if team.is_none() && task.is_none() {
        return None;
    }
    let sure = if task.is_some() { 0.95 } else { 0.7 };
    let entities = size(near).into_iter().chain(task).collect();
    Some(Read { kind: Kind::CreateTeam, confidence: sure, entities })
}

/// `spawn an agent to ..`, `ask a reviewer to ..`.
fn spawn(text: &str, words: &[Word], scene: &Scene<'_>) -> Option<Read> {
    let verb = low(words, 0);
    let asks = matches!(verb, "ask" | "tell" | "have" | "assign" | "send" | "spawn" | "launch");
    let makes = matches!(verb, "start" | "create" | "run" | "use" | "get" | "make" | "add");
    let mut at = 1;
    while matches!(
        low(words, at),
        "a" | "an" | "one" | "another" | "new" | "single" | "the" | "fresh"
    ) {
        at += 1;
    }
    let noun = low(words, at);
    let role = scene.roles.iter().find(|role| role.as_str() == noun);
    let agent = noun == "agent" || low(words, at + 1) == "agent";
    if at == 1 || !((asks && (agent || role.is_some())) || (makes && agent)) {
        return None;
    }
    let last = if noun == "agent" { at } else { at + usize::from(low(words, at + 1) == "agent") };
    let task = task(text, words, last + 1, verb);
    // `add an agent to sprint 1` scales; `create an agent` alone is one without work.
    if task.is_none() && matches!(verb, "add" | "make") {
        return None;
    }
    let word = words.get(at)?;
    let role = role.map(|role| entity("role", "role", role.clone(), (word, word)));
    let sure = if task.is_some() { 0.93 } else { 0.75 };
    Some(Read {
        kind: Kind::SpawnAgent,
        confidence: sure,
        entities: role.into_iter().chain(task).collect(),
    })
}

/// `use 6 agents on sprint 1`, `add two more workers to ..`, `scale .. to 5`.
fn scale(words: &[Word], scene: &Scene<'_>) -> Option<Read> {
    let verb = low(words, 0);
    let scales = matches!(verb, "scale" | "resize" | "grow" | "shrink");
    let puts = matches!(
        verb,
        "use"
            | "put"
            | "set"
            | "give"
            | "add"
            | "remove"
            | "run"
            | "take"
            | "increase"
            | "reduce"
            | "limit"
    );
    let people = people(words);
    let many = people.map(|(_, many)| many).or_else(|| {
        let to = at_any(words, &["to"]).filter(|_| scales)?;
        number(low(words, to + 1))
    });
    if !(scales || (puts && people.is_some())) {
        return None;
    }
    let after = people.map_or(0, |(at, _)| at);
    let towards = words
        .get(after..)?
        .iter()
        .any(|word| matches!(word.low.as_str(), "on" | "to" | "for" | "in" | "from" | "of"));
    let known = targets::best(words, scene, None).is_some() || at_any(words, &OURS).is_some();
    // `scale the images down` and `reduce the number of workers in the pool` are about the code.
    if !known || many.is_none() || (puts && !towards && scene.candidates.is_empty()) {
        return None;
    }
    let mut entities = size(words);
    if entities.is_empty()
        && let Some(to) = at_any(words, &["to"]).and_then(|to| words.get(to + 1))
        && let Some(many) = number(&to.low)
    {
        entities.push(entity("size", "number", many.to_string(), (to, to)));
    }
    let change = match verb {
        "add" | "increase" | "grow" => Some("more"),
        "remove" | "take" | "shrink" => Some("fewer"),
        _ => at_any(words, &["more", "fewer", "less"])
            .map(|at| if low(words, at) == "more" { "more" } else { "fewer" }),
    };
    // `scale down to 2` names the number that is wanted.
    let exact = words.windows(2).any(|pair| pair[0].low == "to" && number(&pair[1].low).is_some());
    if let (Some(change), Some(first), false) = (change, words.first(), exact) {
        entities.push(entity("change", "word", change, (first, first)));
    }
    Some(Read { kind: Kind::ScaleTeam, confidence: 0.9, entities })
}

/// `stop the auth work`, `kill worker-2`; but `stop the parser from crashing` is work on the code.
fn stop(words: &[Word], scene: &Scene<'_>) -> Option<Read> {
    let verb = low(words, 0);
    if !STOP.contains(&verb) {
        return None;
    }
    // Whoever answered which one is meant has also said that one of them is.
    let answered = scene.answer.is_some_and(|answer| answer.about == About::Target);
    let rest = words.get(1..)?;
    let of_code = low(rest, 0) == "using"
        || rest.iter().any(|word| word.low == "from")
        || rest.iter().any(|word| matches!(word.low.as_str(), "when" | "if" | "button" | "code"));
    let ours = at_any(rest, &OURS).is_some() || rest.is_empty();
    let known = targets::best(rest, scene, None);
    if !answered
        && (of_code && known.is_none_or(|(_, score)| score < 0.95) || !ours && known.is_none())
    {
        return None;
    }
    let mut entities = Vec::new();
    if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
        let said: Vec<&str> = rest.iter().map(|word| word.low.as_str()).collect();
        entities.push(entity("target", "target", said.join(" "), (first, last)));
    }
    let sure = if known.is_some() { 0.95 } else { 0.75 };
    Some(Read { kind: Kind::StopTask, confidence: sure, entities })
}

/// `run the release workflow`.
fn workflow(words: &[Word], scene: &Scene<'_>) -> Option<Read> {
    let runs = matches!(low(words, 0), "run" | "execute" | "start" | "trigger" | "launch" | "kick");
    if !runs {
        return None;
    }
    let said = at_any(words, &["workflow", "workflows"]);
    let named = words.iter().skip(1).find_map(|word| {
        let known = scene.workflows.iter().find(|name| name.to_lowercase() == word.low);
        known.map(|name| (word, name))
    });
    // A name alone is enough only if nothing else is said: `run the release tests` is work.
    let whole = words
        .iter()
        .skip(1)
        .filter(|word| !matches!(word.low.as_str(), "the" | "off" | "now"))
        .count();
    if said.is_none() && !(named.is_some() && whole == 1) {
        return None;
    }
    let answered = scene.answer.filter(|answer| answer.about == About::Workflow);
    let mut entities = Vec::new();
    if let Some((word, name)) = named {
        entities.push(entity("workflow", "workflow", name.clone(), (word, word)));
    } else if let Some(answer) = answered
        && scene.workflows.contains(&answer.value)
        && let Some(word) = said.and_then(|at| words.get(at))
    {
        entities.push(entity("workflow", "workflow", answer.value.clone(), (word, word)));
    }
    let sure = if entities.is_empty() { 0.7 } else { 0.95 };
    Some(Read { kind: Kind::ExecuteWorkflow, confidence: sure, entities })
}

/// `what is agent 3 doing?`, `show the status of the sprint`.
fn status(text: &str, words: &[Word], rest: &[Word], scene: &Scene<'_>) -> Option<Read> {
    let first = low(words, 0);
    let asks = ASKING.contains(&first) || ASKING.contains(&low(rest, 0));
    let shows = matches!(low(rest, 0), "show" | "tell" | "status" | "list" | "report");
    let state = at_any(words, &STATUS).is_some();
    let known = targets::best(words, scene, None).filter(|(_, score)| *score >= 0.8);
    let ours = at_any(words, &OURS).is_some();
    let marked = text.trim_end().ends_with('?');
    let read =
        |confidence| Some(Read { kind: Kind::QueryStatus, confidence, entities: Vec::new() });
    if asks && state && (ours || known.is_some() || words.len() <= 4) {
        return read(0.95);
    }
    // A question about how far something is names no part of the code.
    if asks && marked && matches!(low(words, 1), "far" | "going" | "happening") {
        return read(0.9);
    }
    if asks && marked && known.is_some_and(|(one, _)| one.kind == CandidateKind::Agent) {
        return read(0.85);
    }
    let of_ours = ours || known.is_some();
    let bare = matches!(low(rest, 0), "status") && rest.len() <= 2;
    if bare
        || (shows
            && of_ours
            && (state || low(rest, 0) == "list")
            && at_any(words, &["page", "column", "endpoint", "button"]).is_none())
    {
        return read(0.85);
    }
    None
}

/// Finds `3 agents`, `three more workers`.
fn people(words: &[Word]) -> Option<(usize, u32)> {
    let at = at_any(words, &PEOPLE)?;
    let before = words.get(at.saturating_sub(2)..at)?;
    let many = before.iter().rev().find_map(|word| number(&word.low))?;
    Some((at, many))
}

fn size(words: &[Word]) -> Vec<Entity> {
    let Some((at, many)) = people(words) else { return Vec::new() };
    let before = words.get(at.saturating_sub(2)..at).unwrap_or_default();
    let word = before.iter().rev().find(|word| number(&word.low).is_some());
    word.map(|word| entity("size", "number", many.to_string(), (word, word))).into_iter().collect()
}

/// Finds the work: what stands behind `to`, `for` or `that`.
fn task(text: &str, words: &[Word], from: usize, verb: &str) -> Option<Entity> {
    let joins =
        |at: &usize| matches!(low(words, *at), "to" | "that" | "for" | "who" | "which" | "do");
    // `have an agent fix it` needs no word between.
    let mut at = match crate::rules::is_work_verb(low(words, from)) {
        true => from,
        false => (from..words.len().min(from + 6)).find(joins)? + 1,
    };
    while matches!(low(words, at), "will" | "should" | "must" | "can" | "that") {
        at += 1;
    }
    let (first, last) = (words.get(at)?, words.last()?);
    // `use 6 agents for sprint 1` names no work.
    let work = crate::rules::is_work_verb(&first.low);
    if !work && (verb == "use" || at == 0 || low(words, at - 1) != "for") {
        return None;
    }
    let kept =
        words.get(at..)?.iter().filter(|word| !matches!(word.low.as_str(), "the" | "a" | "an"));
    let value: Vec<&str> = kept.filter_map(|word| text.get(word.start..word.end)).collect();
    Some(entity("task", "task", value.join(" "), (first, last)))
}

fn work_confidence(words: &[Word]) -> f64 {
    let asks = matches!(low(words, 0), "why" | "how");
    if asks || crate::rules::is_work_verb(low(words, 0)) {
        0.9
    } else if words.iter().any(|word| crate::rules::is_work_verb(&word.low)) {
        0.7
    } else {
        0.4
    }
}
