//! What can be mended in the text of a broken feed without guessing at its meaning.

/// The text with bare ampersands and angle brackets escaped, forbidden control characters dropped, and an RSS root
/// without a known version given one; and what was done, for people. Empty: there was nothing to mend.
#[must_use]
pub fn xml(text: &str) -> (String, Vec<&'static str>) {
    let mut out = String::with_capacity(text.len() + text.len() / 64);
    let (mut ampersands, mut brackets, mut controls) = (false, false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(end) = opaque(rest) {
            let (whole, after) = rest.split_at(end);
            out.push_str(whole);
            rest = after;
            continue;
        }
        match c {
            '&' if !starts_entity(rest) => {
                out.push_str("&amp;");
                ampersands = true;
            }
            '<' if !starts_tag(rest) => {
                out.push_str("&lt;");
                brackets = true;
            }
            '\t' | '\n' | '\r' => out.push(c),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => controls = true,
            c => out.push(c),
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    let mut done = Vec::new();
    if ampersands {
        done.push("bare & escaped");
    }
    if brackets {
        done.push("bare < escaped");
    }
    if controls {
        done.push("control characters dropped");
    }
    if give_version(&mut out) {
        done.push("a version given to the RSS root");
    }
    (out, done)
}

/// Length of a part whose inside is not looked at: CDATA, a comment, a processing instruction.
fn opaque(rest: &str) -> Option<usize> {
    [("<![CDATA[", "]]>"), ("<!--", "-->"), ("<?", "?>")].iter().find_map(|(open, close)| {
        let inner = rest.strip_prefix(open)?;
        // One that never ends is a cut document; what is in it stays as it is.
        Some(inner.find(close).map_or(rest.len(), |at| open.len() + at + close.len()))
    })
}

/// `&name;`, `&#10;`, `&#xa;`.
fn starts_entity(rest: &str) -> bool {
    // Looking no further keeps a document of ampersands from being read once for each of them.
    let near = rest.get(1..rest.floor_char_boundary(34)).unwrap_or_default();
    let Some((name, _)) = near.split_once(';') else { return false };
    match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse::<u32>(),
            };
            code.ok().and_then(char::from_u32).is_some_and(|c| c != '\0')
        }
        None => {
            name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.bytes().all(|b| b.is_ascii_alphanumeric())
        }
    }
}

fn starts_tag(rest: &str) -> bool {
    let next = rest.get(1..).and_then(|rest| rest.chars().next());
    next.is_some_and(|c| c.is_alphabetic() || matches!(c, '/' | '!' | '?' | '_' | ':'))
}

/// The parser knows an RSS root by its version only: 2.0, 0.91 and 0.92.
fn give_version(text: &mut String) -> bool {
    let Some(start) = text.find("<rss").filter(|at| *at < 4096) else { return false };
    let Some(length) = text.get(start..).and_then(|rest| rest.find('>')) else { return false };
    let tag = text.get(start..start + length).unwrap_or_default();
    let Some(at) = tag.find(" version") else {
        text.insert_str(start + "<rss".len(), " version=\"2.0\"");
        return true;
    };
    let value = tag.get(at + " version".len()..).unwrap_or_default().trim_start();
    let value = value.strip_prefix('=').unwrap_or_default().trim_start();
    let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else { return false };
    let Some(version) = value.get(1..).and_then(|rest| rest.split(quote).next()) else { return false };
    if matches!(version, "2.0" | "0.91" | "0.92" | "") {
        return false;
    }
    let from = start + tag.len() - value.len() + 1;
    let to = from + version.len();
    text.replace_range(from..to, "2.0");
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str, done: &[&str]) {
        assert_eq!(xml(text), (expected.to_owned(), done.to_vec()));
    }

    #[test]
    fn bare_ampersands() {
        check(
            "<a>D&D &amp; AT&T&#10;&#xZ; ?x=1&y=2</a>",
            "<a>D&amp;D &amp; AT&amp;T&#10;&amp;#xZ; ?x=1&amp;y=2</a>",
            &["bare & escaped"],
        );
        check("<a href=\"?x=1&y=2\"/>", "<a href=\"?x=1&amp;y=2\"/>", &["bare & escaped"]);
        check("tail &", "tail &amp;", &["bare & escaped"]);
    }

    #[test]
    fn bare_brackets_and_controls() {
        check("<a>1 < 2\u{7}</a>", "<a>1 &lt; 2</a>", &["bare < escaped", "control characters dropped"]);
    }

    #[test]
    fn cdata_and_comments_are_left_alone() {
        let text = "<a><![CDATA[D&D < 2]]><!-- & --></a><![CDATA[ cut & off";
        check(text, text, &[]);
    }

    #[test]
    fn a_root_without_a_known_version() {
        let done: &[&str] = &["a version given to the RSS root"];
        check("<rss><channel/></rss>", "<rss version=\"2.0\"><channel/></rss>", done);
        check("<rss version = '0.94' x='1'/>", "<rss version = '2.0' x='1'/>", done);
        check("<rss version=\"0.91\"/>", "<rss version=\"0.91\"/>", &[]);
    }
}
