//! Which processes there are, as the system tells it.
use std::fs;

/// Whether a process with this id is there and not a zombie.
pub fn alive(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The state follows the name, which is in parentheses and may hold anything.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// Ids of the live processes whose command line contains a text. Use a text that only the test can have made.
pub fn processes(text: &str) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let matches = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line: Vec<u8> = line.into_iter().map(|byte| if byte == 0 { b' ' } else { byte }).collect();
        *pid != std::process::id() && String::from_utf8_lossy(&line).contains(text)
    };
    pids.filter(matches).filter(|pid| alive(*pid)).collect()
}
