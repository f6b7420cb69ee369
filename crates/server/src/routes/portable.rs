//! Settings as one document: out, and in again.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{
    ImportSettings, PortableBudget, PortableProject, SETTINGS_FORMAT, SettingsChange,
    SettingsChanges, SettingsDocument, SettingsField, Success,
};
use godel_board::portable::{self, BudgetSettings, Change, Document, ProjectSettings};
use godel_model::{Invalid, code};

use crate::error::ApiResult;
use crate::extract::JsonBody;
use crate::guard::Caller;
use crate::state::Shared;

fn written(document: Document, now: jiff::Timestamp) -> SettingsDocument {
    let project = |project: ProjectSettings| PortableProject {
        name: project.name,
        description: project.description,
        limits: project.limits.into(),
    };
    let budget = |budget: BudgetSettings| PortableBudget {
        scope: budget.scope,
        period: budget.period,
        cap_micros: budget.cap,
        warn_percent: budget.warn_percent,
        hard_stop: budget.stops,
        grace_percent: budget.grace_percent,
    };
    SettingsDocument {
        format: SETTINGS_FORMAT.to_owned(),
        exported_at: Some(now),
        projects: document.projects.into_iter().map(project).collect(),
        budgets: document.budgets.into_iter().map(budget).collect(),
    }
}

fn read(document: SettingsDocument) -> ApiResult<Document> {
    if document.format != SETTINGS_FORMAT {
        let why = Invalid::new(code::INVALID_FIELD, "this is no document of settings");
        let hint =
            format!("its format must be {SETTINGS_FORMAT}; `godel settings export` writes one");
        return Err(why.with_hint(hint).with_field("settings.format").into());
    }
    let project = |project: PortableProject| ProjectSettings {
        name: project.name,
        description: project.description,
        limits: project.limits.into(),
    };
    let budget = |budget: PortableBudget| BudgetSettings {
        scope: budget.scope,
        period: budget.period,
        cap: budget.cap_micros,
        warn_percent: budget.warn_percent,
        stops: budget.hard_stop,
        grace_percent: budget.grace_percent,
    };
    Ok(Document {
        projects: document.projects.into_iter().map(project).collect(),
        budgets: document.budgets.into_iter().map(budget).collect(),
    })
}

fn told(change: Change) -> SettingsChange {
    let field = |(name, before, after)| SettingsField { name, before, after };
    SettingsChange {
        kind: change.kind.to_owned(),
        name: change.name,
        is_new: change.is_new,
        fields: change.fields.into_iter().map(field).collect(),
    }
}

/// Export the settings
///
/// Projects with their limits, and budgets of the tenant, of projects and of people, by their names. No secret
/// and no id is in it. For admins.
#[utoipa::path(get, path = "/settings", tag = "admin", operation_id = "exportSettings",
    responses((status = 200, description = "The settings", body = Success<SettingsDocument>)))]
pub(crate) async fn export(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let document = portable::export(&shared.app, &caller.call).await?;
    Ok(Json(Success::new(written(document, shared.app.clock.now()))))
}

/// Import settings
///
/// Lets them be what a document says, and tells what that changes; with `dryRun` it only tells. What the
/// document does not name stays. All of it is checked before the first change. For admins.
#[utoipa::path(post, path = "/settings/import", tag = "admin", operation_id = "importSettings",
    request_body = ImportSettings,
    responses((status = 200, description = "What changes", body = Success<SettingsChanges>)))]
pub(crate) async fn import(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<ImportSettings>,
) -> ApiResult<impl IntoResponse> {
    let ImportSettings { settings, dry_run } = body.value;
    let document = read(settings)?;
    let changes = portable::import(&shared.app, &caller.call, document, dry_run).await?;
    let changes = changes.into_iter().map(told).collect();
    Ok(Json(Success::new(SettingsChanges { applied: !dry_run, changes })))
}
