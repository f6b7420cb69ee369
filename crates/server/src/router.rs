//! The router: every path, and the layers around it.

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use http::{HeaderValue, header};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use utoipa::openapi::OpenApi;

use crate::guard::guard;
use crate::observe::{no_route, observe, wrong_method};
use crate::paths::{Paths, routes};
use crate::routes::agents::{
    attach, attempts, carry, convoys as marches, landings, lead, mail, own, places, sessions,
    worktrees,
};
use crate::routes::beads::{exchange, memories, moves};
use crate::routes::queue::{dead, pools, reports, schedules, tasks, workers};
use crate::routes::workflows::{definitions, runs, teams};
use crate::routes::{
    admin, audit, auth, beads, calls, convoys, device, events, health, intents, keys, portable,
    previews, projects, providers, repositories, reviews, runtimes, secrets, spend, stream, system,
    tenants, usage, users, views,
};
use crate::state::Shared;
use crate::{openapi, web, ws};

/// Answers smaller than this are not worth compressing.
const COMPRESS_MIN_BYTES: u64 = 1_024;
/// Since when `/api` is deprecated, and when it goes.
const DEPRECATED_SINCE: &str = "@1794700800";
const SUNSET: &str = "Sat, 15 May 2027 00:00:00 GMT";

/// The paths of the API that need no caller.
fn open_api() -> Paths {
    Paths::new()
        .routes(routes!(health::health))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::capabilities))
        .routes(routes!(web::openapi))
        .merge(own_api())
}

/// The paths of the queue.
fn queue_api() -> Paths {
    Paths::new()
        .routes(routes!(tasks::list, tasks::create))
        .routes(routes!(tasks::create_all))
        .routes(routes!(tasks::get))
        .routes(routes!(tasks::cancel))
        .routes(routes!(tasks::retry))
        .routes(routes!(tasks::assign))
        .routes(routes!(reports::complete))
        .routes(routes!(reports::fail))
        .routes(routes!(reports::progress))
        .routes(routes!(reports::release))
        .routes(routes!(reports::spawn))
        .routes(routes!(pools::queue_depth))
        .routes(routes!(pools::list))
        .routes(routes!(pools::update))
        .routes(routes!(dead::list))
        .routes(routes!(dead::replay))
        .routes(routes!(dead::delete))
        .routes(routes!(schedules::list, schedules::create))
        .routes(routes!(schedules::get, schedules::update, schedules::delete))
        .routes(routes!(workers::list, workers::register))
        .routes(routes!(workers::get, workers::update, workers::leave))
        .routes(routes!(workers::beat))
        .routes(routes!(workers::claim))
}

/// The paths of workflows, runs and teams.
fn workflow_api() -> Paths {
    Paths::new()
        .routes(routes!(definitions::list, definitions::create))
        .routes(routes!(definitions::validate))
        .routes(routes!(definitions::get, definitions::update, definitions::delete))
        .routes(routes!(definitions::start))
        .routes(routes!(definitions::cancel))
        .routes(routes!(definitions::steps))
        .routes(routes!(definitions::draw))
        .routes(routes!(runs::list, runs::start))
        .routes(routes!(runs::get))
        .routes(routes!(runs::steps))
        .routes(routes!(runs::one_step))
        .routes(routes!(runs::draw))
        .routes(routes!(runs::pause))
        .routes(routes!(runs::resume))
        .routes(routes!(runs::cancel))
        .routes(routes!(runs::retry))
        .routes(routes!(runs::answer))
        .routes(routes!(teams::list, teams::create))
        .routes(routes!(teams::get, teams::update, teams::delete))
        .routes(routes!(teams::start))
        .routes(routes!(teams::pause))
        .routes(routes!(teams::resume))
        .routes(routes!(teams::complete))
        .routes(routes!(teams::cancel))
        .routes(routes!(teams::scale))
        .routes(routes!(teams::agents))
        .routes(routes!(teams::one_metrics))
        .routes(routes!(teams::all_metrics))
}

