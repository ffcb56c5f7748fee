//! Looking for words among the tokens of a file, inside macro calls too.
use proc_macro2::{TokenStream, TokenTree};

/// An identifier with what stands right after it.
pub(crate) struct Word {
    /// The identifier.
    pub(crate) text: String,
    /// Its line, counted from 1.
    pub(crate) line: usize,
    /// Whether `!` follows.
    pub(crate) bang: bool,
}

/// Every identifier of the stream, groups included. Comments and strings have none.
pub(crate) fn words(tokens: &TokenStream) -> Vec<Word> {
    let mut found = Vec::new();
    collect(tokens.clone(), &mut found);
    found
}

fn collect(tokens: TokenStream, found: &mut Vec<Word>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) => {
                let bang = matches!(tokens.peek(), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
                found.push(Word { text: word.to_string(), line: word.span().start().line, bang });
            }
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_inside_macro_calls_are_found_and_comments_are_not() {
        let tokens = "// todo!()\nfn a() {\n  vec![dbg!(1)];\n \"todo!()\";\n}".parse().unwrap();
        let found = words(&tokens);
        let dbg = found.iter().find(|word| word.text == "dbg").unwrap();
        assert_eq!((dbg.line, dbg.bang), (3, true));
        assert!(!found.iter().any(|word| word.text == "todo"));
    }
}
