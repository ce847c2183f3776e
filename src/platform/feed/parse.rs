//! A feed document, read as a whole, else mended, else item by item. A broken document never passes for an empty one.

use std::fmt;

use feed_rs::model::Feed;
use feed_rs::parser::{Builder, ParseFeedError};
use quick_xml::Reader;
use quick_xml::events::Event;

use super::{decode, recover, repair};
use crate::model::limits;
use crate::model::text::one_line;

/// A document as far as it could be read.
#[derive(Debug)]
pub struct Document {
    /// Its entries have no made-up ids: an id that is missing is empty.
    pub feed: Feed,
    /// What was wrong, for people: "bare & escaped", "1 item is cut off".
    pub remarks: Vec<String>,
    /// Nothing is missing.
    pub whole: bool,
}

/// Why nothing could be read, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// For people, one line, no content of the document.
    pub what: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for Unreadable {}

/// Reads RSS, Atom or JSON Feed. `base` resolves relative links; it must not hold a key.
pub fn document(bytes: &[u8], http_label: Option<&str>, base: Option<&str>) -> Result<Document, Unreadable> {
    let (text, label_remark) = decode::text(bytes, http_label);
    let mut remarks: Vec<String> = label_remark.map(|remark| format!("the text {remark}")).into_iter().collect();
    let first_error = match strict(&text, base) {
        Ok(feed) => return Ok(Document { feed, remarks, whole: true }),
        Err(error) => error,
    };
    let is_json = text.trim_start().starts_with('{');
    let (mended, done) = if is_json { (text.clone(), Vec::new()) } else { repair::xml(&text) };
    remarks.extend(done.iter().map(|what| (*what).to_owned()));
    if !done.is_empty()
        && let Ok(feed) = strict(&mended, base)
    {
        return Ok(Document { feed, remarks, whole: true });
    }
    let pieces = if is_json { recover::json(&mended) } else { recover::xml(&mended) };
    let mut whole_feed: Option<Feed> = None;
    let mut unread = 0;
    for piece in &pieces.documents {
        match (strict(piece, base), &mut whole_feed) {
            (Ok(mut feed), Some(whole)) if !feed.entries.is_empty() => whole.entries.append(&mut feed.entries),
            (Ok(feed), empty @ None) if !feed.entries.is_empty() => *empty = Some(feed),
            _ => unread += 1,
        }
    }
    let Some(feed) = whole_feed else { return Err(locate(&text, &first_error, is_json)) };
    let place = locate(&text, &first_error, is_json);
    remarks.push(format!("the document is broken at {place}; read item by item"));
    for (count, what) in [(pieces.torn, "cut off or torn"), (unread, "not readable")] {
        if count > 0 {
            remarks.push(format!("{count} {} {what}", if count == 1 { "item is" } else { "items are" }));
        }
    }
    let whole = pieces.torn == 0 && unread == 0;
    Ok(Document { feed, remarks, whole })
}

fn strict(text: &str, base: Option<&str>) -> Result<Feed, ParseFeedError> {
    // The parser's own ids are made from link and title, or are random: a corrected title would look like news.
    let parser = Builder::new().base_uri(base).id_generator(|_, _, _| String::new()).build();
    let mut feed = parser.parse(text.as_bytes())?;
    feed.entries.truncate(limits::FEED_ITEMS_MAX);
    Ok(feed)
}

fn locate(text: &str, error: &ParseFeedError, is_json: bool) -> Unreadable {
    if let (true, ParseFeedError::JsonSerde(error)) = (is_json, error) {
        let what = match error.classify() {
            serde_json::error::Category::Eof => "the document ends too early",
            serde_json::error::Category::Data => "a member of the feed has an unexpected type, or is missing",
            _ => "not well-formed JSON",
        };
        return Unreadable { line: error.line().max(1), column: error.column().max(1), what: what.to_owned() };
    }
    let (at, what) = fault(text).unwrap_or_else(|| (first_tag(text), kind(text)));
    let before = text.get(..text.floor_char_boundary(at)).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Unreadable {
        line: before.matches('\n').count() + 1,
        column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        what,
    }
}

/// The first place where the text is not well-formed XML.
fn fault(text: &str) -> Option<(usize, String)> {
    let mut reader = Reader::from_str(text);
    let offset = |position: u64| usize::try_from(position).unwrap_or(usize::MAX);
    let mut open: Vec<String> = Vec::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => open.push(name(tag.name().as_ref())),
            Ok(Event::End(_)) => drop(open.pop()),
            Ok(Event::Eof) => {
                return open.last().map(|name| (text.len(), format!("the document ends inside <{name}>")));
            }
            Ok(_) => {}
            Err(error) => return Some((offset(reader.error_position()), explain(&error))),
        }
    }
}

