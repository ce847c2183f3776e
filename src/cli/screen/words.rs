//! Foreign text on a full screen: harmless, and measured in the columns that it takes.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::cli::look::is_format;
use crate::model::text;

/// Marks upon one character; more only smear over the lines around.
const MARKS_MAX: usize = 4;

/// Columns of a tab.
const TAB: &str = "    ";

/// Columns that a harmless text takes.
pub(in crate::cli) fn columns(text: &str) -> usize {
    text.graphemes(true).map(width).sum()
}

/// As the terminal library counts: one cell for what is too wide to be believed.
fn width(grapheme: &str) -> usize {
    grapheme.width().min(2)
}

/// One line of foreign text: no controls, nothing that turns text around or is not seen, no piles of marks.
pub(in crate::cli) fn harmless_line(foreign: &str) -> String {
    let joined = text::clean(foreign).split_whitespace().collect::<Vec<_>>().join(" ");
    harmless(&joined)
}

fn harmless(line: &str) -> String {
    let seen: String = line.chars().filter(|c| !is_format(*c) && !is_unsteady(*c)).collect();
    let mut out = String::with_capacity(seen.len());
    for grapheme in seen.graphemes(true) {
        // A mark without a letter would move onto its neighbour.
        if width(grapheme) > 0 {
            out.extend(grapheme.chars().take(1 + MARKS_MAX));
        }
    }
    out
}

/// Characters about whose width terminals disagree, which would shift the rest of their line: variation selectors, the
/// soft hyphen, fillers that look like nothing.
fn is_unsteady(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0100}'..='\u{e01ef}')
}

/// At most so many columns of one harmless line, with a mark where it was cut.
pub(in crate::cli) fn fit(line: &str, width_max: usize) -> String {
    if columns(line) <= width_max {
        return line.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for grapheme in line.graphemes(true) {
        if used + width(grapheme) >= width_max {
            break;
        }
        used += width(grapheme);
        out.push_str(grapheme);
    }
    if width_max > 0 {
        out.push('…');
    }
    out
}

/// Foreign text of many lines, harmless, each at most so many columns, broken at blanks where there are some.
pub(in crate::cli) fn wrapped(foreign: &str, width_max: usize) -> Vec<String> {
    let width_max = width_max.max(2);
    let clean = text::clean(foreign);
    clean.trim_end().lines().flat_map(|line| broken(&harmless(&line.replace('\t', TAB)), width_max)).collect()
}

fn broken(line: &str, width_max: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        if used > 0 && used + columns(word.trim_end()) > width_max {
            pieces.push(std::mem::take(&mut piece));
            used = 0;
        }
        for grapheme in word.graphemes(true) {
            if used + width(grapheme) > width_max {
                // A blank at the edge is as good as the edge.
                if grapheme == " " {
                    continue;
                }
                pieces.push(std::mem::take(&mut piece));
                used = 0;
            }
            piece.push_str(grapheme);
            used += width(grapheme);
        }
    }
    pieces.push(piece);
    for piece in &mut pieces {
        piece.truncate(piece.trim_end().len());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_and_not_characters() {
        assert_eq!(columns("a\u{301}日本"), 5);
        assert_eq!(fit("日本語です", 6), "日本…");
        assert_eq!(fit("日本語", 6), "日本語");
        assert_eq!(wrapped("日本語です ok", 6), ["日本語", "です", "ok"]);
    }

    #[test]
    fn nothing_steers_the_terminal_or_turns_text_around() {
        let evil = "a\x1b[31mb\u{202e}c\u{200b}d\u{fe0f}e\u{ad}f\tg\nh";
        assert_eq!(harmless_line(evil), "a[31mbcdef g h");
        assert_eq!(wrapped("x\x1b]0;t\x07\ny\u{2067}z\u{9b}1m", 40), ["x]0;t", "yz1m"]);
    }

    #[test]
    fn a_pile_of_marks_is_cut() {
        let pile = format!("z{}!", "\u{301}".repeat(50));
        assert_eq!(harmless_line(&pile), format!("z{}!", "\u{301}".repeat(MARKS_MAX)));
        assert_eq!(harmless_line("\u{301}x"), "x");
    }

    #[test]
    fn lines_are_broken_at_blanks_and_long_words_anywhere() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefgh ij\n\nk", 4), ["abcd", "efgh", "ij", "", "k"]);
    }
}
