//! Server-sent events, split on bytes. Pure.
//!
//! A character may be cut between two pieces, and U+2028 is no end of a line: nothing is decoded here. What has no end
//! at the end of the stream is dropped, as the standard says: it was cut.

use crate::model::text::short_size;

/// One line and the data of one event: a whole answer may come as one event.
pub const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// An event is longer than [`EVENT_BYTES_MAX`].
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a part of the answer is longer than {}", short_size(EVENT_BYTES_MAX as u64))]
pub struct EventTooLong;

/// The splitter of one stream.
#[derive(Debug, Default)]
pub struct Sse {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a carriage return: a line feed behind it ends no second line.
    after_cr: bool,
    /// A first line was seen, so that no byte-order mark is expected any more.
    begun: bool,
}

impl Sse {
    /// Takes the next piece; `each` is given the data of every event that is whole now. Returns whether it wants more.
    ///
    /// # Errors
    /// What `each` says; an event over the cap.
    pub fn push<E: From<EventTooLong>>(
        &mut self,
        mut piece: &[u8],
        each: &mut dyn FnMut(&[u8]) -> Result<bool, E>,
    ) -> Result<bool, E> {
        while let Some(&first) = piece.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                piece = piece.get(1..).unwrap_or_default();
                continue;
            }
            let end = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (text, rest) = piece.split_at(end.unwrap_or(piece.len()));
            if self.line.len() + text.len() + self.data.len() > EVENT_BYTES_MAX {
                return Err(EventTooLong.into());
            }
            self.line.extend_from_slice(text);
            let Some(&ending) = rest.first() else { break };
            self.after_cr = ending == b'\r';
            piece = rest.get(1..).unwrap_or_default();
            let line = std::mem::take(&mut self.line);
            if !self.line(&line, each)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Bytes kept until an event is whole.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.line.len() + self.data.len()
    }

    fn line<E>(&mut self, line: &[u8], each: &mut dyn FnMut(&[u8]) -> Result<bool, E>) -> Result<bool, E> {
        let line = match line.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) if !self.begun => rest,
            _ => line,
        };
        self.begun = true;
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return if std::mem::take(&mut self.has_data) { each(&data) } else { Ok(true) };
        }
        // Comments, names and numbers of events say nothing that the data does not.
        if let Some(value) = line.strip_prefix(b"data") {
            let value = match value {
                [] => Some(value),
                [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
                _ => None,
            };
            if let Some(value) = value {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(pieces: &[&[u8]]) -> Vec<String> {
        let (mut sse, mut found) = (Sse::default(), Vec::new());
        for piece in pieces {
            sse.push(piece, &mut |data| {
                found.push(String::from_utf8_lossy(data).into_owned());
                Ok::<_, EventTooLong>(true)
            })
            .unwrap();
        }
        found
    }

    #[test]
    fn lines_end_in_three_ways() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!(
                "event: x{end}data: a{end}data: b{end}{end}: comment{end}{end}data:c{end}id: 7{end}{end}"
            );
            assert_eq!(events(&[text.as_bytes()]), ["a\nb", "c"], "{end:?}");
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(events(&bytes), ["a\nb", "c"], "{end:?}");
        }
    }

    #[test]
    fn what_has_no_end_is_dropped() {
        assert_eq!(events(&[b"data: a\n\ndata: b\n"]), ["a"]);
        assert_eq!(events(&[b"data: a\n\ndata: b"]), ["a"]);
        assert!(events(&[b""]).is_empty());
    }

    #[test]
    fn only_ends_of_lines_end_lines() {
        let text = "data: \u{2028}\u{85}\u{b}é\n\n";
        for cut in 1..text.len() {
            let (head, tail) = text.as_bytes().split_at(cut);
            assert_eq!(events(&[head, tail]), ["\u{2028}\u{85}\u{b}é"]);
        }
    }

    #[test]
    fn a_mark_of_byte_order_and_other_fields_are_nothing() {
        assert_eq!(events(&[b"\xEF\xBB\xBFdata: a\n\n"]), ["a"]);
        assert_eq!(events(&[b"database: a\ndata\nretry: 5\n\n"]), [""]);
    }

    #[test]
    fn an_endless_event_is_ended() {
        let mut sse = Sse::default();
        let piece = [b'x'; 64 * 1024];
        let ended =
            (0..1000).find_map(|_| sse.push(&piece, &mut |_| Ok::<_, EventTooLong>(true)).err()).unwrap();
        assert_eq!(ended.to_string(), "a part of the answer is longer than 4 MB");
        let mut sse = Sse::default();
        let line = [b"data: ".as_slice(), &[b'x'; 1000], b"\n"].concat();
        assert!((0..10_000).any(|_| sse.push(&line, &mut |_| Ok::<_, EventTooLong>(true)).is_err()));
    }
}
