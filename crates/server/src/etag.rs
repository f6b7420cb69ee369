//! Entity tags: which version of a thing a caller has.

use http::{HeaderMap, HeaderName};

/// What an `If-Match` or `If-None-Match` header names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tags {
    /// `*`: whatever is there.
    Any,
    /// These versions.
    Listed(Vec<Tag>),
}

/// One entity tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag {
    /// Whether it stands for what is about the same, not for what is the same to the byte.
    pub(crate) weak: bool,
    /// The text between the quotes.
    pub(crate) text: String,
}

/// A header that does not follow the grammar of entity tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Tags {
    /// Reads all headers of a name; `None` if there are none.
    pub(crate) fn of(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Self>, Malformed> {
        let mut values = headers.get_all(name).iter().peekable();
        if values.peek().is_none() {
            return Ok(None);
        }
        let texts: Result<Vec<&str>, _> = values.map(http::HeaderValue::to_str).collect();
        // Several headers of one name mean the same as one with a list.
        parse(&texts.map_err(|_| Malformed)?.join(",")).map(Some)
    }

    /// Tells whether one of them names the version, be it only about the same: good enough to save
    /// an answer, not to allow a change.
    pub(crate) fn name_about(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(tags) => tags.iter().any(|tag| tag.text == text),
        }
    }
}

fn parse(text: &str) -> Result<Tags, Malformed> {
    if text.trim() == "*" {
        return Ok(Tags::Any);
    }
    let (mut tags, mut rest) = (Vec::new(), text.trim());
    loop {
        let (weak, quoted) = match rest.strip_prefix("W/") {
            Some(quoted) => (true, quoted),
            None => (false, rest),
        };
        let (text, behind) =
            quoted.strip_prefix('"').and_then(|text| text.split_once('"')).ok_or(Malformed)?;
        if text.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err(Malformed);
        }
        tags.push(Tag { weak, text: text.to_owned() });
        let behind = behind.trim_start();
        if behind.is_empty() {
            return Ok(Tags::Listed(tags));
        }
        // An empty place in a list counts for nothing.
        rest = behind
            .strip_prefix(',')
            .ok_or(Malformed)?
            .trim_start_matches(|c: char| c == ',' || c.is_ascii_whitespace());
        if rest.is_empty() {
            return Ok(Tags::Listed(tags));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strong(text: &str) -> Tag {
        Tag { weak: false, text: text.to_owned() }
    }

    #[test]
    fn lists_weak_tags_and_commas_inside_are_read() {
        assert_eq!(parse(" * "), Ok(Tags::Any));
        assert_eq!(parse("\"3\""), Ok(Tags::Listed(vec![strong("3")])));
        let weak = Tag { weak: true, text: "a,b".to_owned() };
        assert_eq!(parse("\"3\" ,, W/\"a,b\","), Ok(Tags::Listed(vec![strong("3"), weak])));
        assert_eq!(parse("\"\""), Ok(Tags::Listed(vec![strong("")])));
    }

    #[test]
    fn what_is_no_tag_is_malformed() {
        for bad in ["", "3", "\"3", "w/\"3\"", "\"3\" \"4\"", "*, \"3\"", "\"a b\"", "W/3"] {
            assert_eq!(parse(bad), Err(Malformed), "{bad}");
        }
    }

    #[test]
    fn a_weak_tag_is_good_enough_to_save_an_answer() {
        let tags = parse("W/\"3\", \"x\"").unwrap();
        assert!(tags.name_about("3") && tags.name_about("x") && !tags.name_about("4"));
        assert!(Tags::Any.name_about("4"));
    }
}
