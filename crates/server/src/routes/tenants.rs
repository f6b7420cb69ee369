//! Tenants, for those who look after the whole server.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{NewTenant, Page, Pagination, Success, Tenant, TenantInvitation, TenantPatch};
use godel_app::tenants;
use godel_model::TenantId;
use http::{StatusCode, header};

use super::users::link_path;
use crate::error::ApiResult;
use crate::extract::{Id, JsonBody};
use crate::guard::Caller;
use crate::state::Shared;

/// List all tenants
///
/// For admins of the first tenant only.
#[utoipa::path(get, path = "/tenants", tag = "tenants", operation_id = "listTenants",
    responses((status = 200, description = "All tenants", body = Success<Page<Tenant>>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let found = tenants::list(&shared.app, &caller.call).await?;
    let items: Vec<Tenant> = found.into_iter().map(Tenant::from).collect();
    let pagination = Pagination { limit: items.len(), cursor: None, has_more: false };
    Ok(Json(Success::new(Page { items, pagination })))
}

/// Create a tenant
///
/// The answer has the path of a one-time link that opens its owner's account within 72 hours.
#[utoipa::path(post, path = "/tenants", tag = "tenants", operation_id = "createTenant",
    request_body = NewTenant,
    responses((status = 201, description = "The tenant and the link", body = Success<TenantInvitation>)))]
pub(crate) async fn create(
    State(shared): State<Shared>,
    caller: Caller,
    body: JsonBody<NewTenant>,
) -> ApiResult<impl IntoResponse> {
    let name = body.value.name.parse()?;
    let (tenant, link) = tenants::create(&shared.app, &caller.call, name).await?;
    let place = [(header::LOCATION, format!("/api/v1/tenants/{}", tenant.id))];
    let made = TenantInvitation { tenant: tenant.into(), link_path: link_path(&link) };
    Ok((StatusCode::CREATED, place, Json(Success::new(made))))
}

/// Close or open a tenant
///
/// Nobody of a closed tenant can call; its data stays.
#[utoipa::path(patch, path = "/tenants/{id}", tag = "tenants", operation_id = "updateTenant",
    params(("id" = uuid::Uuid, Path, description = "The id of the tenant")),
    request_body = TenantPatch,
    responses((status = 200, description = "The tenant after the change", body = Success<Tenant>)))]
pub(crate) async fn update(
    State(shared): State<Shared>,
    caller: Caller,
    Id(id): Id<TenantId>,
    body: JsonBody<TenantPatch>,
) -> ApiResult<impl IntoResponse> {
    let tenant = tenants::disable(&shared.app, &caller.call, id, body.value.disabled).await?;
    Ok(Json(Success::new(Tenant::from(tenant))))
}
