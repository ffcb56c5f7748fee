//! Layers, provenance, errors and trust, on real files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking and looks at real files"
)]
use std::path::Path;

use harness_config::{
    Config, ConfigBuilder, ConfigError, Environment, Paths, ProjectKeys, Section, Source, Trust,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Model {
    name: String,
    max_tokens: u32,
    inner: Inner,
}
impl Default for Model {
    fn default() -> Self {
        Self { name: "small".into(), max_tokens: 10, inner: Inner::default() }
    }
}
#[derive(Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Inner {
    deep: bool,
    api_key: Option<String>,
}
impl Section for Model {
    const NAME: &'static str = "model";
    const PROJECT: ProjectKeys = ProjectKeys::Only(&["name"]);
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
fn builder() -> ConfigBuilder {
    Config::builder().section::<Model>()
}
fn user(text: &str) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    write(&path, text);
    Ok(builder().user_file(&path)?.build())
}
/// The message without the temporary folder.
fn message(error: &ConfigError) -> String {
    let text = error.to_string();
    text[text.find("config.toml").unwrap()..].to_owned()
}

#[test]
fn later_layers_win_and_every_value_knows_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (file, root) = (folder.path().join("config.toml"), folder.path().join("project"));
    write(&file, "[model]\nname = \"user\"\nmax_tokens = 1\n[model.inner]\ndeep = true\n");
    write(&root.join(".harness/config.toml"), "\n[model]\nname = \"project\"\n");
    let environment: Environment = [("HARNESS_MODEL_MAX_TOKENS", "7")].into_iter().collect();
    let layers = || {
        let builder = builder().user_file(&file).unwrap().project_file(&root, &Trust::default()).unwrap();
        builder.environment(&environment).unwrap()
    };
    let config = layers().build();
    let model: Model = config.section().unwrap();
    assert_eq!((model.name.as_str(), model.max_tokens, model.inner.deep), ("project", 7, true));
    let sources: Vec<String> =
        config.describe().iter().map(|setting| format!("{} {}", setting.key, setting.source)).collect();
    assert!(sources[0].starts_with("model.name ") && sources[0].ends_with("project/.harness/config.toml:3"));
    assert_eq!(sources[1], "model.max_tokens environment HARNESS_MODEL_MAX_TOKENS");
    assert!(sources[2].ends_with("config.toml:5"));
    let config = layers().flag("--model", &["model", "name"], "flag".into()).build();
    assert_eq!(config.section::<Model>().unwrap().name, "flag");
    assert_eq!(config.describe()[0].source, Source::Flag("--model".into()));
}
#[test]
fn an_unknown_key_names_line_and_suggestion() {
    let error = user("[model]\nname = \"a\"\nmax_token = 3\n").unwrap_err();
    assert_eq!(
        message(&error),
        "config.toml:3: unknown setting `model.max_token`; did you mean `model.max_tokens`?"
    );
    let error = user("[modle]\n").unwrap_err();
    assert_eq!(message(&error), "config.toml:1: unknown setting `modle`; did you mean `model`?");
    let error = user("[model.inner]\nqqqqqq = 1\n").unwrap_err();
    assert_eq!(
        message(&error),
        "config.toml:2: unknown setting `model.inner.qqqqqq`; `harness config show` lists all settings"
    );
    assert_eq!(error.code(), "CONFIG_UNKNOWN_KEY");
}
#[test]
fn a_bad_value_names_its_line_and_broken_toml_its_own() {
    let error = user("[model]\n\nmax_tokens = \"many\"\n").unwrap().section::<Model>().unwrap_err();
    assert!(
        message(&error).starts_with("config.toml:3: setting `model.max_tokens`: invalid type"),
        "{error}"
    );
    let error = user("[model]\nname = \n").unwrap_err();
    assert!(message(&error).starts_with("config.toml:2: not valid TOML"), "{error}");
    let environment: Environment = [("HARNESS_MODEL_MAX_TOKENS", "[")].into_iter().collect();
    let error = builder().environment(&environment).unwrap_err();
    assert!(
        error.to_string().starts_with("environment HARNESS_MODEL_MAX_TOKENS: setting `model.max_tokens`")
    );
}
#[test]
fn an_untrusted_project_sets_only_what_is_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let (root, store) = (folder.path().join("p"), folder.path().join("state/trust.json"));
    write(&root.join(".harness/config.toml"), "[model]\nname = \"n\"\nmax_tokens = 99\n");
    let load = |trust: &Trust| builder().project_file(&root, trust).unwrap().build();
    let config = load(&Trust::default());
    let model: Model = config.section().unwrap();
    assert_eq!((model.name.as_str(), model.max_tokens), ("n", 10));
    assert_eq!(config.notices().len(), 1);
    assert!(config.notices()[0].0.contains("config.toml:3: `model.max_tokens` is ignored"));

    let mut trust = Trust::load(&store).unwrap();
    assert!(Config::trust_project(&root, &mut trust).unwrap());
    let trust = Trust::load(&store).unwrap();
    assert_eq!(load(&trust).section::<Model>().unwrap().max_tokens, 99);
    write(&root.join(".harness/config.toml"), "[model]\nmax_tokens = 100\n");
    assert_eq!(
        load(&trust).section::<Model>().unwrap().max_tokens,
        10,
        "changed content is asked about again"
    );
    let elsewhere = folder.path().join("q");
    write(&elsewhere.join(".harness/config.toml"), "[model]\nname = \"n\"\nmax_tokens = 99\n");
    let config = builder().project_file(&elsewhere, &trust).unwrap().build();
    assert_eq!(config.section::<Model>().unwrap().max_tokens, 10, "trust is for one folder");
}
#[test]
fn secrets_are_not_shown_and_stray_variables_are_told() {
    let config = user("[model.inner]\napi_key = \"sk-1\"\n").unwrap();
    assert!(!format!("{:?}", config.describe()).contains("sk-1"));
    let environment: Environment =
        [("HARNESS_MODLE_NAME", "x"), ("HARNESS_HOME", "/h")].into_iter().collect();
    let config = builder().environment(&environment).unwrap().build();
    assert_eq!(config.notices().len(), 1);
    assert!(config.notices()[0].0.contains("HARNESS_MODLE_NAME"));
}
#[test]
fn folders_follow_the_xdg_rules_and_harness_home() {
    let paths = |variables: &[(&str, &str)]| Paths::resolve(&variables.iter().copied().collect());
    let plain = paths(&[("HOME", "/h")]).unwrap();
    assert_eq!(plain.config_file, Path::new("/h/.config/harness/config.toml"));
    assert_eq!(plain.sessions, Path::new("/h/.local/state/harness/sessions"));
    let xdg = paths(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "relative")]).unwrap();
    assert_eq!(xdg.config_file, Path::new("/c/harness/config.toml"));
    assert_eq!(xdg.sessions, Path::new("/h/.local/state/harness/sessions"));
    assert_eq!(paths(&[("HARNESS_HOME", "/x")]).unwrap().sessions, Path::new("/x/sessions"));
    assert_eq!(paths(&[("HOME", "")]).unwrap_err().code(), "CONFIG_NO_HOME");
}
#[test]
fn what_could_be_a_secret_is_not_quoted() {
    let error = user("[model]\nmax_tokens = \"sk-hush\"\n").unwrap().section::<Model>().unwrap_err();
    assert!(!error.to_string().contains("hush") && error.to_string().contains("expected u32"), "{error}");
    let config = user("[model]\nname = \"http://me:hush@host/path\"\n").unwrap();
    let shown = format!("{:?}", config.describe());
    assert!(!shown.contains("hush") && shown.contains("@host/path"), "{shown}");
}
#[test]
fn a_home_that_is_also_a_project_mark_is_no_project() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join(".harness");
    write(&home.join("config.toml"), "");
    let inner = folder.path().join("a/b");
    std::fs::create_dir_all(&inner).unwrap();
    let paths = Paths::under(&home);
    assert_eq!(harness_config::project_root(&inner, &paths), inner);
    let elsewhere = Paths::under(Path::new("/elsewhere"));
    assert_eq!(harness_config::project_root(&inner, &elsewhere), folder.path());
    std::fs::create_dir(folder.path().join("a/.git")).unwrap();
    assert_eq!(harness_config::project_root(&inner, &elsewhere), folder.path().join("a"));
    let relative: Environment = [("HARNESS_HOME", "here")].into_iter().collect();
    assert_eq!(Paths::resolve(&relative).unwrap_err().code(), "CONFIG_RELATIVE_HOME");
}
