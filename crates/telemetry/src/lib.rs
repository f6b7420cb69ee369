//! The diary: logs and traces of the process, with secrets struck out, and whose request a trace follows.

mod json;
mod redact;
mod trace;

use std::io::IsTerminal as _;

use godel_model::{Code, Report, code};
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState, TracerProvider as _,
};
use opentelemetry_otlp::WithExportConfig as _;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

pub use self::redact::redact;
pub use self::trace::TraceContext;

/// Which spans are exported: those of requests, those of the use cases below them, and those of
/// attempts to ask models.
const EXPORTED: &str = "info,godel_app=debug,godel_proxy=debug";

/// How logs look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object a line, for programs.
    Json,
}

impl Format {
    /// Text on a terminal, JSON elsewhere.
    pub fn auto() -> Self {
        if std::io::stderr().is_terminal() { Self::Text } else { Self::Json }
    }
}

/// What is logged, and how.
#[derive(Debug, Clone)]
pub struct Config {
    /// The level, such as `info`, or directives such as `info,godel_store=debug`.
    pub level: String,
    /// How it looks.
    pub format: Format,
    /// Whether text may be coloured.
    pub color: bool,
    /// Where traces go, such as `http://127.0.0.1:4318`, or with `https`; nowhere if absent.
    pub otlp_endpoint: Option<String>,
}

/// Why logs or traces could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The level is not understood.
    #[error("the log level `{0}` is not understood")]
    Level(String),
    /// The exporter could not be made.
    #[error("traces cannot be sent to the OTLP endpoint: {0}")]
    Otlp(String),
    /// The process logs already.
    #[error("logs were set up before")]
    Twice,
}

impl Report for Error {
    fn code(&self) -> Code {
        code::INVALID_CONFIG
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Level(_) => Some("use error, warn, info, debug or trace".to_owned()),
            Self::Otlp(_) => {
                Some("give the base address, such as http://127.0.0.1:4318".to_owned())
            }
            Self::Twice => None,
        }
    }
}

/// Keeps traces flowing; shut it down last.
#[derive(Debug)]
pub struct Guard {
    traces: Option<SdkTracerProvider>,
}

impl Guard {
    /// Sends what is left.
    pub fn shutdown(self) {
        if let Some(traces) = self.traces
            && let Err(error) = traces.shutdown()
        {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// Sets up logs to stderr and, if configured, traces.
///
/// # Errors
/// If a setting is wrong.
pub fn init(config: &Config) -> Result<Guard, Error> {
    let filter =
        EnvFilter::try_new(&config.level).map_err(|_| Error::Level(config.level.clone()))?;
    let logs = match config.format {
        Format::Json => json::JsonLayer::new(std::io::stderr).boxed(),
        Format::Text => tracing_subscriber::fmt::layer()
            .with_writer(|| redact::Redacting(std::io::stderr()))
            .with_target(false)
            .with_ansi(config.color)
            .boxed(),
    };
    let traces = config.otlp_endpoint.as_deref().map(tracer_provider).transpose()?;
    // Without an endpoint there is no layer and so no filter: the spans of the use cases stay off.
    let otlp = traces.as_ref().map(|provider| {
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("godel"));
        layer.with_filter(EnvFilter::new(EXPORTED))
    });
    tracing_subscriber::registry()
        .with(logs.with_filter(filter))
        .with(otlp)
        .try_init()
        .map_err(|_| Error::Twice)?;
    Ok(Guard { traces })
}

fn tracer_provider(endpoint: &str) -> Result<SdkTracerProvider, Error> {
    if !endpoint.starts_with("http://") && !endpoint.starts_with("https://") {
        let why = "the address begins neither with http:// nor with https://";
        return Err(Error::Otlp(why.to_owned()));
    }
    // The exporter makes a client of its own, which asks the process for its cryptography.
    godel_tls::install();
    let endpoint = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_protocol(opentelemetry_otlp::Protocol::HttpJson)
        .with_endpoint(endpoint)
        .build()
        .map_err(|error| Error::Otlp(error.to_string()))?;
    let resource = opentelemetry_sdk::Resource::builder().with_service_name("godel").build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
}

/// Makes a span part of the caller's trace.
pub fn join_trace(span: &Span, trace: &TraceContext) {
    // A trace that begins here has this request itself as its root, so that ids agree everywhere.
    let parent = trace.parent_id.as_deref().unwrap_or(&trace.span_id);
    let (Ok(trace_id), Ok(span_id)) =
        (TraceId::from_hex(&trace.trace_id), SpanId::from_hex(parent))
    else {
        return;
    };
    let flags = if trace.sampled { TraceFlags::SAMPLED } else { TraceFlags::default() };
    let parent = SpanContext::new(trace_id, span_id, flags, true, TraceState::default());
    let context = opentelemetry::Context::new().with_remote_span_context(parent);
    // Without an OTLP endpoint there is nothing to join, and that is fine.
    drop(span.set_parent(context));
}
