//! Commands about agents, and about what they say and ask.

use clap::{Args, Subcommand};

pub use crate::kept::Kept;
pub use crate::land::LandArgs;
pub use crate::talk::{Inbox, InboxWhat, Mail, Role, Session, Spot};
use crate::units;

/// The agents that Godel can lead, by name.
pub const HARNESSES: [&str; 8] =
    ["native", "claude", "codex", "gemini", "opencode", "pi", "acp", "command"];

/// The states by which agents are listed.
const STATES: [&str; 8] =
    ["pending", "initializing", "running", "waiting", "paused", "completed", "failed", "killed"];

/// What to do with agents.
#[derive(Debug, Subcommand)]
pub enum Agents {
    /// Start agents, watch them, talk to them and end them
    #[command(
        subcommand,
        after_help = "Examples:
  godel agent spawn \"Fix the login form\"
  godel agent list
  godel agent logs worker-1 --follow

Each agent works on one bead, in a worktree of its own, behind walls. Its work is on the branch
bead/<id> when git agrees that it is done."
    )]
    Agent(Agent),
    /// Look into the conversations of agents, and go on from any point of them
    #[command(
        subcommand,
        after_help = "Examples:
  godel session tree worker-1
  godel session fork worker-1 --node 12

A session is named by its id, the beginning or the end of it, its agent or its bead."
    )]
    Session(Session),
    /// Read and write letters between agents and people
    #[command(
        subcommand,
        after_help = "Examples:
  godel mail list
  godel mail send worker-1 \"The API has changed, see main\""
    )]
    Mail(Mail),
    /// See what needs you, and answer
    #[command(after_help = "Examples:
  godel inbox
  godel inbox answer 3f9c \"Use PostgreSQL\"
  godel inbox decline 3f9c

An agent that asks waits for the answer. The rest of the fleet goes on.")]
    Inbox(Inbox),
    /// See the roles that an agent can have
    #[command(
        subcommand,
        after_help = "Examples:
  godel role list
  godel role show reviewer"
    )]
    Role(Role),
    /// Stop all agents at once; nothing of their work is lost
    #[command(after_help = "Examples:
  godel estop
  godel estop --reason \"wrong branch\"
  godel estop --show

Every worktree stays as it is, and nothing new begins until `godel resume`.")]
    Estop {
        /// Why, for those who come later
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// Only tell whether everything stands still
        #[arg(long, conflicts_with = "reason")]
        show: bool,
    },
    /// Let everything go on that `godel estop` stopped
    #[command(after_help = "Examples:
  godel resume")]
    Resume,
    /// Try a bead several ways at once, compare what comes of it, and pick one
    #[command(
        subcommand,
        after_help = "Examples:
  godel attempt start 4k2hm --models claude-opus-4-8,gpt-5.2,gemini-3-pro
  godel attempt show 4k2hm
  godel attempt diff 4k2hm 1 2
  godel attempt pick 4k2hm 2

Each attempt is an agent of its own, in a worktree of its own, and none sees the others. The bead waits until one
is picked or all are dropped; nothing of the others is lost."
    )]
    Attempt(crate::attempt::Attempt),
    /// Review what agents have done, and decide what of it may land
    #[command(
        subcommand,
        after_help = "Examples:
  godel review list
  godel review diff 4k2hm
  godel review reject 4k2hm src/main.rs:2
  godel review request-changes 4k2hm"
    )]
    Review(crate::review::Review),
    /// Let the work of beads get into its branch, in order and only if the gates pass
    #[command(
        args_conflicts_with_subcommands = true,
        arg_required_else_help = true,
        after_help = "Examples:
  godel land godel-4k2hm
  godel land status
  godel land pause --reason \"release today\"
  godel land revert 4k2hm

Work lands one after the other, or several beads together that are tried apart if they fail. Conflicts are repaired
by an agent. The branch is moved only to what has passed the gates, and only if nobody else moved it in the
meantime. `[landing]` in godel.toml says how; docs/how-to/landing.md tells more."
    )]
    Land(LandArgs),
}

