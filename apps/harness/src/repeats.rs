//! An attempt that is made again mostly says again what was said: that part is not shown twice.

/// What the attempts of one step have said on the screen.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    /// What stands on the screen.
    said: String,
    /// What this attempt said so far, while it repeats what stands there.
    again: Option<String>,
}

/// What is to be shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing: it stands there already.
    Nothing,
    /// This, behind what stands there.
    More(String),
    /// This, on a line of its own: the attempt says something else.
    Anew(String),
}

impl Repeats {
    /// An attempt begins; `again` says whether the step had one before.
    pub(crate) fn attempt(&mut self, again: bool) {
        if again && !self.said.is_empty() {
            self.again = Some(String::new());
        } else {
            *self = Self::default();
        }
    }
    /// The attempt says more.
    pub(crate) fn new_part(&mut self, text: &str) -> Told {
        let Some(again) = &mut self.again else {
            self.said.push_str(text);
            return Told::More(text.to_owned());
        };
        again.push_str(text);
        if let Some(more) = again.strip_prefix(self.said.as_str()) {
            let more = more.to_owned();
            self.said = self.again.take().unwrap_or_default();
            return if more.is_empty() { Told::Nothing } else { Told::More(more) };
        }
        if self.said.starts_with(again.as_str()) {
            return Told::Nothing;
        }
        self.said = self.again.take().unwrap_or_default();
        Told::Anew(self.said.clone())
    }
    /// The attempt is over. Returns what it said if that was shorter than what stands on the screen.
    pub(crate) fn finish(&mut self) -> Option<String> {
        std::mem::take(self).again.filter(|again| !again.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn more(text: &str) -> Told {
        Told::More(text.to_owned())
    }

    #[test]
    fn what_stands_there_is_not_said_again() {
        let mut repeats = Repeats::default();
        repeats.attempt(false);
        assert_eq!(repeats.new_part("Let me "), more("Let me "));
        repeats.attempt(true);
        assert_eq!(repeats.new_part("Let"), Told::Nothing);
        assert_eq!(repeats.new_part(" me look"), more("look"));
        assert_eq!(repeats.new_part("."), more("."));
        assert_eq!(repeats.finish(), None);
    }
    #[test]
    fn another_answer_starts_anew() {
        let mut repeats = Repeats::default();
        repeats.attempt(false);
        repeats.new_part("Let me");
        repeats.attempt(true);
        assert_eq!(repeats.new_part("Le"), Told::Nothing);
        assert_eq!(repeats.new_part("ss"), Told::Anew("Less".into()));
        assert_eq!(repeats.new_part(" is"), more(" is"));
        repeats.attempt(true);
        repeats.new_part("Less");
        assert_eq!(repeats.finish(), Some("Less".into()), "a shorter answer is told in the end");
    }
}
