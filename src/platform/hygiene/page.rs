//! Lays visible text out in lines: white space folded, blocks apart, quotations marked.

/// Deeper quotations are marked as this deep, so that markup alone cannot blow the text up.
const QUOTE_DEPTH_MAX: usize = 8;

/// Text under construction.
#[derive(Debug, Default)]
pub(super) struct Page {
    out: String,
    /// Line ends wanted before the next text.
    breaks: usize,
    /// A blank wanted before the next text.
    blank: bool,
    /// Depth of quotation.
    quotes: usize,
}

impl Page {
    /// Where the next text will begin, for [`since`](Self::since).
    pub fn mark(&self) -> usize {
        self.out.len()
    }

    /// What was written behind a mark.
    pub fn since(&self, mark: usize) -> &str {
        self.out.get(mark..).unwrap_or("").trim()
    }

    /// Begins a new line; `lines` = 2 leaves an empty one between.
    pub fn break_line(&mut self, lines: usize) {
        self.breaks = self.breaks.max(lines);
        self.blank = false;
    }

    /// One more line end, as for `<br>`.
    pub fn add_break(&mut self) {
        self.breaks = (self.breaks + 1).min(2);
        self.blank = false;
    }

    /// At least a blank between the last text and the next.
    pub fn add_blank(&mut self) {
        self.blank = true;
    }

    /// Goes one quotation deeper.
    pub fn quote(&mut self) {
        self.break_line(2);
        self.quotes += 1;
    }

    /// Comes out of one quotation.
    pub fn unquote(&mut self) {
        self.break_line(2);
        // The line that ends the quotation must not be marked as quoted.
        self.quotes = self.quotes.saturating_sub(1);
    }

    /// Text whose white space means nothing but "apart".
    pub fn flow(&mut self, text: &str) {
        if text.starts_with(|c: char| c.is_ascii_whitespace()) {
            self.blank = true;
        }
        for word in text.split_ascii_whitespace() {
            self.word(word);
            self.blank = true;
        }
        self.blank =
            text.ends_with(|c: char| c.is_ascii_whitespace()) || (self.blank && text.trim().is_empty());
    }

    /// Text whose line ends and blanks are meant.
    pub fn verbatim(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.breaks += 1;
                self.blank = false;
            }
            if !line.is_empty() {
                self.word(line);
            }
        }
    }

    /// A piece that is not broken.
    pub fn word(&mut self, word: &str) {
        if self.out.is_empty() {
            self.start_line();
        } else if self.breaks > 0 {
            for _ in 1..self.breaks {
                self.out.push('\n');
            }
            self.out.push('\n');
            self.start_line();
        } else if self.blank {
            self.out.push(' ');
        }
        self.breaks = 0;
        self.blank = false;
        self.out.push_str(word);
    }

    fn start_line(&mut self) {
        for _ in 0..self.quotes.min(QUOTE_DEPTH_MAX) {
            self.out.push_str("> ");
        }
    }

    /// The text, without line ends at its end.
    pub fn finish(mut self) -> String {
        self.out.truncate(self.out.trim_end().len());
        self.out
    }
}
