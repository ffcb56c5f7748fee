//! Where something is in a JSON value.
use std::fmt::Write as _;

use jsonschema::paths::{Location, LocationSegment};

/// Longest path that is shown, in bytes.
const SHOWN: usize = 120;

/// The steps from the root.
pub(crate) fn segments(location: &Location) -> Vec<String> {
    location.iter().map(|segment| segment.to_string()).collect()
}

/// A path as one writes it: `edits[0].path`. A name that is no plain word is quoted: `env["A B"]`.
pub(crate) fn shown(location: &Location, property: Option<&str>) -> String {
    let mut path = String::new();
    for segment in location {
        match segment {
            LocationSegment::Index(index) => {
                let _ = write!(path, "[{index}]");
            }
            LocationSegment::Property(name) => push_name(&mut path, &name),
        }
    }
    if let Some(name) = property {
        push_name(&mut path, name);
    }
    shorten(path, SHOWN)
}

fn push_name(path: &mut String, name: &str) {
    let plain =
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "_-$".contains(letter));
    if !plain {
        let _ = write!(path, "[{name:?}]");
    } else if path.is_empty() {
        path.push_str(name);
    } else {
        let _ = write!(path, ".{name}");
    }
}

/// At most `limit` bytes, with an ellipsis when something was cut off.
pub(crate) fn shorten(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit - '…'.len_utf8()));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_like_code() {
        let location = Location::new().join("edits").join(0).join("old text");
        assert_eq!(shown(&location, Some("path")), "edits[0][\"old text\"].path");
        assert_eq!(shown(&Location::new(), None), "");
        assert_eq!(shown(&Location::new(), Some("")), "[\"\"]");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(shorten("ééé".into(), 6), "ééé");
        assert_eq!(shorten("éééé".into(), 6), "é…");
    }
}
