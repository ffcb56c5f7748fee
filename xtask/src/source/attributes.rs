//! Reading attributes: documentation and conditions.
use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta};

/// The documentation comment, one line a source line, without the leading space.
pub(crate) fn doc_text(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<_> =
        lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect();
    lines.join("\n").trim().to_owned()
}

/// Whether `#[cfg(test)]`, or a condition that needs it, stands on the item.
pub(crate) fn is_test_only(attributes: &[Attribute]) -> bool {
    conditions(attributes).any(|condition| needs(&condition, &|meta| meta.path().is_ident("test")))
}

/// Whether a condition on the item needs the feature.
pub(crate) fn requires_feature(attributes: &[Attribute], feature: &str) -> bool {
    let names_it = |meta: &Meta| match meta {
        Meta::NameValue(pair) if pair.path.is_ident("feature") => {
            matches!(&pair.value, Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if text.value() == feature)
        }
        _ => false,
    };
    conditions(attributes).any(|condition| needs(&condition, &names_it))
}

fn conditions(attributes: &[Attribute]) -> impl Iterator<Item = Meta> + '_ {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .filter_map(|attribute| attribute.parse_args().ok())
}

/// True when the condition cannot hold without `leaf`: `leaf`, `all(.., leaf)`, `any(leaf, leaf)`.
fn needs(condition: &Meta, leaf: &dyn Fn(&Meta) -> bool) -> bool {
    let Meta::List(list) = condition else { return leaf(condition) };
    let Ok(inner) =
        list.parse_args_with(syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated)
    else {
        return false;
    };
    if list.path.is_ident("all") {
        inner.iter().any(|meta| needs(meta, leaf))
    } else if list.path.is_ident("any") {
        !inner.is_empty() && inner.iter().all(|meta| needs(meta, leaf))
    } else {
        false
    }
}

/// The attributes of any item.
pub(super) fn of_item(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(text: &str) -> Vec<Attribute> {
        of_item(&syn::parse_str::<Item>(&format!("{text} struct A;")).unwrap()).to_vec()
    }

    #[test]
    fn documentation_keeps_its_lines() {
        assert_eq!(doc_text(&attributes("/// One.\n///\n///   two\n")), "One.\n\n  two");
        assert_eq!(doc_text(&attributes("")), "");
    }

    #[test]
    fn only_conditions_that_cannot_hold_outside_tests_count() {
        for yes in ["#[cfg(test)]", "#[cfg(all(test, unix))]", "#[cfg(any(test, all(unix, test)))]"] {
            assert!(is_test_only(&attributes(yes)), "{yes}");
        }
        for no in ["", "#[cfg(unix)]", "#[cfg(any(test, unix))]", "#[cfg(not(test))]", "#[test]"] {
            assert!(!is_test_only(&attributes(no)), "{no}");
        }
        assert!(requires_feature(&attributes("#[cfg(feature = \"contract\")]"), "contract"));
        assert!(!requires_feature(&attributes("#[cfg(feature = \"other\")]"), "contract"));
    }
}
