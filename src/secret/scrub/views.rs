//! What a text may be an encoding of: decoded views, each byte with the place it came from.

use std::ops::Range;

use zeroize::Zeroizing;

/// Encodings inside encodings that are undone: a JSON text in a JSON text, a query in a query.
const DEPTH_MAX: usize = 2;

/// A decoded text.
pub struct View {
    /// The decoded bytes; wiped, they may be what we look for.
    pub bytes: Zeroizing<Vec<u8>>,
    places: Vec<Range<usize>>,
}

impl View {
    /// The place in the text that a stretch of the view came from.
    pub fn source(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let first = self.places.get(span.start)?;
        let last = self.places.get(span.end.checked_sub(1)?)?;
        Some(first.start..last.end)
    }

    fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Zeroizing::new(Vec::with_capacity(bytes)), places: Vec::with_capacity(bytes) }
    }

    fn push(&mut self, bytes: &[u8], place: &Range<usize>) {
        self.bytes.extend_from_slice(bytes);
        self.places.extend(std::iter::repeat_n(place.clone(), bytes.len()));
    }
}

/// One decoded character and how many bytes it took.
type Step = fn(&[u8]) -> Option<(char, usize)>;

/// The first byte of an encoded character, and how it is read.
const STEPS: [(u8, Step); 3] = [(b'%', percent), (b'\\', backslash), (b'&', entity)];

/// Hands out every view of the text that differs from it.
pub fn each(text: &[u8], mut see: impl FnMut(&View)) {
    for (mark, step) in STEPS {
        let mut view = undone(text, None, mark, step);
        for _ in 0..DEPTH_MAX {
            let Some(this) = view else { break };
            see(&this);
            view = undone(&this.bytes, Some(&this), mark, step);
        }
    }
    if let Some(view) = numbers(text) {
        see(&view);
    }
}

/// `None` when nothing was encoded.
fn undone(text: &[u8], within: Option<&View>, mark: u8, step: Step) -> Option<View> {
    if !text.contains(&mark) {
        return None;
    }
    let mut view = View::with_capacity(text.len());
    let mut at = 0;
    let mut changed = false;
    while let Some(&byte) = text.get(at) {
        let decoded = if byte == mark { step(text.get(at..).unwrap_or_default()) } else { None };
        let length = decoded.map_or(1, |(_, length)| length);
        let here = at..at + length;
        let place = within.map_or(Some(here.clone()), |outer| outer.source(&here)).unwrap_or(here);
        match decoded {
            // A percent code is a byte, which is what a character below 256 stands for here.
            Some((c, _)) if mark == b'%' => view.push(&[u8::try_from(u32::from(c)).unwrap_or(0)], &place),
            Some((c, _)) => view.push(c.encode_utf8(&mut [0; 4]).as_bytes(), &place),
            None => view.push(&[byte], &place),
        }
        changed |= decoded.is_some();
        at += length;
    }
    changed.then_some(view)
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0u32, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}

/// `%41`.
fn percent(text: &[u8]) -> Option<(char, usize)> {
    Some((char::from_u32(hex(text.get(1..3)?)?)?, 3))
}

/// Escapes of JSON and of Rust's `Debug`: `\n`, `\"`, `\u0041`, `\u{41}`, `\x41`.
fn backslash(text: &[u8]) -> Option<(char, usize)> {
    let simple = |c| Some((c, 2));
    match text.get(1)? {
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'b' => simple('\u{8}'),
        b'f' => simple('\u{c}'),
        b'0' => simple('\0'),
        &c @ (b'"' | b'\'' | b'\\' | b'/') => simple(char::from(c)),
        b'x' => Some((char::from_u32(hex(text.get(2..4)?)?)?, 4)),
        b'u' if text.get(2) == Some(&b'{') => {
            let end = text.iter().take(10).position(|&byte| byte == b'}')?;
            Some((char::from_u32(hex(text.get(3..end)?)?)?, end + 1))
        }
        b'u' => {
            let unit = hex(text.get(2..6)?)?;
            if let Some(c) = char::from_u32(unit) {
                return Some((c, 6));
            }
            // A surrogate pair: one character in two codes.
            let low = hex(text.get(6..12)?.strip_prefix(b"\\u")?)?;
            let c = char::from_u32(0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff))?;
            Some((c, 12))
        }
        _ => None,
    }
}

/// Entities of HTML and XML: `&amp;`, `&#39;`, `&#x27;`.
fn entity(text: &[u8]) -> Option<(char, usize)> {
    let end = text.iter().take(12).position(|&byte| byte == b';')?;
    let c = match text.get(1..end)? {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(hex(digits)?)?,
        [b'#', digits @ ..] => char::from_u32(std::str::from_utf8(digits).ok()?.parse().ok()?)?,
        _ => return None,
    };
    Some((c, end + 1))
}

/// Lists of byte values, as `Debug` shows bytes: `[67, 65, 78, 65]`, one per line too. Other text gives way to zero
/// bytes, which no value holds.
fn numbers(text: &[u8]) -> Option<View> {
    let mut view = View::with_capacity(0);
    let mut at = 0;
    let mut open = false;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            // Commas and blanks hold a list together.
            if open && !matches!(rest.first(), Some(b',' | b' ' | b'\n')) {
                view.push(&[0], &(at..at + 1));
                open = false;
            }
            at += 1;
            continue;
        }
        let value = std::str::from_utf8(rest.get(..digits).unwrap_or_default()).ok();
        match value.filter(|_| digits <= 3).and_then(|text| text.parse::<u8>().ok()) {
            Some(byte) => {
                view.push(&[byte], &(at..at + digits));
                open = true;
            }
            None => view.push(&[0], &(at..at + digits)),
        }
        at += digits;
    }
    (view.bytes.len() >= crate::model::limits::SECRET_MASKED_BYTES_MIN).then_some(view)
}
