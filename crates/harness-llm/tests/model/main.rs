//! The model seam: vocabulary, chunk protocol, assembler, sanitiser and the service.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod assembler;
mod checked_stream;
mod chunks;
mod protocol;
mod sanitize;
mod service;
mod stored;
mod vocabulary;
