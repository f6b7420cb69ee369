//! What every handler can reach.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use godel_app::{App, Crew};
use jiff::Timestamp;
use metrics_exporter_prometheus::PrometheusHandle;

/// What every handler can reach; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<Parts>);

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) app: App,
    pub(crate) crew: Crew,
    pub(crate) data_dir: PathBuf,
    pub(crate) request_timeout: Duration,
    pub(crate) body_max_bytes: usize,
    pub(crate) started_at: Timestamp,
    pub(crate) prometheus: PrometheusHandle,
    pub(crate) openapi: Bytes,
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
