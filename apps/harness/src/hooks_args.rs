//! The command line of `harness hooks`.
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use harness_hooks::Profile;

use crate::exit::Exit;

#[derive(Debug, Subcommand)]
pub(crate) enum HooksCommand {
    /// List the hooks of a folder, also those that do not run and why
    List {
        #[command(flatten)]
        files: HookFiles,
        /// Print JSON, one hook a line
        #[arg(long)]
        json: bool,
    },
    /// Check the hook files of a folder
    Validate {
        #[command(flatten)]
        files: HookFiles,
        /// Warnings count as errors
        #[arg(long)]
        strict: bool,
        /// Print JSON, one finding a line
        #[arg(long)]
        json: bool,
    },
    /// Run the hooks of one event and print what they came to; exits with 2 if they refuse
    Run {
        #[command(flatten)]
        files: HookFiles,
        #[command(flatten)]
        engine: EngineArgs,
        /// The event, by any of its names
        #[arg(long, value_name = "NAME")]
        event: String,
        /// The payload, a JSON object [default: from standard input]
        #[arg(long, value_name = "JSON")]
        payload: Option<String>,
        /// What matchers look at [default: what the payload says]
        #[arg(long, value_name = "TEXT")]
        subject: Option<String>,
    },
    /// Serve hooks to another program: one JSON request a line on standard input, one response a line
    Listen {
        #[command(flatten)]
        files: HookFiles,
        #[command(flatten)]
        engine: EngineArgs,
    },
    /// Print the merged hooks as JSON
    Dump {
        #[command(flatten)]
        files: HookFiles,
    },
}

/// Which files count.
#[derive(Debug, Args)]
pub(crate) struct HookFiles {
    /// Only this file, its format told by its name [default: `$HOOKS_ADAPTER_CONFIG`, else all files]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Home folder whose hook files count [default: `$HOOKS_ADAPTER_HOME`, else `$HOME`]
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// The folder of the project [default: the current one]
    #[arg(long, short = 'C', value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Run the project's hooks although the project is not trusted
    #[arg(long)]
    pub(crate) trust_project_hooks: bool,
}

/// How a command line that is not legal ends. `hooks run` keeps 2 for hooks that say no.
pub(crate) fn illegal(arguments: impl Iterator<Item = OsString>) -> Exit {
    let asks_hooks = arguments.skip(1).take(2).eq(["hooks", "run"]);
    if asks_hooks { Exit::Failed } else { Exit::Usage }
}

/// How hooks are run.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// The contract to follow
    #[arg(long, value_enum, default_value_t = ProfileArg::Native)]
    pub(crate) profile: ProfileArg,
    /// Seconds for hooks that do not say themselves
    #[arg(long, value_name = "S")]
    pub(crate) timeout: Option<f64>,
    /// OpenAI-compatible endpoint that answers prompt hooks, such as `http://127.0.0.1:8765/v1`
    #[arg(long, value_name = "URL")]
    pub(crate) llm_base_url: Option<String>,
    /// Model of that endpoint
    #[arg(long, value_name = "NAME", default_value = "mock")]
    pub(crate) llm_model: String,
    /// Environment variable that holds the key of that endpoint
    #[arg(long, value_name = "NAME")]
    pub(crate) llm_key_env: Option<String>,
    /// Program that runs agent hooks: payload on standard input, task in `HOOK_PROMPT`
    #[arg(long, value_name = "COMMAND")]
    pub(crate) proxy_command: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ProfileArg {
    /// Claude Code 2.1.240
    Claude,
    /// The native shell contract
    Native,
}
impl From<ProfileArg> for Profile {
    fn from(profile: ProfileArg) -> Self {
        match profile {
            ProfileArg::Claude => Self::Claude,
            ProfileArg::Native => Self::Native,
        }
    }
}
