//! The OpenAPI document, made from the router.

use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, ResponseBuilder, Server, Tag};
use utoipa::{OpenApi as _, PartialSchema as _, ToSchema as _};

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Godel API",
        description = "Godel runs a fleet of coding agents on your repositories and never loses work.\n\n\
            All paths of `/api/v1` are also there under `/api`, which is deprecated. Answers are \
            `{success, data}`; failures `{success: false, error: {code, message, hint?, details?}, \
            meta: {requestId, timestamp}}`. `godel explain CODE` tells more about a code.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    security(("bearer" = []), ("apiKey" = []), ("session" = []))
)]
struct Base;

/// Returns the document without any path.
pub(crate) fn base() -> OpenApi {
    let mut document = Base::openapi();
    document.servers = Some(vec![Server::new("/")]);
    document.tags = Some(
        [
            ("events", "What happened, live and from the log"),
            ("projects", "What a tenant works on"),
            ("auth", "Who is calling"),
            ("health", "How the server is doing"),
            ("metrics", "Numbers about the server"),
            ("admin", "What the owner of the server may do"),
        ]
        .into_iter()
        .map(|(name, description)| {
            let mut tag = Tag::new(name);
            tag.description = Some(description.to_owned());
            tag
        })
        .collect(),
    );
    document
}

/// Adds what is the same for every path: how callers are known, and how failures look.
pub(crate) fn finish(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    let cookie = ApiKey::Cookie(ApiKeyValue::new(crate::guard::SESSION_COOKIE));
    components
        .add_security_scheme("bearer", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    components.add_security_scheme(
        "apiKey",
        SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("X-API-Key"))),
    );
    components.add_security_scheme("session", SecurityScheme::ApiKey(cookie));
    let mut schemas = vec![("Failure".to_owned(), godel_api::Failure::schema())];
    godel_api::Failure::schemas(&mut schemas);
    components.schemas.extend(schemas);
    let mut names = std::collections::HashSet::new();
    for item in document.paths.paths.values_mut() {
        let operations: [&mut Option<Operation>; 5] =
            [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            let failure = ResponseBuilder::new()
                .description("What went wrong, and what to do next")
                .content(
                    "application/json",
                    ContentBuilder::new().schema(Some(Ref::from_schema_name("Failure"))).build(),
                )
                .build();
            // Health is there under two paths; its second name must be another one.
            if let Some(name) = &mut operation.operation_id
                && !names.insert(name.clone())
            {
                name.push_str("AtRoot");
            }
            operation.responses.responses.insert("default".to_owned(), RefOr::T(failure));
        }
    }
}

/// Returns the OpenAPI document of this server as JSON text.
pub fn openapi_json() -> String {
    let document = crate::router::document();
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}
