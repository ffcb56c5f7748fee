//! What changes from place to place and day to day travels as a message, so that the prompt stays the same.
use harness_agent::SessionStart;
use harness_kernel::{Ctx, Plugin, PluginError};
use harness_llm::{ContextForm, Message, MessageSource};

const NAME: &str = "surroundings";

/// Tells each session once where it works, and again on resume if that changed.
pub(crate) struct Surroundings {
    /// The day, as `2026-12-01`.
    pub(crate) today: String,
}
impl Plugin for Surroundings {
    type Deps = ();
    fn name(&self) -> &'static str {
        NAME
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        let today = self.today.clone();
        ctx.on_parallel::<SessionStart, _>(move |start| {
            let today = today.clone();
            async move {
                let (agent, cwd) = (&start.agent, start.agent.options().cwd);
                let text = format!(
                    "Working folder: {}\nPlatform: {} {}\nDate: {today}",
                    cwd.display(),
                    std::env::consts::OS,
                    std::env::consts::ARCH
                );
                let mine = |message: &&std::sync::Arc<Message>| {
                    matches!(&message.source, MessageSource::Plugin { plugin, .. } if plugin == NAME)
                };
                let messages = agent.session().messages();
                let last = messages.iter().rev().find(mine).map(|message| message.text());
                if last.as_ref() != Some(&text) {
                    let message = Message::context(NAME, ContextForm::Snapshot, text);
                    agent.inject(message).map_err(|error| harness_agent::ListenerError(error.to_string()))?;
                }
                Ok(())
            }
        });
        Ok(())
    }
}
