//! The little of HTTP/1.1 that a model endpoint needs, with every byte of the answer in our hands.

mod body;
mod connection;
mod head;
mod request;
mod response;

pub(crate) use connection::{Connection, Limits, ReadError};
pub(crate) use request::Request;
pub(crate) use response::{Framing, chunk, end_of_chunks, head, whole};
