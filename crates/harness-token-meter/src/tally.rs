//! Use and cost, added up from the log.
use harness_llm::{MessageSource, Usage};
use harness_session::{Body, Event, LogView, Seq};

use crate::cost::{Cost, Prices};
use crate::events::CallUsage;

/// What a stretch of a log used and cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Requests that were answered, those outside steps included.
    pub requests: u32,
    /// Of these, requests whose usage was not reported.
    pub unmetered: u32,
    /// Their tokens.
    pub usage: Usage,
    /// What they cost.
    pub cost: Cost,
}

impl Tally {
    /// Adds up a log from a sequence number on. Without prices every cost is unknown.
    pub fn since(view: &LogView, first: Seq, prices: Option<&dyn Prices>) -> Self {
        let mut tally = Self::default();
        for event in view.iter_from(first) {
            tally.event(&event, prices);
        }
        tally
    }
    /// Adds up the open turn, or the last one.
    pub fn of_turn(view: &LogView, prices: Option<&dyn Prices>) -> Self {
        let is_start = |event: &Event| matches!(event.body, Body::TurnStart(_));
        let start = (0..view.len()).rev().find(|seq| view.get(*seq).is_some_and(|event| is_start(&event)));
        Self::since(view, start.unwrap_or(0), prices)
    }

    fn event(&mut self, event: &Event, prices: Option<&dyn Prices>) {
        match &event.body {
            Body::AssistantMessage(answer) => {
                if let MessageSource::Model { provider, model, .. } = &answer.message.source {
                    self.call(provider, model, answer.usage.as_ref(), prices);
                }
            }
            Body::Plugin(data) => {
                if let Some(Ok(call)) = data.read::<CallUsage>() {
                    self.call(&call.provider, &call.model, call.usage.as_ref(), prices);
                }
            }
            _ => {}
        }
    }
    fn call(&mut self, provider: &str, model: &str, usage: Option<&Usage>, prices: Option<&dyn Prices>) {
        self.requests += 1;
        let Some(usage) = usage else {
            self.unmetered += 1;
            self.cost.add_unmetered();
            return;
        };
        self.usage += *usage;
        let price = prices.and_then(|prices| prices.price(provider, model));
        self.cost.add(&format!("{provider}/{model}"), usage, price);
    }
    /// All tokens: prompt, cached or not, and answer.
    pub fn tokens(&self) -> u64 {
        let Usage { input, output, cache_read, cache_write, .. } = self.usage;
        input + output + cache_read.unwrap_or(0) + cache_write.unwrap_or(0)
    }
}
