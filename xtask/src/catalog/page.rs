//! The pages that come from the source.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Pages;
use super::declared::Declared;
use super::prose::{after_name, first_sentence};
use super::scan::{Catalog, EventEntry, Mode, Place};

/// First lines of every page.
pub(super) fn head(title: &str, introduction: &str) -> String {
    format!("<!-- Written by `cargo xtask catalog`. Do not edit. -->\n# {title}\n\n{introduction}\n")
}

/// All pages of this kind.
pub(super) fn source_pages(catalog: &Catalog) -> Pages {
    BTreeMap::from([
        ("events.md", events(catalog)),
        ("services.md", services(catalog)),
        ("session-events.md", session_events(catalog)),
        ("plugins.md", plugins(catalog)),
    ])
}

fn events(catalog: &Catalog) -> String {
    let mut page = head(
        "Events",
        "Messages of the kernel, told apart from the [events of a session](session-events.md). The mode is in the \
         type:\na *notice* is observed (`on`, `emit`), a *parallel* event is awaited by all (`on_parallel`, \
         `parallel`), a *serial*\none is answered by the first who can (`on_serial`, `serial`), and a *waterfall* is \
         wrapped (`around`, `waterfall`).",
    );
    page.push_str("\n| event | mode | package | |\n|---|---|---|---|\n");
    for (name, event) in &catalog.events {
        let said = first_sentence(&after_name(&event.declared.prose, name));
        let _ = writeln!(
            page,
            "| [`{name}`](#{}) | {} | {} | {said} |",
            anchor(name),
            event.mode.word(),
            event.place.package
        );
    }
    for (name, event) in &catalog.events {
        let _ = write!(page, "\n## `{name}`\n\n{}", event_facts(event));
        described(&mut page, name, &event.declared);
    }
    page
}

fn event_facts(event: &EventEntry) -> String {
    let gives = match &event.mode {
        Mode::Notice => String::new(),
        Mode::Parallel(error) => format!("; each listener may fail with `{error}`"),
        Mode::Serial(answer) => format!("; answered with `{answer}`"),
        Mode::Around(output) => format!("; gives `{output}`"),
    };
    format!("A {}{gives}. {}\n", event.mode.word(), source(&event.place))
}

impl Mode {
    fn word(&self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Parallel(_) => "parallel event",
            Self::Serial(_) => "serial event",
            Self::Around(_) => "waterfall",
        }
    }
}

fn services(catalog: &Catalog) -> String {
    let mut page = head(
        "Services",
        "What plugins provide to each other. A plugin asks for the type in the second column, as `Arc<…>` or \
         `Lazy<…>`.",
    );
    page.push_str("\n| service | type | package | provided by | |\n|---|---|---|---|---|\n");
    for (name, service) in &catalog.services {
        let said = first_sentence(&service.declared.prose);
        let providers = service.providers.join(", ");
        let key = &service.key;
        let package = &service.place.package;
        let _ =
            writeln!(page, "| [`{name}`](#{}) | `{key}` | {package} | {providers} | {said} |", anchor(name));
    }
    for (name, service) in &catalog.services {
        let _ = write!(page, "\n## `{name}`\n\n`{}`. {}\n", service.key, source(&service.place));
        described(&mut page, name, &Declared { fields: Vec::new(), ..service.declared.clone() });
        if !service.methods.is_empty() {
            page.push_str("\n```rust\n");
            for method in &service.methods {
                if !method.summary.is_empty() {
                    let _ = writeln!(page, "/// {}", method.summary.replace("\\|", "|"));
                }
                let _ = writeln!(page, "{};", method.signature);
            }
            page.push_str("```\n");
        }
    }
    page
}

fn session_events(catalog: &Catalog) -> String {
    let mut page = head(
        "Session events",
        "Types of the lines of a session's log. A *surface* event becomes part of the model's history, an *execution* \
         event\nmust stand inside the open turn and step, a *standalone* one may stand anywhere. A reader that does \
         not know a type\nkeeps it byte for byte, unless the type is required: then it refuses the session.",
    );
    page.push_str("\n| type | class | required | package | |\n|---|---|---|---|---|\n");
    for (name, event) in &catalog.session_events {
        let said = first_sentence(&after_name(&event.declared.prose, name));
        let required = match event.required {
            None => "core",
            Some(true) => "yes",
            Some(false) => "no",
        };
        let (class, package) = (&event.class, &event.place.package);
        let _ =
            writeln!(page, "| [`{name}`](#{}) | {class} | {required} | {package} | {said} |", anchor(name));
    }
    for (name, event) in &catalog.session_events {
        let _ = write!(page, "\n## `{name}`\n\nData `{}`. {}\n", event.data, source(&event.place));
        described(&mut page, name, &event.declared);
    }
    page
}

fn plugins(catalog: &Catalog) -> String {
    let mut page = head(
        "Plugins",
        "What can be composed. A plugin starts when all that it needs as `Arc<…>` is provided; `Lazy<…>` is looked up \
         at each use.",
    );
    page.push_str("\n| plugin | type | package | needs | |\n|---|---|---|---|---|\n");
    for (name, plugin) in &catalog.plugins {
        let needs = if plugin.needs == "()" { "nothing".into() } else { format!("`{}`", plugin.needs) };
        let said = first_sentence(&plugin.declared.prose);
        let _ = writeln!(
            page,
            "| `{name}` | `{}` | {} | {needs} | {said} |",
            plugin.type_name, plugin.place.package
        );
    }
    page
}

