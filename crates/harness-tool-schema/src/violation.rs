//! Violations in words that fit on one line.
use harness_tools::ArgumentViolation;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use crate::path::{shorten, shown};

/// Most violations that are given.
const VIOLATIONS: usize = 5;
/// Longest message, in bytes.
const MESSAGE: usize = 200;
/// Longest value or pattern within a message, in bytes.
const QUOTE: usize = 60;

/// The first few violations, without repetitions; the last says when there are more.
pub(crate) fn collect<'a>(errors: impl Iterator<Item = ValidationError<'a>>) -> Vec<ArgumentViolation> {
    let mut violations: Vec<ArgumentViolation> = Vec::new();
    for error in errors {
        for violation in of_error(&error) {
            if violations.contains(&violation) {
                continue;
            }
            if let (VIOLATIONS, Some(last)) = (violations.len(), violations.last_mut()) {
                last.message.push_str(" (and more)");
                return violations;
            }
            violations.push(violation);
        }
    }
    violations
}

fn of_error(error: &ValidationError<'_>) -> Vec<ArgumentViolation> {
    let at = |message: String| violation(error, None, message);
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            vec![violation(error, property.as_str(), "is required".into())]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|name| violation(error, Some(name), "is not a known property".into()))
            .collect(),
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            match likely_form(error, context) {
                Some(errors) => errors.iter().flat_map(of_error).collect(),
                None => vec![at(format!("fits none of the {} allowed forms", context.len()))],
            }
        }
        kind => vec![at(in_words(kind, error.instance()))],
    }
}

fn violation(error: &ValidationError<'_>, property: Option<&str>, message: String) -> ArgumentViolation {
    ArgumentViolation { path: shown(error.instance_path(), property), message: shorten(message, MESSAGE) }
}

/// The one form that the value has the type of: its own violations say more than "none fits".
fn likely_form<'a>(
    error: &ValidationError<'_>,
    forms: &'a [Vec<ValidationError<'static>>],
) -> Option<&'a [ValidationError<'static>]> {
    let other_type = |inner: &ValidationError<'_>| {
        let same_place = inner.instance_path() == error.instance_path();
        same_place && matches!(inner.kind(), ValidationErrorKind::Type { .. })
    };
    let mut likely = forms.iter().filter(|errors| !errors.iter().any(other_type));
    match (likely.next(), likely.next()) {
        (Some(errors), None) => Some(errors),
        _ => None,
    }
}

fn in_words(kind: &ValidationErrorKind, value: &Value) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::Type { kind } => format!("expected {}, got {}", types(kind), type_of(value)),
        Kind::Enum { options } => match options.as_array() {
            Some(options) => {
                let options: Vec<_> = options.iter().map(quote).collect();
                format!("expected one of {}", options.join(", "))
            }
            None => format!("expected one of {}", quote(options)),
        },
        Kind::Constant { expected_value } => format!("expected {}", quote(expected_value)),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must have at least {limit} character(s)"),
        Kind::MaxLength { limit } => format!("must have at most {limit} character(s)"),
        Kind::MinItems { limit } => format!("must have at least {limit} item(s)"),
        Kind::MaxItems { limit } => format!("must have at most {limit} item(s)"),
        Kind::MinProperties { limit } => format!("must have at least {limit} propert(ies)"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} propert(ies)"),
        Kind::UniqueItems => "must not have the same item twice".into(),
        Kind::Contains => "has no item of the required form".into(),
        Kind::AdditionalItems { limit } => format!("must have at most {limit} item(s)"),
        Kind::UnevaluatedItems { .. } => "has items that are not allowed".into(),
        Kind::Pattern { pattern } => {
            format!("does not match the pattern {}", shorten(pattern.clone(), QUOTE))
        }
        Kind::PropertyNames { error } => {
            format!("has a property name that {}", in_words(error.kind(), error.instance()))
        }
        Kind::FalseSchema => "is not allowed here".into(),
        Kind::Not { .. } => "has a form that is not allowed".into(),
        Kind::OneOfMultipleValid { .. } => "fits more than one of the allowed forms".into(),
        other => format!("does not satisfy `{}`", other.keyword()),
    }
}

fn quote(value: &Value) -> String {
    shorten(value.to_string(), QUOTE)
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(only) => only.to_string(),
        TypeKind::Multiple(several) => {
            several.iter().map(|each: JsonType| each.to_string()).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
