//! Escapes of half a character.
use std::ops::RangeInclusive;

const HIGH: RangeInclusive<u16> = 0xD800..=0xDBFF;
const LOW: RangeInclusive<u16> = 0xDC00..=0xDFFF;

/// `json` with each `\u` escape of a lone surrogate replaced by that of U+FFFD, or `None` if there is none.
///
/// Servers written for UTF-16 cut characters beyond the basic plane in two and escape the halves; strict parsers
/// refuse the whole document then.
pub fn without_lone_surrogates(json: &str) -> Option<String> {
    let bytes = json.as_bytes();
    let mut repaired: Option<String> = None;
    let (mut at, mut copied) = (0, 0);
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        let Some(unit) = escaped_unit(&bytes[at..]) else {
            at = bytes.len().min(at + 2); // Another escape, or a `\` at the end.
            continue;
        };
        if HIGH.contains(&unit) && escaped_unit(&bytes[at + 6..]).is_some_and(|next| LOW.contains(&next)) {
            at += 12;
            continue;
        }
        if HIGH.contains(&unit) || LOW.contains(&unit) {
            let out = repaired.get_or_insert_with(|| String::with_capacity(json.len()));
            out.push_str(&json[copied..at]);
            out.push_str("\\ufffd");
            copied = at + 6;
        }
        at += 6;
    }
    if let Some(out) = &mut repaired {
        out.push_str(&json[copied..]);
    }
    repaired
}

/// The code unit of the `\uXXXX` escape at the start of `bytes`.
fn escaped_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.get(..6)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_halves_are_replaced_and_nothing_else() {
        for (json, repaired) in [
            (r#""a\ud83db""#, r#""a\ufffdb""#),
            (r#""\ude00""#, r#""\ufffd""#),
            (r#""\uD83D\uD83D\uDE00""#, r#""\ufffd\uD83D\uDE00""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""é\ud83d\n""#, r#""é\ufffd\n""#),
        ] {
            assert_eq!(without_lone_surrogates(json).as_deref(), Some(repaired), "{json}");
            serde_json::from_str::<String>(repaired).unwrap();
        }
    }

    #[test]
    fn whole_characters_and_escaped_backslashes_are_left_alone() {
        for json in [
            r#""\ud83d\ude00""#,
            r#""\\ud83d""#,
            r#""\\\\ud83d""#,
            r#""plain""#,
            r#""\u00e9""#,
            "\\",
            "\\u12",
        ] {
            assert_eq!(without_lone_surrogates(json), None, "{json}");
        }
        assert!(without_lone_surrogates(r#""\\\ud83d""#).is_some());
    }
}
