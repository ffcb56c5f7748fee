//! Tool calls put together from fragments.
use harness_llm::{BlockKind, Chunk, Request};
use harness_llm_http::unused_call_id;

use super::scanner::ObjectScanner;
use super::wire::CallDelta;

/// The calls of one response, in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    /// Calls before this position are open.
    opened: usize,
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    /// As the server gave it; may repeat an earlier one.
    wire_id: String,
    /// As the rest of the harness knows it; set when the block opens.
    id: String,
    name: String,
    block: u32,
    /// Arguments that came before the block could open.
    waiting: String,
    scanner: ObjectScanner,
}

impl Calls {
    /// Takes one fragment. Blocks open in order of first appearance as soon as the name is known; later calls
    /// wait for earlier ones.
    pub(super) fn push(
        &mut self,
        delta: &CallDelta<'_>,
        request: &Request,
        next_block: &mut u32,
        out: &mut Vec<Chunk>,
    ) {
        let (name, arguments) = match &delta.function {
            Some(function) => (&*function.name, &*function.arguments.0),
            None => ("", ""),
        };
        let at = match self.find(delta, name, arguments) {
            Some(at) => at,
            None if delta.id.is_empty() && name.is_empty() && arguments.is_empty() => return,
            None => {
                self.calls.push(Call { index: delta.index, ..Call::default() });
                self.calls.len() - 1
            }
        };
        let is_open = at < self.opened;
        let call = &mut self.calls[at];
        if call.wire_id.is_empty() {
            call.wire_id.push_str(&delta.id);
        }
        if call.name.is_empty() {
            call.name.push_str(name);
        }
        call.scanner.feed(arguments);
        if !is_open {
            call.waiting.push_str(arguments);
            self.open_named(request, next_block, out);
        } else if !arguments.is_empty() {
            out.push(Chunk::ToolCallDelta { index: call.block, arguments: arguments.to_owned() });
        }
    }

    /// The call that a fragment goes on with; `None` if it begins one.
    ///
    /// The index decides where there is one, else the id, else the newest call goes on.
    fn find(&self, delta: &CallDelta<'_>, name: &str, arguments: &str) -> Option<usize> {
        let at = match delta.index {
            Some(index) => self.calls.iter().rposition(|call| call.index == Some(index))?,
            None if !delta.id.is_empty() => {
                return self.calls.iter().rposition(|call| call.wire_id == *delta.id);
            }
            None => self.calls.len().checked_sub(1)?,
        };
        (!self.calls[at].is_followed_by(&delta.id, name, arguments)).then_some(at)
    }

    /// Opens the calls whose turn has come.
    fn open_named(&mut self, request: &Request, next_block: &mut u32, out: &mut Vec<Chunk>) {
        while self.calls.get(self.opened).is_some_and(|call| !call.name.is_empty()) {
            self.open_next(request, next_block, out);
        }
    }

    fn open_next(&mut self, request: &Request, next_block: &mut u32, out: &mut Vec<Chunk>) {
        let earlier = self.calls[..self.opened].iter().map(|call| &*call.id);
        let id = unused_call_id(&self.calls[self.opened].wire_id, request, earlier);
        let call = &mut self.calls[self.opened];
        self.opened += 1;
        call.id.clone_from(&id);
        call.block = *next_block;
        *next_block += 1;
        let kind = BlockKind::ToolCall { id, name: call.name.clone() };
        out.push(Chunk::BlockStart { index: call.block, kind });
        if !call.waiting.is_empty() {
            let arguments = std::mem::take(&mut call.waiting);
            out.push(Chunk::ToolCallDelta { index: call.block, arguments });
        }
    }

    /// Opens, at the end of a response that the output limit cut, the calls that waited behind one whose name
    /// was cut off. Without a name there is no call.
    pub(super) fn open_cut_off(&mut self, request: &Request, next_block: &mut u32, out: &mut Vec<Chunk>) {
        let opened = self.opened;
        let mut position = 0;
        self.calls.retain(|call| {
            position += 1;
            position <= opened || !call.name.is_empty()
        });
        self.open_named(request, next_block, out);
    }

    /// True if a call never got a name.
    pub(super) fn has_nameless(&self) -> bool {
        self.opened < self.calls.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.opened == 0
    }
}

impl Call {
    /// Whether a fragment for this call's index begins another call: some servers give every call the same
    /// index, or none.
    ///
    /// Others repeat the name, or even give a fresh id, in each fragment of one call; so a call ends only when a
    /// fragment brings another identity and either names itself or could not belong to finished arguments.
    fn is_followed_by(&self, id: &str, name: &str, arguments: &str) -> bool {
        let is_done = self.scanner.is_complete();
        if !id.is_empty() {
            let is_new = !self.wire_id.is_empty() && id != self.wire_id;
            return is_new && (!name.is_empty() || (is_done && !arguments.trim().is_empty()));
        }
        !name.is_empty() && !self.name.is_empty() && (is_done || name != self.name)
    }
}
