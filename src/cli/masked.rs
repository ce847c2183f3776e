//! What commands print goes out through here: every value that was read in this process, and whatever looks like a token,
//! is masked, on standard output and standard error alike.

use std::io::{self, Write};

use crate::secret::Scrubber;

/// Without a line end for so long, it is masked as far as it goes.
const LINE_BYTES_MAX: usize = 1024 * 1024;

/// Masks what passes, whole lines at a time: a value may be split over several writes.
pub struct Masking<W: Write> {
    inner: W,
    scrubber: Scrubber,
    pending: Vec<u8>,
}

impl<W: Write> Masking<W> {
    /// In front of a writer.
    pub fn new(inner: W, scrubber: Scrubber) -> Self {
        Self { inner, scrubber, pending: Vec::new() }
    }

    fn pass(&mut self, until: usize) -> io::Result<()> {
        let rest = self.pending.split_off(until);
        let ready = std::mem::replace(&mut self.pending, rest);
        // What is no text (nothing here prints any) shows as replacement characters rather than pass unmasked.
        self.inner.write_all(self.scrubber.scrub(&String::from_utf8_lossy(&ready)).as_bytes())
    }
}

impl<W: Write> Write for Masking<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => {
                let until = self.pending.len() - (bytes.len() - at - 1);
                self.pass(until)?;
            }
            None if self.pending.len() > LINE_BYTES_MAX => self.pass(self.pending.len())?,
            None => {}
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.pending.is_empty() {
            self.pass(self.pending.len())?;
        }
        self.inner.flush()
    }
}

impl<W: Write> Drop for Masking<W> {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

/// Standard error, masked.
#[must_use]
pub fn stderr(scrubber: &Scrubber) -> Masking<impl Write> {
    Masking::new(anstream::stderr(), scrubber.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::SecretValue;

    fn check(writes: &[&str], expected: &str) {
        let scrubber = Scrubber::new();
        scrubber.register(&SecretValue::new("canary-0123456789".into()));
        let mut out = Vec::new();
        {
            let mut masking = Masking::new(&mut out, scrubber);
            writes.iter().for_each(|text| masking.write_all(text.as_bytes()).unwrap());
        }
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn masks_what_comes_in_pieces() {
        check(&["a can", "ary-0123", "456789 b\nc"], "a [masked] b\nc");
        check(&["canary-0123456789"], "[masked]");
        check(&["x\ny canary", "-0123456789\n"], "x\ny [masked]\n");
    }

    #[test]
    fn a_prompt_is_there_before_the_answer() {
        let mut out = Vec::new();
        let mut masking = Masking::new(&mut out, Scrubber::new());
        masking.write_all("value of a: ä".as_bytes()).unwrap();
        masking.flush().unwrap();
        assert_eq!(masking.inner.len(), "value of a: ä".len());
    }
}
