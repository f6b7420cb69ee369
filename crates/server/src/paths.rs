//! Paths of the API: what serves them, and what is told about them once somebody asks.
//!
//! A router from `utoipa-axum` carries the whole document along. That is most of what a server does when it starts,
//! and few servers are ever asked for it; so both are made from the same list, each when it is wanted.

use axum::Router;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::state::Shared;

/// The handlers of one path.
pub(crate) struct Part {
    /// Adds them to a router.
    pub(crate) serve: fn(Router<Shared>) -> Router<Shared>,
    /// Adds what is to be known of them to a document.
    pub(crate) tell: fn(OpenApiRouter<Shared>) -> OpenApiRouter<Shared>,
}

/// Names the handlers of one path, as `utoipa::path` describes them.
macro_rules! routes {
    ($($($part:ident)::+),+ $(,)?) => {
        $crate::paths::Part {
            serve: |router| {
                use utoipa_axum::PathItemExt as _;
                let methods = axum::routing::MethodRouter::new();
                $(let methods = utoipa_axum::routes!(@path [methods()] of $($part)::+)
                    .iter()
                    .fold(methods, |methods, one| methods.on(one.to_method_filter(), $($part)::+));)+
                let [path, ..] = [$(utoipa_axum::routes!(@path [path()] of $($part)::+)),+];
                $crate::paths::serve(router, &path, methods)
            },
            tell: |document| document.routes(utoipa_axum::routes!($($($part)::+),+)),
        }
    };
}
pub(crate) use routes;

/// Serves one path.
#[expect(clippy::disallowed_methods, reason = "what is served here is told by the same list")]
pub(crate) fn serve(
    router: Router<Shared>,
    path: &str,
    methods: axum::routing::MethodRouter<Shared>,
) -> Router<Shared> {
    router.route(path, methods)
}

/// A list of paths.
#[derive(Default)]
pub(crate) struct Paths(Vec<Part>);

impl Paths {
    /// A list without any.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a path.
    pub(crate) fn routes(mut self, part: Part) -> Self {
        self.0.push(part);
        self
    }

    /// Adds the paths of another list.
    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Makes the router that serves them.
    pub(crate) fn router(&self) -> Router<Shared> {
        self.0.iter().fold(Router::new(), |router, part| (part.serve)(router))
    }

    /// Makes the document that tells of them.
    pub(crate) fn document(&self) -> OpenApi {
        let told = self.0.iter().fold(OpenApiRouter::new(), |told, part| (part.tell)(told));
        told.into_openapi()
    }
}
