//! Reads a call from text, or does not.
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How a call was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextForm {
    /// As a JSON object.
    Json,
    /// As a JSON object in a Markdown fence.
    Fenced,
    /// Between tags.
    Tagged,
}

/// A call that was printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadCall {
    /// The tool.
    pub name: String,
    /// The arguments: JSON text of an object.
    pub arguments: String,
    /// How it was printed.
    pub form: TextForm,
}

const NAMES: [&str; 3] = ["name", "tool", "function"];
const ARGUMENTS: [&str; 4] = ["arguments", "parameters", "input", "args"];
/// Keys that say nothing about what to run.
const ASIDE: [&str; 2] = ["id", "type"];
const TAGS: [(&str, &str); 3] =
    [("<tool_call>", "</tool_call>"), ("<function_call>", "</function_call>"), ("<tool>", "</tool>")];
const LIST: &str = "[TOOL_CALLS]";

/// The call, if the whole text is exactly one.
pub fn read_call(text: &str) -> Option<ReadCall> {
    let text = text.trim();
    if let Some(inner) = TAGS.iter().find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close)) {
        return json(inner, TextForm::Tagged);
    }
    if let Some(list) = text.strip_prefix(LIST) {
        let calls: Vec<Value> = serde_json::from_str(list).ok()?;
        let [Value::Object(call)] = calls.as_slice() else { return None };
        return object(call, TextForm::Tagged);
    }
    if let Some(inner) = text.strip_prefix("<function=").and_then(|rest| rest.strip_suffix("</function>")) {
        let (name, body) = inner.split_once('>')?;
        return made(name.trim(), &serde_json::from_str(body).ok()?, TextForm::Tagged);
    }
    if let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) {
        let (language, body) = inner.split_once('\n')?;
        let known = ["", "json", "tool_call", "tool_code"].contains(&language.trim());
        return known.then(|| json(body, TextForm::Fenced)).flatten();
    }
    json(text, TextForm::Json)
}

/// Whether more text could still make it a call.
pub(crate) fn may_become_call(text: &str) -> bool {
    let text = text.trim_start();
    let begins = |start: &str| text.starts_with(start) || start.starts_with(text);
    ["{", "```", "<function=", LIST].into_iter().chain(TAGS.iter().map(|(open, _)| *open)).any(begins)
}

fn json(text: &str, form: TextForm) -> Option<ReadCall> {
    object(&serde_json::from_str(text).ok()?, form)
}

fn object(call: &Map<String, Value>, form: TextForm) -> Option<ReadCall> {
    // The shape of the wire: the call one level down.
    if let Some(Value::Object(function)) = call.get("function") {
        let rest = call.keys().all(|key| key == "function" || ASIDE.contains(&key.as_str()));
        return rest.then(|| object(function, form)).flatten();
    }
    let (mut name, mut arguments) = (None, None);
    for (key, value) in call {
        match key.as_str() {
            key if ASIDE.contains(&key) => {}
            key if NAMES.contains(&key) && name.is_none() => name = Some(value.as_str()?),
            key if ARGUMENTS.contains(&key) && arguments.is_none() => arguments = Some(value),
            // Something else is meant.
            _ => return None,
        }
    }
    made(name?, arguments?, form)
}

fn made(name: &str, arguments: &Value, form: TextForm) -> Option<ReadCall> {
    let arguments = match arguments {
        Value::Object(_) => arguments.to_string(),
        // As on the wire: the text of an object.
        Value::String(text) => {
            serde_json::from_str::<Map<String, Value>>(text).is_ok().then(|| text.clone())?
        }
        _ => return None,
    };
    (!name.is_empty()).then(|| ReadCall { name: name.to_owned(), arguments, form })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        for (text, form) in [
            (r#"{"name":"read","arguments":{"a":1}}"#, TextForm::Json),
            ("  {\"tool\": \"read\", \"parameters\": {\"a\": 1}}\n", TextForm::Json),
            (r#"{"type":"function","function":{"name":"read","arguments":"{\"a\":1}"}}"#, TextForm::Json),
            (r#"{"id":"x","function":"read","input":{"a":1}}"#, TextForm::Json),
            ("```json\n{\"name\":\"read\",\"args\":{\"a\":1}}\n```", TextForm::Fenced),
            ("```\n{\"name\":\"read\",\"arguments\":{\"a\":1}}\n```", TextForm::Fenced),
            ("<tool_call>\n{\"name\":\"read\",\"arguments\":{\"a\":1}}\n</tool_call>", TextForm::Tagged),
            ("<function=read>{\"a\":1}</function>", TextForm::Tagged),
            ("[TOOL_CALLS] [{\"name\":\"read\",\"arguments\":{\"a\":1}}]", TextForm::Tagged),
        ] {
            let call = read_call(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                (call.name.as_str(), call.arguments.as_str(), call.form),
                ("read", r#"{"a":1}"#, form)
            );
            for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
                assert!(may_become_call(&text[..end]), "{}", &text[..end]);
            }
        }
    }
    #[test]
    fn anything_else_is_text() {
        for text in [
            "",
            "hello",
            "{}",
            r#"{"name":"read"}"#,
            r#"{"name":"","arguments":{}}"#,
            r#"{"name":"read","arguments":[1]}"#,
            r#"{"name":"read","arguments":"no object"}"#,
            r#"{"name":"read","arguments":{},"note":"hm"}"#,
            r#"{"name":"read","tool":"write","arguments":{}}"#,
            r#"{"name":"read","arguments":{"#,
            r#"{"name":"read","arguments":{}} and more"#,
            r#"{"name":"read","arguments":{}}{"name":"read","arguments":{}}"#,
            "<tool_call>{\"name\":\"read\",\"arguments\":{}}</tool_call><tool_call>{\"name\":\"read\",\"arguments\":{}}</tool_call>",
            "[TOOL_CALLS][{\"name\":\"a\",\"arguments\":{}},{\"name\":\"b\",\"arguments\":{}}]",
            "```python\n{\"name\":\"read\",\"arguments\":{}}\n```",
            "<b>{\"name\":\"read\",\"arguments\":{}}</b>",
        ] {
            assert_eq!(read_call(text), None, "{text}");
        }
    }
    #[test]
    fn most_answers_are_never_held_back() {
        for text in ["Hello", "<b>", "[1] see", "`ls`"] {
            assert!(!may_become_call(text), "{text}");
        }
        assert!(may_become_call("  \n") && may_become_call("<tool"));
    }
}
