//! The environment that commands get.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use secrecy::{ExposeSecret as _, SecretString};

use crate::config::BashLocalConfig;
use crate::secret_name::looks_secret;

/// Set for every command: nothing pages, asks, colours or draws.
const QUIET: [(&str, &str); 5] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
];

/// Removed: bash would run the first file and sh the second, and both could bring back what was removed here. The
/// directories are the shell's own to set.
const START_UP: [&str; 4] = ["BASH_ENV", "ENV", "PWD", "OLDPWD"];

/// A shorter secret is only recognised as a whole value: it might occur anywhere by chance.
const LEAST_PART: usize = 8;

/// The program's environment without secrets and with the settings that keep commands quiet.
pub(crate) fn environment(config: &BashLocalConfig) -> Vec<(OsString, OsString)> {
    let kept = config.base_env.iter().filter(|(name, value)| {
        let keep = !is_removed(name, config) && !holds_secret(value, &config.secret_values);
        if !keep {
            tracing::debug!(?name, "a variable is kept from commands");
        }
        keep && !QUIET.iter().any(|(quiet, _)| name == quiet)
    });
    let quiet = QUIET.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    kept.cloned().chain(quiet).collect()
}

fn is_removed(name: &OsStr, config: &BashLocalConfig) -> bool {
    let name = name.to_string_lossy();
    let ours = name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("HARNESS_"));
    let configured = config.secret_names.iter().any(|secret| secret.eq_ignore_ascii_case(&name));
    ours || configured || START_UP.contains(&&*name) || looks_secret(&name)
}

fn holds_secret(value: &OsStr, secrets: &[SecretString]) -> bool {
    let value = value.as_bytes();
    secrets.iter().map(|secret| secret.expose_secret().as_bytes()).any(|secret| match secret.len() {
        0 => false,
        1..LEAST_PART => value == secret,
        length => value.windows(length).any(|part| part == secret),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubbed(base: &[(&str, &str)], names: &[&str], values: &[&str]) -> Vec<(String, String)> {
        let base = base.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let mut config = BashLocalConfig::new(base, "/nowhere");
        config.secret_names = names.iter().map(ToString::to_string).collect();
        config.secret_values = values.iter().map(|value| SecretString::from(*value)).collect();
        let text = |text: &OsString| text.to_string_lossy().into_owned();
        let all = environment(&config).into_iter().map(|(name, value)| (text(&name), text(&value)));
        all.filter(|(name, value)| !QUIET.contains(&(name, value))).collect()
    }

    fn kept(name: &str, value: &str, names: &[&str], values: &[&str]) -> bool {
        !scrubbed(&[(name, value)], names, values).is_empty()
    }

    #[test]
    fn what_is_kept_and_what_is_removed() {
        const SECRET: &str = "sk-0123456789";
        for (name, value, keep) in [
            ("PATH", "/bin", true),
            ("SSH_AUTH_SOCK", "/run/agent", true),
            ("OPENAI_API_KEY", "anything", false),
            ("HARNESS_HOME", "/home/x", false),
            ("harness_model", "m", false),
            ("HARNESSES", "2", true),
            ("BASH_ENV", "/etc/x", false),
            ("ENV", "/etc/x", false),
            ("OLDPWD", "/x", false),
            ("MY_PROVIDER", "anything", false), // named in the configuration
            ("my_provider", "anything", false),
            ("INNOCENT", SECRET, false),
            ("HEADER", "Authorization: Bearer sk-0123456789", false),
            ("SHORT", "abc", false),
            ("SHORT_INSIDE", "xabcx", true), // too short to be looked for inside
            ("OTHER", "sk-012345678", true),
        ] {
            assert_eq!(kept(name, value, &["MY_PROVIDER"], &[SECRET, "abc", ""]), keep, "{name}");
        }
    }

    #[test]
    fn what_keeps_commands_quiet_replaces_what_was_there() {
        let config =
            BashLocalConfig::new([("PAGER".into(), "less".into()), ("TERM".into(), "xterm".into())], "/");
        let expected = QUIET.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        assert_eq!(environment(&config), expected);
    }

    #[test]
    fn a_configuration_shows_no_value() {
        let mut config = BashLocalConfig::new([("NAME".into(), "the value".into())], "/");
        config.secret_values.push("the key".into());
        let shown = format!("{config:?}");
        assert!(!shown.contains("the value") && !shown.contains("the key"), "{shown}");
    }
}
