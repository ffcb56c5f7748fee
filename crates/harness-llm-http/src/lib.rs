#![doc = include_str!("../README.md")]

mod adapter;
mod body;
mod call;
mod call_id;
mod config;
#[cfg(feature = "conformance")]
pub mod conformance;
mod ending;
mod endpoint;
mod extras;
mod failure;
mod fault;
mod fragments;
mod listing;
mod protocol;
mod shown;
mod site;
mod stream;
mod surrogate;
mod text;

pub use adapter::HttpAdapter;
pub use body::append_fields;
pub use call_id::unused_call_id;
pub use config::RouteConfig;
pub use ending::{Ending, closed};
pub use endpoint::Endpoint;
pub use failure::{
    CallSite, ErrorResponse, ProviderError, Redactor, bounded, http_failure, not_a_stream, request_id,
};
pub use fragments::Fragments;
pub use listing::ListedModel;
pub use protocol::{Decoder, Protocol};
pub use shown::{plain_text, reasoning_text};
pub use site::StreamSite;
pub use stream::{BodyFault, chunks};
pub use surrogate::without_lone_surrogates;
pub use text::Text;
