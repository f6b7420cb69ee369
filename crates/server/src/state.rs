//! What every handler can reach.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use godel_app::queue::Counter;
use godel_app::{App, Crew};
use godel_fleet::Fleet;
use godel_previews::Previews;
use godel_repos::Repositories;
use godel_reviews::Reviews;
use jiff::Timestamp;
use metrics_exporter_prometheus::PrometheusHandle;

use crate::tls::Current;

/// What every handler can reach; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<Parts>);

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) app: App,
    pub(crate) fleet: Fleet,
    pub(crate) previews: Previews,
    pub(crate) reviews: Reviews,
    pub(crate) crew: Crew,
    pub(crate) repositories: Repositories,
    pub(crate) data_dir: PathBuf,
    pub(crate) request_timeout: Duration,
    pub(crate) body_max_bytes: usize,
    pub(crate) started_at: Timestamp,
    pub(crate) prometheus: PrometheusHandle,
    /// Counts what is in the queue, for metrics.
    pub(crate) counter: Arc<Counter>,
    /// Whether clients speak TLS to this server; a cookie is then `Secure`.
    pub(crate) tls: bool,
    /// How clients reach this server.
    pub(crate) entrance: Entrance,
}

/// How clients reach a server.
#[derive(Debug)]
pub(crate) struct Entrance {
    /// The certificate that is shown, with TLS.
    pub(crate) certificate: Option<Arc<Current>>,
    /// Whether other machines can reach it without TLS.
    pub(crate) insecure: bool,
    /// Whether any host name is answered. On loopback without TLS only loopback names are.
    pub(crate) any_host: bool,
    /// Whether browsers are told to use TLS only from now on.
    pub(crate) strict: bool,
}

impl Shared {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }
}

impl std::ops::Deref for Shared {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}
