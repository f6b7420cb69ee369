//! Judges histories of the queue, each file for itself.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::process::ExitCode;

use godel_referee::{Verdict, check};

const HELP: &str = "\
Judge histories of the queue

Usage: godel-referee FILE...

Prints each broken promise with the lines that show it, then what was looked at.
Exit code: 0 no promise broken, 1 at least one broken, 2 a file cannot be judged.

Examples:
  godel-referee history.jsonl";

fn main() -> ExitCode {
    let files: Vec<String> = std::env::args().skip(1).collect();
    match run(&files) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            // Nothing can be done for a terminal that does not listen.
            let _ = writeln!(io::stderr(), "error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Judges all files, and tells whether all are clean.
fn run(files: &[String]) -> Result<bool, String> {
    if files.is_empty() {
        return Err("name at least one history; see --help".to_owned());
    }
    let mut out = io::stdout().lock();
    if files.iter().any(|file| file == "--help" || file == "-h") {
        return writeln!(out, "{HELP}").map(|()| true).map_err(|error| error.to_string());
    }
    let mut clean = true;
    for file in files {
        let verdict = judge(file).map_err(|message| format!("{file}: {message}"))?;
        clean &= verdict.is_clean();
        tell(&mut out, file, &verdict).map_err(|error| error.to_string())?;
    }
    Ok(clean)
}

fn judge(file: &str) -> Result<Verdict, String> {
    let history = File::open(file).map_err(|error| format!("could not be opened: {error}"))?;
    check(BufReader::with_capacity(1 << 16, history)).map_err(|error| error.to_string())
}

fn tell(out: &mut impl Write, file: &str, verdict: &Verdict) -> io::Result<()> {
    for violation in &verdict.violations {
        writeln!(out, "{file}: {violation}")?;
    }
    let more = verdict.broken - verdict.violations.len() as u64;
    if more > 0 {
        writeln!(out, "{file}: and {more} more")?;
    }
    writeln!(out, "{file}: {}", verdict.summary())
}