/// What to do with agents.
#[derive(Debug, Subcommand)]
pub enum Agent {
    /// Start an agent on a task or a bead
    #[command(after_help = "Examples:
  godel agent spawn \"Fix the login form\" --model claude-sonnet-5
  godel agent spawn --bead 4k2hm --harness claude --budget 5 --timeout 30m
  godel agent spawn \"Upgrade the dependencies\" --allow crates.io --allow static.crates.io
  godel agent spawn --bead 4k2hm --harness command -- my-agent --prompt {prompt}
  godel agent spawn - --wait < task.md

Its name alone is on stdout. A task becomes a bead of its own. The agent works in a worktree behind walls:
it can change that folder and reach models, and nothing else; --sandbox and --allow change that. With
--wait the exit code is 0 if the work is done and checked, else 1.")]
    Spawn(Box<Spawn>),
    /// List agents at a glance: what they work on, what it costs, what they are doing
    #[command(after_help = "Examples:
  godel agent list
  godel agent list --status running
  godel agent list --convoy convoy-20261115-k3d --json")]
    List(ListAgents),
    /// Show how an agent stands, and what led there
    #[command(after_help = "Examples:
  godel agent show worker-1
  godel agent show worker-1 --json")]
    Show {
        /// Its name or id
        agent: String,
    },
    /// Print what an agent said and did
    #[command(after_help = "Examples:
  godel agent logs worker-1
  godel agent logs worker-1 --follow --after 4711 --json
  godel agent logs worker-1 --tail 50 --follow

With --follow it goes on until the agent has ended; a server that is started again meanwhile does no harm.
With --json each entry is one line.")]
    Logs {
        /// Its name or id
        agent: String,
        /// Go on with what happens next
        #[arg(long, short)]
        follow: bool,
        /// Begin behind this position
        #[arg(long, value_name = "SEQ", default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
        after: i64,
        /// Only the last entries, so many at most
        #[arg(long, value_name = "COUNT", conflicts_with = "after", value_parser = clap::value_parser!(u32).range(1..=100_000))]
        tail: Option<u32>,
        /// Only what is before this position: the last 100 entries, or as many as --tail says
        #[arg(long, value_name = "SEQ", conflicts_with_all = ["after", "follow"], value_parser = clap::value_parser!(i64).range(1..))]
        before: Option<i64>,
        /// Print long texts whole, and what the agent thinks
        #[arg(long)]
        full: bool,
    },
    /// Watch an agent live and talk to it, or work in a shell beside it
    #[command(after_help = "Examples:
  godel agent attach worker-1
  godel agent attach worker-1 --terminal
  godel agent attach worker-1 --terminal --watch
  echo \"Leave the tests alone\" | godel agent attach worker-1

Each line that you type is told to the agent: it answers the question of one that asks, and is a message
to one that works. Ctrl-C or Ctrl-D detaches: the agent goes on. With --terminal you are in a shell in the
agent's sandbox, and Ctrl-] or ~. at the beginning of a line detaches; the shell stays open while the agent
runs, and shows what you missed when you come back. Many can watch, and one has control.")]
    Attach {
        /// Its name or id
        agent: String,
        /// Print long texts whole, and what the agent thinks
        #[arg(long)]
        full: bool,
        /// Work in a shell in the agent's sandbox, instead of talking to it
        #[arg(long, short, conflicts_with = "full")]
        terminal: bool,
        /// Only look: take no control
        #[arg(long)]
        watch: bool,
        /// Take control from who has it
        #[arg(long, conflicts_with = "watch")]
        take: bool,
    },
    /// Tell an agent something; it reads it at the next safe point
    #[command(after_help = "Examples:
  godel agent message worker-1 \"Leave the tests alone\"
  godel agent message worker-1 - < notes.md")]
    Message {
        /// Its name or id
        agent: String,
        /// What to tell, or - to read it from stdin
        text: String,
    },
    /// Let an agent stand still; its worktree stays
    #[command(after_help = "Examples:
  godel agent pause worker-1")]
    Pause {
        /// Its name or id
        agent: String,
    },
    /// Let an agent go on that was paused
    #[command(after_help = "Examples:
  godel agent resume worker-1")]
    Resume {
        /// Its name or id
        agent: String,
    },
    /// Let an agent begin anew, with what is in its worktree and a note about what was done
    #[command(after_help = "Examples:
  godel agent restart worker-1
  godel agent restart worker-1 --model claude-opus-5
  godel agent restart worker-1 --harness claude")]
    Restart {
        /// Its name or id
        agent: String,
        /// With another model
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
        /// As another agent
        #[arg(long, value_name = "HARNESS", value_parser = HARNESSES)]
        harness: Option<String>,
    },
    /// End an agent; its worktree and its bead stay
    #[command(after_help = "Examples:
  godel agent kill worker-1")]
    Kill {
        /// Its name or id
        agent: String,
    },
    /// Make copies of an agent that go on by themselves, each with its own bead and worktree
    #[command(after_help = "Examples:
  godel agent fork worker-1
  godel agent fork worker-1 --copies 3

Files and conversation are copied together.")]
    Fork {
        /// Its name or id
        agent: String,
        /// How many
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
        copies: u32,
    },
    #[command(flatten)]
    Kept(Kept),
    /// Forget an agent that has ended; its bead and its commits stay
    #[command(after_help = "Examples:
  godel agent delete worker-1")]
    Delete {
        /// Its name or id
        agent: String,
    },
    /// Show how many agents are in each state, and how many can run
    #[command(after_help = "Examples:
  godel agent metrics
  godel agent metrics --json")]
    Metrics,
}

