//! Tables: the one home of columns. Painted cells are measured by what is seen of them.

use super::{Paint, line};

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    text: String,
    code: Option<&'static str>,
}

impl Cell {
    /// Painted with an SGR code, as [`Paint::with`] takes it.
    #[must_use]
    pub fn painted(code: &'static str, text: impl Into<String>) -> Self {
        Self { text: text.into(), code: Some(code) }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), code: None }
    }
}

/// Rows below a head. Cells but the last are shown whole; the last takes what is left of the width.
#[derive(Clone, Debug)]
pub struct Table {
    head: Vec<Cell>,
    rows: Vec<Row>,
    /// Columns of a row before the last one; the head may have none.
    fixed: usize,
}

#[derive(Clone, Debug)]
enum Row {
    Cells(Vec<Cell>),
    Note(Cell),
}

/// A note below a row begins here.
const NOTE_INDENT: usize = 3;

/// The last column has at least so many columns, however narrow the screen.
const LAST_WIDTH_MIN: usize = 12;

impl Table {
    /// Without rows yet. Headings that are empty stand above glyphs.
    #[must_use]
    pub fn new(head: &[&str]) -> Self {
        let head: Vec<Cell> = head.iter().map(|word| Cell::painted("1", *word)).collect();
        Self { fixed: head.len().saturating_sub(1), head, rows: Vec::new() }
    }

    /// Without a head; `columns` in each row.
    #[must_use]
    pub fn bare(columns: usize) -> Self {
        Self { head: Vec::new(), rows: Vec::new(), fixed: columns.saturating_sub(1) }
    }

    /// One more row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(Row::Cells(cells.into_iter().collect()));
    }

    /// A line of its own below the last row, whole and outside the columns: a place to be clicked or copied.
    pub fn note(&mut self, cell: Cell) {
        self.rows.push(Row::Note(cell));
    }

    /// Rows so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// As text of at most `width` columns, if the cells before the last leave room for it.
    #[must_use]
    pub fn render(&self, paint: Paint, width: usize) -> String {
        let head = Some(&self.head).filter(|head| !head.is_empty());
        let columns = head.into_iter().chain(self.rows.iter().filter_map(|row| match row {
            Row::Cells(cells) => Some(cells),
            Row::Note(_) => None,
        }));
        let widths = widths(&columns.collect::<Vec<_>>(), self.fixed);
        let before: usize = widths.iter().map(|width| width + 2).sum();
        let last_width = width.saturating_sub(before).max(LAST_WIDTH_MIN);
        let mut out = String::new();
        if let Some(head) = head {
            put(&mut out, head, &widths, last_width, paint);
        }
        for row in &self.rows {
            match row {
                Row::Cells(cells) => put(&mut out, cells, &widths, last_width, paint),
                Row::Note(cell) => {
                    let text = cell.paint(line(&cell.text, usize::MAX), paint);
                    out.push_str(&format!("{:NOTE_INDENT$}{text}\n", ""));
                }
            }
        }
        out
    }
}

impl Cell {
    fn paint(&self, text: String, paint: Paint) -> String {
        match self.code {
            Some(code) => paint.with(code, text).to_string(),
            None => text,
        }
    }
}

fn put(out: &mut String, cells: &[Cell], widths: &[usize], last_width: usize, paint: Paint) {
    let mut blanks = 0;
    for (column, cell) in cells.iter().enumerate() {
        let text = match widths.get(column) {
            Some(_) => cell.text.clone(),
            None => line(&cell.text, last_width),
        };
        let length = text.chars().count();
        if !text.is_empty() {
            out.push_str(&" ".repeat(blanks));
            blanks = 0;
            out.push_str(&cell.paint(text, paint));
        }
        blanks += widths.get(column).map_or(0, |width| width.saturating_sub(length) + 2);
    }
    out.push('\n');
}

/// Columns of each of the first `count` cells.
fn widths(lines: &[&Vec<Cell>], count: usize) -> Vec<usize> {
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|cells| cells.get(column));
        cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0)
    };
    (0..count).map(width).collect()
}

/// Columns of texts, aligned; the last one is neither padded nor cut.
#[must_use]
pub fn table(rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut table = Table::bare(columns);
    for row in rows {
        table.row(row.iter().map(|text| Cell::from(text.as_str())));
    }
    table.render(Paint { colour: false }, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_aligned() {
        let rows = vec![vec!["a".into(), "bb".into()], vec!["ccc".into(), "d".into()]];
        assert_eq!(table(&rows), "a    bb\nccc  d\n");
        assert_eq!(table(&[]), "");
    }

    #[test]
    fn paint_takes_no_room_and_the_last_column_fits() {
        let mut table = Table::new(&["", "UNIT", "DESCRIPTION"]);
        table.row([Cell::painted("32", "●"), "inbox.connector".into(), "A mailbox over IMAP".into()]);
        table.row([Cell::default(), "x.env".into(), Cell::default()]);
        assert_eq!(
            table.render(Paint { colour: false }, 34),
            "   UNIT             DESCRIPTION\n●  inbox.connector  A mailbox ove…\n   x.env\n"
        );
        let painted = table.render(Paint { colour: true }, 34);
        assert!(painted.contains("\x1b[32m●\x1b[0m  inbox.connector  A mail"), "{painted:?}");
    }
}
