//! Reads one handler.
use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::condition::Condition;
use crate::diagnostic::Severity;
use crate::entry::{HookEntry, Origin};
use crate::handler::{
    CommandHandler, Handler, HandlerKind, OnError, OracleHandler, ProxyHandler, Waiting, WebhookHandler,
};
use crate::lint;
use crate::matcher::Matcher;
use crate::{Dialect, HookEvent};

/// Where a handler stands.
pub(crate) struct EntrySite<'a> {
    pub(crate) id: String,
    pub(crate) locator: String,
    pub(crate) spelling: &'a str,
    pub(crate) events: &'a [HookEvent],
    pub(crate) matcher: &'a Matcher,
    pub(crate) text: Option<&'a str>,
    pub(crate) origin: &'a Origin,
}

type Remarks = Vec<(Severity, String)>;

/// Reads a handler and what is to be said about it; an error disables it.
pub(crate) fn entry(site: EntrySite<'_>, value: &Value) -> Result<(HookEntry, Remarks), String> {
    let object = value.as_object().ok_or("a handler must be an object; it is disabled")?;
    let fields = Fields(object);
    let handler = handler(&fields)?;
    allowed(&handler, site.events, site.origin.dialect)?;
    let condition = match fields.text("if")? {
        None => None,
        Some(rule) => Some(Condition::parse(rule).map_err(|error| error.to_string())?),
    };
    let entry = HookEntry {
        id: site.id,
        origin: site.origin.clone(),
        locator: site.locator,
        spelling: site.spelling.to_owned(),
        events: site.events.to_vec(),
        matcher_text: site.text.map(str::to_owned),
        matcher: site.matcher.clone(),
        condition,
        timeout: fields.seconds("timeout")?,
        on_error: on_error(&fields)?,
        waiting: match (fields.flag("asyncRewake")?, fields.flag("async")?) {
            (Some(true), _) => Waiting::Rewake,
            (_, Some(true)) => Waiting::Background,
            _ => Waiting::Awaited,
        },
        status_message: fields.text("statusMessage")?.map(str::to_owned),
        handler,
    };
    let remarks = lint::entry(&entry);
    Ok((entry, remarks))
}

fn handler(fields: &Fields<'_>) -> Result<Handler, String> {
    let kind = fields.text("type")?.unwrap_or("command");
    Ok(match kind {
        "command" | "shell" => Handler::Command(CommandHandler {
            command: fields.required("command", kind)?,
            args: fields.texts("args")?,
            shell: fields.text("shell")?.map(str::to_owned),
            env: fields.map("env")?,
        }),
        "http" | "webhook" => Handler::Webhook(WebhookHandler {
            url: fields.required("url", kind)?,
            headers: fields.map("headers")?,
            allowed_env: fields.texts("allowedEnvVars")?.unwrap_or_default(),
        }),
        "prompt" | "oracle" => Handler::Oracle(OracleHandler {
            prompt: fields.required("prompt", kind)?,
            model: fields.text("model")?.map(str::to_owned),
            continue_on_block: fields.flag("continueOnBlock")?.unwrap_or(false),
        }),
        "agent" | "subagent" | "proxy" => Handler::Proxy(ProxyHandler {
            prompt: fields.required("prompt", kind)?,
            command: fields.text("command")?.map(str::to_owned),
            model: fields.text("model")?.map(str::to_owned),
        }),
        "mcp_tool" => return Err("handlers of type `mcp_tool` cannot run here; it is disabled".to_owned()),
        other => {
            return Err(format!(
                "no handler is of type `{other}` (command, http, prompt, agent); it is disabled"
            ));
        }
    })
}

fn allowed(handler: &Handler, events: &[HookEvent], dialect: Dialect) -> Result<(), String> {
    let refused = |event: &&HookEvent| match (dialect, handler.kind()) {
        // The other contracts know no such limits.
        (Dialect::Codex | Dialect::Native, _) => false,
        (Dialect::Opencode, kind) => kind == HandlerKind::Oracle,
        (Dialect::Claude, kind) => refused_by_claude(kind, **event),
    };
    match events.iter().find(refused) {
        None => Ok(()),
        Some(event) => Err(format!(
            "handlers of kind {} are not allowed on {}; it is disabled",
            format!("{:?}", handler.kind()).to_lowercase(),
            event.name()
        )),
    }
}

fn refused_by_claude(kind: HandlerKind, event: HookEvent) -> bool {
    match kind {
        HandlerKind::Command => false,
        HandlerKind::Webhook => matches!(event, HookEvent::SessionStart | HookEvent::Setup),
        HandlerKind::Oracle | HandlerKind::Proxy => !event.info().asks_models,
    }
}

fn on_error(fields: &Fields<'_>) -> Result<Option<OnError>, String> {
    let found = match fields.text("onError")? {
        Some(word) => Some(("onError", word)),
        None => fields.text("onFailure")?.map(|word| ("onFailure", word)),
    };
    Ok(match found {
        None => None,
        Some(("onError", "ignore")) => Some(OnError::Ignore),
        Some(("onError", "warn") | ("onFailure", "continue")) => Some(OnError::Warn),
        Some((_, "block")) => Some(OnError::Block),
        Some((key, word)) => {
            let words = if key == "onError" { "ignore, warn or block" } else { "continue or block" };
            return Err(format!("`{key}` must be {words}, not `{word}`; the hook is disabled"));
        }
    })
}

struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }
    fn text(&self, key: &str) -> Result<Option<&'a str>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{key}` must be a text; the hook is disabled")),
        }
    }
    fn required(&self, key: &str, kind: &str) -> Result<String, String> {
        match self.text(key)? {
            Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
            _ => Err(format!("a handler of type `{kind}` needs `{key}`; it is disabled")),
        }
    }
    fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(format!("`{key}` must be true or false; the hook is disabled")),
        }
    }
    fn seconds(&self, key: &str) -> Result<Option<Duration>, String> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let seconds = value.as_f64().filter(|seconds| *seconds > 0.0);
        let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        duration
            .map(Some)
            .ok_or_else(|| format!("`{key}` must be a positive number of seconds; the hook is disabled"))
    }
    fn texts(&self, key: &str) -> Result<Option<Vec<String>>, String> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let all = value.as_array().and_then(|all| {
            all.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
        });
        all.map(Some).ok_or_else(|| format!("`{key}` must be a list of texts; the hook is disabled"))
    }
    fn map(&self, key: &str) -> Result<BTreeMap<String, String>, String> {
        let Some(value) = self.get(key) else { return Ok(BTreeMap::new()) };
        let all = value.as_object().and_then(|all| {
            all.iter().map(|(name, one)| Some((name.clone(), one.as_str()?.to_owned()))).collect()
        });
        all.ok_or_else(|| format!("`{key}` must be an object of texts; the hook is disabled"))
    }
}
