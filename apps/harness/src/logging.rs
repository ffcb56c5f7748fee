//! Diagnostics: to standard error, never to standard output; silent unless asked for.
use harness_config::Environment;
use tracing_subscriber::EnvFilter;

/// Starts the subscriber. `HARNESS_LOG` holds filter directives, such as `debug` or `harness_tools=trace`.
///
/// # Errors
/// When the directives are not legal. Errors are shown then.
pub(crate) fn start(environment: &Environment) -> Result<(), String> {
    let directives = environment.get("HARNESS_LOG").unwrap_or("error");
    let (filter, result) = match EnvFilter::try_new(directives) {
        Ok(filter) => (filter, Ok(())),
        Err(error) => {
            let problem = format!("HARNESS_LOG=`{directives}` is ignored: {error}");
            (EnvFilter::new("error"), Err(problem))
        }
    };
    // A second subscriber cannot exist: this runs once.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .without_time()
        .try_init();
    result
}
