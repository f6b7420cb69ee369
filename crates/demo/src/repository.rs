//! The throw-away repository: a small program with tests that need nothing but sh and git.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use godel_console::{Error, Result};

const GREET: &str = r#"#!/bin/sh
# Greets whoever is named.
lang=en
name=World
while [ $# -gt 0 ]; do
  case "$1" in
    --lang) lang=$2; shift ;;
    *) name=$1 ;;
  esac
  shift
done
case "$lang" in
  en) word=Hello ;;
  *) echo "greet: I do not speak $lang" >&2; exit 1 ;;
esac
echo "$word, $name!"
"#;

const TEST: &str = r#"#!/bin/sh
# Runs every test; each is a program that ends with 0 if all is well.
failed=0
for test in tests/*.sh; do
  sh "$test" || { echo "$test failed"; failed=1; }
done
exit $failed
"#;

const HELLO: &str = r#"said=$(sh greet.sh Ada)
[ "$said" = "Hello, Ada!" ] || { echo "greet.sh Ada: $said"; exit 1; }
sh greet.sh --lang xx Ada 2>/dev/null && { echo "it speaks xx"; exit 1; }
exit 0
"#;

/// Makes the repository, with one commit on `main`.
pub(crate) fn make(folder: &Path, model: &str) -> Result<()> {
    let settings = format!(
        "# What Godel does in this repository; `docs/how-to/gates.md` tells more.\n\n[gates]\ntest = \"sh test.sh\"\n\n\
         [project]\nreview = \"auto\"   # this is a show: nobody has to look\n\n[agents]\nmodel = \"{model}\"\nmax = 3\n"
    );
    let files = [
        ("greet.sh", GREET),
        ("test.sh", TEST),
        ("tests/hello.sh", HELLO),
        ("README.md", "# Greeter\n\nGreets whoever is named.\n"),
        ("godel.toml", &settings),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)
                .map_err(|cause| Error::file(&parent.display(), "made", cause))?;
        }
        fs::write(&path, text).map_err(|cause| Error::file(&path.display(), "written", cause))?;
    }
    git(folder, &["init", "-q", "-b", "main"])?;
    git(folder, &["config", "user.name", "Godel demo"])?;
    git(folder, &["config", "user.email", "demo@godel.invalid"])?;
    git(folder, &["config", "commit.gpgSign", "false"])?;
    git(folder, &["add", "-A"])?;
    git(folder, &["commit", "-q", "-m", "A greeter"]).map(drop)
}

/// Runs git in the repository.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    // Whatever repository, hooks and settings the user's shell names, this is about the show's own.
    crate::child::forget_git(&mut command);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.current_dir(folder).args(["-c", "core.hooksPath=/dev/null"]).args(arguments);
    command.stdin(Stdio::null());
    let output = command.output().map_err(|cause| Error::file("git", "run", cause))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(said(&output.stdout));
    }
    let what = format!("git {} failed: {}", arguments.join(" "), said(&output.stderr));
    Err(crate::child::broke(what, "install git 2.38 or newer"))
}