/// Prose and fields of something, below its heading.
fn described(page: &mut String, name: &str, declared: &Declared) {
    let prose = after_name(&declared.prose, name);
    if !prose.is_empty() {
        let _ = write!(page, "\n{prose}\n");
    }
    if !declared.fields.is_empty() {
        page.push('\n');
    }
    for (field, of_type, summary) in &declared.fields {
        let summary = summary.replace("\\|", "|");
        let colon = if summary.is_empty() { "" } else { ": " };
        let _ = writeln!(page, "- `{field}: {of_type}`{colon}{summary}");
    }
}

fn source(place: &Place) -> String {
    format!("Declared in [{}](../../{}).", place.package, place.path)
}

/// The anchor that Markdown renderers give to a heading which is a name in backticks.
fn anchor(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::scan::scan;
    use super::*;
    use crate::source::{Role, SourceFile};

    const SEAM: &str = r#"//! A seam.
use harness_kernel::{Around, Event as KernelEvent, Notice, Parallel, Serial, Service};

/// `x/ran`: it [`Ran`] well. More.
///
/// ```
/// let hidden = 1;
/// ```
pub struct Ran {
    /// How long, in milliseconds.
    pub time: u64,
    secret: u8,
}
impl KernelEvent for Ran { const NAME: &'static str = "x/ran"; }
impl Notice for Ran {}

/// Wraps.
pub struct Run(pub String);
impl KernelEvent for Run { const NAME: &'static str = RUN; }
impl Around for Run { type Output = Result<u8, Error>; }
const RUN: &str = "x/run";

/// Does it.
#[async_trait]
pub trait Runner: Send {
    /// Runs. Fast.
    async fn run(
        &self,
        what: Run,
    ) -> u8;
}
impl Service for dyn Runner { const NAME: &'static str = "runner"; }

/// Notes it.
struct Note;
impl PluginEvent for Note {
    const TYPE: &'static str = "x/note";
    const CLASS: EventClass = EventClass::Execution;
}

/// Plugs it.
pub struct Local;
impl Plugin for Local {
    type Deps = (Arc<dyn Other>, Lazy<dyn Approval>);
    fn name(&self) -> &'static str { "local" }
    async fn apply(&self, ctx: Ctx, _: Self::Deps) -> Result<(), PluginError> {
        ctx.provide::<dyn Runner>(Arc::new(Fast))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    struct Fake;
    impl Event for Fake { const NAME: &'static str = "fake"; }
    impl Notice for Fake {}
}
"#;

    fn catalog(text: &str) -> anyhow::Result<Catalog> {
        scan(&[SourceFile::parse("crates/x/src/a.rs", "x", Role::Product, text)?])
    }

    #[test]
    fn every_kind_of_declaration_reaches_its_page() {
        let pages = source_pages(&catalog(SEAM).unwrap());
        let events = &pages["events.md"];
        assert!(events.contains("| [`x/ran`](#xran) | notice | x | It `Ran` well. |"), "{events}");
        assert!(events.contains("- `time: u64`: How long, in milliseconds.\n"), "{events}");
        assert!(
            events.contains(
                "A waterfall; gives `Result<u8, Error>`. Declared in [x](../../crates/x/src/a.rs)."
            )
        );
        assert!(
            !events.contains("fake") && !events.contains("hidden") && !events.contains("secret"),
            "{events}"
        );
        let services = &pages["services.md"];
        assert!(services.contains("| [`runner`](#runner) | `dyn Runner` | x | x | Does it. |"), "{services}");
        assert!(services.contains("/// Runs.\nasync fn run(&self, what: Run) -> u8;\n"), "{services}");
        assert!(
            pages["session-events.md"].contains("| [`x/note`](#xnote) | execution | no | x | Notes it. |")
        );
        let plugin = "| `local` | `Local` | x | `(Arc<dyn Other>, Lazy<dyn Approval>)` | Plugs it. |";
        assert!(pages["plugins.md"].contains(plugin), "{}", pages["plugins.md"]);
    }

    #[test]
    fn two_readings_give_the_same_pages() {
        assert_eq!(source_pages(&catalog(SEAM).unwrap()), source_pages(&catalog(SEAM).unwrap()));
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let error = format!("{:#}", catalog(text).unwrap_err());
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        refused("impl Event for A { const NAME: &'static str = \"a\"; }", "a.rs:1: `A` has no mode");
        refused(
            "impl Event for A { const NAME: &'static str = \"a\"; } impl Notice for A {} impl Serial for A { type Answer = u8; }",
            "more than one mode",
        );
        refused(
            "impl Service for A { const NAME: &'static str = concat!(\"a\"); }",
            "must be a string literal",
        );
        refused(
            "impl Service for A { const NAME: &'static str = \"a\"; }\nimpl Service for B { const NAME: &'static str = \"a\"; }",
            "service `a` is declared twice",
        );
    }

    #[test]
    fn the_core_session_events_come_from_the_body() {
        let text = "pub enum Body {\n/// `turn/start`: a turn opens.\nTurnStart(Turn),\n/// Other.\nPlugin(Data) }\n\
            impl Body {\nfn type_name(&self) -> &str { match self { Self::TurnStart(_) => \"turn/start\", Self::Plugin(data) => data.name() } }\n\
            fn class(&self) -> EventClass { match self { Self::TurnStart(_) => EventClass::Execution, Self::Plugin(data) => data.class() } } }\n\
            /// A turn.\npub struct Turn { /// Its number.\npub turn: u32 }";
        let file = SourceFile::parse("crates/s/src/body.rs", "harness-session", Role::Product, text).unwrap();
        let page = source_pages(&scan(&[file]).unwrap()).remove("session-events.md").unwrap();
        assert!(
            page.contains(
                "| [`turn/start`](#turnstart) | execution | core | harness-session | A turn opens. |"
            ),
            "{page}"
        );
        assert!(page.contains("Data `Turn`.") && page.contains("- `turn: u32`: Its number."), "{page}");
    }
}
