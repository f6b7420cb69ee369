//! JSON objects as people and scripts give them.

use std::fs::File;
use std::io::{self, Read};

use godel_console::{Error, Result};
use godel_model::{Invalid, Payload, code};
use serde_json::value::RawValue;

/// What is read at most: more than any object may have.
const READ_MAX_BYTES: u64 = 1024 * 1024;

/// Reads an object from the command line, a file (`@FILE`) or stdin (`-`).
pub(super) fn object(given: &str, what: &str) -> Result<Box<RawValue>> {
    let text = match given.strip_prefix('@') {
        Some(file) => {
            let fail = |cause| Error::file(file, "read", cause);
            read(&mut File::open(file).map_err(fail)?).map_err(fail)?
        }
        None if given == "-" => {
            read(&mut io::stdin().lock()).map_err(|cause| Error::file("stdin", "read", cause))?
        }
        None => given.to_owned(),
    };
    let raw: Box<RawValue> = serde_json::from_str(&text).map_err(|error| {
        Invalid::new(code::INVALID_JSON, format!("the {what} is not JSON: {error}"))
            .with_hint(format!("for example --{what} '{{\"branch\": \"main\"}}', in single quotes"))
    })?;
    Payload::from_raw(&raw)?;
    Ok(raw)
}

fn read(from: &mut impl Read) -> io::Result<String> {
    let mut text = String::new();
    // What is longer is cut, and refused because of its length.
    from.take(READ_MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use godel_model::Report as _;

    use super::*;

    #[test]
    fn an_object_comes_from_the_line_or_a_file() {
        assert_eq!(object("{\"a\": 1}", "payload").unwrap().get(), "{\"a\": 1}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), " {\"b\":2}\n").unwrap();
        let given = format!("@{}", file.path().display());
        assert_eq!(object(&given, "payload").unwrap().get(), "{\"b\":2}");
        for (bad, code) in [
            ("{", code::INVALID_JSON),
            ("", code::INVALID_JSON),
            ("[1]", code::INVALID_FIELD),
            ("7", code::INVALID_FIELD),
            ("@/nowhere/at/all", code::FILE_FAILED),
        ] {
            assert_eq!(object(bad, "payload").unwrap_err().code(), code, "{bad}");
        }
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(70_000));
        assert!(object(&long, "payload").unwrap_err().to_string().contains("64 KiB"));
    }
}
