//! Which messages make cases. Pure.

use serde_json::Value;

use super::event::{Event, text};

/// Why a message is taken; the word of the key `take`, and a label of the item.
pub type Reason = &'static str;

/// What the unit wants.
#[derive(Clone, Debug)]
pub struct Taste {
    /// Our user id.
    pub me: String,
    /// The words of `take`.
    pub take: Vec<String>,
    /// Names we are called by, lower case.
    pub names: Vec<String>,
}

impl Taste {
    /// The unit wants messages of this kind.
    #[must_use]
    pub fn wants(&self, reason: Reason) -> bool {
        self.take.iter().any(|word| word == reason)
    }

    /// Why a message with this content is taken, as far as it can be told from itself.
    #[must_use]
    pub fn reason(&self, content: &Value, direct: bool) -> Option<Reason> {
        if direct && self.wants("direct") {
            return Some("direct");
        }
        if self.wants("mention") && self.mentioned(content) {
            return Some("mention");
        }
        if self.wants("room") && mentions_room(content) {
            return Some("room");
        }
        self.wants("all").then_some("all")
    }

    /// We are mentioned. Where the client says who is mentioned, names in the text count for nothing.
    #[must_use]
    pub fn mentioned(&self, content: &Value) -> bool {
        if let Some(mentions) = content.get("m.mentions").and_then(Value::as_object) {
            let users = mentions.get("user_ids").and_then(Value::as_array);
            return users.into_iter().flatten().any(|user| text(Some(user)) == Some(&self.me));
        }
        let linked = text(content.get("formatted_body")).is_some_and(|html| html.contains(&self.me));
        let body = text(content.get("body")).unwrap_or_default().to_lowercase();
        linked
            || body.contains(&self.me.to_lowercase())
            || self.names.iter().any(|name| has_word(&body, name))
    }

    /// A replacement mentions us anew: by the mentions outside the new content, which list only those who were not
    /// mentioned before.
    #[must_use]
    pub fn mentioned_anew(&self, edit: &Event) -> bool {
        edit.content.get("m.mentions").is_some() && self.mentioned(&edit.content)
    }
}

fn mentions_room(content: &Value) -> bool {
    match content.get("m.mentions").and_then(Value::as_object) {
        Some(mentions) => mentions.get("room").and_then(Value::as_bool) == Some(true),
        None => text(content.get("body")).is_some_and(|body| has_word(body, "@room")),
    }
}

fn has_word(text: &str, word: &str) -> bool {
    if word.is_empty() {
        return false;
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(start, found)| {
        let before = text.get(..start).and_then(|text| text.chars().next_back());
        let after = text.get(start + found.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reason(take: &[&str], content: Value, direct: bool) -> Option<Reason> {
        let take = take.iter().map(|&word| word.to_owned()).collect();
        let taste = Taste { me: "@me:x".into(), take, names: vec!["me".into(), "kim lee".into()] };
        taste.reason(&content, direct)
    }

    const USUAL: &[&str] = &["direct", "mention", "reply"];

    #[test]
    fn the_clients_word_counts_before_names() {
        let by_list = |users: Value| json!({"body": "hello", "m.mentions": {"user_ids": users}});
        assert_eq!(reason(USUAL, by_list(json!(["@you:x", "@me:x"])), false), Some("mention"));
        assert_eq!(reason(USUAL, by_list(json!(["@me:xy", 5])), false), None);
        assert_eq!(reason(USUAL, json!({"body": "me!", "m.mentions": {}}), false), None);
        assert_eq!(reason(USUAL, json!({"body": "me", "m.mentions": "odd"}), false), Some("mention"));
    }

    #[test]
    fn names_are_whole_words() {
        let body = |body: &str| reason(USUAL, json!({"body": body}), false);
        for called in ["Me: look", "ask Kim Lee, please", "(me)", "@me:x", "me"] {
            assert_eq!(body(called), Some("mention"), "{called}");
        }
        for not in ["some meat", "kim", "home", "", "über_me"] {
            assert_eq!(body(not), None, "{not}");
        }
        let pill = json!({"body": "Kim", "formatted_body": "<a href=\"https://matrix.to/#/@me:x\">Kim</a>"});
        assert_eq!(reason(USUAL, pill, false), Some("mention"));
    }

    #[test]
    fn the_unit_decides() {
        let plain = || json!({"body": "hello"});
        assert_eq!(reason(USUAL, plain(), true), Some("direct"));
        assert_eq!(reason(&["mention"], plain(), true), None);
        assert_eq!(reason(&["all"], plain(), false), Some("all"));
        assert_eq!(reason(USUAL, json!({"body": "@room now", "m.mentions": {"room": true}}), false), None);
        assert_eq!(reason(&["room"], json!({"m.mentions": {"room": true}}), false), Some("room"));
        assert_eq!(reason(&["room"], json!({"body": "hi @room"}), false), Some("room"));
    }
}
