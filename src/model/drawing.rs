//! Small SVG words: text that fits, escapes, paths.

use std::fmt::Write as _;

/// Advance of one character of a monospaced font, by font size; the usual ones are not wider.
const ADVANCE: f64 = 0.602;

/// Fonts whose characters are all as wide as that.
pub const FONTS: &str = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace";

/// Columns of a text in a monospaced font; East Asian characters and emoji take two.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

fn columns_of(c: char) -> usize {
    if matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{1f300}'..='\u{1faff}' | '\u{20000}'..)
    {
        2
    } else {
        1
    }
}

/// The width of so many columns.
#[must_use]
pub fn width(columns: usize, size: f64) -> f64 {
    columns as f64 * size * ADVANCE
}

/// At most so many columns, with an ellipsis where it was cut. Clean of what a viewer could trip over.
#[must_use]
pub fn fit(text: &str, columns_max: usize) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    if columns(&text) <= columns_max {
        return text;
    }
    let mut out = String::new();
    let mut taken = 1;
    for c in text.chars() {
        taken += columns_of(c);
        if taken > columns_max {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// For text and attribute values.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Not allowed in XML, not even escaped.
            c if c.is_control() && !matches!(c, '\n' | '\t') => {}
            c => out.push(c),
        }
    }
    out
}

/// A number without needless digits.
#[must_use]
pub fn number(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A smooth line through points; between two of them it leaves and arrives level.
#[must_use]
pub fn curve(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    let mut before: Option<(f64, f64)> = None;
    for (x, y) in points {
        match before {
            None => {
                let _ = write!(out, "M{} {}", number(*x), number(*y));
            }
            Some((_, from_y)) if (from_y - y).abs() < 0.5 => {
                let _ = write!(out, " L{} {}", number(*x), number(from_y));
                before = Some((*x, from_y));
                continue;
            }
            Some((from_x, from_y)) => {
                let middle = number(f64::midpoint(from_x, *x));
                let (from_y, to_y) = (number(from_y), number(*y));
                let _ = write!(out, " C{middle} {from_y} {middle} {to_y} {} {to_y}", number(*x));
            }
        }
        before = Some((*x, *y));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit() {
        assert_eq!(fit("inbox.connector", 15), "inbox.connector");
        assert_eq!(fit("inbox.connector", 8), "inbox.c…");
        assert_eq!(fit("受信箱", 5), "受信…");
        assert_eq!(columns(&fit("受信箱.connector", 9)), 9);
        assert_eq!(escape("<a href=\"x\">\u{1}&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }

    #[test]
    fn curves_leave_and_arrive_level() {
        assert_eq!(curve(&[(0.0, 0.0), (10.0, 20.0)]), "M0 0 C5 0 5 20 10 20");
        assert_eq!(curve(&[(0.0, 1.0), (10.0, 1.2)]), "M0 1 L10 1");
    }
}
