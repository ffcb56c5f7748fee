//! The command line.
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use harness_session::SessionId;

use crate::hooks_args::HooksCommand;
use crate::sessions_export::ExportArgs;
use crate::sessions_remove::age;

/// A coding agent for the terminal.
#[derive(Debug, Parser)]
#[command(name = "harness", version, about, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Do one task in a folder and exit
    Run(RunArgs),
    /// Look at stored sessions
    Sessions {
        #[command(subcommand)]
        command: SessionsCommand,
    },
    /// Look at the configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Look at models: what is known of them, and what their servers say
    Models {
        #[command(subcommand)]
        command: Option<ModelsCommand>,
    },
    /// Look at hooks, try them, and serve them to other programs
    Hooks {
        #[command(subcommand)]
        command: HooksCommand,
    },
    /// Watch the agent mend a failing test, with a scripted model: no key, no network
    Demo(DemoArgs),
    /// Serve a scripted model on the loopback interface
    MockLlm(MockArgs),
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct RunArgs {
    /// What to do; text piped to standard input is added to it, or taken in its place
    pub(crate) task: Option<String>,
    /// Print the session's events as JSON, one a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Model name, as the provider knows it
    #[arg(long, short, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Provider route, such as `deepseek` or `openai`
    #[arg(long, short, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// Address in place of the provider's own; without a provider, an OpenAI-compatible server such as
    /// `http://127.0.0.1:11434/v1`
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The folder to work in [default: the current one]
    #[arg(long, short = 'C', value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Most steps (model requests) before the turn ends [default: 200]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_steps: Option<u32>,
    /// Most tokens of the turn, cached ones included
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_tokens: Option<u64>,
    /// Most cost of the turn, in US dollars
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) max_cost: Option<f64>,
    /// Let these calls run, as `tool` or `tool(pattern)`; may be repeated
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Never let these calls run, as `tool` or `tool(pattern)`; wins over `--allow`; may be repeated
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// Run the hooks of this settings file, too; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Vec<PathBuf>,
    /// Run the project's hooks although the project is not trusted
    #[arg(long)]
    pub(crate) trust_project_hooks: bool,
    /// Go on with a stored session
    #[arg(long, value_name = "ID", group = "earlier")]
    pub(crate) resume: Option<SessionId>,
    /// Go on with this folder's newest session
    #[arg(long = "continue", group = "earlier")]
    pub(crate) r#continue: bool,
    /// If the session is in use, go on in a new one that starts with its completed turns
    #[arg(long, requires = "earlier")]
    pub(crate) fork: bool,
    /// First replace the session's older history by a summary
    #[arg(long)]
    pub(crate) compact: bool,
}

/// A backend of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum BackendName {
    /// A folder with a text file for each session
    Jsonl,
    /// One database
    Sqlite,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the models of the catalog and the settings, with windows and prices
    List {
        /// Only those of this provider route
        #[arg(long, short, value_name = "NAME")]
        provider: Option<String>,
        /// Print JSON, one model a line
        #[arg(long)]
        json: bool,
    },
    /// Ask a provider's server which models it serves; exit code 1 if it does not serve the one to use
    Check {
        /// Provider route [default: that of the settings]
        provider: Option<String>,
        /// The model to look for [default: that of the settings]
        #[arg(long, short, value_name = "NAME")]
        model: Option<String>,
        /// Address in place of the provider's own
        #[arg(long, value_name = "URL")]
        base_url: Option<String>,
        /// Print JSON, one model a line
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List stored sessions, newest first
    List {
        /// Print JSON, one session a line
        #[arg(long)]
        json: bool,
        /// Only the newest N
        #[arg(long, short = 'n', value_name = "N")]
        limit: Option<usize>,
    },
    /// Show one session
    Show {
        /// The session
        id: SessionId,
        /// Print its events as JSON, one a line
        #[arg(long)]
        json: bool,
    },
    /// Look for damage, without changing anything; exit code 1 if there is any
    Check {
        /// The session
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<SessionId>,
        /// All sessions
        #[arg(long)]
        all: bool,
        /// Print JSON, one session a line
        #[arg(long)]
        json: bool,
    },
    /// Keep what can be kept of a damaged session; the original stays beside it
    Repair {
        /// The session
        id: SessionId,
        /// Only say what would be lost
        #[arg(long)]
        dry_run: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a new session that starts with the first turns of another
    Fork {
        /// The session to fork; it stays as it is
        id: SessionId,
        /// The last turn to keep [default: the newest completed one]
        #[arg(long, value_name = "TURN", value_parser = clap::value_parser!(u32).range(1..))]
        at: Option<u32>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Drive the loop again from the record, with no model and no tool, and compare; exit code 1 if it differs
    Replay {
        /// The session
        id: SessionId,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Copy sessions from one backend into the other, without loss
    Convert {
        /// The sessions
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        ids: Vec<SessionId>,
        /// All sessions of the other backend
        #[arg(long)]
        all: bool,
        /// Where they go
        #[arg(long)]
        to: BackendName,
        /// Delete each session that was copied
        #[arg(long)]
        remove: bool,
    },
    /// Delete sessions, without asking; one in use is never deleted
    Rm {
        /// The sessions
        #[arg(required_unless_present = "older_than", conflicts_with = "older_than")]
        ids: Vec<SessionId>,
        /// Those that did not change for so long: a number and `h`, `d` or `w`, such as `30d`
        #[arg(long, value_name = "AGE", value_parser = age)]
        older_than: Option<Duration>,
        /// Print JSON, one session a line
        #[arg(long)]
        json: bool,
    },
    /// Write one session as a document: every message, call, change, time and token count
    Export(ExportArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting and where it comes from
    Show {
        /// The folder whose project file counts [default: the current one]
        #[arg(long, short = 'C', value_name = "DIR")]
        cwd: Option<PathBuf>,
    },
    /// Trust a project's settings file exactly as it is now
    Trust {
        /// The folder of the project [default: the current one]
        #[arg(long, short = 'C', value_name = "DIR")]
        cwd: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Where to make the throw-away repository [default: a new temporary folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Print the session's events as JSON, one a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MockArgs {
    /// The script: JSON or TOML [default: answer prompt hooks, with a no when the prompt says DENY]
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Port; 0 takes a free one and prints it
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Write each request body to this folder as Q1.json, Q2.json …
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
}

fn dollars(text: &str) -> Result<f64, String> {
    let usd: f64 =
        text.trim_start_matches('$').parse().map_err(|_| "expected an amount such as 0.50".to_owned())?;
    if usd.is_finite() && usd > 0.0 { Ok(usd) } else { Err("expected an amount above 0".to_owned()) }
}
