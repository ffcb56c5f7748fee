//! Diagnostics: to standard error, never to standard output; silent unless asked for.
use harness_config::Environment;
use tracing_subscriber::EnvFilter;

/// Starts the subscriber. `HARNESS_LOG` holds filter directives, such as `debug` or `harness_tools=trace`.
pub(crate) fn start(environment: &Environment) {
    let directives = environment.get("HARNESS_LOG").unwrap_or("error");
    let filter = EnvFilter::try_new(directives).unwrap_or_else(|_| EnvFilter::new("error"));
    // A second subscriber cannot exist: this runs once.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .without_time()
        .try_init();
}
