//! JSON templates: texts in which names in braces stand for values. A text that is nothing but one name becomes the
//! value itself, number, list or object; inside a longer text it becomes its text. Values are put into a parsed
//! template, so no value can change its shape. Pure.

use serde_json::{Map, Value};

/// The template with its names filled in. A name that `value_of` does not know stays as it is written. A member or an
/// element that is nothing but a name whose value is `null` is left out: an argument that there is nothing to say for.
#[must_use]
pub fn fill(template: &Value, value_of: &dyn Fn(&str) -> Option<Value>) -> Value {
    filled(template, value_of).unwrap_or(Value::Null)
}

/// All names that stand in a template's texts, in order, each as often as it stands there.
#[must_use]
pub fn names(template: &Value) -> Vec<String> {
    match template {
        Value::String(text) => pieces(text)
            .filter_map(|piece| match piece {
                Piece::Name(name) => Some(name.to_owned()),
                Piece::Text(_) => None,
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(names).collect(),
        Value::Object(fields) => fields.values().flat_map(names).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn filled(template: &Value, value_of: &dyn Fn(&str) -> Option<Value>) -> Option<Value> {
    Some(match template {
        Value::String(text) => return filled_text(text, value_of),
        Value::Array(items) => Value::Array(items.iter().filter_map(|item| filled(item, value_of)).collect()),
        Value::Object(fields) => {
            let fields =
                fields.iter().filter_map(|(name, value)| Some((name.clone(), filled(value, value_of)?)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
    })
}

/// `None` for a text that is nothing but a name without a value.
fn filled_text(text: &str, value_of: &dyn Fn(&str) -> Option<Value>) -> Option<Value> {
    if let Some(name) =
        text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).filter(|name| is_name(name))
    {
        return match value_of(name) {
            Some(Value::Null) => None,
            Some(value) => Some(value),
            None => Some(Value::String(text.to_owned())),
        };
    }
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Name(name) => match value_of(name) {
                Some(Value::String(text)) => out.push_str(&text),
                Some(Value::Null) => {}
                Some(value) => out.push_str(&value.to_string()),
                None => {
                    out.push('{');
                    out.push_str(name);
                    out.push('}');
                }
            },
        }
    }
    Some(Value::String(out))
}

enum Piece<'a> {
    Text(&'a str),
    Name(&'a str),
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let named = rest.strip_prefix('{').and_then(|inside| inside.split_once('}'));
        if let Some((name, after)) = named.filter(|(name, _)| is_name(name)) {
            rest = after;
            return Some(Piece::Name(name));
        }
        // The first brace was no name: it is text, up to the next one.
        let skip = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest.get(skip..).and_then(|tail| tail.find('{')).map_or(rest.len(), |at| skip + at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Text(piece))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(template: &Value, expected: &Value) {
        let value_of = |name: &str| match name {
            "cursor" => Some(json!({ "page": 2 })),
            "limit" => Some(json!(50)),
            "since" => Some(json!("2026-11-30")),
            "quote" => Some(json!("\"}{limit}")),
            "nothing" => Some(Value::Null),
            _ => None,
        };
        assert_eq!(fill(template, &value_of), *expected);
    }

    #[test]
    fn a_name_alone_is_the_value_itself() {
        check(&json!({ "a": "{cursor}", "b": ["{limit}"] }), &json!({ "a": { "page": 2 }, "b": [50] }));
        check(
            &json!({ "a": "{nothing}", "b": ["{nothing}", 1], "c": null }),
            &json!({ "b": [1], "c": null }),
        );
    }

    #[test]
    fn inside_a_text_it_is_text_and_never_read_again() {
        check(&json!("updated:>{since} first:{limit}{nothing}"), &json!("updated:>2026-11-30 first:50"));
        check(&json!(["{quote}", "<{quote}>"]), &json!(["\"}{limit}", "<\"}{limit}>"]));
    }

    #[test]
    fn other_braces_stay() {
        check(&json!("{unknown} {} { {limit} {{limit}} ä{"), &json!("{unknown} {} { 50 {50} ä{"));
        assert_eq!(names(&json!({ "a": ["{x} {y}", "{z"], "b": "{x}" })), ["x", "y", "x"]);
    }
}
