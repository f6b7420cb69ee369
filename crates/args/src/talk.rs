//! Commands about what agents say and ask: conversations, letters, questions, roles.

use clap::{Args, Subcommand};

/// What to do with conversations.
#[derive(Debug, Subcommand)]
pub enum Session {
    /// List conversations, the newest first
    #[command(after_help = "Examples:
  godel session list
  godel session list --bead godel-a1b2c
  godel session list --json")]
    List {
        /// Only those about this bead
        #[arg(long, value_name = "ID")]
        bead: Option<String>,
        /// List this many
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Draw a conversation with its branches and save points
    #[command(after_help = "Examples:
  godel session tree worker-1
  godel session tree worker-1 --all")]
    Tree {
        /// The session, its agent or its bead
        session: String,
        /// Every node, also of long stretches without a branch
        #[arg(long)]
        all: bool,
    },
    /// Print the branch of a conversation that is chosen, as it was said
    #[command(after_help = "Examples:
  godel session show worker-1
  godel session show worker-1 --all")]
    Show {
        /// The session, its agent or its bead
        session: String,
        /// From the beginning on, and not only the end
        #[arg(long)]
        all: bool,
    },
    /// Compare the files of two ends of a conversation
    #[command(after_help = "Examples:
  godel session compare worker-1 12 19
  godel session compare worker-1 before-refactoring 19 --json

The files of an end are those of the worktree, if the agent stands there now, or else those of the newest
snapshot at it or before it: godel agent snapshot AGENT. What git ignores is not shown.")]
    Compare {
        /// The session, its agent or its bead
        session: String,
        /// The number of a node, or the name of a save point
        left: String,
        /// The number of another node, or the name of a save point
        right: String,
    },
    /// Let another agent go on from a node, with its own bead and worktree
    #[command(after_help = "Examples:
  godel session fork worker-1 --node 12
  godel session fork worker-1 --node before-refactoring")]
    Fork(Spot),
    /// Begin a branch of a conversation at a node
    #[command(after_help = "Examples:
  godel session branch worker-1 attempt-2 --node 12

`godel session switch` chooses it. The agent must not be at work meanwhile: pause it first.")]
    Branch {
        #[command(flatten)]
        spot: Spot,
        /// What it is called
        name: String,
    },
    /// Choose another branch of a conversation
    #[command(after_help = "Examples:
  godel session switch worker-1 main")]
    Switch {
        /// The session, its agent or its bead
        session: String,
        /// The branch
        branch: String,
    },
    /// Make what the model is told shorter; nothing is deleted
    #[command(after_help = "Examples:
  godel session compact worker-1
  godel session compact worker-1 --summary \"The parser is done, its tests are next\"")]
    Compact {
        /// The session, its agent or its bead
        session: String,
        /// What stands for what is left out
        #[arg(long, value_name = "TEXT")]
        summary: Option<String>,
    },
    /// Give the end of a conversation a name, to come back to it
    #[command(after_help = "Examples:
  godel session save worker-1 before-refactoring")]
    Save {
        /// The session, its agent or its bead
        session: String,
        /// What it is called
        name: String,
    },
    /// Let a conversation go on that was paused or has ended
    #[command(after_help = "Examples:
  godel session resume worker-1")]
    Resume {
        /// The session, its agent or its bead
        session: String,
    },
    /// Put a conversation away that is over
    #[command(after_help = "Examples:
  godel session archive worker-1")]
    Archive {
        /// The session, its agent or its bead
        session: String,
    },
}

/// A place in a conversation.
#[derive(Debug, Args)]
pub struct Spot {
    /// The session, its agent or its bead
    pub session: String,
    /// The number of the node, or the name of a save point [default: the end]
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
}

/// What to do with letters.
#[derive(Debug, Subcommand)]
pub enum Mail {
    /// List letters, the newest first
    #[command(after_help = "Examples:
  godel mail list
  godel mail list --agent worker-1")]
    List {
        /// Those to this agent, and not your own
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        /// List this many
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Write to an agent or a person
    #[command(after_help = "Examples:
  godel mail send worker-1 \"The API has changed, see main\"
  godel mail send ann - < notes.md")]
    Send {
        /// The name or id of an agent, or the name of a user
        to: String,
        /// What it says, or - to read it from stdin
        text: String,
    },
}

/// What needs a person.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Inbox {
    /// What was answered already, too
    #[arg(long)]
    pub all: bool,
    /// Only how many there are
    #[arg(long, conflicts_with = "all")]
    pub count: bool,
    #[command(subcommand)]
    pub what: Option<InboxWhat>,
}

/// What to do about it.
#[derive(Debug, Subcommand)]
pub enum InboxWhat {
    /// Answer; the agent or the run goes on with it
    #[command(after_help = "Examples:
  godel inbox answer 3f9c \"Use PostgreSQL\"
  godel inbox answer 3f9c 2
  godel inbox answer 3f9c approve
  godel inbox answer 3f9c \"reject: not before Monday\"

The beginning or the end of an id is enough. Where there are choices, the number of one will do.")]
    Answer {
        /// What is answered
        id: String,
        /// The answer, or - to read it from stdin
        text: String,
    },
    /// Let the agent decide by itself, or put aside what needs no answer
    #[command(after_help = "Examples:
  godel inbox decline 3f9c")]
    Decline {
        /// What is not answered
        id: String,
    },
}

/// What to do with roles.
#[derive(Debug, Subcommand)]
pub enum Role {
    /// List the roles
    #[command(after_help = "Examples:
  godel role list")]
    List,
    /// Show a role, and what an agent in it is told first
    #[command(after_help = "Examples:
  godel role show reviewer")]
    Show {
        /// The name
        role: String,
    },
}
