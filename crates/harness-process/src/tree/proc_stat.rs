//! Reads `/proc/<pid>/stat` (`proc_pid_stat(5)`).

/// The fields that tell who belongs to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcStat {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// Clock ticks after boot; together with the number it identifies a process for good.
    pub(super) start: u64,
    /// Ended, and perhaps not yet waited for.
    pub(super) dead: bool,
}

impl ProcStat {
    pub(super) fn of(pid: i32) -> Option<Self> {
        Self::parse(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Every process that can be seen.
    pub(super) fn all() -> Vec<Self> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(Self::of).collect()
    }

    fn parse(line: &[u8]) -> Option<Self> {
        // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
        let name_start = line.iter().position(|byte| *byte == b'(')?;
        let name_end = line.iter().rposition(|byte| *byte == b')')?;
        let pid = std::str::from_utf8(line.get(..name_start)?).ok()?.trim().parse().ok()?;
        let rest = std::str::from_utf8(line.get(name_end + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).copied();
        Some(Self {
            pid,
            dead: matches!(field(3)?, "Z" | "X" | "x"),
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            session: field(6)?.parse().ok()?,
            start: field(22)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_is_skipped() {
        let line = b"42 (a) b (c) S 7 41 40 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 123 45";
        let expected = ProcStat { pid: 42, parent: 7, group: 41, session: 40, start: 98765, dead: false };
        assert_eq!(ProcStat::parse(line), Some(expected));
    }

    #[test]
    fn anything_else_is_no_process() {
        for line in [&b""[..], b"42", b"42 (x)", b"42 (x) S 1 2", b")(", b"x (y) S 1 2 3"] {
            assert_eq!(ProcStat::parse(line), None);
        }
    }

    #[test]
    fn this_process_finds_itself() {
        let me = std::process::id().cast_signed();
        assert!(ProcStat::all().contains(&ProcStat::of(me).unwrap()));
    }
}
