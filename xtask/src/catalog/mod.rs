//! `cargo xtask catalog`: the reference pages below docs/catalog.
//!
//! Events, services, plugins and session events are read from the source; tools and configuration keys are asked of
//! the composed harness, because only there do they exist in full.
mod booted;
mod core_events;
mod declared;
#[cfg(test)]
#[path = "../../examples/booted/describe.rs"]
mod describe;
mod implemented;
mod page;
mod page_booted;
mod prose;
mod scan;
mod signature;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::finding::Finding;
use crate::source;
use crate::tidy;
use crate::workspace::Workspace;

use booted::Booted;
pub(crate) use booted::Tool;

/// Where the pages are, relative to the root.
const FOLDER: &str = "docs/catalog";

/// Pages by file name.
type Pages = BTreeMap<&'static str, String>;

/// Writes the pages.
pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    let pages = render(workspace, &booted::ask(workspace)?)?;
    let folder = workspace.root.join(FOLDER);
    fs::create_dir_all(&folder).with_context(|| format!("{FOLDER} cannot be made"))?;
    for (name, text) in &pages {
        fs::write(folder.join(name), text).with_context(|| format!("{FOLDER}/{name} cannot be written"))?;
    }
    for name in leftovers(&folder, &pages)? {
        fs::remove_file(folder.join(&name)).with_context(|| format!("{FOLDER}/{name} cannot be removed"))?;
    }
    println!("catalog: {} pages in {FOLDER}", pages.len());
    Ok(())
}

/// Compares the pages with what is there, and says which are stale.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    check_against(workspace, &booted::ask(workspace)?)
}

fn check_against(workspace: &Workspace, booted: &Booted) -> Result<()> {
    let pages = render(workspace, booted)?;
    let folder = workspace.root.join(FOLDER);
    let mut findings = Vec::new();
    for (name, text) in &pages {
        let there = fs::read_to_string(folder.join(name)).ok();
        findings.extend(compare(name, there.as_deref(), text));
    }
    for name in leftovers(&folder, &pages)? {
        findings.push(Finding::whole(
            format!("{FOLDER}/{name}"),
            "is not a page of the catalog; run `cargo xtask catalog`",
        ));
    }
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("the catalog is stale; run `cargo xtask catalog`");
    }
    println!("catalog: {} pages in {FOLDER} are fresh", pages.len());
    Ok(())
}

fn render(workspace: &Workspace, booted: &Booted) -> Result<Pages> {
    let files = source::load(workspace)?;
    let catalog = scan::scan(&files)?;
    let mut pages = page::source_pages(&catalog);
    if let Some(finding) = tidy::schema_budget(&booted.tools).first() {
        bail!("{finding}");
    }
    scan::check_complete(&catalog, booted)?;
    pages.extend(page_booted::pages(booted)?);
    Ok(pages)
}

fn compare(name: &str, there: Option<&str>, expected: &str) -> Option<Finding> {
    let path = format!("{FOLDER}/{name}");
    let there = match there {
        None => return Some(Finding::whole(path, "is missing; run `cargo xtask catalog`")),
        Some(text) if text == expected => return None,
        Some(text) => text,
    };
    let same = there.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
    Some(Finding::at(path, same + 1, "is stale from here on; run `cargo xtask catalog`"))
}

fn leftovers(folder: &Path, pages: &Pages) -> Result<Vec<String>> {
    let mut names = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(folder).with_context(|| format!("{FOLDER} cannot be listed"))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if !pages.contains_key(name.as_str()) {
                names.push(name);
            }
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::assert_findings;

    #[test]
    fn a_stale_page_is_named_with_the_command() {
        let compare = |there| compare("events.md", there, "a\nb\n").into_iter().collect::<Vec<_>>();
        assert_findings(&compare(Some("a\nb\n")), &[]);
        assert_findings(
            &compare(Some("a\nc\n")),
            &["docs/catalog/events.md:2: is stale from here on; run `cargo xtask catalog`"],
        );
        assert_findings(&compare(Some("a\n")), &["docs/catalog/events.md:2: is stale"]);
        assert_findings(&compare(None), &["docs/catalog/events.md: is missing"]);
    }

    #[tokio::test]
    async fn the_catalog_of_this_workspace_is_fresh() {
        let booted = serde_json::from_value(describe::describe().await.unwrap()).unwrap();
        check_against(&Workspace::load().unwrap(), &booted).unwrap();
    }
}
