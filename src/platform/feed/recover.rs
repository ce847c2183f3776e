//! Item by item: what can be read of a document that cannot be read as a whole. Each whole item is put into a
//! document of its own.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::model::limits;

/// Documents of one item each, and how many items were seen that are not whole.
#[derive(Debug, Default)]
pub struct Pieces {
    /// In the order of the source.
    pub documents: Vec<String>,
    /// Begun but not ended: cut off, or torn by broken markup.
    pub torn: usize,
}

/// The whole `<item>`s or `<entry>`s of an XML feed.
#[must_use]
pub fn xml(text: &str) -> Pieces {
    let mut pieces = Pieces::default();
    let scan = scan(text);
    let Some(root) = scan.root else { return pieces };
    let Some(tag) = text.get(root).filter(|tag| tag.len() <= limits::FEED_ROOT_BYTES_MAX) else {
        return pieces;
    };
    let name =
        tag.trim_start_matches('<').split(|c: char| c.is_whitespace() || c == '>').next().unwrap_or_default();
    let (open, close) = if name == "rss" { ("<channel>", "</channel>") } else { ("", "") };
    pieces.torn = scan.torn;
    for range in scan.items.into_iter().take(limits::FEED_ITEMS_MAX) {
        if let Some(item) = text.get(range) {
            pieces.documents.push(format!("{tag}{open}{item}{close}</{name}>"));
        }
    }
    pieces
}

#[derive(Default)]
struct Scan {
    root: Option<Range<usize>>,
    items: Vec<Range<usize>>,
    torn: usize,
}

fn scan(text: &str) -> Scan {
    let mut scan = Scan::default();
    let mut from = 0;
    // Each round begins behind the place where the last one failed, and may read to the end to find that out.
    for _ in 0..limits::FEED_TEARS_MAX {
        let Some(rest) = text.get(from..) else { break };
        let mut reader = Reader::from_str(rest);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        let mut open: Option<usize> = None;
        let failed_at = loop {
            let start = from + offset(reader.buffer_position());
            match reader.read_event() {
                Ok(Event::Start(tag)) => {
                    let end = from + offset(reader.buffer_position());
                    if scan.root.is_none() {
                        scan.root = Some(start..end);
                    } else if is_item(tag.name().as_ref()) {
                        // An item inside an item: the outer one has lost its end.
                        scan.torn += usize::from(open.is_some());
                        open = Some(start);
                    }
                }
                Ok(Event::End(tag)) if is_item(tag.name().as_ref()) => {
                    if let Some(start) = open.take() {
                        scan.items.push(start..from + offset(reader.buffer_position()));
                    }
                }
                Ok(Event::Eof) => break None,
                Ok(_) => {}
                Err(_) => break Some(from + offset(reader.error_position())),
            }
        };
        scan.torn += usize::from(open.is_some());
        let Some(at) = failed_at.filter(|_| scan.root.is_some()) else { break };
        // At least one byte on, so that this ends.
        let at = text.ceil_char_boundary(at.max(from) + 1);
        let Some(next) = text.get(at..).and_then(next_item) else { break };
        from = at + next;
    }
    scan
}

fn offset(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

fn is_item(name: &str) -> bool {
    matches!(name, "item" | "entry")
}

fn next_item(text: &str) -> Option<usize> {
    text.match_indices('<').map(|(at, _)| at).find(|at| {
        let tag = text.get(at + 1..).unwrap_or_default();
        let after = tag.strip_prefix("item").or_else(|| tag.strip_prefix("entry"));
        after.and_then(|rest| rest.chars().next()).is_some_and(|c| c == '>' || c.is_whitespace())
    })
}

/// The whole members of the `items` of a JSON feed; ids that are numbers become text.
#[must_use]
pub fn json(text: &str) -> Pieces {
    let mut pieces = Pieces::default();
    let Some(mut rest) =
        text.split_once("\"items\"").and_then(|(_, rest)| rest.split_once('[')).map(|(_, rest)| rest)
    else {
        return pieces;
    };
    while pieces.documents.len() < limits::FEED_ITEMS_MAX {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if rest.is_empty() || rest.starts_with(']') {
            break;
        }
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<serde_json::Value>();
        let Some(Ok(mut item)) = stream.next() else {
            pieces.torn += 1;
            break;
        };
        rest = rest.get(stream.byte_offset()..).unwrap_or_default();
        if let Some(id) = item.get_mut("id").filter(|id| id.is_number()) {
            *id = serde_json::Value::String(id.to_string());
        }
        let whole = serde_json::json!({
            "version": "https://jsonfeed.org/version/1.1", "title": "", "items": [item],
        });
        pieces.documents.push(whole.to_string());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &Pieces, count: usize, torn: usize) {
        assert_eq!((pieces.documents.len(), pieces.torn), (count, torn), "{pieces:#?}");
    }

    #[test]
    fn a_cut_document_keeps_its_whole_items() {
        let pieces =
            xml("<rss version='2.0'><channel><title>t</title><item>1</item><item>2</item><item><tit");
        check(&pieces, 2, 1);
        assert_eq!(pieces.documents[1], "<rss version='2.0'><channel><item>2</item></channel></rss>");
    }

    #[test]
    fn one_torn_item_does_not_take_the_others() {
        check(&xml("<feed><entry>1</entry><entry><b <i></entry><entry>3</entry></feed>"), 3, 0);
        check(&xml("<feed><entry>1</entry><entry>no end<entry>3</entry></feed>"), 2, 1);
    }

    #[test]
    fn a_huge_root_is_not_multiplied() {
        check(&xml(&format!("<rss a='{}'><channel><item/></channel></rss>", "x".repeat(5000))), 0, 0);
    }

    #[test]
    fn a_cut_json_feed_keeps_its_whole_items() {
        let pieces =
            json(r#"{"version": "https://jsonfeed.org/version/1", "items": [{"id": 7}, {"id": "b"}, {"id"#);
        check(&pieces, 2, 1);
        assert!(pieces.documents[0].contains(r#""id":"7""#), "{pieces:?}");
    }

    #[test]
    fn no_feed_no_pieces() {
        check(&xml("<html><body>sorry"), 0, 0);
        check(&xml(""), 0, 0);
        check(&json("{}"), 0, 0);
    }
}
