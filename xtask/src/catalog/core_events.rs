//! The session event types that are not a plugin's: variants of `Body` in harness-session.
use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use syn::{Expr, ExprLit, Fields, ImplItem, Item, ItemEnum, ItemImpl, Lit, Pat};

use super::declared::{Declared, Names};
use super::scan::{Catalog, Place, SessionEventEntry, enter, product_items};
use super::{prose, signature};
use crate::source::{SourceFile, doc_text};

/// Enters the variants of `enum Body` when the package is harness-session.
pub(super) fn read(files: &[&SourceFile], names: &Names, catalog: &mut Catalog) -> Result<()> {
    for file in files.iter().filter(|file| file.package == "harness-session") {
        let items = product_items(file);
        let body = items.iter().find_map(|item| match item {
            Item::Enum(item) if item.ident == "Body" => Some(item),
            _ => None,
        });
        if let Some(body) = body {
            return variants(file, body, &items, names, catalog);
        }
    }
    Ok(())
}

fn variants(
    file: &SourceFile,
    body: &ItemEnum,
    items: &[&Item],
    names: &Names,
    catalog: &mut Catalog,
) -> Result<()> {
    let path = &file.path;
    let types = arms(items, "type_name", |value| match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    });
    let classes = arms(items, "class", |value| match value {
        Expr::Path(path) => Some(path.path.segments.last()?.ident.to_string().to_lowercase()),
        _ => None,
    });
    if types.is_empty() || classes.is_empty() {
        bail!("{path}: the matches of `Body::type_name` and `Body::class` cannot be read");
    }
    for variant in &body.variants {
        let name = variant.ident.to_string();
        let Some(type_name) = types.get(&name) else { continue };
        let class = classes
            .get(&name)
            .with_context(|| format!("{path}: `Body::class` has no plain arm for `{name}`"))?;
        let data = match &variant.fields {
            Fields::Unnamed(fields) => fields.unnamed.first().map(|field| &field.ty),
            _ => None,
        };
        let data = data.map(signature::text).unwrap_or_default();
        let inner = data.trim_start_matches("Arc<").trim_start_matches("Box<").trim_end_matches('>');
        let said = prose::after_name(&prose::of_doc(&doc_text(&variant.attrs)), type_name);
        let entry = SessionEventEntry {
            place: Place { package: file.package.clone(), path: path.clone() },
            class: class.clone(),
            required: None,
            declared: Declared { prose: said, fields: names.declared(inner).fields },
            data,
        };
        enter(&mut catalog.session_events, "session event", type_name.clone(), path, entry)?;
    }
    Ok(())
}

/// What the method's match gives for each variant; arms whose value `read` cannot tell are left out.
fn arms(items: &[&Item], method: &str, read: impl Fn(&Expr) -> Option<String>) -> BTreeMap<String, String> {
    let implementations = items.iter().filter_map(|item| match item {
        Item::Impl(item) => Some(item),
        _ => None,
    });
    let matched = implementations.flat_map(|item: &ItemImpl| &item.items).find_map(|item| match item {
        ImplItem::Fn(function) if function.sig.ident == method => {
            function.block.stmts.iter().find_map(|statement| match statement {
                syn::Stmt::Expr(Expr::Match(matched), _) => Some(matched),
                _ => None,
            })
        }
        _ => None,
    });
    let mut found = BTreeMap::new();
    for arm in matched.map(|matched| matched.arms.as_slice()).unwrap_or_default() {
        if let Some(value) = read(&arm.body) {
            let mut variants = Vec::new();
            collect_variants(&arm.pat, &mut variants);
            found.extend(variants.into_iter().map(|variant| (variant, value.clone())));
        }
    }
    found
}

fn collect_variants(pattern: &Pat, variants: &mut Vec<String>) {
    let path = match pattern {
        Pat::Or(cases) => return cases.cases.iter().for_each(|case| collect_variants(case, variants)),
        Pat::TupleStruct(pattern) => &pattern.path,
        Pat::Struct(pattern) => &pattern.path,
        Pat::Path(pattern) => &pattern.path,
        _ => return,
    };
    variants.extend(path.segments.last().map(|segment| segment.ident.to_string()));
}
