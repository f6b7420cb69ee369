//! Lets real clients talk to the product: SDKs and agent programs, pinned in `clients/`.

mod refused;
mod through;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use self::through::Through;
use crate::counts;
use crate::failure::{Failure, Result, Told};
use crate::options::Clients;
use crate::provision::{self, Tools};
use crate::report::Done;
use crate::shop::Shop;
use crate::stage::Stage;
use crate::steps::cargo::counted;

/// The key of the provider; nothing but a key of its own may ever reach it.
const PROVIDER_KEY: &str = "sk-scripted-provider";

const GPT: &str = "gpt-5";
const CLAUDE: &str = "claude-opus-4-8";
const GEMINI: &str = "gemini-2.5-pro";

/// The checks of each SDK: the script, the model, and what is different with it.
const PYTHON_SDKS: [Sdk; 13] = [
    Sdk::new("openai_sdk.py", GPT),
    Sdk::new("anthropic_sdk.py", CLAUDE),
    Sdk::new("google_sdk.py", GEMINI),
    // What the client's dialect says is told to a provider of another one.
    Sdk::told("openai_sdk.py", CLAUDE, &[]),
    Sdk::told("openai_sdk.py", GEMINI, NO_CACHE_WRITE),
    Sdk::told("openai_sdk.py", "chatonly", &[]),
    Sdk::told("openai_sdk.py", "responsesonly", &[]),
    Sdk::told("anthropic_sdk.py", GPT, NO_THOUGHTS),
    Sdk::told("anthropic_sdk.py", GEMINI, NO_CACHE_WRITE),
    Sdk::told("anthropic_sdk.py", "responsesonly", &[]),
    Sdk::told("google_sdk.py", GPT, NO_THOUGHTS),
    Sdk::told("google_sdk.py", CLAUDE, &[]),
    Sdk::told("google_sdk.py", "responsesonly", &[]),
];
/// Checks that do not depend on the provider, and are made once.
const MADE_ONCE: [&str; 4] = ["models", "refused key", "rate limit", "missing model"];
/// Gemini does not tell what it wrote to its cache.
const NO_CACHE_WRITE: &[&str] = &["--no-cache-write"];
/// Chat Completions tell no thoughts.
const NO_THOUGHTS: &[&str] =
    &["--without", "thinking", "--without", "thinking tools", "--without", "thinking tools stream"];
const NODE_SDKS: [Sdk; 3] =
    [Sdk::new("openai.js", GPT), Sdk::new("anthropic.js", CLAUDE), Sdk::new("google.js", GEMINI)];
/// Each agent program, how it talks, and with which model.
const AGENTS: [(&str, &str, &str); 15] = [
    ("claude", "", CLAUDE),
    // A model of another provider, which is told in another dialect, and the other way round.
    ("claude", "told", GPT),
    ("pi", "chat", CLAUDE),
    ("codex", "own", GPT),
    // It tries a WebSocket first, and this model brings its tools in a cell of code.
    ("codex", "built-in", "gpt-6.1-sol"),
    ("gemini", "", GEMINI),
    ("gemini", "router", GEMINI),
    ("opencode", "anthropic", CLAUDE),
    ("opencode", "responses", GPT),
    ("opencode", "chat", GPT),
    ("opencode", "gemini", GEMINI),
    ("pi", "anthropic", CLAUDE),
    ("pi", "responses", GPT),
    ("pi", "chat", GPT),
    ("pi", "gemini", GEMINI),
];

struct Sdk {
    script: &'static str,
    model: &'static str,
    /// Whether a provider of another dialect answers.
    told: bool,
    further: &'static [&'static str],
}

impl Sdk {
    const fn new(script: &'static str, model: &'static str) -> Self {
        Self { script, model, told: false, further: &[] }
    }

    const fn told(
        script: &'static str,
        model: &'static str,
        further: &'static [&'static str],
    ) -> Self {
        Self { script, model, told: true, further }
    }
}

