//! Bytes of a feed to text. The bytes themselves are believed first: labels are wrong more often than well-formed
//! UTF-8 comes about by accident.

use std::borrow::Cow;

use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The text, and a remark if the document is not what it says.
///
/// In order: byte order mark; well-formed UTF-8; the label in the document; the label of the HTTP answer; else UTF-8
/// with every byte that is not taken as Windows-1252. An XML declaration is blanked out, for its label is no longer
/// true; lines and columns stay.
pub fn text(bytes: &[u8], http_label: Option<&str>) -> (String, Option<String>) {
    let http = http_label.and_then(|label| Encoding::for_label(label.as_bytes()));
    let declared = declared(bytes);
    let (text, remark) = if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        (decode(encoding, bytes.get(length..).unwrap_or_default()), None)
    } else if let Some(wide) = wide(bytes) {
        (decode(wide, bytes), None)
    } else if declared == Some(ISO_2022_JP) {
        // Seven bits: also well-formed UTF-8, but not meant as such.
        (decode(ISO_2022_JP, bytes), None)
    } else if let Ok(text) = std::str::from_utf8(bytes) {
        let remark = declared
            .filter(|encoding| *encoding != UTF_8 && !text.is_ascii())
            .map(|encoding| format!("says {} but is UTF-8", encoding.name()));
        (text.to_owned(), remark)
    } else if let Some(encoding) = declared.filter(|encoding| *encoding != UTF_8) {
        (decode(encoding, bytes), None)
    } else if let Some(encoding) = http.filter(|encoding| *encoding != UTF_8) {
        let remark = declared.map(|_| format!("says UTF-8 but is {}", encoding.name()));
        (decode(encoding, bytes), remark)
    } else {
        (mixed(bytes), Some("is not all UTF-8; other bytes were taken as Windows-1252".to_owned()))
    };
    (without_declaration(text), remark)
}

fn decode(encoding: &'static Encoding, bytes: &[u8]) -> String {
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

/// UTF-16 without a byte order mark: the first character of XML and JSON is ASCII.
fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [0, b'<' | b'{', ..] => Some(UTF_16BE),
        [b'<' | b'{', 0, ..] => Some(UTF_16LE),
        _ => None,
    }
}

/// The label in `<?xml … encoding="…"?>`.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..bytes.len().min(512))?.trim_ascii_start();
    if !head.starts_with(b"<?xml") {
        return None;
    }
    let end = head.windows(2).position(|pair| pair == b"?>")?;
    let head = String::from_utf8_lossy(head.get(..end)?).into_owned();
    let (_, rest) = head.split_once("encoding")?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    Encoding::for_label(rest.get(1..)?.split(quote).next()?.as_bytes())
}

/// UTF-8 where it is, Windows-1252 where it is not.
fn mixed(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        let (other, _): (Cow<'_, str>, bool) = WINDOWS_1252.decode_without_bom_handling(chunk.invalid());
        text.push_str(&other);
    }
    text
}

fn without_declaration(mut text: String) -> String {
    let start = text.len() - text.trim_start().len();
    let Some(rest) = text.get(start..).filter(|rest| rest.starts_with("<?xml")) else { return text };
    let Some(end) = rest.find("?>").map(|at| start + at + 2) else { return text };
    let blank = text
        .get(start..end)
        .unwrap_or_default()
        .chars()
        .map(|c| if c == '\n' { '\n' } else { ' ' })
        .collect::<String>();
    text.replace_range(start..end, &blank);
    text
}

#[cfg(test)]
mod tests {

    fn check(bytes: &[u8], http: Option<&str>, expected: &str, remark: Option<&str>) {
        let (text, said) = super::text(bytes, http);
        assert_eq!((text.trim_start(), said.as_deref()), (expected, remark));
    }

    #[test]
    fn utf_8_as_it_should_be() {
        check("<?xml version='1.0' encoding='utf-8'?><a>ß</a>".as_bytes(), None, "<a>ß</a>", None);
        check("\u{feff}<a>ß</a>".as_bytes(), Some("latin1"), "<a>ß</a>", None);
    }

    #[test]
    fn latin_1_as_it_says() {
        check(b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xdf</a>", None, "<a>ß</a>", None);
        check(b"<a>\xdf</a>", Some("iso-8859-1"), "<a>ß</a>", None);
    }

    #[test]
    fn latin_1_that_says_utf_8() {
        let remark = "is not all UTF-8; other bytes were taken as Windows-1252";
        check(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?><a>\xdf</a>", None, "<a>ß</a>", Some(remark));
    }

    #[test]
    fn utf_8_that_says_latin_1() {
        let text = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>ß</a>";
        check(text.as_bytes(), None, "<a>ß</a>", Some("says windows-1252 but is UTF-8"));
    }

    #[test]
    fn utf_16_without_a_mark() {
        let bytes = "<a>ß</a>".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        check(&bytes, None, "<a>ß</a>", None);
    }

    #[test]
    fn lines_and_columns_stay() {
        let (text, _) = super::text(b"<?xml\nversion='1.0'?><a/>", None);
        assert_eq!(text, "     \n               <a/>");
    }
}
