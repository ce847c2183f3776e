//! What stands within a line: bold, italic, struck, code, links.

/// A piece of text in one manner. A line end within is a line end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// As shown.
    pub text: String,
    /// `**bold**`.
    pub strong: bool,
    /// `*italic*`.
    pub em: bool,
    /// `~~struck~~`.
    pub strike: bool,
    /// `` `code` ``.
    pub code: bool,
    /// Where it leads.
    pub link: Option<String>,
}

/// Takes a text apart. One pass; what never ends was meant as it stands.
#[must_use]
pub fn spans(text: &str) -> Vec<Span> {
    let mut reader = Reader { out: Vec::new(), now: Span::default() };
    reader.read(text);
    reader.flush();
    reader.out
}

struct Reader {
    out: Vec<Span>,
    now: Span,
}

impl Reader {
    fn flush(&mut self) {
        if self.now.text.is_empty() {
            return;
        }
        let next = Span { text: String::new(), ..self.now.clone() };
        self.out.push(std::mem::replace(&mut self.now, next));
    }

    fn piece(&mut self, text: &str, code: bool, link: Option<String>) {
        self.flush();
        self.out.push(Span { text: text.to_owned(), code, link, ..self.now.clone() });
    }

    fn read(&mut self, text: &str) {
        let mut rest = text;
        let mut before: Option<char> = None;
        while let Some(c) = rest.chars().next() {
            let taken = self.special(rest, before).unwrap_or_else(|| {
                self.now.text.push(c);
                c.len_utf8()
            });
            let (done, left) = rest.split_at_checked(taken).unwrap_or((rest, ""));
            before = done.chars().next_back();
            rest = left;
        }
    }

    /// Takes something that is not plain text; gives its length.
    fn special(&mut self, rest: &str, before: Option<char>) -> Option<usize> {
        match rest.chars().next()? {
            '\\' => {
                let next = rest.chars().nth(1).filter(char::is_ascii_punctuation)?;
                self.now.text.push(next);
                Some(2)
            }
            '`' => {
                let run = rest.len() - rest.trim_start_matches('`').len();
                let (marks, inside) = rest.split_at_checked(run)?;
                let end = inside.find(marks).filter(|end| *end > 0)?;
                let code = inside.get(..end)?;
                let trimmed = code.strip_prefix(' ').and_then(|code| code.strip_suffix(' ')).unwrap_or(code);
                self.piece(trimmed, true, None);
                Some(2 * run + end)
            }
            '[' => {
                let (text, target) = rest.get(1..)?.split_once("](")?;
                let (url, _) = target.split_once(')')?;
                (!text.is_empty() && !text.contains(['[', '\n'])).then_some(())?;
                let link = address(url.trim())?;
                self.piece(text, false, Some(link));
                Some(1 + text.len() + 2 + url.len() + 1)
            }
            '<' => {
                let (url, _) = rest.get(1..)?.split_once('>')?;
                let link = address(url)?;
                self.piece(url, false, Some(link));
                Some(url.len() + 2)
            }
            'h' if !before.is_some_and(char::is_alphanumeric) => {
                let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`'));
                let url = rest.get(..end.unwrap_or(rest.len()))?;
                // What ends a sentence or a bracket is no part of an address in it.
                let url = url.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '\'', '*', '_', '~']);
                let link = address(url)?;
                self.piece(url, false, Some(link));
                Some(url.len())
            }
            '*' | '_' | '~' => self.toggle(rest, before),
            _ => None,
        }
    }

    fn toggle(&mut self, rest: &str, before: Option<char>) -> Option<usize> {
        for mark in ["**", "__", "~~", "*", "_"] {
            let Some(behind) = rest.strip_prefix(mark) else { continue };
            let on = match mark {
                "**" | "__" => self.now.strong,
                "~~" => self.now.strike,
                _ => self.now.em,
            };
            let closes = |before: Option<char>, behind: &str| {
                before.is_some_and(|c| !c.is_whitespace())
                    && (!mark.starts_with('_') || !behind.starts_with(char::is_alphanumeric))
            };
            // Before a comma or a bracket a mark opens nothing unless it stands by itself in front.
            let apart = before.is_none_or(|c| !c.is_alphanumeric())
                || !behind.starts_with(|c: char| c.is_ascii_punctuation());
            let opens = apart
                && behind.starts_with(|c: char| !c.is_whitespace())
                && (!mark.starts_with('_') || !before.is_some_and(char::is_alphanumeric))
                && behind.match_indices(mark).take(8).any(|(at, _)| {
                    let after = behind.get(at + mark.len()..).unwrap_or_default();
                    let alone = mark.len() == 2
                        || !after.starts_with(mark)
                            && !behind.get(..at).is_some_and(|text| text.ends_with(mark));
                    at > 0
                        && alone
                        && closes(behind.get(..at).and_then(|text| text.chars().next_back()), after)
                });
            let changes = if on { closes(before, behind) } else { opens };
            if !changes {
                continue;
            }
            self.flush();
            match mark {
                "**" | "__" => self.now.strong = !on,
                "~~" => self.now.strike = !on,
                _ => self.now.em = !on,
            }
            return Some(mark.len());
        }
        None
    }
}

/// An address that a person can follow; nothing that a program would run.
fn address(text: &str) -> Option<String> {
    let known = ["https://", "http://", "mailto:"].iter().any(|scheme| text.starts_with(scheme));
    (known && text.len() > 8 && !text.contains(char::is_whitespace)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `text` with each manner written out: `S`trong, `E`m, `K` struck, `C`ode, link.
    fn check(input: &str, expected: &str) {
        let shown = spans(input).iter().fold(String::new(), |mut out, span| {
            let manners = [(span.strong, 'S'), (span.em, 'E'), (span.strike, 'K'), (span.code, 'C')];
            let manners: String = manners.iter().filter(|(on, _)| *on).map(|(_, c)| *c).collect();
            let link = span.link.as_ref().map(|link| format!("={link}")).unwrap_or_default();
            let plain = manners.is_empty() && link.is_empty();
            out.push_str(&if plain {
                span.text.clone()
            } else {
                format!("{{{manners}:{}{link}}}", span.text)
            });
            out
        });
        assert_eq!(shown, expected, "{input}");
    }

    #[test]
    fn manners() {
        check("a **b** *c* ~~d~~ `e`", "a {S:b} {E:c} {K:d} {C:e}");
        check("**a *b* c**", "{S:a }{SE:b}{S: c}");
        check("__a__ _b_ snake_case_name", "{S:a} {E:b} snake_case_name");
        check("2 * 3 * 4, a*, **never ends, *b", "2 * 3 * 4, a*, **never ends, *b");
        check("\\*a\\* \\x ``b ` c``", "*a* \\x {C:b ` c}");
        check("`**a**` `open", "{C:**a**} `open");
    }

    #[test]
    fn links() {
        check("[a b](https://x.example/y)", "{:a b=https://x.example/y}");
        check("see https://x.example/a_b_c.", "see {:https://x.example/a_b_c=https://x.example/a_b_c}.");
        check("<https://x.example>", "{:https://x.example=https://x.example}");
        check("**[a](https://x.example)**", "{S:a=https://x.example}");
        check("[a](javascript:alert(1)) [b]() [c", "[a](javascript:alert(1)) [b]() [c");
    }

    #[test]
    fn time_grows_with_the_length_alone() {
        for text in ["*a", "**a ", "[a](", "`a``", "_a*b", "~~", "<", "h"] {
            let many = text.repeat(10_000);
            assert!(spans(&many).len() <= many.len());
        }
    }
}
