//! Configuration: defaults, mistakes, schema.

use harness_fs_policy::{FsPolicy, FsPolicyConfig, Outside};
use harness_kernel::App;

#[test]
fn an_empty_section_is_the_default() {
    assert_eq!(toml::from_str::<FsPolicyConfig>("").unwrap(), FsPolicyConfig::default());
    let config: FsPolicyConfig =
        toml::from_str("writable_roots = ['/a']\nwrite_outside = 'allow'\nread_before_edit = false").unwrap();
    assert_eq!((config.writable_roots[0].to_str(), config.write_outside), (Some("/a"), Outside::Allow));
    assert!(!config.read_before_edit);
}

#[test]
fn mistakes_are_named() {
    for (text, words) in [
        ("writeable_roots = []", "unknown field `writeable_roots`"),
        ("read_outside = 'maybe'", "unknown variant `maybe`"),
        ("read_before_edit = 'yes'", "expected a boolean"),
    ] {
        let error = toml::from_str::<FsPolicyConfig>(text).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn the_schema_describes_every_key() {
    let schema = serde_json::to_value(schemars::schema_for!(FsPolicyConfig)).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    for key in ["writable_roots", "write_outside", "read_outside", "read_before_edit"] {
        assert!(schema["properties"][key]["description"].is_string(), "{key}: {schema}");
    }
}

#[tokio::test]
async fn a_relative_root_stops_the_start() {
    let config = FsPolicyConfig { writable_roots: vec!["build".into()], ..FsPolicyConfig::default() };
    let app = App::default().with(harness_fs_local::FsLocal).with(FsPolicy::new(config));
    let Err(error) = app.start().await else { panic!("it started") };
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("writable_roots of fs-policy: \"build\" is not an absolute path"), "{source}");
}
