//! The show itself: set the stage, say what is wanted, watch, and tell what came of it.

use std::io::{BufRead as _, BufReader, IsTerminal as _, Read as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use godel_args::local::Demo;
use godel_console::output::Output;
use godel_console::{Error, Exit, Result};
use serde_json::Value;

use crate::child::{Godel, Running, broke};
use crate::{actor, provider, repository, summary};

/// The model that the scripted provider plays.
const MODEL: &str = "demo-script";
/// What it would cost, so that sums can be shown; nobody pays it.
const PRICES: &str = "prices = [{ input = 1.0, output = 5.0 }]";
/// How long the show may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// The same where real models think.
const LIVE_PATIENCE: Duration = Duration::from_secs(3_600);
const POLL: Duration = Duration::from_millis(200);
/// How many agents work at once.
const AGENTS: &str = "3";
/// A real provider, for `--live`.
struct Real {
    /// The variable with its key, and the one with an address in place of its usual one.
    key: &'static str,
    address: &'static str,
    /// Its name, and the ways in which it is asked.
    provider: &'static str,
    ways: &'static [&'static str],
    model: &'static str,
}

const LIVE: [Real; 3] = [
    Real {
        key: "ANTHROPIC_API_KEY",
        address: "ANTHROPIC_BASE_URL",
        provider: "anthropic",
        ways: &["anthropic"],
        model: "claude-sonnet-5",
    },
    Real {
        key: "OPENAI_API_KEY",
        address: "OPENAI_BASE_URL",
        provider: "openai",
        ways: &["chat", "responses"],
        model: "gpt-5.1",
    },
    Real {
        key: "GEMINI_API_KEY",
        address: "GOOGLE_GEMINI_BASE_URL",
        provider: "google",
        ways: &["gemini"],
        model: "gemini-pro-latest",
    },
];

impl Real {
    /// Finds the first one whose key is there.
    fn find() -> Result<&'static Self> {
        let found = LIVE.iter().find(|real| std::env::var_os(real.key).is_some());
        found.ok_or_else(|| {
            let names: Vec<&str> = LIVE.iter().map(|real| real.key).collect();
            let what = "--live needs the key of a provider in the environment";
            Error::usage(what, format!("set one of: {}", names.join(", ")))
        })
    }

    /// Writes the settings for an address of its own, as its usual programs take it.
    fn at(&self, address: &str) -> String {
        let ways = self.ways.iter().map(|way| format!("{way} = {address:?}\n"));
        format!("[providers.{}]\n{}", self.provider, ways.collect::<String>())
    }
}

/// Plays the show.
pub(crate) async fn run(output: Output, asked: &Demo) -> Result<Exit> {
    let place = tempfile::Builder::new().prefix("godel-demo-").tempdir();
    let place = place.map_err(|cause| Error::file("a folder", "made", cause))?;
    let folder = place.path().to_owned();
    let asked = asked.clone();
    let played = tokio::task::spawn_blocking(move || play(output, &asked, &folder)).await;
    let Ok(exit) = played else {
        return Err(broke("the show broke off", "report this"));
    };
    if exit.as_ref().map_or(true, |(_, keep)| *keep) {
        // It stays although the guard of the folder goes: for a look, or to see what went wrong.
        let kept = place.keep();
        if exit.is_err() {
            output.note(format_args!("what is left of the show: {}", kept.display()));
        }
    }
    exit.map(|(exit, _)| exit)
}

