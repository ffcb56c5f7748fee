//! Drives one prompt through an agent and shows it.
use std::sync::Arc;

use harness_agent::{Agent, AgentFailed, AgentNotice, InboxPolicy};
use harness_llm::Message;
use harness_session::{AbortCause, SessionEvent};
use harness_session_persistence::{StorageFailed, StorageRecovered};
use harness_token_meter::Prices;
use tokio::sync::mpsc::unbounded_channel;

use crate::envelope::{Envelope, Problem, VERSION};
use crate::exit::Exit;
use crate::output::{Output, PATIENCE};
use crate::render::{Seen, TextRenderer, json};
use crate::signals::{Asked, Signals};
use crate::summary::{Summary, money};

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Text,
    Json,
}

/// Sends the prompt, shows what happens, and waits until the agent is idle. The agent lives on.
pub(crate) async fn drive(
    agent: &Arc<dyn Agent>,
    prompt: String,
    style: Style,
    output: &Arc<Output>,
    signals: &mut Signals,
) -> (Exit, Summary) {
    let session = agent.session();
    let first = session.view().len();
    let (sender, receiver) = unbounded_channel();
    let mut handles = Vec::new();
    let events = sender.clone();
    handles.push(agent.ctx().on::<SessionEvent>(move |event| {
        // The renderer ends only after this listener.
        let _ = events.send(Seen::Event(Arc::clone(&event.event)));
    }));
    let notes = sender.clone();
    handles.push(agent.ctx().on::<StorageFailed>(move |failed| {
        let text = format!(
            "harness: the session could not be saved: {} ({} events are kept in memory and tried again)",
            failed.error, failed.waiting
        );
        let _ = notes.send(Seen::Note(text));
    }));
    let notes = sender.clone();
    handles.push(agent.ctx().on::<StorageRecovered>(move |_| {
        let _ = notes.send(Seen::Note("harness: the session is saved again".to_owned()));
    }));
    let notes = sender.clone();
    handles.push(agent.ctx().on::<AgentNotice>(move |notice| {
        let _ = notes.send(Seen::Note(format!("harness: {}", notice.text)));
    }));
    let unsaved = Arc::new(std::sync::Mutex::new(None));
    let (notes, kept) = (sender, Arc::clone(&unsaved));
    handles.push(agent.ctx().on::<AgentFailed>(move |failed| {
        // A turn's own failure is told at the end, from the log.
        if failed.turn.is_none() {
            let _ = notes.send(Seen::Note(format!("harness: {}", failed.failure)));
            if failed.failure.code.as_str() == "NOT_DURABLE" {
                *kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
                    Some(failed.failure.clone());
            }
        }
    }));
    let mut renderer = match style {
        Style::Text => tokio::spawn(TextRenderer::new(Arc::clone(output)).run(session.subscribe(), receiver)),
        Style::Json => {
            let options = agent.options();
            let start = Envelope::Start {
                version: VERSION,
                session: agent.id().to_string(),
                provider: options.config.provider,
                model: options.config.model,
                cwd: options.cwd.display().to_string(),
            };
            output.data(&start.line());
            tokio::spawn(json(Arc::clone(output), receiver))
        }
    };

    let mut asked = match agent.followup(Message::user(prompt)) {
        Ok(_) => idle(agent, output, signals).await,
        Err(error) => {
            output.talk(&format!("harness: {error}"));
            None
        }
    };
    for handle in handles {
        handle.dispose();
    }
    tokio::select! {
        shown = &mut renderer => if let Err(error) = shown {
            output.talk(&format!("harness: the display failed: {error}"));
        },
        // A reader that does not read must not keep the program from ending.
        signal = impatience(asked, signals) => {
            renderer.abort();
            asked = Some(signal);
        }
    }

    let prices = agent.ctx().service::<dyn Prices>();
    let mut summary = Summary::since(&session.view(), first, prices.as_deref());
    summary.unsaved = unsaved.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    let exit = match asked {
        Some(asked) => asked.exit(),
        None if output.gone().is_cancelled() => Exit::OUTPUT_CLOSED,
        None => summary.exit(),
    };
    (exit, summary)
}

/// Waits until the agent is idle; a signal or a closed standard output cancels the turn.
async fn idle(agent: &Arc<dyn Agent>, output: &Arc<Output>, signals: &mut Signals) -> Option<Asked> {
    let mut asked: Option<Asked> = None;
    let mut gone = false;
    loop {
        tokio::select! {
            () = agent.when_idle() => return asked,
            () = output.gone().cancelled(), if !gone => {
                gone = true;
                agent.cancel(AbortCause::Signal { signal: "SIGPIPE".to_owned() }, InboxPolicy::Clear);
            }
            signal = signals.next() => {
                if asked.is_some() {
                    // The person means it: no tree is left behind, the log is mended at the next start.
                    harness_process::kill_all().await;
                    end_now(signal);
                }
                asked = Some(signal);
                agent.cancel(AbortCause::Signal { signal: signal.name.to_owned() }, InboxPolicy::Clear);
            }
        }
    }
}

/// Ends with the first signal, or some time after it.
async fn impatience(asked: Option<Asked>, signals: &mut Signals) -> Asked {
    match asked {
        Some(asked) => {
            tokio::time::sleep(PATIENCE).await;
            asked
        }
        None => signals.next().await,
    }
}

#[expect(clippy::exit, clippy::disallowed_methods, reason = "a second signal ends the process at once")]
fn end_now(asked: Asked) -> ! {
    std::process::exit(i32::from(asked.exit().code()))
}

/// The last words of a run.
pub(crate) fn conclude(agent: &Arc<dyn Agent>, exit: Exit, summary: &Summary, style: Style, output: &Output) {
    let error = summary.problem().map(|(code, message)| Problem { code, message });
    match style {
        Style::Json => output.data(&Envelope::end(Some(agent.id()), Some(summary), error, exit).line()),
        Style::Text => {
            if let Some(Problem { code, message }) = error {
                output.talk(&format!("harness: {message} [{code}]"));
            }
            let usage = summary.usage;
            let cached = usage.cache_read.map_or_else(String::new, |n| format!(" (+{n} cached)"));
            output.talk(&format!(
                "{} steps · {} tool calls · {} tokens in{cached}, {} out · {} · session {}",
                summary.steps,
                summary.tool_calls,
                usage.input,
                usage.output,
                money(&summary.cost),
                agent.id()
            ));
        }
    }
}
