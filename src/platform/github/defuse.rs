//! Words in a reply that would act by themselves, made harmless without looking different: a mention of a team calls all
//! its members, "Duplicate of #4" and "closes #4" change issues. An empty comment between the two parts is not shown, and
//! the words do nothing. What shall happen is an effect that is approved, not a word in a text. Pure.

use crate::platform::hygiene::spoken::{GAP, Letter, MARK, letters, with};

/// Not shown where Markdown is rendered.
const NOTHING: &str = "<!-- -->";

/// Words that close what they stand in front of, or mark it.
const ACTING: [&str; 10] =
    ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved", "duplicate of"];

/// What is put in may make other text of what stood in a comment or a block of HTML: it is looked at again.
const ROUNDS_MAX: usize = 4;

/// The text with such words broken. Code stays as it is: there they do nothing, and the comment would show.
pub(super) fn defuse(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..ROUNDS_MAX {
        let places = acting(&text);
        if places.is_empty() {
            return text;
        }
        text = with(&text, &places, NOTHING);
    }
    // Whatever this is, it does nothing.
    text.replace('&', "&amp;").replace('@', "@\u{200b}").replace('#', "#\u{200b}")
}

/// Where something has to be put in, in order.
fn acting(text: &str) -> Vec<usize> {
    let letters = letters(text);
    let mut places = Vec::new();
    for (nth, letter) in letters.iter().enumerate() {
        let before = letters.get(..nth).unwrap_or_default();
        let rest = letters.get(nth..).unwrap_or_default();
        match letter.c {
            // Behind the `@`.
            '@' if is_team(rest.get(1..).unwrap_or_default()) && !ends_in_word(before) => {
                places.push(letter.to);
            }
            '#' if is_number(rest.get(1..).unwrap_or_default()) && ends_in_acting(before) => {
                places.push(in_front(text, *letter));
            }
            'h' | 'H' if begins_address(rest) && ends_in_acting(before) => {
                places.push(in_front(text, *letter));
            }
            _ => {}
        }
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// In front of it; but at the beginning of a line a comment begins a block of HTML, in which nothing is code any more, and
/// behind a backslash it is no comment. There behind its first letter, which costs the link.
fn in_front(text: &str, letter: Letter) -> usize {
    let line = text.get(..letter.from).unwrap_or_default();
    let line = line.rsplit(['\n', '\r']).next().unwrap_or_default();
    let begins = line.chars().all(|c| c.is_whitespace() || c.is_ascii_digit() || ">-+*.)".contains(c));
    if begins || line.ends_with('\\') { letter.to } else { letter.from }
}

/// An issue's number follows.
fn is_number(rest: &[Letter]) -> bool {
    rest.first().is_some_and(|letter| letter.c.is_ascii_digit())
}

/// `org/team` follows.
fn is_team(rest: &[Letter]) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let owner = rest.iter().take_while(|letter| is_name(letter.c)).count();
    let at = |nth: usize| rest.get(nth).map(|letter| letter.c);
    owner > 0 && at(owner) == Some('/') && at(owner + 1).is_some_and(is_name)
}

fn begins_address(rest: &[Letter]) -> bool {
    ["https://", "http://"].iter().any(|scheme| {
        let mut found = rest.iter().map(|letter| letter.c.to_ascii_lowercase());
        scheme.chars().all(|c| found.next() == Some(c))
    })
}

fn ends_in_word(before: &[Letter]) -> bool {
    before.last().is_some_and(|letter| letter.c.is_alphanumeric())
}

/// The longest that is looked at in front of a number: a repository's name and a word.
const BEFORE_LEN_MAX: usize = 300;

/// `closes `, `closes: `, `closes owner/name`, in whatever manner of print.
fn ends_in_acting(before: &[Letter]) -> bool {
    let from = before.len().saturating_sub(BEFORE_LEN_MAX);
    let before: String =
        before.get(from..).unwrap_or_default().iter().map(|letter| letter.c.to_ascii_lowercase()).collect();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let bare = before.trim_end_matches(is_name);
    // Without the repository's name a blank or a colon stands between.
    [before.as_str(), bare].iter().any(|text| {
        let word = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '(' | '[' | MARK));
        word.len() < text.len()
            && !word.ends_with(GAP)
            && ACTING.iter().any(|acting| {
                let front = word.strip_suffix(acting);
                front.is_some_and(|front| !front.chars().next_back().is_some_and(char::is_alphanumeric))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(defuse(text), expected.replace('¦', NOTHING), "{text}");
    }

    #[test]
    fn teams_are_not_called_and_people_are() {
        check("cc @acme/all-staff and @kim.", "cc @¦acme/all-staff and @kim.");
        check("mail kim@acme/x, @kim / you", "mail kim@acme/x, @kim / you");
    }

    #[test]
    fn issues_are_not_changed_by_words() {
        check("This closes #4.", "This closes ¦#4.");
        check("Fixes: acme/app#12", "Fixes: acme/app¦#12");
        check("Duplicate of #7", "Duplicate of ¦#7");
        check("resolved https://github.com/a/b/issues/1", "resolved ¦https://github.com/a/b/issues/1");
        check("see #4, prefix #5, disclosed #6", "see #4, prefix #5, disclosed #6");
    }

    #[test]
    fn code_stays() {
        check("`@acme/all closes #4` @acme/all", "`@acme/all closes #4` @¦acme/all");
        check("```\n@acme/all\n```\n@acme/all\n", "```\n@acme/all\n```\n@¦acme/all\n");
        check("    @acme/all\n", "    @acme/all\n");
        check("a ` @acme/all", "a ` @¦acme/all");
    }

    #[test]
    fn what_only_looks_like_code_is_no_code() {
        check("``` x ``` @acme/all", "``` x ``` @¦acme/all");
        check("p\n    @acme/all\n", "p\n    @¦acme/all\n");
        check("- a\n    @acme/all\n", "- a\n    @¦acme/all\n");
        check("\\` @acme/all `", "\\` @¦acme/all `");
        check("~~~\n```\n~~~\n@acme/all", "~~~\n```\n~~~\n@¦acme/all");
        check("```\n@acme/all\n``\n", "```\n@acme/all\n``\n");
    }

    #[test]
    fn disguises_do_not_help() {
        check("&#64;acme/all", "&#64;¦acme/all");
        check("\\@acme/all @acme\\/all", "\\@¦acme/all @¦acme\\/all");
        check("@acme&#47;all", "@¦acme&#47;all");
        check("<p>&commat;acme/all</p>", "<p>&commat;¦acme/all</p>");
        check("**closes** #4 and closes\n#4", "**closes** ¦#4 and closes\n#¦4");
        check("CLOSES: [#4](x)", "CLOSES: [¦#4](x)");
    }

    /// A reader that knows no Markdown: the text of the rendered page, without what stands in code.
    fn read(markdown: &str) -> String {
        let mut page = String::new();
        pulldown_cmark::html::push_html(&mut page, pulldown_cmark::Parser::new(markdown));
        let (mut out, mut code) = (String::new(), 0);
        for piece in page.split_inclusive('>').flat_map(|piece| {
            let at = piece.find('<').unwrap_or(piece.len());
            [&piece[..at], &piece[at..]]
        }) {
            match piece {
                "<code>" | "<pre>" => code += 1,
                "</code>" | "</pre>" => code -= 1,
                _ if piece.starts_with("<code ") => code += 1,
                _ if piece.starts_with('<') => out.push('\u{0}'),
                _ if code == 0 => out.push_str(piece),
                _ => {}
            }
        }
        out.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"")
    }

    fn calls(text: &str) -> bool {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        text.match_indices('@').any(|(at, _)| {
            let free = !text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
            let rest = &text[at + 1..];
            let owner = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let team = rest[owner..].strip_prefix('/').is_some_and(|team| team.starts_with(is_name));
            free && owner > 0 && team
        })
    }

    fn pieces() -> impl proptest::strategy::Strategy<Value = String> {
        let pieces = vec![
            "@acme/all",
            "&#64;acme/all",
            "@acme\\/all",
            "closes #4",
            "`",
            "``",
            "```",
            "~~~",
            "\n",
            "\n\n",
            "    ",
            "\t",
            "- ",
            "> ",
            "1. ",
            "\\",
            "*",
            "_",
            "[",
            "](x)",
            "text ",
            "|",
            "# ",
            "---",
            "  \n",
            "x",
        ];
        proptest::collection::vec(proptest::sample::select(pieces), 0..14).prop_map(|pieces| pieces.concat())
    }

    use proptest::prelude::Strategy as _;

    proptest::proptest! {
        #[test]
        fn nobody_is_called_by_the_rendered_page(text in pieces()) {
            let safe = defuse(&text);
            proptest::prop_assert!(!calls(&read(&safe)), "{:?} -> {:?}", text, safe);
            proptest::prop_assert_eq!(safe.replace(NOTHING, ""), text);
        }

        #[test]
        fn it_settles_whatever_stands_there(text in "[@#&;</>!`~ \\n\\\\a\\-closes4]{0,60}") {
            proptest::prop_assert!(acting(&defuse(&text)).is_empty());
        }
    }

    #[test]
    fn ordinary_text_stays() {
        for text in ["", "Grüße @kim, #4 mag ich.\n\n- a\n", "a/b#c", "@", "#", "closes"] {
            check(text, text);
        }
    }
}
