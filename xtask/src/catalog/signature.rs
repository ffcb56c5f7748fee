//! Source text of types and signatures on one line.
use syn::spanned::Spanned;

/// The text as written, with line breaks and trailing commas of the layout taken out.
pub(super) fn text(node: &impl Spanned) -> String {
    tidy(&node.span().source_text().unwrap_or_default())
}

fn tidy(source: &str) -> String {
    let mut line = source.split_whitespace().collect::<Vec<_>>().join(" ");
    for (layout, plain) in [("( ", "("), (", )", ")"), (" )", ")"), ("< ", "<"), (", >", ">"), (" .", ".")] {
        line = line.replace(layout, plain);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_over_several_lines_becomes_one() {
        let item = "trait A {\n    async fn stream(\n        &self,\n        request: Arc<Request>,\n    ) -> Result<(), Error>;\n}";
        let item: syn::ItemTrait = syn::parse_str(item).unwrap();
        let syn::TraitItem::Fn(method) = &item.items[0] else { panic!() };
        assert_eq!(text(&method.sig), "async fn stream(&self, request: Arc<Request>) -> Result<(), Error>");
    }
}
