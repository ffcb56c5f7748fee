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

/// The time between one event and the next.
pub(crate) fn intervals(times: &[Instant]) -> Vec<f64> {
    times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect()
}

/// How much longer the last tenth took than the first.
///
/// Of each interval the median over all runs counts: what grows with the length of a run is in every run, while a
/// stall of the machine is in one.
pub(crate) fn flatness(runs: &[Vec<f64>]) -> f64 {
    let length = runs.iter().map(Vec::len).min().unwrap_or_default();
    let tenth = length / 10;
    if tenth == 0 {
        return f64::NAN;
    }
    let middle = |index: usize| median(&runs.iter().map(|run| run[index]).collect::<Vec<_>>());
    let first: f64 = (0..tenth).map(middle).sum();
    let last: f64 = (length - tenth..length).map(middle).sum();
    if first > 0.0 { last / first } else { f64::NAN }
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
        assert!((flatness(&[vec![1.0; 100]]) - 1.0).abs() < 1e-9);
        // The last ten intervals are twice as long as the first ten.
        let growing: Vec<_> = (0..100).map(|step| if step < 90 { 1.0 } else { 2.0 }).collect();
        assert!((flatness(std::slice::from_ref(&growing)) - 2.0).abs() < 1e-9);
        assert!(flatness(&[]).is_nan());
        // A stall in one run of three does not count, growth in all does.
        let mut stalled = growing.clone();
        stalled[95] = 50.0;
        assert!((flatness(&[growing.clone(), stalled, growing]) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn intervals_lie_between_events() {
        let start = Instant::now();
        let times: Vec<_> =
            [0, 10, 30].map(|milliseconds| start + Duration::from_millis(milliseconds)).into();
        let spans = intervals(&times);
        assert!((spans[0] - 0.01).abs() < 1e-9 && (spans[1] - 0.02).abs() < 1e-9 && spans.len() == 2);
    }
}
