//! What a listener can decide. Narrowing is possible, rewriting is not: no decision carries a path or content.

use super::Denial;
use crate::Version;

/// May a file be written?
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteDecision {
    /// Yes.
    Allow,
    /// Only over this state of the file.
    AllowIf(Version),
    /// Only if nothing is there.
    CreateOnly,
    /// No.
    Deny(Denial),
}

/// May a file be edited?
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditDecision {
    /// Yes.
    Allow,
    /// Only in this state.
    AllowIf(Version),
    /// No.
    Deny(Denial),
}

/// May a file be read?
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadDecision {
    /// Yes.
    Allow,
    /// No.
    Deny(Denial),
}

impl WriteDecision {
    /// The decision that satisfies both: how a listener adds its own to that of the listeners behind it.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Deny(denial), _) | (_, Self::Deny(denial)) => Self::Deny(denial),
            (Self::Allow, decision) | (decision, Self::Allow) => decision,
            (Self::CreateOnly, Self::CreateOnly) => Self::CreateOnly,
            (Self::AllowIf(left), Self::AllowIf(right)) if left == right => Self::AllowIf(left),
            (Self::AllowIf(_) | Self::CreateOnly, Self::AllowIf(_) | Self::CreateOnly) => {
                Self::Deny(Denial::conflicting_guards())
            }
        }
    }
}

impl EditDecision {
    /// The decision that satisfies both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Deny(denial), _) | (_, Self::Deny(denial)) => Self::Deny(denial),
            (Self::Allow, decision) | (decision, Self::Allow) => decision,
            (Self::AllowIf(left), Self::AllowIf(right)) if left == right => Self::AllowIf(left),
            (Self::AllowIf(_), Self::AllowIf(_)) => Self::Deny(Denial::conflicting_guards()),
        }
    }
}

impl ReadDecision {
    /// The decision that satisfies both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Deny(denial), _) | (_, Self::Deny(denial)) => Self::Deny(denial),
            (Self::Allow, Self::Allow) => Self::Allow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{EditDecision, WriteDecision};
    use crate::{Denial, Version};

    fn code(decision: &WriteDecision) -> Option<&'static str> {
        if let WriteDecision::Deny(denial) = decision { Some(denial.code()) } else { None }
    }

    #[test]
    fn the_narrower_write_decision_wins_from_either_side() {
        use WriteDecision::{Allow, AllowIf, CreateOnly, Deny};
        let one = || AllowIf(Version::new("1"));
        for (left, right, expected) in [
            (Allow, one(), one()),
            (one(), one(), one()),
            (Allow, CreateOnly, CreateOnly),
            (Deny(Denial::new("no")), one(), Deny(Denial::new("no"))),
        ] {
            assert_eq!(left.clone().and(right.clone()), expected);
            assert_eq!(right.and(left), expected);
        }
        assert_eq!(code(&one().and(CreateOnly)), Some("FS_STALE"));
        assert_eq!(code(&one().and(AllowIf(Version::new("2")))), Some("FS_STALE"));
    }

    #[test]
    fn conflicting_edit_guards_deny() {
        let guard = |token: &str| EditDecision::AllowIf(Version::new(token));
        assert_eq!(guard("1").and(EditDecision::Allow), guard("1"));
        assert!(matches!(guard("1").and(guard("2")), EditDecision::Deny(_)));
    }
}
