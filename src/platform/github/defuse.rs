//! Words in a reply that would act by themselves, made harmless without looking different: a mention of a team calls all
//! its members, "Duplicate of #4" and "closes #4" change issues. An empty comment between the two parts is not shown, and
//! the words do nothing. What shall happen is an effect that is approved, not a word in a text. Pure.

/// Not shown where Markdown is rendered.
const NOTHING: &str = "<!-- -->";

/// Words that close what they stand in front of, or mark it.
const ACTING: [&str; 10] =
    ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved", "duplicate of"];

/// The text with such words broken. Code stays as it is: there they do nothing, and the comment would show.
pub(super) fn defuse(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut fence: Option<char> = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let mark = ['`', '~'].into_iter().find(|mark| trimmed.starts_with(&mark.to_string().repeat(3)));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => {
                fence = None;
                out.push_str(line);
                continue;
            }
            _ => {}
        }
        if fence.is_some() || line.starts_with("    ") || line.starts_with('\t') {
            out.push_str(line);
        } else {
            prose(line, &mut out);
        }
    }
    out
}

/// One line; what stands between backticks is code.
fn prose(line: &str, out: &mut String) {
    for (nth, piece) in line.split('`').enumerate() {
        if nth > 0 {
            out.push('`');
        }
        // A last backtick that is not closed opens nothing.
        let code = nth % 2 == 1 && nth < line.matches('`').count();
        if code {
            out.push_str(piece);
        } else {
            words(piece, out);
        }
    }
}

fn words(text: &str, out: &mut String) {
    let lower = text.to_ascii_lowercase();
    let mut copied = 0;
    for (at, c) in text.char_indices() {
        let acts = match c {
            '@' => {
                is_team(text.get(at + 1..).unwrap_or_default())
                    && !ends_in_word(text.get(..at).unwrap_or_default())
            }
            '#' => ends_in_acting(lower.get(..at).unwrap_or_default()),
            'h' if lower.get(at..).is_some_and(|rest| rest.starts_with("https://")) => {
                ends_in_acting(lower.get(..at).unwrap_or_default())
            }
            _ => false,
        };
        if acts {
            out.push_str(text.get(copied..at).unwrap_or_default());
            // Behind the `@`, in front of `#` and of an address.
            let behind = at + usize::from(c == '@');
            out.push_str(text.get(at..behind).unwrap_or_default());
            out.push_str(NOTHING);
            copied = behind;
        }
    }
    out.push_str(text.get(copied..).unwrap_or_default());
}

/// `org/team` follows.
fn is_team(rest: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let Some((owner, team)) = rest.split_once('/') else { return false };
    !owner.is_empty() && owner.chars().all(is_name) && team.chars().next().is_some_and(is_name)
}

fn ends_in_word(before: &str) -> bool {
    before.chars().next_back().is_some_and(char::is_alphanumeric)
}

/// `closes `, `closes: `, `closes owner/name`.
fn ends_in_acting(before: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let bare = before.trim_end_matches(is_name);
    let named = before.len() - bare.len();
    // Without the repository's name a blank or a colon stands between.
    [before, if named > 0 { bare } else { before }].iter().any(|text| {
        let word = text.trim_end_matches([' ', '\t', ':']);
        word.len() < text.len()
            && ACTING.iter().any(|acting| word.strip_suffix(acting).is_some_and(|front| !ends_in_word(front)))
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
    fn ordinary_text_stays() {
        for text in ["", "Grüße @kim, #4 mag ich.\n\n- a\n", "a/b#c", "@", "#", "closes"] {
            check(text, text);
        }
    }
}
