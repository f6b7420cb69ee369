//! Logs as one JSON object a line.

use std::fmt;
use std::io::Write;

use godel_model::{Clock as _, SystemClock};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use super::redact::{is_secret_name, redact};

/// Writes each event, with the fields of the spans around it, as one line.
pub(super) struct JsonLayer<W> {
    writer: W,
}

impl<W> JsonLayer<W> {
    pub(super) fn new(writer: W) -> Self {
        Self { writer }
    }
}

/// The fields of a span, kept until an event needs them.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        let name = field.name();
        let value = match value {
            _ if is_secret_name(name) => Value::from("[redacted]"),
            Value::String(text) => Value::from(redact(&text).into_owned()),
            other => other,
        };
        self.0.insert(name.to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, Value::from(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, Value::from(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, Value::from(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, Value::from(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, Value::from(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, Value::from(value));
    }
}

impl<S, M, W> Layer<S> for JsonLayer<M>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    M: Fn() -> W + 'static,
    W: Write,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut own = Fields::default();
        event.record(&mut own);
        let mut line = Map::new();
        line.insert("timestamp".to_owned(), Value::from(SystemClock.now().to_string()));
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        line.insert("level".to_owned(), Value::from(level));
        line.insert("message".to_owned(), own.0.remove("message").unwrap_or_default());
        line.insert("service".to_owned(), Value::from("godel"));
        line.insert("version".to_owned(), Value::from(env!("CARGO_PKG_VERSION")));
        line.insert("target".to_owned(), Value::from(event.metadata().target()));
        for span in context.event_scope(event).into_iter().flatten() {
            if let Some(Fields(fields)) = span.extensions().get::<Fields>() {
                for (name, value) in fields {
                    line.entry(name.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        line.extend(own.0);
        let mut text = Value::Object(line).to_string();
        text.push('\n');
        // There is nowhere to complain that a log line was not written.
        drop((self.writer)().write_all(text.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_has_the_fields_of_its_spans_and_no_secret() {
        let (buffer, key) = (Buffer::default(), format!("godel_sk_{}", "B".repeat(43)));
        let writer = buffer.clone();
        let subscriber =
            tracing_subscriber::registry().with(JsonLayer::new(move || writer.clone()));
        tracing::subscriber::with_default(subscriber, || {
            let span = tracing::info_span!("api.request", trace_id = "abc", request_id = "r1");
            let _inside = span.enter();
            tracing::warn!(count = 3, token = "hunter2hunter2", "used {key}\nand more");
        });
        let text = String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        let line: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&line["level"], &line["trace_id"]),
            (&Value::from("warn"), &Value::from("abc"))
        );
        assert_eq!((&line["count"], &line["service"]), (&Value::from(3), &Value::from("godel")));
        assert!(!text.contains("hunter2") && !text.contains(&key), "{text}");
    }
}
