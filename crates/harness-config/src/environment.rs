//! The environment, captured once.
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// A snapshot of environment variables. Nothing else in the workspace reads the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The process's own.
    pub fn capture() -> Self {
        Self(std::env::vars_os().collect())
    }
    /// The value of a variable, if it is set, not empty, and text.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(OsStr::new(name))?.to_str().filter(|value| !value.is_empty())
    }
    /// All variables, for child processes.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}
impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}
