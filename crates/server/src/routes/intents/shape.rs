//! Intents as they go over the wire.

use godel_api::{Intent, IntentBead, IntentPlan, IntentRepository};
use godel_model::code;
use godel_studio::intents::{Facts, Source, State, Wish};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{ApiError, ApiResult};

/// Tells what somebody wants, and what comes of it.
pub(super) fn intent(wish: &Wish) -> ApiResult<Intent> {
    let said = &wish.intent;
    let begun = matches!(wish.state, State::Starting | State::Started) && wish.plan.is_some();
    Ok(Intent {
        id: wish.id,
        project_id: wish.project.uuid(),
        user_id: wish.user.uuid(),
        state: wish.state.as_str().to_owned(),
        text: wish.text.clone(),
        kind: said.kind.as_str().to_owned(),
        confidence: said.confidence,
        entities: same(&said.entities)?,
        parameters: said.parameters(),
        question: wish.question.as_ref().map(same).transpose()?,
        repository: repository(&wish.repository)?,
        complexity: wish.complexity.as_ref().map(same).transpose()?,
        plan: plan(wish),
        team: wish.team.as_ref().map(same).transpose()?,
        estimate: wish.estimate.as_ref().map(same).transpose()?,
        words: wish.words.clone(),
        data: wish.data.clone(),
        budget_micros: wish.wanted.budget,
        convoy: wish.convoy.clone().filter(|_| begun),
        created_at: wish.created_at,
        started_at: wish.started_at,
    })
}

/// Takes over what is called the same on both sides.
fn same<T: Serialize, U: DeserializeOwned>(value: &T) -> ApiResult<U> {
    let told = serde_json::to_value(value).and_then(serde_json::from_value);
    told.map_err(|error| {
        ApiError::new(code::INTERNAL_ERROR, format!("an intent cannot be told: {error}"))
    })
}

fn repository(facts: &Facts) -> ApiResult<IntentRepository> {
    Ok(IntentRepository {
        commit: facts.commit.clone(),
        files: facts.files,
        lines: facts.lines,
        languages: same(&facts.languages)?,
        test_command: facts.tests.command.clone(),
        test_files: facts.tests.files,
        commits: facts.commits,
        authors: facts.authors,
    })
}

fn plan(wish: &Wish) -> Option<IntentPlan> {
    let (plan, by) = (wish.plan.as_ref()?, wish.planned_by.as_ref()?);
    let bead = |bead: &godel_intent::plan::PlannedBead| IntentBead {
        key: bead.key.clone(),
        bead: wish.beads.get(&bead.key).cloned().unwrap_or_default(),
        title: bead.title.clone(),
        description: bead.description.clone(),
        kind: bead.kind.as_str().to_owned(),
        priority: bead.priority.as_str().to_owned(),
        needs: bead.needs.clone(),
        role: bead.role.clone(),
        size: bead.size.as_str().to_owned(),
        files: bead.files.clone(),
    };
    let source = match by.by {
        Source::Rules => "rules",
        Source::Model => "model",
    };
    Some(IntentPlan {
        title: plan.title.clone(),
        by: source.to_owned(),
        model: by.model.clone(),
        tries: by.tries,
        why: by.why.clone(),
        beads: plan.beads.iter().map(bead).collect(),
        waves: plan.waves(),
    })
}
