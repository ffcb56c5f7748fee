//! Where in the jitter a wait falls.
use std::hash::{BuildHasher, RandomState};

/// A value from 0 to just under 1 that differs from call to call and from process to process. Not for secrets.
pub(crate) fn sample() -> f64 {
    // A fresh `RandomState` has fresh keys; its hash of nothing is as good as a random number for this purpose.
    let bits = u32::try_from(RandomState::new().hash_one(()) >> 32).unwrap_or(0);
    f64::from(bits) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_spread_over_the_unit_interval() {
        let samples: Vec<f64> = (0..1000).map(|_| sample()).collect();
        assert!(samples.iter().all(|sample| (0.0..1.0).contains(sample)));
        let low = samples.iter().filter(|sample| **sample < 0.5).count();
        assert!((350..650).contains(&low), "{low} of 1000 are in the lower half");
    }
}
