//! A few numbers from many.
use std::time::Instant;

/// The middle value; the mean of the two in the middle when there are an even number.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// How much longer the last tenth took than the first, from the time of each event.
pub(crate) fn flatness(times: &[Instant]) -> f64 {
    let tenth = (times.len().saturating_sub(1) / 10).max(1);
    let (Some(first), Some(last)) = (times.get(..=tenth), times.len().checked_sub(tenth + 1)) else {
        return f64::NAN;
    };
    let span =
        |part: &[Instant]| part.last().zip(part.first()).map(|(end, start)| (*end - *start).as_secs_f64());
    match (span(first), span(&times[last..])) {
        (Some(first), Some(last)) if first > 0.0 => last / first,
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn flatness_compares_the_tenths() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let even: Vec<_> = (0..=100).map(|step| at(step * 10)).collect();
        assert!((flatness(&even) - 1.0).abs() < 1e-9);
        // The last ten intervals are twice as long as the first ten.
        let slower: Vec<_> =
            (0..=100).map(|step: u64| at(step * 10 + step.saturating_sub(90) * 10)).collect();
        assert!((flatness(&slower) - 2.0).abs() < 1e-9);
        assert!(flatness(&[]).is_nan());
    }
}
