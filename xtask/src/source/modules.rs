//! Which files are compiled how: the module tree of each package.
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use anyhow::Result;
use syn::{Expr, ExprLit, Item, ItemMod, Lit, Meta};

use super::{Role, SourceFile, is_test_only, requires_feature};
use crate::workspace::Workspace;

/// Parses every Rust file of the workspace.
pub(crate) fn load(workspace: &Workspace) -> Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    for path in workspace.files.iter().filter(|path| is_rust(path)) {
        let package =
            workspace.members.iter().filter(|member| path.starts_with(&format!("{}/", member.folder)));
        let package = package.max_by_key(|member| member.folder.len());
        let (name, folder) =
            package.map_or(("", ""), |member| (member.name.as_str(), member.folder.as_str()));
        let below = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
        // Roots of targets say what the files below them are; the rest is found from there.
        let role = if !below.starts_with("src/") {
            Role::Test
        } else if is_root(below) {
            Role::Product
        } else {
            Role::Orphan
        };
        files.push(SourceFile::parse(path, name, role, &workspace.read(path)?)?);
    }
    assign_roles(&mut files);
    Ok(files)
}

fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

fn is_root(below: &str) -> bool {
    let parts: Vec<_> = below.split('/').collect();
    matches!(
        parts.as_slice(),
        ["src", "lib.rs" | "main.rs"] | ["src", "bin", _] | ["src", "bin", _, "main.rs"]
    )
}

/// Follows `mod name;` from the roots. A file that several roots reach has the role nearest to the product.
fn assign_roles(files: &mut [SourceFile]) {
    let by_path: BTreeMap<String, usize> =
        files.iter().enumerate().map(|(index, file)| (file.path.clone(), index)).collect();
    let mut queue: VecDeque<usize> = files
        .iter()
        .enumerate()
        .filter(|(_, file)| file.role == Role::Product)
        .map(|(index, _)| index)
        .collect();
    while let Some(index) = queue.pop_front() {
        let mut children = Vec::new();
        let file = &files[index];
        let folder = children_folder(&file.path, file.role == Role::Product && is_root_path(&file.path));
        declared(&file.syntax.items, &folder, Path::new(&file.path), file.role, &mut children);
        for (candidates, role) in children {
            let Some(&child) = candidates.iter().find_map(|path| by_path.get(path)) else { continue };
            if rank(role) > rank(files[child].role) {
                files[child].role = role;
                queue.push_back(child);
            }
        }
    }
}

fn is_root_path(path: &str) -> bool {
    path.rfind("src/").is_some_and(|at| is_root(&path[at..]))
}

fn rank(role: Role) -> u8 {
    match role {
        Role::Product => 3,
        Role::Contract => 2,
        Role::Test => 1,
        Role::Orphan => 0,
    }
}

fn children_folder(path: &str, root: bool) -> PathBuf {
    let path = Path::new(path);
    if root || path.file_name().is_some_and(|name| name == "mod.rs") {
        path.parent().map(Path::to_path_buf).unwrap_or_default()
    } else {
        path.with_extension("")
    }
}

fn declared(items: &[Item], folder: &Path, file: &Path, role: Role, found: &mut Vec<(Vec<String>, Role)>) {
    for item in items {
        let Item::Mod(module) = item else { continue };
        let role = if role == Role::Test || is_test_only(&module.attrs) {
            Role::Test
        } else if role == Role::Contract || requires_feature(&module.attrs, "contract") {
            Role::Contract
        } else {
            role
        };
        let name = module.ident.to_string();
        if let Some((_, inner)) = &module.content {
            declared(inner, &folder.join(&name), file, role, found);
        } else {
            let candidates = match explicit_path(module) {
                Some(path) => vec![file.parent().unwrap_or(Path::new("")).join(path)],
                None => vec![folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")],
            };
            found.push((candidates.iter().map(|path| path.to_string_lossy().into_owned()).collect(), role));
        }
    }
}

fn explicit_path(module: &ItemMod) -> Option<String> {
    module.attrs.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(files: &[(&str, &str)]) -> Vec<(String, Role)> {
        let parse = |(path, text): &(&str, &str)| {
            let role = if is_root_path(path) { Role::Product } else { Role::Orphan };
            SourceFile::parse(path, "a", role, text).unwrap()
        };
        let mut files: Vec<_> = files.iter().map(parse).collect();
        assign_roles(&mut files);
        files.into_iter().map(|file| (file.path, file.role)).collect()
    }

    #[test]
    fn the_module_tree_decides_the_role() {
        let found = roles(&[
            (
                "crates/a/src/lib.rs",
                "mod one; #[cfg(feature = \"contract\")] pub mod contract; #[cfg(test)] mod tests;",
            ),
            ("crates/a/src/one.rs", "mod two; #[cfg(test)] #[path = \"one_tests.rs\"] mod tests;"),
            ("crates/a/src/one/two.rs", ""),
            ("crates/a/src/one_tests.rs", ""),
            ("crates/a/src/contract/mod.rs", "mod case;"),
            ("crates/a/src/contract/case.rs", ""),
            ("crates/a/src/tests.rs", ""),
            ("crates/a/src/forgotten.rs", ""),
        ]);
        let roles: Vec<_> = found.iter().map(|(_, role)| *role).collect();
        let expected = [
            Role::Product,
            Role::Product,
            Role::Product,
            Role::Test,
            Role::Contract,
            Role::Contract,
            Role::Test,
            Role::Orphan,
        ];
        assert_eq!(roles, expected);
    }
}
