//! One look at everything that the servers of all tests emitted: no secret may be in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result, Told};
use crate::report::Done;
use crate::shop::Shop;

/// Where tests are told to leave what their servers emit.
pub(crate) const VARIABLE: &str = "GODEL_TEST_EMITTED";

/// What every secret has in it that a test gives to a server.
const CANARY: &[u8] = b"leakcanary";
/// The same in base64, wherever in a group of three bytes it begins; without the letters at its
/// ends, which depend on what stands around it.
const CANARY_BASE64: [&[u8]; 3] = [b"bGVha2NhbmFye", b"xlYWtjYW5hcn", b"sZWFrY2FuYXJ5"];
/// How keys and tokens begin that a server makes; it says them once, to whom they belong.
const OWN: [&[u8]; 2] = [b"godel_sk_", b"godel_at_"];
/// What follows is part of a key if it is at least so long; what is shown of one is shorter.
const OWN_MIN: usize = 16;
/// What servers leave: their logs, what went over their sockets, and what they stored.
const KINDS: [&str; 3] = ["log", "sent", "stored"];
/// How many leaks are told.
const TOLD_MAX: usize = 20;

/// The folder for what is emitted.
pub(crate) fn folder(shop: &Shop) -> PathBuf {
    shop.target.join("xtask").join("emitted")
}

/// Makes room for what a run emits.
pub(crate) fn clear(shop: &Shop) -> Result<PathBuf> {
    let folder = folder(shop);
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).told(format!("clear {}", folder.display()));
        }
        _ => {}
    }
    fs::create_dir_all(&folder).told(format!("create {}", folder.display()))?;
    Ok(folder)
}

/// Fails if a secret is anywhere in what was emitted, or if nothing was.
pub(crate) fn nowhere(shop: &Shop) -> Result<Done> {
    look_at(&folder(shop))
}

fn look_at(folder: &Path) -> Result<Done> {
    let (mut leaks, mut files, mut bytes) = (Vec::new(), 0_u64, 0);
    let mut seen = [0_u64; KINDS.len()];
    for entry in fs::read_dir(folder).told(format!("read {}", folder.display()))? {
        let path = entry.told("read a folder")?.path();
        let found = fs::read(&path).told(format!("read {}", path.display()))?;
        let kind = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        if let Some(at) = KINDS.iter().position(|known| *known == kind) {
            seen[at] += found.len() as u64;
        }
        (files, bytes) = (files + 1, bytes + found.len());
        // Whom a key belongs to hears it once, over the socket.
        let leak = canary(&found).or_else(|| if kind == "sent" { None } else { own(&found) });
        leaks.extend(leak.map(|at| format!("{}: {}", path.display(), around(&found, at))));
    }
    if let Some(missing) = KINDS.iter().zip(seen).find(|(_, bytes)| *bytes == 0) {
        let what = format!("no server left anything of the kind {:?}", missing.0);
        return Err(Failure::new(what).hint(format!("see {VARIABLE} in crates/server/tests/it")));
    }
    if leaks.is_empty() {
        let megabytes = bytes / 1_000_000;
        return Ok(Done::noted(format!("{files} files, {megabytes} MB, no secret in them")));
    }
    let what = format!("{} files hold a secret", leaks.len());
    leaks.truncate(TOLD_MAX);
    Err(Failure::new(what).output(leaks.join("\n")))
}

fn canary(bytes: &[u8]) -> Option<usize> {
    find(bytes, CANARY).or_else(|| CANARY_BASE64.iter().find_map(|mark| find(bytes, mark)))
}

fn own(bytes: &[u8]) -> Option<usize> {
    OWN.iter().find_map(|mark| {
        let mut from = 0;
        while let Some(at) = find(&bytes[from..], mark) {
            let begins = from + at;
            from = begins + mark.len();
            let word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
            if bytes[from..].iter().take_while(word).count() >= OWN_MIN {
                return Some(begins);
            }
        }
        None
    })
}

fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    let (first, rest) = mark.split_first()?;
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| byte == first) {
        from += at + 1;
        if bytes[from..].starts_with(rest) {
            return Some(from - 1);
        }
    }
    None
}

fn around(bytes: &[u8], at: usize) -> String {
    let part = &bytes[at.saturating_sub(80)..bytes.len().min(at + 80)];
    String::from_utf8_lossy(part).replace(|c: char| c.is_control(), " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn with(name: &str, more: &[(&str, &str)]) -> Self {
            let path =
                std::env::temp_dir().join(format!("godel-emitted-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            for (name, text) in
                [("1.log", "served"), ("1.sent", "HTTP/1.1 200 OK"), ("1.stored", "event")]
            {
                fs::write(path.join(name), text).unwrap();
            }
            for (name, text) in more {
                fs::write(path.join(name), text).unwrap();
            }
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_secret_is_found_wherever_it_is() {
        let key = format!("key godel_sk_{} used", "a1".repeat(20));
        for (number, leak) in [
            ("2.log", "asked with Bearer sk-leakcanary-01"),
            ("2.sent", "x-key: sk-leakcanary-01"),
            ("2.stored", "model_call\tsk-leakcanary-01"),
            ("2.spans", "{\"key\":\"sk-leakcanary-01\"}"),
            // The same key in base64, behind none, one and two letters.
            ("2.sent", "c2stbGVha2NhbmFyeS0wMQ=="),
            ("2.sent", "eHNrLWxlYWtjYW5hcnktMDE="),
            ("2.sent", "eHhzay1sZWFrY2FuYXJ5LTAx"),
            ("2.log", key.as_str()),
        ] {
            let folder = Folder::with("leak", &[(number, leak)]);
            let failure = look_at(&folder.0).unwrap_err();
            let told = failure.lines().join("\n");
            assert!(told.contains("1 files hold a secret") && told.contains(number), "{told}");
        }
    }

    #[test]
    fn what_is_shown_of_a_key_is_no_secret_and_its_owner_hears_it_once() {
        let whole = format!("{{\"key\":\"godel_sk_{}\"}}", "a1".repeat(20));
        let folder =
            Folder::with("shown", &[("2.sent", whole.as_str()), ("2.log", "godel_sk_ab12..9f")]);
        assert!(look_at(&folder.0).is_ok());
    }

    #[test]
    fn a_run_that_emitted_nothing_proves_nothing() {
        let folder = Folder::with("empty", &[("1.log", "")]);
        let told = look_at(&folder.0).unwrap_err().lines().join("\n");
        assert!(told.contains("\"log\""), "{told}");
    }
}
