//! Reading and writing files of the workspace.

use bytes::Bytes;
use godel_runtime::SandboxPath;

use super::{Bench, Edit, Read, Upshot, Write};
use crate::event::{Change, clip};

/// How many lines are read unless more are asked for.
const LINES: usize = 2000;
/// The longest line that is shown whole.
const LINE_MAX_BYTES: usize = 2000;
/// The largest file that is edited or written.
const FILE_MAX_BYTES: usize = 16 * 1024 * 1024;

impl Bench {
    pub(super) async fn read(&self, wish: &Read) -> Result<Upshot, String> {
        let bytes = self.load(&wish.path).await?;
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Ok(Upshot::well(format!("a binary file of {} bytes", bytes.len())));
        };
        let (first, most) = (wish.offset.unwrap_or(1).max(1), wish.limit.unwrap_or(LINES));
        Ok(Upshot::well(numbered(text, first, most)))
    }

    pub(super) async fn write(&self, wish: &Write) -> Result<Upshot, String> {
        self.store(&wish.path, wish.content.clone()).await?;
        let mut upshot = Upshot::well(format!("wrote {} bytes", wish.content.len()));
        upshot.file = Some((wish.path.clone(), Change::Written));
        Ok(upshot)
    }

    pub(super) async fn edit(&self, wish: &Edit) -> Result<Upshot, String> {
        let bytes = self.load(&wish.path).await?;
        let text = std::str::from_utf8(&bytes).map_err(|_| "the file is not text".to_owned())?;
        let (text, count) = replaced(text, wish)?;
        self.store(&wish.path, text).await?;
        let mut upshot = Upshot::well(format!("replaced {count}"));
        upshot.file = Some((wish.path.clone(), Change::Modified));
        Ok(upshot)
    }

    async fn load(&self, path: &str) -> Result<Bytes, String> {
        let path = place(path)?;
        let read = self.runtime.read(self.sandbox, &path).await;
        let bytes = read.map_err(|error| told(&error))?;
        if bytes.len() > FILE_MAX_BYTES {
            return Err(format!("the file has {} bytes, which is too large", bytes.len()));
        }
        Ok(bytes)
    }

    async fn store(&self, path: &str, text: String) -> Result<(), String> {
        if text.len() > FILE_MAX_BYTES {
            return Err(format!("{} bytes are too many for a file", text.len()));
        }
        let path = place(path)?;
        let written = self.runtime.write(self.sandbox, &path, Bytes::from(text)).await;
        written.map_err(|error| told(&error))
    }
}

fn place(path: &str) -> Result<SandboxPath, String> {
    SandboxPath::new(path).map_err(|error| told(&error))
}

/// Tells an error with its cause, which says what to do about it.
fn told(error: &(dyn std::error::Error + 'static)) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn numbered(text: &str, first: usize, most: usize) -> String {
    let all = text.lines().count();
    let lines = text.lines().enumerate().skip(first - 1).take(most);
    let mut shown: String =
        lines.map(|(at, line)| format!("{}\t{}\n", at + 1, clip(line, LINE_MAX_BYTES))).collect();
    let end = first.saturating_sub(1).saturating_add(most);
    if all == 0 {
        shown.push_str("the file is empty\n");
    } else if first > all {
        shown.push_str(&format!("the file has {all} lines only\n"));
    } else if end < all {
        shown.push_str(&format!("[.. {} more lines ..]\n", all - end));
    }
    shown
}

fn replaced(text: &str, wish: &Edit) -> Result<(String, usize), String> {
    if wish.old.is_empty() {
        return Err("the old text is empty; use write for a new file".to_owned());
    }
    if wish.old == wish.new {
        return Err("the old and the new text are the same".to_owned());
    }
    match text.matches(&wish.old).count() {
        0 => Err("the old text is not in the file; read it again".to_owned()),
        1 => Ok((text.replacen(&wish.old, &wish.new, 1), 1)),
        count if wish.all => Ok((text.replace(&wish.old, &wish.new), count)),
        count => Err(format!(
            "the old text is in the file {count} times; give more of what is around it, or all: true"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str, all: bool) -> Edit {
        Edit { path: String::new(), old: old.into(), new: new.into(), all }
    }

    #[test]
    fn an_edit_is_made_where_it_is_meant_or_not_at_all() {
        assert_eq!(replaced("a b", &edit("b", "c", false)), Ok(("a c".to_owned(), 1)));
        assert_eq!(replaced("a a", &edit("a", "b", true)), Ok(("b b".to_owned(), 2)));
        for (text, wish) in [
            ("a a", edit("a", "b", false)),
            ("a", edit("x", "b", true)),
            ("a", edit("", "b", false)),
            ("a", edit("a", "a", false)),
        ] {
            assert!(replaced(text, &wish).is_err(), "{text} {wish:?}");
        }
    }

    #[test]
    fn a_part_of_a_file_says_what_is_left_out() {
        assert_eq!(numbered("a\nb\nc\n", 2, 1), "2\tb\n[.. 1 more lines ..]\n");
        assert_eq!(numbered("a\nb", 1, 10), "1\ta\n2\tb\n");
        assert!(numbered("a", 5, 1).contains("1 lines only"));
        assert!(numbered("", 1, 1).contains("empty"));
        assert_eq!(numbered("a", 1, usize::MAX), "1\ta\n");
    }
}
