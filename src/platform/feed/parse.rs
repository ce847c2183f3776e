//! A feed document, read as a whole, else mended, else item by item. A broken document never passes for an empty one.

use std::fmt;

use feed_rs::model::{Feed, FeedType};
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
    let mut remarks: Vec<String> =
        label_remark.map(|remark| format!("the text {remark}")).into_iter().collect();
    let first_error = match strict(&text, base) {
        Ok(feed) => return nothing_lost(feed, remarks, &text),
        Err(error) => error,
    };
    let is_json = text.trim_start().starts_with('{');
    let (mended, done) = if is_json { (text.clone(), Vec::new()) } else { repair::xml(&text) };
    remarks.extend(done.iter().map(|what| (*what).to_owned()));
    if !done.is_empty()
        && let Ok(feed) = strict(&mended, base)
    {
        return nothing_lost(feed, remarks, &mended);
    }
    let pieces = if is_json { recover::json(&mended) } else { recover::xml(&mended) };
    let mut whole_feed: Option<Feed> = None;
    let mut unread = 0;
    for piece in &pieces.documents {
        match (strict(piece, base), &mut whole_feed) {
            (Ok(mut feed), Some(whole)) if !feed.entries.is_empty() => {
                whole.entries.append(&mut feed.entries);
            }
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

/// The parser leaves out items without a link in old formats, and all items of a namespace that it does not know.
fn nothing_lost(feed: Feed, mut remarks: Vec<String>, text: &str) -> Result<Document, Unreadable> {
    let may_lose = feed.entries.is_empty() || matches!(feed.feed_type, FeedType::RSS0 | FeedType::RSS1);
    let there = if may_lose { recover::xml(text).documents.len() } else { 0 };
    if there > 0 && feed.entries.is_empty() {
        let what = format!("none of its {there} items can be read: no link, or an unknown namespace");
        return Err(Unreadable { what, ..place(text, first_tag(text)) });
    }
    if there > feed.entries.len() {
        remarks.push(format!("{} items have no link and are left out", there - feed.entries.len()));
    }
    Ok(Document { feed, remarks, whole: true })
}

fn locate(text: &str, error: &ParseFeedError, is_json: bool) -> Unreadable {
    if let (true, ParseFeedError::JsonSerde(error)) = (is_json, error) {
        let what = match error.classify() {
            serde_json::error::Category::Eof => "the document ends too early",
            serde_json::error::Category::Data => "a member of the feed has an unexpected type, or is missing",
            _ => "not well-formed JSON",
        };
        return Unreadable {
            line: error.line().max(1),
            column: error.column().max(1),
            what: what.to_owned(),
        };
    }
    // A web page is rarely well-formed, but that is not what is wrong with it.
    let is_page = root(text).is_some_and(|name| name.eq_ignore_ascii_case("html"));
    let fault = if is_page { None } else { fault(text) };
    let (at, what) = fault.unwrap_or_else(|| (first_tag(text), kind(text)));
    Unreadable { what, ..place(text, at) }
}

fn place(text: &str, at: usize) -> Unreadable {
    let before = text.get(..text.floor_char_boundary(at)).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Unreadable {
        line: before.matches('\n').count() + 1,
        column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        what: String::new(),
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
            format!("</{}> ends what began as <{}>", name(found), name(expected))
        }
        quick_xml::Error::IllFormed(IllFormedError::UnmatchedEndTag(found)) => {
            format!("</{}> ends what never began", name(found))
        }
        quick_xml::Error::IllFormed(IllFormedError::UnclosedReference) => {
            "a bare &, or an entity without ;".into()
        }
        quick_xml::Error::Syntax(SyntaxError::UnclosedTag) => "the document ends inside a tag".into(),
        quick_xml::Error::Syntax(_) => "the document ends inside markup, or has markup that is no XML".into(),
        _ => "not well-formed XML".into(),
    }
}

fn name(text: &str) -> String {
    one_line(text, 40)
}

fn first_tag(text: &str) -> usize {
    text.find(['<', '{']).unwrap_or(0)
}

/// What a document that is no feed is instead.
fn kind(text: &str) -> String {
    match root(text) {
        Some(name) => format!("the document is <{name}>, not a feed"),
        None => "the document is empty, or is not a feed".to_owned(),
    }
}

/// The first tag's name.
fn root(text: &str) -> Option<String> {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => return Some(name(tag.name().as_ref())),
            Ok(Event::Eof) | Err(_) => return None,
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
        let text =
            rss("<item><title>A</title></item>\n<item><title>B</i></item>\n<item><title>C</title></item>");
        insta::assert_snapshot!(read(&text), @r"
                [A, C] whole: false
                the document is broken at line 3, column 15: </i> ends what began as <title>; read item by item
                1 item is not readable
                ");
    }

    #[test]
    fn a_web_page_is_not_an_empty_feed() {
        insta::assert_snapshot!(read("<html>\n<body>Please log in</body></html>"), @"line 1, column 1: the document is <html>, not a feed");
        insta::assert_snapshot!(read("<html>\n<body>Please <br> log in</body></html>"), @"line 1, column 1: the document is <html>, not a feed");
        insta::assert_snapshot!(read("Please log in"), @"line 1, column 1: the document is empty, or is not a feed");
        insta::assert_snapshot!(read(""), @"line 1, column 1: the document is empty, or is not a feed");
    }

    #[test]
    fn a_cut_document_without_a_whole_item_is_an_error_with_a_place() {
        insta::assert_snapshot!(read("<rss version=\"2.0\"><channel>\n <item><title>On"), @"line 2, column 17: the document ends inside <title>");
    }

    #[test]
    fn an_empty_feed_is_empty() {
        insta::assert_snapshot!(read(&rss("")), @"[] whole: true");
    }

    #[test]
    fn entities_are_not_expanded() {
        let bomb = format!(
            "<!DOCTYPE r [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY x SYSTEM \"file:///etc/passwd\">]>{}",
            rss("<item><title>&b;&x;</title></item>")
        );
        insta::assert_snapshot!(read(&bomb), @"[&b;&x;] whole: true");
    }

    #[test]
    fn json_feeds_too() {
        let good = r#"{"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [{"id": "1", "title": "A"}]}"#;
        insta::assert_snapshot!(read(good), @"[A] whole: true");
        let number = good.replace("\"1\",", "1,");
        insta::assert_snapshot!(read(&number), @r"
        [A] whole: true
        the document is broken at line 1, column 81: a member of the feed has an unexpected type, or is missing; read item by item
        ");
        insta::assert_snapshot!(read(&good.replace("]}", ", {\"id\"")), @r"
        [A] whole: false
        the document is broken at line 1, column 104: the document ends too early; read item by item
        1 item is cut off or torn
        ");
        insta::assert_snapshot!(read("{\"message\":\n \"not found\"}"), @"line 2, column 13: a member of the feed has an unexpected type, or is missing");
    }

    #[test]
    fn rss_1_and_atom_are_recovered_too() {
        let rdf = "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"http://purl.org/rss/1.0/\">\
                   <item><title>A</title><link>https://example.org/a</link></item><item><title>B";
        insta::assert_snapshot!(read(rdf), @r"
        [A] whole: false
        the document is broken at line 1, column 176: the document ends inside <title>; read item by item
        1 item is cut off or torn
        ");
        let atom =
            "<feed xmlns=\"http://www.w3.org/2005/Atom\"><entry><title>A</title></entry><entry><title>B";
        insta::assert_snapshot!(read(atom), @r"
        [A] whole: false
        the document is broken at line 1, column 89: the document ends inside <title>; read item by item
        1 item is cut off or torn
        ");
    }

    #[test]
    fn items_that_the_parser_passes_over_are_not_nothing() {
        let other =
            "<rss version=\"2.0\" xmlns=\"urn:other\"><channel><item><title>A</title></item></channel></rss>";
        insta::assert_snapshot!(read(other), @"line 1, column 1: none of its 1 items can be read: no link, or an unknown namespace");
        let old = "<rss version=\"0.91\"><channel><item><title>A</title></item>\
                   <item><title>B</title><link>https://example.org/b</link></item></channel></rss>";
        insta::assert_snapshot!(read(old), @"[A, B] whole: true");
    }

    #[test]
    fn hostile_documents_take_little_time() {
        for text in [
            "&".repeat(200_000),
            "<item ".repeat(50_000),
            "<item>".repeat(50_000),
            rss(&"<b>".repeat(50_000)),
        ] {
            assert!(document(text.as_bytes(), None, None).is_err() || text.starts_with("<rss"));
        }
    }
}
