//! Foreign text on a screen of a given width.

use std::fmt::Write as _;

use crate::cli::look::line;

/// One thing said takes at most so many lines.
const LINES_MAX: usize = 3;

/// Appends `lead` (of `lead_width` columns) and the text behind it. The text may be long and may hold anything: it is
/// made one clean line, then wrapped at `width`, further lines set in by `indent`; what does not fit into
/// [`LINES_MAX`] is cut.
pub fn wrapped(out: &mut String, lead: &str, lead_width: usize, indent: usize, width: usize, text: &str) {
    let text = line(text, usize::MAX);
    out.push_str(lead);
    let (mut column, mut lines) = (lead_width, 1);
    for word in text.split(' ') {
        let length = word.chars().count();
        let blank = usize::from(column > lead_width && lines == 1 || column > indent && lines > 1);
        if column + blank + length > width && blank > 0 && lines < LINES_MAX {
            let _ = write!(out, "\n{:indent$}", "");
            (column, lines) = (indent, lines + 1);
        } else if blank > 0 {
            if column + blank + length > width {
                out.push_str(if column < width { "…" } else { "" });
                break;
            }
            out.push(' ');
            column += 1;
        }
        if column + length > width {
            out.extend(word.chars().take(width.saturating_sub(column + 1)));
            out.push('…');
            break;
        }
        out.push_str(word);
        column += length;
    }
    while out.ends_with(' ') {
        out.pop();
    }
    out.push('\n');
}