/// Runs the SDKs, and the agent programs if they are wanted.
pub(crate) fn real(shop: &Shop, clients: Clients) -> Result<Done> {
    let stage = Stage::open(shop, PROVIDER_KEY)?;
    let through = Through::open(shop, &stage)?;
    let mut cast = Cast { shop, through, lines: Vec::new(), skipped: Vec::new() };
    cast.python()?;
    cast.node()?;
    if shop.ci || clients == Clients::All {
        cast.agents(&stage)?;
    } else {
        let how = "to have them: cargo xtask test --only clients --clients all";
        cast.skipped
            .push(format!("Claude Code, Codex, Gemini CLI, opencode, Pi (2 GB to install); {how}"));
    }
    cast.look_back(&stage)?;
    cast.done()
}

/// The clients at work, and what they have said.
struct Cast<'a> {
    shop: &'a Shop,
    through: Through,
    lines: Vec<String>,
    skipped: Vec<String>,
}

impl Cast<'_> {
    fn python(&mut self) -> Result<()> {
        let (tools, done) = provision::python_tools(self.shop, &provision::SDKS)?;
        self.skipped.extend(done.skipped);
        let Some(tools) = tools else {
            return Ok(());
        };
        let folder = self.shop.root.join("clients/python");
        for sdk in &PYTHON_SDKS {
            let mut command = python(&tools, &folder.join(sdk.script));
            self.sdk(&mut command, sdk);
        }
        Ok(())
    }

    fn node(&mut self) -> Result<()> {
        let Some(modules) = self.packages("node")? else {
            return Ok(());
        };
        // Modules are looked for beside the script, and the workspace is not to hold them.
        let folder = self.shop.nursery.folder("clients-node")?;
        let source = self.shop.root.join("clients/node");
        for entry in fs::read_dir(&source).told("read clients/node")?.flatten() {
            fs::copy(entry.path(), folder.join(entry.file_name())).told("copy clients/node")?;
        }
        symlink(modules, folder.join("node_modules")).told("link node_modules")?;
        for sdk in &NODE_SDKS {
            let mut command = Command::new("node");
            self.sdk(command.arg(folder.join(sdk.script)), sdk);
        }
        Ok(())
    }

    fn agents(&mut self, stage: &Stage) -> Result<()> {
        let Some(modules) = self.packages("cli")? else {
            return Ok(());
        };
        let work = self.shop.nursery.folder("clients-cli")?;
        for (at, (cli, how, model)) in AGENTS.iter().enumerate() {
            let mut command = Command::new("node");
            command.arg(self.shop.root.join("clients/cli/run.js"));
            command.args(["--cli", cli, "--as", how, "--modules"]).arg(&modules);
            command.arg("--work").arg(work.join(at.to_string()));
            self.perform(&mut command, model, &format!("{cli}-{how}-{model}"));
        }
        self.refused(&modules, &work)?;
        self.led("godel-agents", stage, &modules);
        self.led("godel", stage, &modules);
        Ok(())
    }

    /// Lets Godel lead the agent programs: the crate that does it by itself, and the whole product, in
    /// which each takes a bead to a verified commit that lands.
    fn led(&mut self, package: &str, stage: &Stage, modules: &Path) {
        let arguments = ["test", "-p", package, "--test", "it", "--", "--ignored", "real"];
        let mut command = self.shop.cargo(&arguments);
        command.env("GODEL_TEST_CLIS", modules).env("GODEL_TEST_STAGE", &stage.url);
        command.env("GODEL_TEST_BASE", &self.through.base);
        command.env("GODEL_TEST_TOKEN", &self.through.token);
        let (said, failure) =
            match self.shop.captured(&format!("clients-led-{package}"), &mut command) {
                Ok(said) => (said, None),
                Err(failure) => (failure.text().to_owned(), Some(failure)),
            };
        let tests: Vec<String> = said.lines().filter_map(led_check).collect();
        match failure {
            Some(failure) => self.lines.push(line("led by Godel", false, failure.text())),
            None if tests.is_empty() => self.lines.push(line("led by Godel", false, "no test ran")),
            None => {}
        }
        self.lines.extend(tests);
    }

    /// The packages of npm; none if they may be left out.
    fn packages(&mut self, name: &str) -> Result<Option<PathBuf>> {
        match provision::node_packages(self.shop, name) {
            Ok(modules) => Ok(Some(modules)),
            Err(failure) if self.shop.ci => Err(failure),
            Err(failure) => {
                self.skipped.push(format!("clients/{name} ({})", failure.brief()));
                Ok(None)
            }
        }
    }

    fn sdk(&mut self, command: &mut Command, sdk: &Sdk) {
        if sdk.told {
            command.arg("--told").args(MADE_ONCE.iter().flat_map(|check| ["--without", check]));
        }
        command.args(sdk.further);
        self.perform(command, sdk.model, &format!("{}-{}", sdk.script, sdk.model));
    }

    /// Runs one client and keeps what it says; one that breaks must not hide the others.
    fn perform(&mut self, command: &mut Command, model: &str, name: &str) {
        let token = self.through.token.clone();
        self.perform_as(command, &token, model, name);
    }

    /// Runs one client with a token.
    fn perform_as(&mut self, command: &mut Command, token: &str, model: &str, name: &str) {
        let base = &self.through.base;
        command.args(["--base", base, "--token", token, "--model", model]);
        bare(command);
        let (said, failure) = match self.shop.captured(&format!("clients-{name}"), command) {
            Ok(said) => (said, None),
            Err(failure) => (failure.text().to_owned(), Some(failure)),
        };
        let checks: Vec<&str> = said.lines().filter(|line| counts::is_check(line)).collect();
        let told = checks.iter().any(|line| !counts::passes(line));
        self.lines.extend(checks.iter().map(|line| (*line).to_owned()));
        match failure {
            Some(failure) if !told => self.lines.push(line(name, false, failure.brief())),
            None if checks.is_empty() => self.lines.push(line(name, false, "it said nothing")),
            _ => {}
        }
    }

    /// Asks the provider what it saw of the clients.
    fn look_back(&mut self, stage: &Stage) -> Result<()> {
        let stats = stage.ask("/_stats")?;
        let count = |name: &str| stats[name].as_u64().unwrap_or_default();
        let kept = count("seals_kept") > 0 && count("seals_broken") == 0;
        self.lines.push(line("provider: opaque state came back", kept, &stats.to_string()));
        let (recorded, settled) = self.through.recorded()?;
        let detail = format!("{recorded} on record");
        self.lines.push(line(
            "server: every request is on record and settled",
            recorded > 100 && settled,
            &detail,
        ));
        let secret = self.through.kept_secrets(stage);
        self.lines.push(line("server: no key and no token in what it said", secret, ""));
        Ok(())
    }

    fn done(mut self) -> Result<Done> {
        // What failed stands at the end, where it is looked for.
        self.lines.sort_by_key(|line| !counts::passes(line));
        let said = self.lines.join("\n");
        let counts = counts::of_checks(&said);
        if let Some(counts) = counts
            && counts.failed > 0
        {
            let what = format!("{} checks of real clients failed", counts.failed);
            return Err(Failure::new(what).output(said));
        }
        Ok(Done { skipped: self.skipped, ..counted(counts)? })
    }
}

fn line(name: &str, ok: bool, detail: &str) -> String {
    serde_json::json!({ "name": name, "ok": ok, "detail": detail }).to_string()
}

/// Reads a line such as `test programs::real::codex ... ok`.
fn led_check(said: &str) -> Option<String> {
    let (name, how) = said.strip_prefix("test ")?.split_once(" ... ")?;
    Some(line(&format!("led by Godel: {name}"), how == "ok", how))
}

fn python(tools: &Tools, script: &Path) -> Command {
    let mut command = tools.command("python3");
    // No traces in the workspace.
    command.arg("-B").arg(script);
    command
}

/// Takes away the environment, which may name other providers, their keys, and proxies.
fn bare(command: &mut Command) {
    let kept = ["PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH"];
    for (name, _) in std::env::vars_os() {
        if !kept.iter().any(|known| name == *known) {
            command.env_remove(name);
        }
    }
}