/// The paths of agents, their conversations and their mail.
fn agent_api() -> Paths {
    Paths::new()
        .routes(routes!(lead::list, lead::spawn))
        .routes(routes!(lead::get, lead::delete))
        .routes(routes!(lead::pause))
        .routes(routes!(lead::resume))
        .routes(routes!(lead::restart))
        .routes(routes!(lead::kill))
        .routes(routes!(lead::message))
        .routes(routes!(attach::attach))
        .routes(routes!(lead::logs))
        .routes(routes!(lead::events))
        .routes(routes!(places::fork))
        .routes(routes!(places::take))
        .routes(routes!(places::list, carry::import))
        .routes(routes!(places::restore))
        .routes(routes!(carry::export))
        .routes(routes!(carry::forget))
        .routes(routes!(worktrees::list))
        .routes(routes!(worktrees::remove))
        .routes(routes!(worktrees::cleanup))
        .routes(routes!(runtimes::list))
        .routes(routes!(runtimes::test))
        .routes(routes!(lead::metrics))
        .routes(routes!(lead::estop_state, lead::estop, lead::estop_end))
        .routes(routes!(mail::list, mail::send))
        .routes(routes!(mail::inbox))
        .routes(routes!(mail::count))
        .routes(routes!(mail::answer))
        .routes(routes!(mail::roles))
        .routes(routes!(mail::one_role))
        .routes(routes!(sessions::list))
        .routes(routes!(sessions::get))
        .routes(routes!(sessions::nodes))
        .routes(routes!(sessions::compare))
        .routes(routes!(sessions::fork))
        .routes(routes!(sessions::branch))
        .routes(routes!(sessions::switch))
        .routes(routes!(sessions::compact))
        .routes(routes!(sessions::save))
        .routes(routes!(sessions::resume))
        .routes(routes!(sessions::archive))
        .routes(routes!(marches::start))
        .routes(routes!(marches::stop))
        .routes(routes!(marches::run))
        .routes(routes!(previews::list, previews::start))
        .routes(routes!(previews::get, previews::stop))
        .routes(routes!(attempts::list))
        .routes(routes!(attempts::get, attempts::start, attempts::drop_all))
        .routes(routes!(attempts::diff))
        .routes(routes!(attempts::pick))
        .routes(routes!(landings::land))
        .routes(routes!(landings::revert))
        .routes(routes!(landings::list))
        .routes(routes!(landings::get, landings::remove))
        .routes(routes!(landings::reorder))
        .routes(routes!(landings::pause))
        .routes(routes!(landings::resume))
        .routes(routes!(intents::list, intents::create))
        .routes(routes!(intents::get, intents::cancel))
        .routes(routes!(intents::answer))
        .routes(routes!(intents::start))
}

/// The paths of reviews by people.
fn review_api() -> Paths {
    Paths::new()
        .routes(routes!(reviews::list))
        .routes(routes!(reviews::get))
        .routes(routes!(reviews::diff))
        .routes(routes!(reviews::lines::lines))
        .routes(routes!(reviews::pictures::file))
        .routes(routes!(reviews::comment))
        .routes(routes!(reviews::decide, reviews::undo))
        .routes(routes!(reviews::edit))
        .routes(routes!(reviews::end::apply, reviews::end::unapply))
        .routes(routes!(reviews::end::conflicts))
        .routes(routes!(reviews::end::approve))
        .routes(routes!(reviews::end::request_changes))
        .routes(routes!(reviews::end::patch))
}

/// The paths that agents ask with their own tokens, which open nothing else.
fn own_api() -> Paths {
    Paths::new()
        .routes(routes!(own::show))
        .routes(routes!(own::todos))
        .routes(routes!(own::mail, own::send))
        .routes(routes!(own::ask))
        .routes(routes!(own::answer))
        .routes(routes!(own::done))
        .routes(routes!(own::tools))
        .routes(routes!(own::use_tool))
}

/// The paths of the API behind the guard.
fn guarded_api() -> Paths {
    Paths::new()
        .routes(routes!(events::list, events::publish))
        .routes(routes!(stream::stream))
        .routes(routes!(events::get))
        .routes(routes!(projects::list, projects::create))
        .routes(routes!(projects::get, projects::update, projects::delete))
        .routes(routes!(repositories::make))
        .routes(routes!(repositories::get))
        .routes(routes!(beads::list, beads::create))
        .routes(routes!(beads::ready))
        .routes(routes!(exchange::export))
        .routes(routes!(exchange::import))
        .routes(routes!(beads::claim_next))
        .routes(routes!(beads::get, beads::replace, beads::update, beads::delete))
        .routes(routes!(moves::assign))
        .routes(routes!(moves::claim))
        .routes(routes!(moves::extend))
        .routes(routes!(moves::release))
        .routes(routes!(moves::advance))
        .routes(routes!(moves::comment))
        .routes(routes!(moves::link))
        .routes(routes!(moves::unlink))
        .routes(routes!(beads::log))
        .routes(routes!(memories::list, memories::remember))
        .routes(routes!(memories::forget))
        .routes(routes!(convoys::list, convoys::create))
        .routes(routes!(convoys::get, convoys::update, convoys::delete))
        .routes(routes!(convoys::fill))
        .routes(routes!(convoys::waves))
        .routes(routes!(users::list, users::invite))
        .routes(routes!(users::get, users::update, users::erase))
        .routes(routes!(users::link))
        .routes(routes!(users::export))
        .routes(routes!(keys::list, keys::create))
        .routes(routes!(keys::get, keys::revoke))
        .routes(routes!(keys::rotate))
        .routes(routes!(secrets::list))
        .routes(routes!(secrets::set, secrets::delete))
        .routes(routes!(spend::list_tokens, spend::create_token))
        .routes(routes!(spend::revoke_token))
        .routes(routes!(spend::list_budgets, spend::set_budget))
        .routes(routes!(spend::delete_budget))
        .routes(routes!(spend::try_budget))
        .routes(routes!(views::list, views::save))
        .routes(routes!(views::change, views::forget))
        .merge(queue_api())
        .merge(workflow_api())
        .merge(agent_api())
        .merge(review_api())
        .routes(routes!(audit::list))
        .routes(routes!(audit::verify))
        .routes(routes!(tenants::list, tenants::create))
        .routes(routes!(tenants::update))
        .routes(routes!(portable::export))
        .routes(routes!(portable::import))
        .routes(routes!(system::system))
        .routes(routes!(health::detailed))
        .routes(routes!(admin::backup))
}

