//! The composed spine.
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harness_agent::{
    Agent, AgentFactory, AgentOptions, AgentPlugin, CreateAgent, QueueModes, SessionStartSource,
};
use harness_agent_loop::AgentLoop;
use harness_approval::ApprovalLog;
use harness_bash_local::{BashLocal, BashLocalConfig};
use harness_config::{Config, Environment, Paths, project_root};
use harness_fs::FileSystem;
use harness_fs_local::FsLocal;
use harness_fs_policy::FsPolicy;
use harness_hooks_claude::HooksClaude;
use harness_kernel::{App, Ctx, Running, Service};
use harness_llm::{CallConfig, LlmPlugin};
use harness_llm_anthropic::LlmAnthropic;
use harness_llm_deepseek::LlmDeepSeek;
use harness_llm_openai::LlmOpenAi;
use harness_permissions::Permissions;
use harness_session::{Clock, SessionHeader, SessionId, SessionPlugin, Sessions, SystemClock};
use harness_session_persistence::{
    Fork, PersistenceError, RecordedError, RepairNote, SessionPersistence, fork_recorded, resume_recorded,
    start_recorded,
};
use harness_system_prompt::{SystemPrompt, SystemPromptPlugin};
use harness_tool_bash::ToolBash;
use harness_tool_fs::ToolFs;
use harness_tool_schema::ToolSchema;
use harness_tools::ToolsPlugin;

use crate::error::BundleError;
use crate::hooks::hooks_config;
use crate::providers::{Providers, Sources, resolve};
use crate::settings::{
    AgentSettings, BashSection, FsPolicySection, HttpSettings, ModelSettings, ModelsSettings,
    PermissionSection, ProvidersSettings, SessionSettings,
};
use crate::surroundings::Surroundings;
use crate::{instructions, prompt, storage, upkeep};

/// A running harness: every plugin of the default spine.
pub struct Harness {
    running: Running,
    model: ModelSettings,
    providers: Providers,
    limits: AgentSettings,
    paths: Paths,
}

/// A live agent and what was mended when its session was opened.
pub struct OpenedAgent {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// What was mended.
    pub repairs: Vec<RepairNote>,
}

impl Harness {
    /// Reads the settings and starts the plugins.
    pub async fn start(
        config: &Config,
        environment: &Environment,
        paths: &Paths,
    ) -> Result<Self, BundleError> {
        let model: ModelSettings = config.section()?;
        let limits: AgentSettings = config.section()?;
        let session: SessionSettings = config.section()?;
        let permissions: PermissionSection = config.section()?;
        let bash: BashSection = config.section()?;
        let mut files: FsPolicySection = config.section()?;
        let permissions = Permissions::new(&permissions.0)?;
        files.0.writable_roots.extend(permissions.write_roots());
        let http: HttpSettings = config.section()?;
        let (providers, models): (ProvidersSettings, ModelsSettings) = (config.section()?, config.section()?);
        let sources = Sources { providers: &providers, models: &models, http: &http, environment };
        let providers = resolve(&sources)?;

        let variables = environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let mut shell = BashLocalConfig::new(variables, paths.spill.clone());
        shell.limits = bash.0;
        shell.secret_names = providers.key_variables();
        shell.secret_values = providers.keys();
        let app = storage::plugged(App::default(), &session, paths)?
            .with(SessionPlugin::default())
            .with(LlmPlugin)
            .with(LlmOpenAi { providers: providers.openai() })
            .with(LlmDeepSeek { providers: providers.deepseek() })
            .with(LlmAnthropic { providers: providers.anthropic() })
            .with(SystemPromptPlugin { sections: prompt::sections() })
            .with(ToolsPlugin)
            .with(ToolSchema)
            .with(permissions)
            .with(ApprovalLog)
            .with(HooksClaude { config: hooks_config(config, environment, paths)? })
            .with(BashLocal { config: shell })
            .with(ToolBash)
            .with(FsLocal)
            .with(FsPolicy::new(files.0))
            .with(ToolFs)
            .with(AgentPlugin)
            .with(AgentLoop)
            .with(Surroundings { today: jiff::ZonedDateTime::now().date().to_string() });
        let app = upkeep::plugins(app, config)?;
        let running = app.start().await?;
        Ok(Self { running, model, providers, limits, paths: paths.clone() })
    }

    /// The root context.
    pub fn ctx(&self) -> &Ctx {
        self.running.ctx()
    }
    /// Storage.
    pub fn persistence(&self) -> Result<Arc<dyn SessionPersistence>, BundleError> {
        self.service()
    }
    fn service<S: Service + ?Sized>(&self) -> Result<Arc<S>, BundleError> {
        self.ctx().service::<S>().ok_or(BundleError::Missing(S::NAME))
    }

