//! Reading JSON that may lack anything: every look says "not there" instead of failing. For platforms whose answers
//! have more shapes than their documents say.

use serde_json::Value;

use crate::model::time::Timestamp;

/// The text at a JSON pointer (`/target/title`).
#[must_use]
pub fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

/// The same, empty where it is not there.
#[must_use]
pub fn text_or_empty<'a>(value: &'a Value, pointer: &str) -> &'a str {
    text(value, pointer).unwrap_or_default()
}

/// A whole number of at least 0, also one written as text: ids come both ways.
#[must_use]
pub fn number(value: &Value, pointer: &str) -> Option<u64> {
    let found = value.pointer(pointer)?;
    found.as_u64().or_else(|| found.as_str()?.parse().ok())
}

/// A flag; absent is `false`.
#[must_use]
pub fn flag(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool).unwrap_or(false)
}

/// The elements of a list; none where it is not there.
#[must_use]
pub fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A moment in RFC 3339 or in ISO 8601 with an offset without a colon (`2026-11-30T08:00:00.000+0000`).
#[must_use]
pub fn time(value: &Value, pointer: &str) -> Option<Timestamp> {
    let text = text(value, pointer)?;
    Timestamp::from_rfc3339(text).or_else(|| {
        let (head, offset) = text.split_at_checked(text.len().checked_sub(5)?)?;
        let (hours, minutes) = offset.split_at_checked(3)?;
        Timestamp::from_rfc3339(&format!("{head}{hours}:{minutes}"))
    })
}

/// All texts in a value, in order, joined by `; `: an error message that is a text, a list or a table. A table's own
/// names go in front of what they hold.
#[must_use]
pub fn words(value: &Value) -> Option<String> {
    // Deeper ones say nothing to people.
    fn collect(value: &Value, depth: u8, name: &str, found: &mut Vec<String>) {
        match value {
            Value::String(text) if text.is_empty() => {}
            Value::String(text) if name.is_empty() => found.push(text.clone()),
            Value::String(text) => found.push(format!("{name} {text}")),
            Value::Array(list) if depth < 4 => {
                list.iter().for_each(|one| collect(one, depth + 1, name, found));
            }
            Value::Object(table) if depth < 4 => {
                table.iter().for_each(|(key, one)| collect(one, depth + 1, key, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(value, 0, "", &mut found);
    (!found.is_empty()).then(|| found.join("; "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_is_missed_loudly() {
        let value = json!({"a": {"id": "7", "n": 8, "t": null}, "l": [1]});
        assert_eq!((number(&value, "/a/id"), number(&value, "/a/n")), (Some(7), Some(8)));
        assert_eq!((text(&value, "/a/t"), number(&value, "/b/c")), (None, None));
        assert_eq!((list(&value, "/l").len(), list(&value, "/a").len(), flag(&value, "/a")), (1, 0, false));
    }

    #[test]
    fn moments_with_and_without_a_colon() {
        let check = |text: &str, expected: Option<i64>| {
            assert_eq!(time(&json!({ "at": text }), "/at").map(|at| at.0), expected, "{text}");
        };
        check("2026-11-30T08:00:00.000+0000", Some(1_796_025_600_000));
        check("2026-11-30T09:00:00.250+0100", Some(1_796_025_600_250));
        check("2026-11-30T08:00:00Z", Some(1_796_025_600_000));
        for nonsense in ["", "soon", "2026-11-30", "ü+000", "0000"] {
            check(nonsense, None);
        }
    }

    #[test]
    fn messages_of_every_shape() {
        let check = |value: Value, expected: Option<&str>| {
            assert_eq!(words(&value).as_deref(), expected, "{value}");
        };
        check(json!("404 Project Not Found"), Some("404 Project Not Found"));
        check(json!(["a", "b"]), Some("a; b"));
        check(
            json!({"note": ["can't be blank", "is too long"]}),
            Some("note can't be blank; note is too long"),
        );
        check(json!({"deep": {"er": ["x"]}}), Some("er x"));
        check(json!([]), None);
        check(json!(3), None);
    }
}
