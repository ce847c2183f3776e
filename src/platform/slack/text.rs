//! Slack's own markup to text for people, and text of ours made harmless. Pure.

use std::collections::HashMap;

/// Plain text of a message: `<@U1>` becomes `@kim`, `<https://…|label>` becomes `label (https://…)`, entities become
/// their characters.
#[must_use]
pub fn plain(text: &str, names: &HashMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let (before, tail) = rest.split_at(open);
        out.push_str(before);
        let inside = tail.get(1..).unwrap_or_default();
        // A stray `<` is sent as `&lt;`; one without an end is cut text.
        let Some(close) = inside.find('>') else {
            rest = tail;
            break;
        };
        let (mark, after) = inside.split_at(close);
        out.push_str(&told(mark, names));
        rest = after.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
    out.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

fn told(mark: &str, names: &HashMap<String, String>) -> String {
    let (target, label) = mark.split_once('|').map_or((mark, None), |(target, label)| (target, Some(label)));
    let label = label.filter(|label| !label.is_empty());
    if let Some(user) = target.strip_prefix('@') {
        let name = names.get(user).map(String::as_str).or(label).unwrap_or(user);
        return format!("@{}", name.trim_start_matches('@'));
    }
    if let Some(channel) = target.strip_prefix('#') {
        return format!("#{}", label.unwrap_or(channel).trim_start_matches('#'));
    }
    if let Some(command) = target.strip_prefix('!') {
        let word = command.split('^').next().unwrap_or(command);
        return match (word, label) {
            ("date", Some(label)) => label.to_owned(),
            (_, Some(label)) => format!("@{}", label.trim_start_matches('@')),
            _ => format!("@{word}"),
        };
    }
    let address = target.strip_prefix("mailto:").unwrap_or(target);
    match label {
        Some(label) if label != address && label != target => format!("{label} ({address})"),
        _ => address.to_owned(),
    }
}

/// The users that a message mentions.
pub fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    text.split("<@").skip(1).filter_map(|tail| {
        let end = tail.find(['>', '|'])?;
        tail.get(..end)
            .filter(|user| !user.is_empty() && user.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    })
}

/// Text of ours in which nothing calls a whole channel or group: `@channel`, `<!here>` and the like are broken by a
/// character that shows nothing.
#[must_use]
pub fn defused(text: &str) -> String {
    const WORDS: [&str; 4] = ["channel", "here", "everyone", "group"];
    let text = text.replace("<!", "<\u{2060}!");
    let mut out = String::with_capacity(text.len());
    for (nth, piece) in text.split('@').enumerate() {
        if nth > 0 {
            out.push('@');
            let word: String = piece.chars().take_while(char::is_ascii_alphanumeric).take(9).collect();
            if WORDS.contains(&word.to_ascii_lowercase().as_str()) {
                out.push('\u{2060}');
            }
        }
        out.push_str(piece);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let names = HashMap::from([("U1".to_owned(), "Kim".to_owned())]);
        assert_eq!(plain(text, &names), expected, "{text}");
    }

    #[test]
    fn marks_are_told() {
        check("hi <@U1>, <@U2|pat> and <@U3>", "hi @Kim, @pat and @U3");
        check("in <#C1|general> <#C2>", "in #general #C2");
        check("<!here> <!subteam^S1|@team> <!date^1^{date}|today>", "@here @team today");
        check(
            "<https://a.example/?a=1&amp;b|there> <https://b.example>",
            "there (https://a.example/?a=1&b) https://b.example",
        );
        check("<mailto:kim@example.org|kim@example.org>", "kim@example.org");
        check("1 &lt; 2 &amp;amp; 3 <cut", "1 < 2 &amp; 3 <cut");
        check("&lt;@U1&gt;", "<@U1>");
        check("<>", "");
    }

    #[test]
    fn who_is_mentioned() {
        assert_eq!(mentioned("<@U1> and <@U2|pat>, not <@> or @U3").collect::<Vec<_>>(), ["U1", "U2"]);
    }

    #[test]
    fn nobody_is_called_by_the_dozen() {
        let text = "@channel @Here <!everyone> <!subteam^S1> @kim <@U1> a@herewith.example";
        let safe = defused(text);
        assert_eq!(safe.replace('\u{2060}', ""), text);
        for call in ["@channel", "@Here", "<!"] {
            assert!(!safe.contains(call), "{safe}");
        }
        assert!(safe.ends_with("@kim <@U1> a@herewith.example"), "{safe}");
    }
}
