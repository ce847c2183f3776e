//! What an answer must not do besides being read: run a quick action, call a whole group.

use crate::model::marker;
use crate::model::text::visible;
use crate::platform::hygiene::spoken::{letters, with};

/// GitLab's own bound of a note, characters.
pub const NOTE_CHARS_MAX: usize = 1_000_000;

/// Stands behind the `@` of a mention that shall notify nobody: seen by no reader, and part of no name.
const QUIET: &str = "\u{200b}";

/// The text of a note as it goes to the wire, with the mark of the action as its last line. `people` are the user names
/// whose mention stays one.
#[must_use]
pub fn note(body: &str, key: &str, people: &[String]) -> String {
    let body = visible(body);
    marker::stamp(&quiet_mentions(&quiet_actions(&body), people), key)
}

/// A line that begins with `/` is an order to GitLab (`/close`, `/assign`, `/merge`). Behind a backslash it is text.
///
/// In a block of code GitLab obeys nothing and a backslash would be seen, so there only what looks like an order gets
/// one: a block that never ends is none to GitLab.
fn quiet_actions(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        if trimmed.starts_with('/') && (fence.is_none() || is_order(trimmed)) {
            out.push_str(line.get(..line.len() - trimmed.len()).unwrap_or_default());
            out.push('\\');
            out.push_str(trimmed);
        } else {
            out.push_str(line);
        }
    }
    out
}

/// `/word`, alone or with something behind a blank; not `/usr/bin`.
fn is_order(line: &str) -> bool {
    let word = line.trim_start_matches('/');
    let end = word.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-')).unwrap_or(word.len());
    end > 0 && word.get(end..).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// `@all`, `@group/team` and any name that is not among `people` notify nobody.
fn quiet_mentions(text: &str, people: &[String]) -> String {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let letters = letters(text);
    let mut places = Vec::new();
    for (nth, letter) in letters.iter().enumerate() {
        let before = nth.checked_sub(1).and_then(|before| letters.get(before));
        if letter.c != '@' || before.is_some_and(|before| before.c.is_alphanumeric()) {
            continue;
        }
        let rest = letters.get(nth + 1..).unwrap_or_default();
        let name: String = rest.iter().map(|letter| letter.c).take_while(|c| is_name(*c)).collect();
        // A full stop behind a name ends the sentence.
        let name = name.trim_end_matches(['.', '-', '/']);
        let known = people.iter().any(|person| person.eq_ignore_ascii_case(name));
        if !name.is_empty() && (!known || name.eq_ignore_ascii_case("all")) {
            places.push(letter.to);
        }
    }
    places.sort_unstable();
    places.dedup();
    with(text, &places, QUIET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_would_be_obeyed_are_text() {
        let check = |text: &str, expected: &str| assert_eq!(quiet_actions(text), expected);
        check("/close", "\\/close");
        check(
            "Done.\n/close\n  /assign @kim\nand/or /close",
            "Done.\n\\/close\n  \\/assign @kim\nand/or /close",
        );
        check("/Merge\r", "\\/Merge\r");
        check("/shrug x", "\\/shrug x");
        check("/etc/hosts is a file", "\\/etc/hosts is a file");
        check("> /close", "> /close");
    }

    #[test]
    fn code_stays_code_unless_it_looks_like_an_order() {
        let check = |text: &str, expected: &str| assert_eq!(quiet_actions(text), expected);
        check("```\n/usr/bin/env\n// x\n```\n/usr", "```\n/usr/bin/env\n// x\n```\n\\/usr");
        check("```\n/close\n", "```\n\\/close\n");
        check("~~~\n```\n/etc/x\n~~~\n/etc/x", "~~~\n```\n/etc/x\n~~~\n\\/etc/x");
    }

    #[test]
    fn only_people_of_the_thread_are_called() {
        let check = |text: &str, expected: &str| {
            let shown = quiet_mentions(text, &["kim".into(), "pat.lee".into()]).replace(QUIET, "~");
            assert_eq!(shown, expected);
        };
        check("@kim, @Kim and @pat.lee.", "@kim, @Kim and @pat.lee.");
        check("@all @ALL (@group/team) @lee", "@~all @~ALL (@~group/team) @~lee");
        check("@kim/team @kimono", "@~kim/team @~kimono");
        check("mail me@example.org, a @ b, @", "mail me@example.org, a @ b, @");
        check("`@all`\n@all", "`@all`\n@~all");
        check("p\n    @all\n&#64;all \\@all", "p\n    @~all\n&#64;~all \\@~all");
    }

    #[test]
    fn the_mark_is_the_last_line() {
        let key = "wa-7-0123456789abcdef";
        let text = note("Yes.\u{202e}\n/close", key, &[]);
        assert_eq!(text, "Yes.\n\\/close\n\n<!-- workagent:wa-7-0123456789abcdef -->\n");
        assert_eq!(marker::own_key(&text), Some(key));
    }
}