/// The agent that is to be started.
#[derive(Debug, Default, Args)]
pub struct Spawn {
    /// What is to be done, or - to read it from stdin; with --bead something to say in addition
    #[arg(required_unless_present = "bead")]
    pub task: Option<String>,
    /// Work on this bead
    #[arg(long, value_name = "BEAD")]
    pub bead: Option<String>,
    /// Call it so [default: its role and a number]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub kind: Kind,
    /// Where it works [default: what godel.toml says, else worktree]
    #[arg(long, value_name = "WHERE", value_parser = ["worktree", "gvisor"])]
    pub runtime: Option<String>,
    #[command(flatten)]
    pub walls: Walls,
    /// Let it reach this host; may be given several times
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub allow: Vec<String>,
    /// Let it spend at most this much, in dollars
    #[arg(long, value_name = "DOLLARS", value_parser = units::money)]
    pub budget: Option<i64>,
    /// End it after this time: 30m, 2h
    #[arg(long, value_name = "TIME", value_parser = units::seconds)]
    pub timeout: Option<u64>,
    /// The project, if it is not that of this folder
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Wait until it has ended
    #[arg(long)]
    pub wait: bool,
    /// The command line of an acp or command agent; {prompt} stands for what it is told
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Which agent works.
#[derive(Debug, Clone, Default, Args)]
pub struct Kind {
    /// Which agent: native, claude, codex, gemini, opencode, pi, acp or command
    #[arg(long, value_name = "HARNESS", value_parser = HARNESSES)]
    pub harness: Option<String>,
    /// Ask this model
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// In this role, as `godel role list` shows them
    #[arg(long, value_name = "ROLE")]
    pub role: Option<String>,
}

/// The walls around an agent.
#[derive(Debug, Clone, Default, Args)]
pub struct Walls {
    /// Its walls: read-only, workspace, workspace+net, or none together with --no-walls
    #[arg(long, value_name = "PROFILE", value_parser = ["read-only", "workspace", "workspace+net", "none"])]
    pub sandbox: Option<String>,
    /// Run it without any walls: it can do all that the server can do on this machine
    #[arg(long)]
    pub no_walls: bool,
}

impl Walls {
    /// Returns the profile that is meant, if one was named; hosts need one that lets them through.
    ///
    /// # Errors
    /// What is wrong, and what to write instead.
    pub fn profile(&self, hosts: bool) -> Result<Option<String>, (&'static str, &'static str)> {
        match (self.sandbox.as_deref(), self.no_walls) {
            (Some("none"), false) => Err((
                "without a sandbox the agent can do all that the server can do on this machine",
                "add --no-walls if that is what you want, or choose --sandbox workspace+net",
            )),
            (None | Some("none"), true) => Ok(Some("none".to_owned())),
            (Some(_), true) => {
                Err(("--no-walls and --sandbox name two different things", "leave one of them out"))
            }
            (None, false) if hosts => Ok(Some("workspace+net".to_owned())),
            (Some("read-only" | "workspace"), false) if hosts => Err((
                "--allow opens hosts, and this sandbox has no network",
                "choose --sandbox workspace+net, or leave --sandbox out",
            )),
            (given, false) => Ok(given.map(str::to_owned)),
        }
    }
}

/// Which agents are listed.
#[derive(Debug, Args)]
pub struct ListAgents {
    /// Only those that are pending, initializing, running, waiting, paused, completed, failed or killed
    #[arg(long, value_name = "STATUS", value_parser = STATES)]
    pub status: Option<String>,
    /// Only those that work on this bead
    #[arg(long, value_name = "BEAD")]
    pub bead: Option<String>,
    /// Only those of this convoy
    #[arg(long, value_name = "CONVOY")]
    pub convoy: Option<String>,
    /// Only those in this role
    #[arg(long, value_name = "ROLE")]
    pub role: Option<String>,
    /// Only those of this project
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// List this many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::convoy::{Driven, What};
    use crate::local::Local;
    use crate::{Cli, Command};

    fn parsed(line: &[&str]) -> Result<Command, clap::Error> {
        let line = ["godel"].iter().chain(line);
        Cli::try_parse_from(line).map(|cli| cli.command.unwrap())
    }

