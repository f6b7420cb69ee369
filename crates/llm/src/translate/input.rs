//! The input of calls, pictures and results: what is text in one dialect and an object in another.

use super::ir::{Call, Fault, Image, Outcome, Part};
use super::json::{Json, object};

/// Holds an input that is no JSON object where only an object may stand.
const INVALID: &str = "invalid_json";

/// The one property of a custom tool's wrapped input.
pub(crate) const CUSTOM: &str = "input";

impl Call {
    /// Returns the input as an object, whatever it is.
    pub(crate) fn object(&self) -> Json {
        if self.tool.custom {
            return object! { "input" => &self.input };
        }
        object_of(&self.input)
    }

    /// Returns the input as the text of JSON, as far as the model wrote JSON.
    pub(crate) fn text(&self) -> String {
        if self.tool.custom {
            return self.object().to_string();
        }
        if self.input.trim().is_empty() { "{}".to_owned() } else { self.input.clone() }
    }
}

/// Makes an object of the text of an input, so that nothing is lost.
pub(crate) fn object_of(input: &str) -> Json {
    match Json::parse(input.as_bytes()) {
        Ok(object) if object.is_map() => object,
        _ if input.trim().is_empty() => Json::Map(Vec::new()),
        _ => object! { "invalid_json" => input },
    }
}

/// Makes the text of an object, the reverse of [`object_of`].
pub(crate) fn text_of(input: &Json) -> String {
    match (input.entries(), input.text(INVALID)) {
        ([_], Some(text)) if object_of(text) == *input => text.to_owned(),
        _ => input.to_string(),
    }
}

/// Takes the text out of a custom tool's wrapped input; a model may have forgotten the wrapping.
pub(crate) fn unwrap_custom(input: &str) -> String {
    let json = Json::parse(input.as_bytes()).ok();
    json.as_ref().and_then(|json| json.text(CUSTOM)).map_or_else(|| input.to_owned(), Into::into)
}

/// Describes a custom tool to a model that will see it as an ordinary one.
pub(crate) fn custom_description(description: Option<&str>, grammar: Option<&Json>) -> String {
    let mut text = description.unwrap_or_default().to_owned();
    let definition = grammar.and_then(|grammar| grammar.get("grammar").or(Some(grammar)));
    if let Some(definition) = definition.and_then(|grammar| grammar.text("definition")) {
        let syntax = grammar.and_then(|grammar| grammar.text("syntax")).unwrap_or("formal");
        text.push_str(&format!("\n\nThe input follows this {syntax} grammar:\n{definition}"));
    }
    text
}

/// Returns the schema of a custom tool's wrapped input.
pub(crate) fn custom_schema() -> Json {
    object! {
        "type" => "object",
        "properties" => object! { "input" => object! {
            "type" => "string",
            "description" => "The whole input of the tool, as plain text.",
        } },
        "required" => vec![CUSTOM],
        "additionalProperties" => false,
    }
}

impl Image {
    /// Reads the address of a picture, which may hold the picture itself.
    pub(crate) fn of_url(url: &str) -> Result<Self, Fault> {
        let Some(rest) = url.strip_prefix("data:") else {
            let known = url.starts_with("https://") || url.starts_with("http://");
            return if known {
                Ok(Self::Url(url.to_owned()))
            } else {
                Err(Fault::shape("the address of an image is neither http(s) nor data"))
            };
        };
        match rest.split_once(',') {
            Some((head, data)) => match head.strip_suffix(";base64") {
                Some(mime) => Self::of_data(mime, data),
                None => Err(Fault::feature("an image in a data URL without base64")),
            },
            None => Err(Fault::shape("a data URL has no data")),
        }
    }

    /// Takes data, if it is a picture.
    pub(crate) fn of_data(mime: &str, data: &str) -> Result<Self, Fault> {
        if mime.starts_with("image/") {
            return Ok(Self::Data { mime: mime.to_owned(), data: data.to_owned() });
        }
        Err(Fault::feature(match mime.split('/').next() {
            Some("audio") => "audio".to_owned(),
            Some("video") => "video".to_owned(),
            _ => format!("a document ({})", mime.chars().take(60).collect::<String>()),
        }))
    }

    /// Returns an address for it.
    pub(crate) fn to_url(&self) -> String {
        match self {
            Self::Data { mime, data } => format!("data:{mime};base64,{data}"),
            Self::Url(url) => url.clone(),
        }
    }
}

impl Outcome {
    /// Returns its text, for dialects that have only text for a result.
    pub(crate) fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Image(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns its text so that a failure can be seen in it.
    pub(crate) fn plain_text(&self) -> String {
        let text = self.text();
        if self.failed && !text.to_ascii_lowercase().contains("error") {
            return format!("Error: {text}");
        }
        text
    }

    /// Returns its pictures.
    pub(crate) fn images(&self) -> impl Iterator<Item = &Image> {
        self.parts.iter().filter_map(|part| match part {
            Part::Image(image) => Some(image),
            Part::Text(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_input_is_lost() {
        for text in [r#"{"a":1}"#, "{}", "[1]", "{\"a\":", "not json", r#"{"invalid_json":"{}"}"#] {
            assert_eq!(text_of(&object_of(text)), text);
        }
        assert_eq!(object_of(" "), Json::Map(Vec::new()));
    }

    #[test]
    fn a_custom_input_is_unwrapped_even_if_it_was_never_wrapped() {
        assert_eq!(unwrap_custom(r#"{"input":"a\nb"}"#), "a\nb");
        assert_eq!(unwrap_custom("a b"), "a b");
    }

    #[test]
    fn pictures_keep_their_data() {
        let url = "data:image/png;base64,AAAA";
        assert_eq!(Image::of_url(url).map(|image| image.to_url()), Ok(url.to_owned()));
        assert!(matches!(Image::of_url("data:text/plain,x"), Err(Fault::Feature(_))));
        assert!(matches!(Image::of_data("application/pdf", ""), Err(Fault::Feature(_))));
    }
}
