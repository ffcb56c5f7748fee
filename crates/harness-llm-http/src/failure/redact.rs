//! Keeps a key out of texts that quote a server.
use std::borrow::Cow;

use secrecy::{ExposeSecret, SecretString};

const MARK: &str = "[redacted]";

/// Replaces one secret in texts. The default has none and changes nothing.
#[derive(Debug, Clone, Default)]
pub struct Redactor(Option<SecretString>);

impl Redactor {
    /// A redactor for `secret`. An empty one has nothing to hide.
    pub fn new(secret: SecretString) -> Self {
        Self(Some(secret).filter(|secret| !secret.expose_secret().is_empty()))
    }

    /// `text` with a mark in place of the secret.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.0 {
            Some(secret) if text.contains(secret.expose_secret()) => {
                text.replace(secret.expose_secret(), MARK).into()
            }
            _ => text.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occurrence_is_replaced() {
        let redactor = Redactor::new(SecretString::from("sk-1"));
        assert_eq!(redactor.redact("a sk-1 b sk-1"), "a [redacted] b [redacted]");
        assert_eq!(redactor.redact("plain"), "plain");
        assert!(!format!("{redactor:?}").contains("sk-1"));
    }

    #[test]
    fn an_empty_secret_changes_nothing() {
        assert_eq!(Redactor::new(SecretString::from("")).redact("text"), "text");
    }
}