    fn spawned(line: &[&str]) -> Spawn {
        match parsed(&[&["agent", "spawn"], line].concat()) {
            Ok(Command::Agents(Agents::Agent(Agent::Spawn(asked)))) => *asked,
            other => panic!("{line:?}: {other:?}"),
        }
    }

    #[test]
    fn an_agent_needs_a_task_or_a_bead_and_may_have_a_command() {
        let asked = spawned(&["fix it", "--budget", "$2.50", "--timeout", "30m", "--wait"]);
        assert_eq!(asked.task.as_deref(), Some("fix it"));
        assert_eq!((asked.budget, asked.timeout, asked.wait), (Some(2_500_000), Some(1_800), true));
        let asked =
            spawned(&["--bead", "4k2hm", "--harness", "acp", "--", "x", "--flag", "{prompt}"]);
        assert_eq!((asked.task, asked.bead.as_deref()), (None, Some("4k2hm")));
        assert_eq!(asked.command, ["x", "--flag", "{prompt}"]);
        let asked = spawned(&["t", "--allow", "a.org,b.org", "--allow", "c.org"]);
        assert_eq!(asked.allow, ["a.org", "b.org", "c.org"]);
        for bad in [
            &[][..],
            &["t", "--harness", "cladue"],
            &["t", "--sandbox", "all"],
            &["t", "--budget", "0"],
            &["t", "--timeout", "0s"],
            &["t", "--runtime", "moon"],
        ] {
            assert!(parsed(&[&["agent", "spawn"], bad].concat()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn walls_go_only_if_that_is_said_twice() {
        let walls = |sandbox: Option<&str>, no_walls| Walls {
            sandbox: sandbox.map(str::to_owned),
            no_walls,
        };
        let named = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(walls(None, false).profile(false), Ok(None));
        assert_eq!(walls(Some("read-only"), false).profile(false), named("read-only"));
        assert_eq!(walls(None, true).profile(false), named("none"));
        assert_eq!(walls(Some("none"), true).profile(true), named("none"));
        assert_eq!(walls(None, false).profile(true), named("workspace+net"));
        assert_eq!(walls(Some("workspace+net"), false).profile(true), named("workspace+net"));
        assert!(walls(Some("none"), false).profile(false).is_err());
        assert!(walls(Some("workspace"), true).profile(false).is_err());
        assert!(walls(Some("workspace"), false).profile(true).is_err());
    }

    #[test]
    fn only_what_is_about_agents_needs_a_server() {
        let local = |line: &[&str]| match parsed(line) {
            Ok(Command::Local(asked)) => asked,
            other => panic!("{line:?}: {other:?}"),
        };
        assert!(!local(&["convoy", "list"]).needs_server());
        assert!(local(&["convoy", "stop", "c"]).needs_server());
        assert!(local(&["convoy", "watch", "c", "--once"]).needs_server());
        let start = local(&["convoy", "start", "c", "--agents", "6", "--budget", "5"]);
        assert!(start.needs_server());
        let Local::Convoy(convoy) = start else { panic!() };
        let What::Driven(Driven::Start(asked)) = convoy.what else { panic!() };
        assert_eq!((asked.agents, asked.budget), (Some(6), Some(5_000_000)));
        assert!(parsed(&["convoy", "start", "c", "--agents", "0"]).is_err());
        assert!(parsed(&["convoy", "start", "c", "--agents", "201"]).is_err());
    }

    #[test]
    fn places_in_conversations_come_before_names() {
        let line = ["session", "branch", "worker-1", "attempt-2", "--node", "12"];
        let Ok(Command::Agents(Agents::Session(Session::Branch { name, spot }))) = parsed(&line)
        else {
            panic!()
        };
        assert_eq!((name.as_str(), spot.session.as_str()), ("attempt-2", "worker-1"));
        assert_eq!(spot.node.as_deref(), Some("12"));
    }

    #[test]
    fn an_inbox_is_listed_or_answered() {
        let asked = |line: &[&str]| match parsed(line) {
            Ok(Command::Agents(Agents::Inbox(asked))) => asked,
            other => panic!("{line:?}: {other:?}"),
        };
        assert!(asked(&["inbox"]).what.is_none());
        assert!(asked(&["inbox", "--all"]).all);
        let answer = asked(&["inbox", "answer", "3f9c", "yes"]).what;
        assert!(matches!(answer, Some(InboxWhat::Answer { text, .. }) if text == "yes"));
        assert!(parsed(&["inbox", "--all", "decline", "3f9c"]).is_err());
        assert!(parsed(&["estop", "--show", "--reason", "x"]).is_err());
    }
}
