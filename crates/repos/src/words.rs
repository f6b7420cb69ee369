//! What is told of git's words: one sentence of what went wrong and what to do next, and nothing secret.

use crate::git::Trouble;
use crate::source::Source;

/// The longest line that is told.
const LINE_MAX_CHARS: usize = 300;

/// Makes a line of git's fit to be told.
pub(crate) fn clean(line: &str) -> String {
    let plain: String = line.chars().filter(|char| !char.is_control()).collect();
    struck(plain.trim()).chars().take(LINE_MAX_CHARS).collect()
}

/// Strikes users, passwords and what is behind a `?` out of all addresses of a text: settings of git may put a
/// token into an address that had none.
fn struck(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, behind) = rest.split_at(at + 3);
        told.push_str(before);
        let ends = |char: char| char.is_whitespace() || "'\"<>".contains(char);
        let (address, after) = behind.split_at(behind.find(ends).unwrap_or(behind.len()));
        let address = address.split(['?', '#']).next().unwrap_or_default();
        told.push_str(address.rsplit('@').next().unwrap_or_default());
        rest = after;
    }
    told.push_str(rest);
    told
}

/// Says why nothing was made, and what to do next.
pub(crate) fn why(trouble: &Trouble, source: Option<&Source>) -> String {
    match trouble {
        Trouble::Missing(cause) => format!(
            "git could not be started on the server's machine ({cause}); install git 2.36 or newer there, then try \
             again"
        ),
        Trouble::TooLong(minutes) => format!(
            "it took longer than {minutes} minutes and was ended; clone it by hand on the server's machine and give \
             the project that folder"
        ),
        Trouble::Stopped => "the server stopped; try again when it runs".to_owned(),
        Trouble::File(done, cause) => format!(
            "{done}: {cause}; choose a folder that the user the server runs as may write to"
        ),
        Trouble::Failed(said) => failed(said, source),
    }
}

/// What git says, what that means, and what to do next.
type Meaning = (&'static [&'static str], &'static str, &'static str);

/// In this order: the first that fits is told.
const MEANINGS: [Meaning; 8] = [
    (
        &["No space left on device", "Disk quota exceeded"],
        "the disk of the server's machine is full",
        "make room there, then try again",
    ),
    (
        &["Host key verification failed"],
        "the server's machine does not know HOST yet",
        "run `ssh HOST` there once as the user the server runs as and compare the fingerprint, then try again",
    ),
    (
        &["Permission denied (", "Too many authentication failures"],
        "HOST does not take the SSH key of the user the server runs as",
        "add that key to your account there, then try again",
    ),
    (
        &[
            "could not read Username",
            "could not read Password",
            "Authentication failed",
            "terminal prompts disabled",
            "returned error: 401",
            "returned error: 403",
        ],
        "HOST did not let git in: the repository is private, or not there",
        "check the address, and log git in on the server's machine (`gh auth login`, a credential helper, or an SSH \
         key), then try again",
    ),
    (
        &[
            "Could not resolve host",
            "Name or service not known",
            "Temporary failure in name resolution",
            "Connection refused",
            "Connection timed out",
            "Operation timed out",
            "Could not connect to server",
            "Failed to connect",
            "Network is unreachable",
            "unable to connect",
            "Operation too slow",
        ],
        "HOST cannot be reached from the server's machine",
        "check the address and the network, then try again",
    ),
    (
        &["SSL certificate", "server certificate", "certificate verif", "SSL connect"],
        "HOST did not prove who it is",
        "check the address; git on the server's machine must trust its certificate",
    ),
    (
        &["dubious ownership"],
        "the repository belongs to another user of the server's machine",
        "allow it there with `git config --global --add safe.directory PATH`, then try again",
    ),
    (
        &["not found", "does not exist", "does not appear to be a git repository"],
        "there is no such repository at HOST, or it is private",
        "check the address, and that git on the server's machine may read it, then try again",
    ),
];

fn failed(said: &str, source: Option<&Source>) -> String {
    let host = source.map_or("the server's machine", |source| {
        source.host().unwrap_or("this path of the server's machine")
    });
    let fits = |meaning: &&Meaning| meaning.0.iter().any(|mark| said.contains(mark));
    let line = telling(said);
    let Some((_, what, next)) = MEANINGS.iter().find(fits) else {
        return format!("git failed: {line}; put that right, then try again");
    };
    format!("{}; {} (git: {line})", what.replace("HOST", host), next.replace("HOST", host))
}

/// Returns the line of git's that says most.
fn telling(said: &str) -> &str {
    let marked = |mark: &'static str| move |line: &&str| line.starts_with(mark);
    let of = |mark| said.lines().find(marked(mark));
    let line = of("fatal:").or_else(|| of("error:")).or_else(|| said.lines().next_back());
    line.map_or("it gave no reason", |line| {
        line.trim_start_matches("fatal:").trim_start_matches("error:").trim()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_addresses_are_struck_out() {
        for (line, told) in [
            ("fatal: 'https://ann:pw@host/a' x", "fatal: 'https://host/a' x"),
            ("https://token@host/a?b=c https://p:q@h", "https://host/a https://h"),
            ("https://ann:p/w@host/a", "https://host/a"),
            ("ssh://git@host/a\u{1b}[31m", "ssh://host/a[31m"),
            ("  a line with :// and no more ", "a line with :// and no more"),
        ] {
            assert_eq!(clean(line), told, "{line}");
        }
        assert_eq!(clean(&"ä".repeat(1_000)).chars().count(), LINE_MAX_CHARS);
    }

    #[test]
    fn a_failure_says_what_to_do_next() {
        let far = Source::parse("https://example.com/app").unwrap();
        for (said, part) in [
            (
                "Cloning..\nfatal: could not read Username for 'https://example.com': terminal prompts disabled",
                "example.com did not let git in",
            ),
            ("remote: Not here\nfatal: repository 'https://example.com/app' not found", "private"),
            ("fatal: unable to access 'x': Could not resolve host: example.com", "the network"),
            ("git@example.com: Permission denied (publickey).\nfatal: Could not read", "SSH key"),
            ("fatal: write error: No space left on device", "make room"),
            ("fatal: early EOF", "git failed: early EOF; put that right"),
            ("", "git failed: it gave no reason"),
        ] {
            let told = why(&Trouble::Failed(said.to_owned()), Some(&far));
            assert!(told.contains(part) && !told.contains("HOST"), "{told}");
        }
        let told = why(&Trouble::TooLong(30), Some(&far));
        assert!(told.contains("30 minutes"), "{told}");
    }
}
