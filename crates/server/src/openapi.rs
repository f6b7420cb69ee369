//! The OpenAPI document, made from the router.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use bytes::Bytes;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::schema::{ArrayItems, Schema, SchemaType, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, ResponseBuilder, Server, Tag};
use utoipa::{OpenApi as _, PartialSchema as _, ToSchema as _};

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Godel API",
        description = "Godel runs a fleet of coding agents on your repositories and never loses work.\n\n\
            All paths of `/api/v1` are also there under `/api`, which is deprecated. Answers are \
            `{success, data}`; failures `{success: false, error: {code, message, hint?, field?, details?}, \
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
            ("intents", "What somebody wants in words, and the plan for it"),
            ("auth", "Who is calling"),
            ("users", "Who has an account"),
            ("keys", "How programs are known"),
            ("models", "Asking models: tokens of agents, budgets, usage and cost"),
            ("queue", "What is to be done, and who does it"),
            ("workflows", "Tasks that depend on each other, and their runs"),
            ("teams", "Several workers at one job"),
            ("reviews", "What people decide about the work of agents"),
            ("secrets", "What work needs and nobody sees"),
            ("audit", "Who did what"),
            ("views", "What people look at again and again"),
            ("tenants", "Who shares the server"),
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
    let named: BTreeMap<String, RefOr<Schema>> = components.schemas.clone().into_iter().collect();
    components.schemas.values_mut().for_each(|schema| refer_inside(schema, &named));
    let pages: Vec<_> = components.schemas.iter_mut().filter_map(name_page).collect();
    components.schemas.extend(pages);
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
            for parameter in operation.parameters.iter_mut().flatten() {
                if let RefOr::T(parameter) = parameter
                    && parameter.parameter_in == ParameterIn::Header
                    && let Some(schema) = &mut parameter.schema
                {
                    never_null(schema);
                }
            }
            operation.responses.responses.insert("default".to_owned(), RefOr::T(failure));
        }
    }
}

/// Replaces what a schema repeats of a named one by a reference: the parameter of a generic type is
/// written out by the derive, and readers of the document would see another type in each answer.
fn refer_inside(schema: &mut RefOr<Schema>, named: &BTreeMap<String, RefOr<Schema>>) {
    let refer = |part: &mut RefOr<Schema>| {
        let same = || named.iter().find(|(_, known)| *known == part);
        match is_composed(part).then(same).flatten() {
            Some((name, _)) => *part = Ref::from_schema_name(name).into(),
            None => refer_inside(part, named),
        }
    };
    match schema {
        RefOr::T(Schema::Object(object)) => object.properties.values_mut().for_each(refer),
        RefOr::T(Schema::Array(array)) => {
            if let ArrayItems::RefOrSchema(items) = &mut array.items {
                refer(items);
            }
        }
        _ => {}
    }
}

/// Gives the page inside an answer a name of its own, as all that answers hold has one.
fn name_page((name, answer): (&String, &mut RefOr<Schema>)) -> Option<(String, RefOr<Schema>)> {
    let page = name.strip_prefix("Success_").filter(|inside| inside.starts_with("Page_"))?;
    let RefOr::T(Schema::Object(object)) = answer else { return None };
    let data = object.properties.get_mut("data")?;
    let whole = std::mem::replace(data, Ref::from_schema_name(page).into());
    Some((page.to_owned(), whole))
}

/// Tells whether a schema has parts of its own, so that two that are equal are not so by chance.
fn is_composed(schema: &RefOr<Schema>) -> bool {
    matches!(schema, RefOr::T(Schema::Object(object)) if !object.properties.is_empty())
}

/// A header is there or not; it cannot be null.
fn never_null(schema: &mut RefOr<Schema>) {
    if let RefOr::T(Schema::Object(object)) = schema
        && let SchemaType::Array(types) = &mut object.schema_type
    {
        types.retain(|one| *one != Type::Null);
        if let [only] = types.as_slice() {
            object.schema_type = SchemaType::Type(only.clone());
        }
    }
}

/// Returns the document of this program; it is made when it is asked for first.
pub(crate) fn ready() -> Bytes {
    static READY: LazyLock<Bytes> = LazyLock::new(|| openapi_json().into());
    READY.clone()
}

/// Makes the OpenAPI document of this server as JSON text.
pub fn openapi_json() -> String {
    let document = crate::router::document();
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}