    /// Settings for an agent that works in `cwd`, an absolute path.
    pub fn agent_options(&self, cwd: PathBuf) -> Result<AgentOptions, BundleError> {
        let provider = self.model.provider.clone();
        let model = self.providers.model(&provider, self.model.name.as_ref())?;
        let config = CallConfig {
            provider,
            model,
            reasoning_effort: self.model.reasoning_effort.clone(),
            temperature: self.model.temperature,
            max_tokens: self.model.max_tokens,
            stop: Vec::new(),
        };
        let mut options = AgentOptions::new(config, cwd);
        options.max_steps = self.limits.max_steps;
        options.parallel_tools = self.limits.parallel_tools;
        let AgentSettings { steering, followups, .. } = self.limits;
        options.queues = QueueModes { steering: steering.into(), followups: followups.into() };
        Ok(options)
    }

    /// Makes an agent with a new session.
    pub async fn create(&self, options: AgentOptions) -> Result<OpenedAgent, BundleError> {
        let cwd = options.cwd.display().to_string();
        let header = SessionHeader::new(SystemClock.now_ms(), Some(cwd));
        let scope = self.ctx().scope("agent");
        let (sessions, persistence) = (self.service::<Sessions>()?, self.persistence()?);
        let recorded = start_recorded(&scope, &sessions, persistence.as_ref(), header).await;
        self.agent(&scope, recorded, options, SessionStartSource::Startup).await
    }
    /// Makes an agent that goes on with a stored session.
    pub async fn resume(&self, id: SessionId, options: AgentOptions) -> Result<OpenedAgent, BundleError> {
        let scope = self.ctx().scope("agent");
        let (sessions, persistence) = (self.service::<Sessions>()?, self.persistence()?);
        let recorded = resume_recorded(&scope, &sessions, persistence.as_ref(), id).await;
        self.agent(&scope, recorded, options, SessionStartSource::Resume).await
    }
    /// Makes an agent that goes on with a stored session, or, if another process has it, with a fork of it that
    /// starts with its completed turns.
    pub async fn resume_or_fork(
        &self,
        id: SessionId,
        options: AgentOptions,
    ) -> Result<OpenedAgent, BundleError> {
        let scope = self.ctx().scope("agent");
        let (sessions, persistence) = (self.service::<Sessions>()?, self.persistence()?);
        let recorded = match resume_recorded(&scope, &sessions, persistence.as_ref(), id).await {
            Err(RecordedError::Persistence(PersistenceError::InUse { .. })) => {
                let fork = Fork { parent: id, turn: None, created_at: SystemClock.now_ms() };
                Ok(fork_recorded(&scope, &sessions, persistence.as_ref(), fork).await?)
            }
            other => other,
        };
        self.agent(&scope, recorded, options, SessionStartSource::Resume).await
    }
    /// The newest stored session of a folder.
    pub async fn latest(&self, cwd: &Path) -> Result<SessionId, BundleError> {
        let cwd = cwd.display().to_string();
        let latest = self.persistence()?.latest(Some(&cwd)).await?;
        latest.map(|session| session.header.id).ok_or(BundleError::NothingToContinue(cwd))
    }

    async fn agent(
        &self,
        scope: &Ctx,
        recorded: Result<harness_session_persistence::Recorded, RecordedError>,
        options: AgentOptions,
        source: SessionStartSource,
    ) -> Result<OpenedAgent, BundleError> {
        let made = async {
            let recorded = recorded?;
            let fs = self.service::<dyn FileSystem>()?;
            if let Some(section) =
                instructions::section(&fs, &project_root(&options.cwd, &self.paths)).await?
            {
                let prompt = self.service::<SystemPrompt>()?;
                // The scope is fresh, so the name cannot be taken.
                let _ = prompt.section(scope, section);
            }
            let factory = self.service::<dyn AgentFactory>()?;
            let agent = factory.create(CreateAgent { session: recorded.session, options, source }).await?;
            Ok(OpenedAgent { agent, repairs: recorded.repairs })
        };
        let made: Result<OpenedAgent, BundleError> = made.await;
        if made.is_err()
            && let Err(error) = scope.dispose().await
        {
            tracing::error!(%error, "the scope of a failed agent was not taken down cleanly");
        }
        made
    }

    /// Takes everything down, agents first. What is not saved yet is saved.
    pub async fn shutdown(self) -> Result<(), BundleError> {
        self.running.shutdown().await.map_err(|error| BundleError::Shutdown(error.to_string()))
    }
}
