//! What a tool's result looks like to hooks, and back.
use serde_json::{Map, Value, json};

/// The structured response of a call that succeeded, built from the tool's value, never from the shown text. `input`
/// is the tool's input in Claude Code's keys.
pub(crate) fn response(ours: &str, input: &Value, value: &Value) -> Value {
    let from = |key: &str| input.get(key).cloned().unwrap_or(Value::Null);
    match ours {
        "bash" => json!({
            "stdout": value.get("output").cloned().unwrap_or_else(|| "".into()),
            "stderr": "",
            "interrupted": false,
            "isImage": false,
        }),
        "read" => {
            let lines = value.get("lines").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let texts = lines.iter().map(|line| line.get("text").and_then(Value::as_str).unwrap_or_default());
            let content = texts.collect::<Vec<_>>().join("\n");
            let first = lines.first().and_then(|line| line.get("number")).cloned();
            json!({ "type": "text", "file": {
                "filePath": from("file_path"),
                "content": content,
                "numLines": lines.len(),
                "startLine": first.unwrap_or_else(|| 1.into()),
                "totalLines": value.get("total_lines").cloned().unwrap_or(Value::Null),
            }})
        }
        "write" => json!({
            "type": if value.get("created") == Some(&Value::Bool(true)) { "create" } else { "update" },
            "filePath": from("file_path"),
            "content": from("content"),
            "structuredPatch": [],
            "originalFile": null,
        }),
        "edit" => json!({
            "filePath": from("file_path"),
            "oldString": from("old_string"),
            "newString": from("new_string"),
            "originalFile": null,
            "structuredPatch": hunks(value.get("diff").and_then(Value::as_str).unwrap_or_default()),
            "userModified": false,
            "replaceAll": input.get("replace_all").cloned().unwrap_or(Value::Bool(false)),
        }),
        // Other tools, MCP ones among them: an object or text as it is.
        _ if value.is_object() || value.is_string() => value.clone(),
        _ => json!({ "content": value }),
    }
}

/// The hunks of a text in the notation of `diff -u`.
fn hunks(diff: &str) -> Vec<Value> {
    let mut hunks: Vec<(Map<String, Value>, Vec<Value>)> = Vec::new();
    for line in diff.lines() {
        if let Some(ranges) = line.strip_prefix("@@ -").and_then(|rest| rest.split(" @@").next()) {
            let (old, new) = ranges.split_once(" +").unwrap_or((ranges, ""));
            let number = |text: &str| text.parse::<u64>().unwrap_or(1);
            let range = |text: &str| {
                text.split_once(',')
                    .map_or((number(text), 1), |(start, count)| (number(start), number(count)))
            };
            let ((old_start, old_lines), (new_start, new_lines)) = (range(old), range(new));
            let hunk = [
                ("oldStart", old_start),
                ("oldLines", old_lines),
                ("newStart", new_start),
                ("newLines", new_lines),
            ];
            let hunk = hunk.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
            hunks.push((hunk, Vec::new()));
        } else if let Some((_, lines)) = hunks.last_mut() {
            lines.push(line.into());
        }
    }
    let finish = |(mut hunk, lines): (Map<String, Value>, Vec<Value>)| {
        hunk.insert("lines".to_owned(), Value::Array(lines));
        Value::Object(hunk)
    };
    hunks.into_iter().map(finish).collect()
}

/// What a replaced response becomes.
#[derive(Debug, PartialEq)]
pub(crate) enum Replaced {
    /// The tool's value, to be rendered again.
    Value(Value),
    /// Only what the model is shown.
    Text(String),
}

/// Reads a replaced response in the shape that [`response`] has.
pub(crate) fn replaced(ours: &str, value: &Value, response: &Value, new: &Value) -> Result<Replaced, String> {
    let text = |value: &Value, path: &str| {
        let found = value.pointer(path).and_then(Value::as_str);
        found.map(str::to_owned).ok_or_else(|| format!("`updatedToolOutput` has no text at {path}"))
    };
    match ours {
        "bash" => {
            let (stdout, stderr) = (text(new, "/stdout")?, text(new, "/stderr")?);
            let output = if stderr.is_empty() { stdout } else { format!("{stdout}{stderr}") };
            let mut value = value.clone();
            for (key, new) in [
                ("total_bytes", output.len().into()),
                ("omitted_bytes", 0.into()),
                ("full_output", Value::Null),
            ] {
                value[key] = new;
            }
            value["output"] = output.into();
            Ok(Replaced::Value(value))
        }
        "read" => {
            let content = text(new, "/file/content")?;
            let start = new.pointer("/file/startLine").and_then(Value::as_u64).unwrap_or(1);
            let lines = content.lines().zip(start..);
            let lines =
                lines.map(|(text, number)| json!({ "number": number, "text": text, "omitted_chars": 0 }));
            let mut value = value.clone();
            value["lines"] = lines.collect();
            Ok(Replaced::Value(value))
        }
        _ => {
            let keys =
                |value: &Value| value.as_object().map(|object| object.keys().cloned().collect::<Vec<_>>());
            let fits = match (keys(response), keys(new)) {
                (Some(old), Some(new)) => old.iter().all(|key| new.contains(key)),
                (None, None) => new.is_string(),
                _ => false,
            };
            if !fits {
                return Err("`updatedToolOutput` does not have the shape of the tool's response".to_owned());
            }
            Ok(Replaced::Text(new.as_str().map_or_else(|| new.to_string(), str::to_owned)))
        }
    }
}
