//! Rule: the tenant of a PostgreSQL connection is set for one transaction, never for a session.
//!
//! Connections are pooled: a session that keeps its tenant hands it to the next user.

use std::fs;
use std::path::Path;

/// Folders that hold nothing of ours.
const FOREIGN: [&str; 5] = [".git", "target", "node_modules", "dist", ".venv"];
/// Kinds of files that run; prose may speak of what is forbidden.
const KINDS: [&str; 9] = ["rs", "sql", "toml", "sh", "py", "ts", "tsx", "js", "json"];
const SETTINGS: [&str; 2] = ["app.tenant", "godel.tenant"];

/// Reads every file that may hold SQL: path and text.
pub(crate) fn texts(root: &Path) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    collect(root, root, &mut texts);
    texts
}

fn collect(root: &Path, folder: &Path, texts: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() {
            if !FOREIGN.contains(&name.as_str()) {
                collect(root, &path, texts);
            }
        } else if KINDS.iter().any(|kind| path.extension().is_some_and(|end| end == *kind))
            && let Ok(text) = fs::read_to_string(&path)
        {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            texts.push((name, text));
        }
    }
}

/// Complains about `SET <tenant>` in any form, and about `set_config(<tenant>, .., false)`.
pub(crate) fn check(texts: &[(String, String)]) -> Vec<String> {
    let bad = texts.iter().filter(|(_, text)| sets_session(text) || configures_session(text));
    bad.map(|(path, _)| format!("{path} sets the tenant for longer than a transaction")).collect()
}

fn sets_session(text: &str) -> bool {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let names_tenant = |word: &String| {
        let bare = word.trim_start_matches(['"', '\'']);
        SETTINGS.iter().any(|setting| bare.starts_with(setting))
    };
    // The last word of what has no space in it, such as `execute("set`.
    let is_set = |word: &String| {
        word.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next() == Some("set")
    };
    words.windows(3).any(|three| {
        let scoped = three[1] == "session";
        is_set(&three[0]) && (names_tenant(&three[1]) || (scoped && names_tenant(&three[2])))
    }) || matches!(words.as_slice(), [.., set, last] if is_set(set) && names_tenant(last))
}

fn configures_session(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.match_indices("set_config(").any(|(at, start)| {
        let call = &lower[at + start.len()..];
        let call = &call[..end_of_call(call)];
        let about_tenant = SETTINGS.iter().any(|setting| call.contains(setting));
        about_tenant && call.rsplit(',').next().is_some_and(|last| last.trim() != "true")
    })
}

/// Where the bracket closes that was opened just before.
fn end_of_call(text: &str) -> usize {
    let mut depth = 1;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

mod tests {
    use super::*;

    /// The forbidden words are put together here, so that this file passes its own rule.
    fn found(start: &str, rest: &str) -> bool {
        let text = format!("{start}{rest}");
        !check(&[("a.sql".to_owned(), text)]).is_empty()
    }

    #[test]
    fn a_setting_for_the_session_is_found() {
        for rest in [
            " app.tenant = '1'",
            " app.tenant='1'; select 1",
            "\n  app.tenant TO '1'",
            " SESSION app.tenant = '1'",
            " \"app.tenant\" = '1'",
            " app.tenant",
        ] {
            assert!(found("begin; SET", rest), "SET{rest}");
            assert!(found("execute(\"set", rest), "set{rest}");
        }
        assert!(found("select set_", "config('app.tenant', $1, false)"));
        assert!(found("select set_", "config('app.tenant', coalesce(a, b), $2)"));
    }

    #[test]
    fn a_setting_for_the_transaction_passes() {
        assert!(!found("select set_", "config('app.tenant', $1, true)"));
        assert!(!found("select set_", "config('app.tenant', coalesce(a, b), true)"));
        assert!(!found("select set_", "config('work_mem', '1MB', false)"));
        assert!(!found("begin; SET", " LOCAL app.tenant = '1'"));
        assert!(!found("update t set", " tenant = 1 where current_setting('app.tenant') = ''"));
    }
}