fn play(output: Output, asked: &Demo, folder: &Path) -> Result<(Exit, bool)> {
    let mut godel = Godel::new(folder, asked.live)?;
    let (model, _provider) = stage(&mut godel, asked)?;
    repository::make(&godel.repository(), &model)?;
    match asked.live {
        true => output.note(format_args!("Live: {model} does the work, and it costs real money.")),
        false => output.note(
            "This is a show: a scripted provider plays the models (no key, no cost). All else is real: the \
             server, agents behind walls, git, gates, the merge queue.",
        ),
    }
    output.note(format_args!("\nA small repository: {}", godel.repository().display()));
    let (mut server, mut link) = godel.up()?;
    godel.json(&["project", "create", "greeter", "--repository", "."])?;
    output.note(format_args!("\n$ godel do \"{}\" --agents {AGENTS} --yes\n", actor::INTENT));
    let wish = ["do", actor::INTENT, "--yes", "--agents", AGENTS];
    let started = Instant::now();
    let done = godel.json(&wish)?;
    let convoy = done["convoy"].as_str().unwrap_or_default().to_owned();
    let people = !output.is_json();
    godel.show(&["do", "--show", done["id"].as_str().unwrap_or_default()], people, PATIENCE)?;
    if asked.crash {
        let landed = until_one_landed(&godel, &convoy)?;
        output
            .note(format_args!("\nkill -9: the server ends in the middle of it ({landed} landed)"));
        server.kill();
        (server, link) = godel.up()?;
        output.note("It is up again, and goes on where it was.\n");
    }
    let patience = if asked.live { LIVE_PATIENCE } else { PATIENCE };
    if !godel.show(&["watch", &convoy], people, patience)? {
        let what = "the convoy did not come to its end";
        return Err(broke(what, format!("see {}", folder.join("server.log").display())));
    }
    let told = summary::tell(output, &godel, (&convoy, asked.live), started.elapsed())?;
    output.note(format_args!("\nThe dashboard: {link}"));
    if std::io::stdin().is_terminal() && !output.is_json() {
        output.note("Press Enter to end the show.");
        drop(std::io::stdin().read(&mut [0; 1]));
    }
    server.stop();
    if asked.keep {
        let (repository, data) = (godel.repository(), godel.data());
        output.note(format_args!(
            "The repository stays: {}\nIts server: godel up --data {}",
            repository.display(),
            data.display()
        ));
    }
    Ok((told, asked.keep))
}

/// Sets the stage: who answers for the models, and under which name.
fn stage(godel: &mut Godel, asked: &Demo) -> Result<(String, Option<Running>)> {
    make_folder(&godel.data())?;
    if asked.live {
        let real = Real::find()?;
        if let Some(address) = std::env::var(real.address).ok().filter(|one| !one.is_empty()) {
            write(&godel.data().join("proxy.toml"), &real.at(&address))?;
        }
        return Ok((asked.model.clone().unwrap_or_else(|| real.model.to_owned()), None));
    }
    let key = new_key()?;
    let mut command = godel.command(&["demo-provider"]);
    command.current_dir(&godel.folder).env(provider::KEY, &key);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = Running::start(&mut command)?;
    let mut address = String::new();
    if let Some(said) = running.child().stdout.take() {
        let read = BufReader::new(said).read_line(&mut address);
        read.map_err(|cause| Error::file("the scripted provider", "heard", cause))?;
    }
    let models = godel.data().join("models.toml");
    write(
        &models,
        &format!(
            "[[model]]\nname = \"{MODEL}\"\nprovider = \"demo\"\ncontext = 200000\noutput = 8000\n{PRICES}\n"
        ),
    )?;
    let settings = format!(
        "models = {models:?}\n[providers.demo]\nanthropic = \"http://{}\"\nenv = [\"{}\"]\n",
        address.trim(),
        provider::KEY
    );
    write(&godel.data().join("proxy.toml"), &settings)?;
    godel.variables.push((provider::KEY.to_owned(), key));
    Ok((MODEL.to_owned(), Some(running)))
}

/// Makes a key that nobody else has.
fn new_key() -> Result<String> {
    let mut bytes = [0; 32];
    let random =
        std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    random.map_err(|cause| Error::file("/dev/urandom", "read", cause))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn make_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(|cause| Error::file(&path.display(), "made", cause))
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|cause| Error::file(&path.display(), "written", cause))
}

/// Waits until something of a convoy has landed; returns how much.
fn until_one_landed(godel: &Godel, convoy: &str) -> Result<u64> {
    let until = Instant::now() + PATIENCE;
    loop {
        let status: Value = godel.json(&["convoy", "status", convoy])?;
        let landed = status["progress"]["done"].as_u64().unwrap_or(0);
        if landed > 0 {
            return Ok(landed);
        }
        if Instant::now() > until {
            return Err(broke("nothing landed", "see server.log in the folder of the show"));
        }
        std::thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_models_of_a_live_show_are_known() {
        let known = godel_llm::Registry::with(None).unwrap();
        for real in LIVE {
            assert!(!known.named(real.model).is_empty(), "{}: {}", real.key, real.model);
        }
    }
}
