//! Which reply a request gets.

use std::collections::HashMap;
use std::sync::Arc;

use crate::plan::{Context, Plan, depends_on_request, wants_last_message};
use crate::recorded::RecordedRequest;
use crate::reply::{Reply, txt};
use crate::script::{Script, WhenExhausted};
use crate::wire::WireFormat;

/// The replies that are left.
#[derive(Debug)]
pub(crate) struct ReplyQueue {
    script: Script,
    /// How many more requests each reply is for.
    left: Vec<u32>,
    /// All replies before this one are used up.
    first: usize,
    /// Bytes made once, for replies that do not depend on the request: by position and format.
    ready: HashMap<(usize, WireFormat), Arc<Plan>>,
}

impl ReplyQueue {
    pub(crate) fn new(script: Script) -> Self {
        let left = script.replies.iter().map(|reply| reply.times).collect();
        let mut queue = Self { left, first: 0, ready: HashMap::new(), script };
        // The usual format ahead of the first request, which may be timed.
        for index in 0..queue.left.len() {
            queue.fixed_plan(index, WireFormat::ChatCompletions);
        }
        queue
    }

    /// The bytes of a reply that does not depend on the request.
    fn fixed_plan(&mut self, index: usize, format: WireFormat) -> Option<Arc<Plan>> {
        let reply = &self.script.replies[index];
        if depends_on_request(reply) {
            return None;
        }
        let make = || Arc::new(Plan::new(reply, index + 1, &self.script.model, format, Context::default()));
        Some(Arc::clone(self.ready.entry((index, format)).or_insert_with(make)))
    }

    pub(crate) fn next(&mut self, request: &RecordedRequest, format: WireFormat) -> Arc<Plan> {
        while self.left.get(self.first) == Some(&0) {
            self.first += 1;
        }
        let fits = |index: &usize| {
            self.left[*index] > 0
                && self.script.replies[*index]
                    .when_last_message_contains
                    .as_ref()
                    .is_none_or(|part| request.last_message_text().contains(part.as_str()))
        };
        match (self.first..self.left.len()).find(fits) {
            Some(index) => {
                self.left[index] -= 1;
                self.plan(index, request, format)
            }
            None => self.after_the_last(request, format),
        }
    }

    fn plan(&mut self, index: usize, request: &RecordedRequest, format: WireFormat) -> Arc<Plan> {
        if let Some(plan) = self.fixed_plan(index, format) {
            return plan;
        }
        let reply = &self.script.replies[index];
        let last_message =
            if wants_last_message(reply) { request.last_message_text() } else { String::new() };
        let context = Context { request: request.number(), last_message: &last_message };
        Arc::new(Plan::new(reply, index + 1, &self.script.model, format, context))
    }

    fn after_the_last(&mut self, request: &RecordedRequest, format: WireFormat) -> Arc<Plan> {
        let total = self.script.replies.len();
        let reply = match self.script.when_exhausted {
            WhenExhausted::RepeatLast if total > 0 => return self.plan(total - 1, request, format),
            WhenExhausted::Echo => txt(request.last_message_text()),
            WhenExhausted::Error | WhenExhausted::RepeatLast => Reply::error(
                500,
                &format!(
                    "the script has no reply for request {}: none of its {total} replies is left or fits",
                    request.number()
                ),
            ),
        };
        Arc::new(Plan::new(&reply, 0, &self.script.model, format, Context::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Request;

    /// The numbers of the replies that requests with these last messages get.
    fn served(script: Script, messages: &[&str]) -> Vec<usize> {
        let mut queue = ReplyQueue::new(script);
        let numbered = messages.iter().enumerate();
        numbered
            .map(|(index, message)| {
                let body = serde_json::json!({ "messages": [{ "role": "user", "content": message }] });
                let request = Request { body: body.to_string().into(), ..Request::default() };
                queue.next(&RecordedRequest::new(index + 1, request), WireFormat::ChatCompletions).reply
            })
            .collect()
    }

    #[test]
    fn replies_are_used_in_order_as_often_as_they_say() {
        let script = Script::new([txt("a").times(2), txt("b")]);
        assert_eq!(served(script.clone(), &["", "", "", ""]), [1, 1, 2, 0]);
        assert_eq!(
            served(script.when_exhausted(WhenExhausted::RepeatLast), &["", "", "", "", ""]),
            [1, 1, 2, 2, 2]
        );
    }

    #[test]
    fn a_condition_keeps_a_reply_for_the_request_that_meets_it() {
        let script = Script::new([txt("a").when_last_message_contains("error"), txt("b"), txt("c")]);
        assert_eq!(served(script, &["go", "an error", "go", "an error"]), [2, 1, 3, 0]);
    }
}
