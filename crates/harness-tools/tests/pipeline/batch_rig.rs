//! A batch whose records go to the journal, and bodies that take as long as their text says.
use std::time::Duration;

use async_trait::async_trait;
use harness_kernel::BoxFuture;
use harness_tools::{BatchError, BatchReport, BatchSink, CallRequest, ToolCall, ToolOutcome, run_batch};
use serde_json::json;

use crate::fixture::{Journal, Output, Probe, Rig, code};

/// Notes what it is told and refuses what it is set to refuse.
pub(crate) struct Ledger {
    journal: Journal,
    refused: Vec<&'static str>,
    barriers: usize,
    on_barrier: Box<dyn FnMut(usize) -> BoxFuture<'static, Result<(), String>> + Send>,
}
impl Ledger {
    pub(crate) fn new(journal: &Journal) -> Self {
        let on_barrier = Box::new(|_| Box::pin(async { Ok(()) }) as BoxFuture<'static, _>);
        Self { journal: journal.clone(), refused: Vec::new(), barriers: 0, on_barrier }
    }
    /// Refuses a record such as `started:c1`.
    pub(crate) fn refusing(mut self, record: &'static str) -> Self {
        self.refused.push(record);
        self
    }
    /// Decides each barrier, counted from 0.
    pub(crate) fn at_barrier(
        mut self,
        decide: impl FnMut(usize) -> Result<(), String> + Send + 'static,
    ) -> Self {
        let mut decide = decide;
        self.on_barrier = Box::new(move |at| {
            let decision = decide(at);
            Box::pin(async move { decision })
        });
        self
    }
    fn record(&self, record: &str, detail: &str) -> Result<(), BatchError> {
        if self.refused.contains(&record) {
            self.journal.note(format!("refused:{record}"));
            return Err(BatchError(format!("{record} does not fit")));
        }
        self.journal.note(format!("{record}{detail}"));
        Ok(())
    }
}
#[async_trait]
impl BatchSink for Ledger {
    fn started(&mut self, call: &ToolCall) -> Result<(), BatchError> {
        self.record(&format!("started:{}", call.id()), "")
    }
    async fn barrier(&mut self) -> Result<(), String> {
        self.journal.note("barrier");
        self.barriers += 1;
        (self.on_barrier)(self.barriers - 1).await
    }
    fn finished(&mut self, call: &ToolCall, outcome: &ToolOutcome) -> Result<(), BatchError> {
        self.record(&format!("finished:{}", call.id()), &format!(":{}", code(outcome)))
    }
}

/// A body that takes as many milliseconds as its text says, whatever its caller does.
pub(crate) fn timed(journal: &Journal) -> Probe {
    let notes = journal.clone();
    Probe::acting(journal, move |input, run| {
        let notes = notes.clone();
        async move {
            let id = run.call().id().to_owned();
            notes.note(format!("begin:{id}"));
            tokio::time::sleep(Duration::from_millis(input.text.parse().unwrap())).await;
            notes.note(format!("end:{id}"));
            Ok(Output { text: input.text })
        }
    })
}

/// A call that may overlap others.
pub(crate) const OVERLAPS: bool = true;
/// A call that runs alone.
pub(crate) const ALONE: bool = false;

impl Rig {
    /// Requests `c0`, `c1` … from texts and whether each may overlap.
    pub(crate) fn requests(&self, calls: &[(&str, bool)]) -> Vec<CallRequest> {
        let arguments = calls.iter().map(|(text, parallel)| json!({ "text": text, "parallel": parallel }));
        self.requests_of(arguments.map(|arguments| arguments.to_string()))
    }
    /// Requests `c0`, `c1` … from argument texts.
    pub(crate) fn requests_of(&self, arguments: impl IntoIterator<Item = String>) -> Vec<CallRequest> {
        let calls = arguments.into_iter().zip(0..);
        let call = |(arguments, position): (String, u32)| CallRequest {
            id: format!("c{position}"),
            position,
            ..self.request(&arguments)
        };
        calls.map(call).collect()
    }
    /// Runs a batch; a batch that never ends fails at once where the clock is paused.
    pub(crate) async fn batch(
        &self,
        requests: Vec<CallRequest>,
        limit: usize,
        sink: &mut Ledger,
    ) -> Result<BatchReport, BatchError> {
        let batch = run_batch(&self.tools, &self.agent, requests, limit, &self.cancel, sink);
        tokio::time::timeout(Duration::from_hours(1), batch).await.expect("the batch never ends")
    }
    /// The journal without what the probe and the observers of [`Rig`] note.
    pub(crate) fn batch_journal(&self) -> Vec<String> {
        let kept = ["started", "barrier", "begin", "end", "finished", "refused", "pre", "asked"];
        let mut all = self.journal.all();
        all.retain(|entry| kept.iter().any(|prefix| entry.starts_with(prefix)));
        all
    }
    /// Where an entry stands in the journal.
    pub(crate) fn at(&self, entry: &str) -> usize {
        let found = self.journal.all().iter().position(|other| other == entry);
        found.unwrap_or_else(|| panic!("no {entry} in {:?}", self.journal.all()))
    }
    /// The records of the answered calls.
    pub(crate) fn finished(&self) -> Vec<String> {
        self.journal
            .all()
            .iter()
            .filter_map(|entry| Some(entry.strip_prefix("finished:")?.to_owned()))
            .collect()
    }
}
