//! The figures table.
use std::fmt::Write as _;

/// One figure.
pub(crate) struct Row {
    /// What was measured.
    pub(crate) figure: String,
    /// The harness.
    pub(crate) ours: f64,
    /// The floor, where it does the same.
    pub(crate) floor: Option<f64>,
    /// Unit of both.
    pub(crate) unit: &'static str,
    /// What must hold.
    pub(crate) limit: Limit,
}

/// What must hold of a figure.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    /// At most so many times the floor.
    TimesFloor(f64),
    /// At most this.
    AtMost(f64),
    /// Nothing: it is printed for comparison.
    None,
}

impl Row {
    /// Ours as a multiple of the floor.
    fn ratio(&self) -> Option<f64> {
        self.floor.filter(|floor| *floor > 0.0).map(|floor| self.ours / floor)
    }
    /// Whether the limit holds; `None` when there is none.
    pub(crate) fn holds(&self) -> Option<bool> {
        match self.limit {
            // Something that cannot be told, such as a ratio to nothing, does not hold.
            Limit::TimesFloor(limit) => Some(self.ratio().is_some_and(|ratio| ratio <= limit)),
            Limit::AtMost(limit) => Some(self.ours <= limit),
            Limit::None => None,
        }
    }
    fn cells(&self) -> [String; 6] {
        let limit = match self.limit {
            Limit::TimesFloor(limit) => format!("{limit}x floor"),
            Limit::AtMost(limit) => format!("{limit} {}", self.unit),
            Limit::None => "-".into(),
        };
        let number = |value: f64| format!("{value:.2} {}", self.unit);
        [
            self.figure.clone(),
            number(self.ours).trim_end().to_owned(),
            self.floor.map_or("-".into(), |floor| number(floor).trim_end().to_owned()),
            self.ratio().map_or("-".into(), |ratio| format!("{ratio:.2}")),
            limit.trim_end().to_owned(),
            match self.holds() {
                Some(true) => "yes".into(),
                Some(false) => "NO".into(),
                None => "-".into(),
            },
        ]
    }
}

/// The whole table, columns aligned.
pub(crate) fn render(rows: &[Row]) -> String {
    let head = ["figure", "ours", "floor", "ratio", "limit", "holds"].map(str::to_owned);
    let lines: Vec<_> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    let mut widths = [0; 6];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for line in &lines {
        let mut shown = String::new();
        for (index, (cell, width)) in line.iter().zip(widths).enumerate() {
            let _ = if (1..4).contains(&index) {
                write!(shown, "{cell:>width$}  ")
            } else {
                write!(shown, "{cell:<width$}  ")
            };
        }
        let _ = writeln!(text, "{}", shown.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ours: f64, floor: Option<f64>, limit: Limit) -> Row {
        Row { figure: "one-shot".into(), ours, floor, unit: "ms", limit }
    }

    #[test]
    fn a_limit_holds_or_does_not() {
        assert_eq!(row(6.0, Some(2.0), Limit::TimesFloor(3.0)).holds(), Some(true));
        assert_eq!(row(6.1, Some(2.0), Limit::TimesFloor(3.0)).holds(), Some(false));
        assert_eq!(row(6.0, Some(0.0), Limit::TimesFloor(3.0)).holds(), Some(false));
        assert_eq!(row(f64::NAN, None, Limit::AtMost(3.0)).holds(), Some(false));
        assert_eq!(row(6.0, None, Limit::None).holds(), None);
    }

    #[test]
    fn columns_are_aligned() {
        let table =
            render(&[row(6.0, Some(2.0), Limit::TimesFloor(3.0)), row(16.25, None, Limit::AtMost(20.0))]);
        let expected = "figure        ours    floor  ratio  limit     holds\n\
                        one-shot   6.00 ms  2.00 ms   3.00  3x floor  yes\n\
                        one-shot  16.25 ms        -      -  20 ms     yes\n";
        assert_eq!(table, expected);
    }
}
