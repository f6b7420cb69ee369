//! The list of models, in three shapes.

use crate::json::{array, object, text};

/// Which shape of list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    OpenAi,
    Anthropic,
    Gemini,
}

/// Writes the list.
pub(crate) fn list(shape: Shape, models: &[String]) -> String {
    let entries = array(models.iter().map(|model| entry(shape, model)));
    match shape {
        Shape::OpenAi => object([("object", text("list")), ("data", entries)]),
        Shape::Anthropic => object([
            ("data", entries),
            ("has_more", "false".to_owned()),
            ("first_id", edge(models.first())),
            ("last_id", edge(models.last())),
        ]),
        Shape::Gemini => object([("models", entries)]),
    }
}

/// Writes one model.
pub(crate) fn entry(shape: Shape, model: &str) -> String {
    match shape {
        Shape::OpenAi => object([
            ("id", text(model)),
            ("object", text("model")),
            ("created", "1767225600".to_owned()),
            ("owned_by", text("scripted")),
        ]),
        Shape::Anthropic => object([
            ("type", text("model")),
            ("id", text(model)),
            ("display_name", text(model)),
            ("created_at", text("2026-01-01T00:00:00Z")),
        ]),
        Shape::Gemini => object([
            ("name", text(&format!("models/{model}"))),
            ("version", text("001")),
            ("displayName", text(model)),
            ("inputTokenLimit", "1048576".to_owned()),
            ("outputTokenLimit", "65536".to_owned()),
            ("supportedGenerationMethods", array(["generateContent", "countTokens"].map(text))),
        ]),
    }
}

fn edge(model: Option<&String>) -> String {
    crate::json::text_or_null(model.map(String::as_str))
}
