//! Output of children in bounded memory: lines with a cap, and the tail of stderr.

/// Splits a stream on the byte `\n`. A line over the cap is skipped to its end and counted.
#[derive(Debug)]
pub(super) struct LineSplitter {
    line_bytes_max: usize,
    /// The beginning of a line whose end has not come yet; never longer than the cap.
    open: Vec<u8>,
    skipping: bool,
    /// Lines skipped so far.
    pub(super) skipped: u64,
}

impl LineSplitter {
    pub(super) fn new(line_bytes_max: usize) -> Self {
        Self { line_bytes_max, open: Vec::new(), skipping: false, skipped: 0 }
    }

    /// Takes the next bytes; calls `on_line` for each line that ends in them, without its newline.
    pub(super) fn push(&mut self, mut bytes: &[u8], on_line: &mut (dyn FnMut(&[u8]) + Send)) {
        while let Some(at) = bytes.iter().position(|byte| *byte == b'\n') {
            let (end, rest) = bytes.split_at(at);
            self.extend(end);
            self.close(on_line);
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.extend(bytes);
    }

    /// The stream ended: a last line without a newline is a line.
    pub(super) fn finish(&mut self, on_line: &mut (dyn FnMut(&[u8]) + Send)) {
        if self.skipping || !self.open.is_empty() {
            self.close(on_line);
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.skipping {
            return;
        }
        if self.open.len() + bytes.len() > self.line_bytes_max {
            self.skipping = true;
            self.open = Vec::new();
        } else {
            self.open.extend_from_slice(bytes);
        }
    }

    fn close(&mut self, on_line: &mut (dyn FnMut(&[u8]) + Send)) {
        if self.skipping {
            self.skipping = false;
            self.skipped += 1;
        } else {
            on_line(&self.open);
            // A long line must not hold its memory for the rest of the run.
            if self.open.capacity() > 1 << 20 {
                self.open = Vec::new();
            } else {
                self.open.clear();
            }
        }
    }
}

/// The last bytes of a stream.
#[derive(Debug)]
pub(super) struct Tail {
    bytes_max: usize,
    bytes: Vec<u8>,
}

impl Tail {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, bytes: Vec::new() }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Cut only at twice the size, so that each byte is moved once on average.
        if self.bytes.len() > self.bytes_max * 2 {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let over = self.bytes.len().saturating_sub(self.bytes_max);
        self.bytes.drain(..over);
    }

    /// Lossy text without escape sequences and controls.
    pub(super) fn into_text(mut self) -> String {
        self.cut();
        let lossy = String::from_utf8_lossy(&self.bytes);
        crate::model::text::clean(&anstream::adapter::strip_str(&lossy).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&str], line_bytes_max: usize) -> (Vec<String>, u64) {
        let mut lines = Vec::new();
        let mut splitter = LineSplitter::new(line_bytes_max);
        let mut take = |line: &[u8]| lines.push(String::from_utf8_lossy(line).into_owned());
        for piece in pieces {
            splitter.push(piece.as_bytes(), &mut take);
        }
        splitter.finish(&mut take);
        let skipped = splitter.skipped;
        (lines, skipped)
    }

    #[test]
    fn lines_over_reads_and_without_a_last_newline() {
        assert_eq!(
            split(&["a\nb", "c\n", "\nd"], 9),
            (vec!["a".into(), "bc".into(), String::new(), "d".into()], 0)
        );
        assert_eq!(split(&[], 9), (vec![], 0));
        assert_eq!(split(&["a\n"], 9), (vec!["a".into()], 0));
    }

    #[test]
    fn splits_on_bytes_not_on_other_line_separators() {
        assert_eq!(split(&["a\u{2028}b\u{85}c\r\n"], 99).0, ["a\u{2028}b\u{85}c\r"]);
    }

    #[test]
    fn long_lines_are_skipped_to_their_end_and_counted() {
        assert_eq!(
            split(&["1234\n12345\n", "12", "345", "6\nab\n123456"], 4),
            (vec!["1234".into(), "ab".into()], 3)
        );
    }

    #[test]
    fn the_tail_is_the_end_without_escapes() {
        let mut tail = Tail::new(8);
        for _ in 0..1000 {
            tail.push(b"0123456789");
        }
        tail.push(b"\x1b[31mred\x1b[0m");
        assert!(tail.bytes.len() <= 8 * 2 + 13);
        assert_eq!(
            Tail { bytes_max: 99, bytes: b"a\x1b[31mred\x1b[0m\xff\0".to_vec() }.into_text(),
            "ared\u{fffd}"
        );
    }
}
