//! Types of a package by name: their documentation, fields and methods.
use std::collections::BTreeMap;

use syn::{Expr, ExprLit, Fields, ImplItem, Item, Lit, TraitItem, Type, UseTree, Visibility};

use super::scan::product_items;
use super::{prose, signature};
use crate::source::{SourceFile, doc_text};

/// What is said of a type where it is declared.
#[derive(Debug, Clone, Default)]
pub(super) struct Declared {
    /// Prose of its documentation.
    pub(super) prose: String,
    /// Public fields: name, type and the first sentence about it.
    pub(super) fields: Vec<(String, String, String)>,
}

/// A public method.
#[derive(Debug, Clone)]
pub(super) struct Method {
    /// On one line.
    pub(super) signature: String,
    /// First sentence about it.
    pub(super) summary: String,
}

/// All types and constants of a package.
#[derive(Default)]
pub(super) struct Names {
    types: BTreeMap<String, Declared>,
    methods: BTreeMap<String, Vec<Method>>,
    constants: BTreeMap<String, String>,
}

impl Names {
    /// Reads the files of one package.
    pub(super) fn of(files: &[&SourceFile]) -> Self {
        let mut names = Self::default();
        for item in files.iter().flat_map(|file| product_items(file)) {
            names.add(item);
        }
        names
    }
    /// What is said of a type; nothing when the package does not declare it.
    pub(super) fn declared(&self, name: &str) -> Declared {
        self.types.get(name).cloned().unwrap_or_default()
    }
    /// Whether the package declares the type.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.types.contains_key(name)
    }
    /// The public methods of a trait or struct, in the order of the source.
    pub(super) fn methods(&self, name: &str) -> Vec<Method> {
        self.methods.get(name).cloned().unwrap_or_default()
    }
    /// The text of a string literal or of a constant that is one.
    pub(super) fn string(&self, expression: &Expr) -> Option<String> {
        match expression {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            Expr::Path(path) => self.constants.get(&path.path.segments.last()?.ident.to_string()).cloned(),
            _ => None,
        }
    }

    fn add(&mut self, item: &Item) {
        match item {
            Item::Struct(item) => self.add_type(item.ident.to_string(), &item.attrs, fields(&item.fields)),
            Item::Enum(item) => self.add_type(item.ident.to_string(), &item.attrs, Vec::new()),
            Item::Trait(item) => {
                let name = item.ident.to_string();
                self.add_type(name.clone(), &item.attrs, Vec::new());
                let methods = item.items.iter().filter_map(|item| match item {
                    TraitItem::Fn(method) => Some(self::method(&method.sig, &method.attrs)),
                    _ => None,
                });
                self.methods.entry(name).or_default().extend(methods);
            }
            Item::Impl(item) if item.trait_.is_none() => {
                let Some(name) = type_name(&item.self_ty) else { return };
                let methods = item.items.iter().filter_map(|item| match item {
                    ImplItem::Fn(method) if matches!(method.vis, Visibility::Public(_)) => {
                        Some(self::method(&method.sig, &method.attrs))
                    }
                    _ => None,
                });
                self.methods.entry(name).or_default().extend(methods);
            }
            Item::Const(item) => {
                if let Some(text) = self.string(&item.expr) {
                    self.constants.insert(item.ident.to_string(), text);
                }
            }
            _ => {}
        }
    }
    fn add_type(
        &mut self,
        name: String,
        attributes: &[syn::Attribute],
        fields: Vec<(String, String, String)>,
    ) {
        let prose = prose::of_doc(&doc_text(attributes));
        self.types.insert(name, Declared { prose, fields });
    }
}

fn method(signature: &syn::Signature, attributes: &[syn::Attribute]) -> Method {
    let summary = prose::first_sentence(&prose::of_doc(&doc_text(attributes)));
    Method { signature: signature::text(signature), summary }
}

fn fields(fields: &Fields) -> Vec<(String, String, String)> {
    let visible = fields.iter().enumerate().filter(|(_, field)| matches!(field.vis, Visibility::Public(_)));
    visible
        .map(|(index, field)| {
            let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
            let summary = prose::first_sentence(&prose::of_doc(&doc_text(&field.attrs)));
            (name, signature::text(&field.ty), summary)
        })
        .collect()
}

/// The last part of a type's path, or the trait of a `dyn` type.
pub(super) fn type_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        Type::Paren(inner) => type_name(&inner.elem),
        Type::TraitObject(object) => object.bounds.iter().find_map(|bound| match bound {
            syn::TypeParamBound::Trait(bound) => Some(bound.path.segments.last()?.ident.to_string()),
            _ => None,
        }),
        _ => None,
    }
}

/// What each renamed import of the file stands for: `use a::Event as KernelEvent` gives `KernelEvent` → `Event`.
pub(super) fn renamed_imports(file: &SourceFile) -> BTreeMap<String, String> {
    let mut renamed = BTreeMap::new();
    for item in product_items(file) {
        if let Item::Use(item) = item {
            collect_renames(&item.tree, &mut renamed);
        }
    }
    renamed
}

fn collect_renames(tree: &UseTree, renamed: &mut BTreeMap<String, String>) {
    match tree {
        UseTree::Path(path) => collect_renames(&path.tree, renamed),
        UseTree::Group(group) => group.items.iter().for_each(|tree| collect_renames(tree, renamed)),
        UseTree::Rename(rename) => {
            renamed.insert(rename.rename.to_string(), rename.ident.to_string());
        }
        _ => {}
    }
}
