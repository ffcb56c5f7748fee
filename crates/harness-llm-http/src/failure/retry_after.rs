//! How long a server asks to wait.
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// Milliseconds from the value of a `Retry-After` header: seconds or an HTTP date
/// ([RFC 9110, section 10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)); some servers send
/// fractions of a second. `None` unless it is a wait.
pub(super) fn milliseconds(value: &str, now: Timestamp) -> Option<u64> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return positive(seconds * 1000.0);
    }
    let at = DateTimeParser::new().parse_timestamp(value).ok()?;
    u64::try_from(at.as_millisecond().checked_sub(now.as_millisecond())?).ok().filter(|wait| *wait > 0)
}

/// The same for the header that counts milliseconds.
pub(super) fn from_milliseconds(value: &str) -> Option<u64> {
    positive(value.trim().parse().ok()?)
}

fn positive(milliseconds: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked; a cast saturates")]
    (milliseconds.is_finite() && milliseconds >= 1.0).then_some(milliseconds as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_waits_and_the_rest_is_not() {
        let now = "2026-12-01T00:00:00Z".parse().unwrap();
        for (value, expected) in [
            ("20", Some(20_000)),
            (" 1.5 ", Some(1_500)),
            ("0", None),
            ("-3", None),
            ("soon", None),
            ("inf", None),
            ("NaN", None),
            ("Tue, 01 Dec 2026 00:00:30 GMT", Some(30_000)),
            ("Mon, 30 Nov 2026 23:59:30 GMT", None),
            ("Tue, 01 Dec 2026 00:00:00 GMT", None),
        ] {
            assert_eq!(milliseconds(value, now), expected, "{value}");
        }
        assert_eq!(from_milliseconds("1250"), Some(1250));
        assert_eq!(from_milliseconds("0"), None);
    }
}
