//! Base64 VLQ: small signed integers as text, as in source maps (ECMA-426): five payload bits a character, the
//! lowest bit of the first carrying the sign, the sixth bit saying that more follows.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends one integer. `i64::MIN` saturates by one.
pub(crate) fn push(out: &mut String, value: i64) {
    let mut rest = value.unsigned_abs().min(i64::MAX.unsigned_abs()) << 1 | u64::from(value < 0);
    loop {
        let digit = (rest & 31) as usize;
        rest >>= 5;
        out.push(char::from(DIGITS[if rest == 0 { digit } else { digit | 32 }]));
        if rest == 0 {
            return;
        }
    }
}

/// Reads integers until the text ends; `None` marks text that is not VLQ.
pub(crate) fn read(text: &str) -> impl Iterator<Item = Option<i64>> + '_ {
    let mut bytes = text.bytes();
    std::iter::from_fn(move || {
        let first = bytes.next()?;
        let (mut value, mut shift, mut byte) = (0u64, 0u32, first);
        loop {
            let digit = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return Some(None),
            };
            if shift > 60 || shift == 60 && digit & 31 > 15 {
                return Some(None); // more than 64 bits
            }
            value |= u64::from(digit & 31) << shift;
            if digit & 32 == 0 {
                break;
            }
            shift += 5;
            match bytes.next() {
                Some(next) => byte = next,
                None => return Some(None),
            }
        }
        let magnitude = i64::try_from(value >> 1).ok();
        Some(magnitude.map(|n| if value & 1 == 1 { -n } else { n }))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reads_back_what_was_written(values in proptest::collection::vec(-i64::MAX..=i64::MAX, 0..50)) {
            let mut text = String::new();
            for value in &values {
                super::push(&mut text, *value);
            }
            prop_assert_eq!(super::read(&text).collect::<Option<Vec<_>>>(), Some(values));
        }
    }
    #[test]
    fn refuses_what_is_not_vlq() {
        assert_eq!(super::read("A?").collect::<Vec<_>>(), [Some(0), None]);
        assert_eq!(super::read("g").collect::<Vec<_>>(), [None]);
        assert!(super::read("gggggggggggggggggggA").any(|v| v.is_none()));
        assert_eq!(super::read("ggggggggggggQ").collect::<Vec<_>>(), [None], "a 65th bit");
    }
}
