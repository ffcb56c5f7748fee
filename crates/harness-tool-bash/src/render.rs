//! What the model is shown of a command: its output, then one bracketed line for each fact that matters.
use std::fmt::Write as _;

use crate::tool::BashOutput;

pub(crate) fn render(output: &BashOutput, cancelled: bool) -> String {
    let mut text = if output.output.is_empty() { "(no output)".to_owned() } else { output.output.clone() };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    for fact in facts(output, cancelled) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[{fact}]");
    }
    text
}

fn facts(output: &BashOutput, cancelled: bool) -> Vec<String> {
    let mut facts = Vec::new();
    if output.omitted_bytes > 0 {
        let whole = match (&output.full_output, &output.full_output_problem) {
            (Some(path), None) => format!("; the whole output is in {}", path.display()),
            (Some(path), Some(problem)) => format!("; saved in {}, but {problem}", path.display()),
            (None, Some(problem)) => format!("; the rest is lost: {problem}"),
            (None, None) => String::new(),
        };
        facts.push(format!(
            "output was {} bytes, {} are left out{whole}",
            output.total_bytes, output.omitted_bytes
        ));
    }
    if cancelled {
        facts.push("cancelled; the command was ended".to_owned());
    }
    if let Some(limit) = output.timed_out_ms {
        facts.push(format!("timed out after {limit} ms; the command and its children were ended"));
    } else if output.descendants_killed && !cancelled {
        facts.push("processes left in the background were ended".to_owned());
    }
    if output.descendants_left {
        facts.push("some child processes could not be ended and may still run".to_owned());
    }
    match (output.exit_code, output.signal) {
        (Some(0), _) | (None, None) => {}
        (Some(code), _) => facts.push(format!("exit code {code}")),
        (None, Some(signal)) if output.timed_out_ms.is_none() && !cancelled => {
            facts.push(format!("ended by signal {signal}"));
        }
        (None, Some(_)) => {}
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output() -> BashOutput {
        BashOutput {
            output: "hi".into(),
            total_bytes: 2,
            omitted_bytes: 0,
            exit_code: Some(0),
            signal: None,
            timed_out_ms: None,
            duration_ms: 1,
            descendants_killed: false,
            descendants_left: false,
            full_output: None,
            full_output_problem: None,
        }
    }
    #[test]
    fn a_plain_success_is_only_its_output() {
        assert_eq!(render(&output(), false), "hi\n");
        assert_eq!(render(&BashOutput { output: String::new(), ..output() }, false), "(no output)\n");
    }
    #[test]
    fn facts_follow_the_output() {
        let failed = BashOutput { exit_code: Some(3), descendants_killed: true, ..output() };
        assert_eq!(
            render(&failed, false),
            "hi\n[processes left in the background were ended]\n[exit code 3]\n"
        );
        let killed = BashOutput { exit_code: None, signal: Some(9), ..output() };
        assert_eq!(render(&killed, false), "hi\n[ended by signal 9]\n");
        let late = BashOutput { exit_code: None, signal: Some(15), timed_out_ms: Some(1000), ..output() };
        assert_eq!(
            render(&late, false),
            "hi\n[timed out after 1000 ms; the command and its children were ended]\n"
        );
        let long = BashOutput { omitted_bytes: 7, full_output: Some("/s/o".into()), ..output() };
        assert_eq!(
            render(&long, false),
            "hi\n[output was 2 bytes, 7 are left out; the whole output is in /s/o]\n"
        );
    }
}