fn explain(error: &quick_xml::Error) -> String {
    use quick_xml::errors::{IllFormedError, SyntaxError};
    match error {
        quick_xml::Error::IllFormed(IllFormedError::MismatchedEndTag { expected, found }) => {
            format!("</{}> ends what began as <{}>", name(found.as_bytes()), name(expected.as_bytes()))
        }
        quick_xml::Error::IllFormed(IllFormedError::UnmatchedEndTag(found)) => {
            format!("</{}> ends what never began", name(found.as_bytes()))
        }
        quick_xml::Error::IllFormed(IllFormedError::UnclosedReference) => "a bare &, or an entity without ;".into(),
        quick_xml::Error::Syntax(SyntaxError::UnclosedTag) => "the document ends inside a tag".into(),
        quick_xml::Error::Syntax(_) => "the document ends inside markup, or has markup that is no XML".into(),
        _ => "not well-formed XML".into(),
    }
}

fn name(bytes: &[u8]) -> String {
    one_line(&String::from_utf8_lossy(bytes), 40)
}

fn first_tag(text: &str) -> usize {
    text.find(['<', '{']).unwrap_or(0)
}

/// Of a document that is well-formed but no feed.
fn kind(text: &str) -> String {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                return format!("the document is <{}>, not a feed", name(tag.name().as_ref()));
            }
            Ok(Event::Eof) | Err(_) => return "the document is empty, or is not a feed".to_owned(),
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match document(text.as_bytes(), None, None) {
            Ok(document) => {
                let titles = document.feed.entries.iter().map(|entry| match &entry.title {
                    Some(title) => title.content.clone(),
                    None => "-".into(),
                });
                let titles = titles.collect::<Vec<_>>().join(", ");
                format!("[{titles}] whole: {}\n{}", document.whole, document.remarks.join("\n"))
            }
            Err(error) => error.to_string(),
        }
    }

    fn rss(items: &str) -> String {
        format!("<rss version=\"2.0\"><channel><title>t</title>\n{items}</channel></rss>")
    }

    #[test]
    fn a_mismatched_tag_costs_one_item() {
        let text = rss("<item><title>A</title></item>\n<item><title>B</i></item>\n<item><title>C</title></item>");
        insta::assert_snapshot!(read(&text), @"");
    }

    #[test]
    fn a_web_page_is_not_an_empty_feed() {
        insta::assert_snapshot!(read("<html>\n<body>Please log in</body></html>"), @"");
        insta::assert_snapshot!(read("<html>\n<body>Please <br> log in</body></html>"), @"");
        insta::assert_snapshot!(read("Please log in"), @"");
        insta::assert_snapshot!(read(""), @"");
    }

    #[test]
    fn a_cut_document_without_a_whole_item_is_an_error_with_a_place() {
        insta::assert_snapshot!(read("<rss version=\"2.0\"><channel>\n <item><title>On"), @"");
    }

    #[test]
    fn an_empty_feed_is_empty() {
        insta::assert_snapshot!(read(&rss("")), @"");
    }

    #[test]
    fn entities_are_not_expanded() {
        let bomb = format!(
            "<!DOCTYPE r [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY x SYSTEM \"file:///etc/passwd\">]>{}",
            rss("<item><title>&b;&x;</title></item>")
        );
        insta::assert_snapshot!(read(&bomb), @"");
    }

    #[test]
    fn json_feeds_too() {
        let good = r#"{"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [{"id": "1", "title": "A"}]}"#;
        insta::assert_snapshot!(read(good), @"");
        let number = good.replace("\"1\",", "1,");
        insta::assert_snapshot!(read(&number), @"");
        insta::assert_snapshot!(read(&good.replace("]}", ", {\"id\"")), @"");
        insta::assert_snapshot!(read("{\"message\":\n \"not found\"}"), @"");
    }

    #[test]
    fn rss_1_and_atom_are_recovered_too() {
        let rdf = "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"http://purl.org/rss/1.0/\">\
                   <item><title>A</title></item><item><title>B";
        insta::assert_snapshot!(read(rdf), @"");
        let atom = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><entry><title>A</title></entry><entry><title>B";
        insta::assert_snapshot!(read(atom), @"");
    }

    #[test]
    fn hostile_documents_take_little_time() {
        for text in ["&".repeat(200_000), "<item ".repeat(50_000), "<item>".repeat(50_000), rss(&"<b>".repeat(50_000))] {
            assert!(document(text.as_bytes(), None, None).is_err() || text.starts_with("<rss"));
        }
    }
}