/// The paths outside of the API that need no caller.
fn open_root() -> Paths {
    Paths::new()
        .routes(routes!(health::health))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::capabilities))
        .routes(routes!(auth::login))
        .routes(routes!(auth::refresh))
        .routes(routes!(device::start))
        .routes(routes!(device::ask))
}

/// The paths outside of the API behind the guard.
fn guarded_root() -> Paths {
    Paths::new()
        .routes(routes!(health::detailed))
        .routes(routes!(system::prometheus))
        .routes(routes!(auth::logout))
        .routes(routes!(auth::me))
        .routes(routes!(auth::password))
        .routes(routes!(auth::ticket))
        .routes(routes!(device::decide))
        .routes(routes!(ws::upgrade))
        .routes(routes!(usage::usage))
        .routes(routes!(usage::calls))
        .routes(routes!(calls::get))
        .routes(routes!(calls::body))
        .routes(routes!(providers::providers))
        .routes(routes!(providers::test))
        .routes(routes!(providers::quotas))
        .routes(routes!(providers::routing))
}

/// Serves all paths, each behind the layer that `protect` puts around guarded ones.
fn assemble(protect: impl Fn(Router<Shared>) -> Router<Shared>) -> Router<Shared> {
    let api = open_api().router().merge(protect(guarded_api().router()));
    Router::new()
        .nest("/api/v1", api.clone())
        .nest("/api", api.layer(from_fn(deprecated)))
        .merge(open_root().router())
        .merge(protect(guarded_root().router()))
        .merge(web::pages())
}

/// Makes the OpenAPI document.
pub(crate) fn document() -> OpenApi {
    let mut document = openapi::base();
    let api = openapi::base().nest("/api/v1", open_api().document());
    document.merge(api.nest("/api/v1", guarded_api().document()));
    document.merge(open_root().document());
    document.merge(guarded_root().document());
    openapi::finish(&mut document);
    document
}

/// Returns the path of every route, as the router itself lists them; for tests.
pub fn route_inventory() -> Vec<String> {
    let shown = format!("{:?}", assemble(|router| router));
    let quoted = shown.split('"').skip(1).step_by(2);
    let own = |text: &&str| text.starts_with('/') && !text.contains("__private__");
    let mut paths: Vec<String> = quoted.filter(own).map(ToOwned::to_owned).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Puts the layers around the router.
pub(crate) fn build(shared: &Shared) -> Router {
    let guard = from_fn_with_state(shared.clone(), guard);
    assemble(move |router| router.layer(guard.clone()))
        .fallback(no_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(compression())
        .layer(from_fn_with_state(shared.clone(), observe))
        .with_state(shared.clone())
}

/// Compresses answers that are worth it; a stream must not wait for more.
pub(crate) fn compression() -> CompressionLayer<impl Predicate> {
    let worth_it = SizeAbove::new(COMPRESS_MIN_BYTES)
        .and(NotForContentType::const_new("text/event-stream"))
        // A backup is compressed already.
        .and(NotForContentType::const_new("application/octet-stream"))
        .and(NotForContentType::IMAGES);
    CompressionLayer::new().compress_when(worth_it)
}

/// Marks the older path of the API.
async fn deprecated(request: Request, next: Next) -> Response {
    let path =
        request.extensions().get::<axum::extract::OriginalUri>().map(|uri| uri.path().to_owned());
    let path = path.unwrap_or_else(|| request.uri().path().to_owned());
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert("deprecation", HeaderValue::from_static(DEPRECATED_SINCE));
    headers.insert("sunset", HeaderValue::from_static(SUNSET));
    let newer = format!("</api/v1{}>; rel=\"successor-version\"", path.trim_start_matches("/api"));
    if let Ok(link) = HeaderValue::try_from(newer) {
        headers.insert(header::LINK, link);
    }
    response
}
