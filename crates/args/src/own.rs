//! Commands by which an agent speaks to Godel about itself.

use clap::Subcommand;

/// What an agent that Godel runs can ask for.
#[derive(Debug, Subcommand)]
pub enum Own {
    /// Serve Godel's tools to an agent over MCP, on standard input and output
    #[command(after_help = "Examples:
  godel mcp

Godel starts this beside each agent that speaks MCP. It needs GODEL_BASE_URL and GODEL_TOKEN, which an
agent has.")]
    Mcp,
    /// Speak to Godel as an agent: its bead, list, mail, questions, and done
    #[command(
        name = "self",
        subcommand,
        after_help = "Examples:
  godel self bead
  godel self done \"The form checks its fields now\"

For agents without MCP. It needs GODEL_BASE_URL and GODEL_TOKEN, which an agent has."
    )]
    Verb(Verb),
}

/// What an agent says or asks.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Show the own bead and task
    #[command(after_help = "Examples:
  godel self bead")]
    Bead,
    /// Write the own list of things to do, whole
    #[command(after_help = "Examples:
  godel self todo \"[x] read the code\" \"[>] write the test\" \"[ ] mend it\"

A thing begins with [x] if it is done, with [>] if it is begun, and with [ ] or nothing if not.")]
    Todo {
        /// The things, in their order
        #[arg(value_name = "THING", required = true)]
        things: Vec<String>,
    },
    /// Read the own mail
    #[command(after_help = "Examples:
  godel self mail")]
    Mail,
    /// Write to another agent or a person
    #[command(after_help = "Examples:
  godel self send worker-2 \"The schema is ready\"")]
    Send {
        /// The name of an agent or a person
        to: String,
        /// What to say
        text: String,
    },
    /// Ask a person, and wait for the answer
    #[command(after_help = "Examples:
  godel self ask \"Which database?\" --choice PostgreSQL --choice SQLite")]
    Ask {
        /// What to ask
        question: String,
        /// An answer to choose; may be repeated
        #[arg(long = "choice", value_name = "TEXT")]
        choices: Vec<String>,
    },
    /// List the tools that the own role gives, with the schemas of their inputs
    #[command(after_help = "Examples:
  godel self tools")]
    Tools,
    /// Use a tool that the own role gives
    #[command(after_help = "Examples:
  godel self use bead_list
  godel self use bead_create '{\"title\": \"Check the form\", \"description\": \"...\"}'")]
    Use {
        /// Its name
        tool: String,
        /// Its input, as JSON
        #[arg(default_value = "{}")]
        input: String,
    },
    /// Say that the work is done; tells what is missing if it is not
    #[command(after_help = "Examples:
  godel self done \"The form checks its fields now\"")]
    Done {
        /// What was done, for people
        summary: String,
    },
}
