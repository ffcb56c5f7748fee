//! `impl Event for …` and its like.
use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Expr, ExprLit, ImplItem, Item, ItemImpl, Lit, Stmt, Type};

use super::declared::{Names, renamed_imports, type_name};
use super::scan::{
    Catalog, EventEntry, Mode, Place, PluginEntry, ServiceEntry, SessionEventEntry, enter, product_items,
};
use super::signature;
use crate::source::SourceFile;

/// Enters everything that one file implements.
pub(super) fn read(file: &SourceFile, names: &Names, catalog: &mut Catalog) -> Result<()> {
    let renamed = renamed_imports(file);
    let implementations: Vec<(String, String, &ItemImpl)> = product_items(file)
        .into_iter()
        .filter_map(|item| {
            let Item::Impl(item) = item else { return None };
            let name = item.trait_.as_ref()?.0.segments.last()?.ident.to_string();
            let name = renamed.get(&name).cloned().unwrap_or(name);
            Some((name, type_name(&item.self_ty)?, item))
        })
        .collect();
    let modes = modes(&implementations);
    let place = Place { package: file.package.clone(), path: file.path.clone() };
    for (name, target, item) in &implementations {
        let at = || format!("{}:{}", file.path, item.span().start().line);
        let string = |constant: &str| {
            let expression = constant_of(item, constant);
            expression.map(|expression| {
                names.string(expression).with_context(|| {
                    format!("{}: `{constant}` of `{target}` must be a string literal, or the catalog cannot read it", at())
                })
            })
        };
        match name.as_str() {
            "Event" => {
                let Some(name) = string("NAME").transpose()? else { continue };
                let mode = match modes.get(target).map(Vec::as_slice) {
                    Some([mode]) => mode.clone(),
                    Some(_) => bail!("{}: `{target}` implements more than one mode", at()),
                    None => bail!(
                        "{}: `{target}` has no mode; implement one beside `Event`, in the same file",
                        at()
                    ),
                };
                let entry = EventEntry { place: place.clone(), declared: names.declared(target), mode };
                enter(&mut catalog.events, "event", name, &file.path, entry)?;
            }
            "Service" => {
                let Some(name) = string("NAME").transpose()? else { continue };
                let entry = ServiceEntry {
                    place: place.clone(),
                    key: key_of(&item.self_ty, target),
                    declared: names.declared(target),
                    methods: names.methods(target),
                    providers: Vec::new(),
                };
                enter(&mut catalog.services, "service", name, &file.path, entry)?;
            }
            "PluginEvent" => {
                let Some(name) = string("TYPE").transpose()? else { continue };
                let class = constant_of(item, "CLASS").and_then(last_word);
                let class = class
                    .with_context(|| format!("{}: `CLASS` of `{target}` is not a plain variant", at()))?;
                let entry = SessionEventEntry {
                    place: place.clone(),
                    class: class.to_lowercase(),
                    required: Some(constant_of(item, "REQUIRED").is_some_and(is_true)),
                    data: target.clone(),
                    declared: names.declared(target),
                };
                enter(&mut catalog.session_events, "session event", name, &file.path, entry)?;
            }
            "Plugin" => {
                // The kernel's own forwarding for `Arc<P>` is no plugin.
                let Some(needs) = associated_type(item, "Deps").filter(|_| names.declares(target)) else {
                    continue;
                };
                let name = returned_string(item, names).with_context(|| {
                    format!("{}: `name` of `{target}` must return a string literal", at())
                })?;
                let entry = PluginEntry {
                    place: place.clone(),
                    declared: names.declared(target),
                    type_name: target.clone(),
                    needs,
                };
                enter(&mut catalog.plugins, "plugin", name, &file.path, entry)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn modes(implementations: &[(String, String, &ItemImpl)]) -> BTreeMap<String, Vec<Mode>> {
    let mut modes: BTreeMap<String, Vec<Mode>> = BTreeMap::new();
    for (name, target, item) in implementations {
        let given = |name| associated_type(item, name).unwrap_or_default();
        let mode = match name.as_str() {
            "Notice" => Mode::Notice,
            "Parallel" => Mode::Parallel(given("Error")),
            "Serial" => Mode::Serial(given("Answer")),
            "Around" => Mode::Around(given("Output")),
            _ => continue,
        };
        modes.entry(target.clone()).or_default().push(mode);
    }
    modes
}

fn constant_of<'a>(item: &'a ItemImpl, name: &str) -> Option<&'a Expr> {
    item.items.iter().find_map(|item| match item {
        ImplItem::Const(constant) if constant.ident == name => Some(&constant.expr),
        _ => None,
    })
}

fn associated_type(item: &ItemImpl, name: &str) -> Option<String> {
    item.items.iter().find_map(|item| match item {
        ImplItem::Type(associated) if associated.ident == name => Some(signature::text(&associated.ty)),
        _ => None,
    })
}

fn returned_string(item: &ItemImpl, names: &Names) -> Option<String> {
    item.items.iter().find_map(|item| match item {
        ImplItem::Fn(method) if method.sig.ident == "name" => match method.block.stmts.last()? {
            Stmt::Expr(expression, _) => names.string(expression),
            _ => None,
        },
        _ => None,
    })
}

fn last_word(expression: &Expr) -> Option<String> {
    let Expr::Path(path) = expression else { return None };
    Some(path.path.segments.last()?.ident.to_string())
}

fn is_true(expression: &Expr) -> bool {
    matches!(expression, Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) if value.value)
}

fn key_of(of: &Type, name: &str) -> String {
    if matches!(of, Type::TraitObject(_)) { format!("dyn {name}") } else { name.to_owned() }
}

/// The keys of services that the file provides: `ctx.provide::<dyn Bash>(…)`.
pub(super) fn provided(file: &SourceFile) -> Vec<String> {
    struct Calls<'a>(&'a SourceFile, Vec<String>);
    impl<'ast> Visit<'ast> for Calls<'_> {
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            let named = call.method == "provide" || call.method == "replace";
            if named && !self.0.is_test_line(call.method.span().start().line) {
                let key = call.turbofish.as_ref().and_then(|arguments| arguments.args.first());
                if let Some(syn::GenericArgument::Type(key)) = key {
                    self.1.extend(type_name(key).map(|name| key_of(key, &name)));
                }
            }
            syn::visit::visit_expr_method_call(self, call);
        }
    }
    let mut calls = Calls(file, Vec::new());
    calls.visit_file(&file.syntax);
    calls.1
}
