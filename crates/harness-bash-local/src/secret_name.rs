//! Tells from a variable's name whether it holds a secret.

/// Words that make a name a secret's.
const WORDS: [&str; 16] = [
    "AUTH",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "KEY",
    "KEYS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PASSWORDS",
    "PAT",
    "PWD",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
];

/// Endings of words that are written as one.
const ENDINGS: [&str; 8] =
    ["ACCESSKEY", "APIKEY", "PASSPHRASE", "PASSWD", "PASSWORD", "PRIVATEKEY", "SECRETKEY", "TOKEN"];

/// Names that look like secrets and are none: without the agent's socket, git over ssh would stop working; the
/// two directories belong to the shell.
const NO_SECRETS: [&str; 3] = ["SSH_AUTH_SOCK", "PWD", "OLDPWD"];

/// Whether the name looks like that of a secret.
///
/// A name is cut into words at everything that is not a letter or digit and where a capital follows a small letter;
/// digits at the end of a word do not count.
pub(crate) fn looks_secret(name: &str) -> bool {
    !NO_SECRETS.contains(&name) && words(name).any(|word| is_secret(&word))
}

fn is_secret(word: &str) -> bool {
    let word = word.trim_end_matches(|character: char| character.is_ascii_digit());
    WORDS.contains(&word) || ENDINGS.iter().any(|ending| word.ends_with(ending))
}

fn words(name: &str) -> impl Iterator<Item = String> {
    let mut marked = String::with_capacity(name.len());
    let mut previous_small = false;
    for character in name.chars() {
        if previous_small && character.is_ascii_uppercase() {
            marked.push('_');
        }
        previous_small = character.is_ascii_lowercase();
        marked.push(character.to_ascii_uppercase());
    }
    let words: Vec<String> =
        marked.split(|character: char| !character.is_alphanumeric()).map(str::to_owned).collect();
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets() {
        for name in [
            "OPENAI_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "GITHUB_TOKEN",
            "GITHUB_PAT",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "MY_CREDENTIAL",
            "DB_PASSWORD",
            "DB_PASSWD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "BASIC_AUTH",
            "CLIENT_SECRET",
            "GPG_PASSPHRASE",
            "SOME_APIKEY",
            "API_KEY2",
            "TOKEN",
            "github_token",
            "npm_config_//registry.example/:_authToken",
            "accessKeyId",
            "DEEPSEEK-API-KEY",
        ] {
            assert!(looks_secret(name), "{name}");
        }
    }

    #[test]
    fn names_of_other_things() {
        for name in [
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "SSH_AGENT_PID",
            "GIT_AUTHOR_NAME",
            "XAUTHORITY",
            "KEYBOARD_LAYOUT",
            "TOKENIZERS_PARALLELISM",
            "PATTERN",
            "SECRETARY",
            "MONKEY",
            "COMPATIBLE",
            "LANG",
            "",
        ] {
            assert!(!looks_secret(name), "{name}");
        }
    }
}
