//! WebDAV's XML as a small tree, and multistatus answers out of it. Tolerant: what is not understood is left out.

use quick_xml::NsReader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;

use crate::model::limits;

/// `DAV:`.
pub const DAV: &str = "DAV:";
/// CalDAV.
pub const CAL: &str = "urn:ietf:params:xml:ns:caldav";
/// Of `getctag`.
pub const CS: &str = "http://calendarserver.org/ns/";

/// An element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Its namespace; empty where it has none.
    pub ns: String,
    /// Its local name.
    pub name: String,
    /// The text directly in it.
    pub text: String,
    /// The attribute `name`, which says what a component set lists.
    pub named: String,
    /// The elements in it.
    pub children: Vec<Self>,
}

impl Node {
    /// The document's root, or `None` if the text is no XML, nests too deep or has too many elements.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut reader = NsReader::from_str(text);
        let mut open: Vec<Self> = Vec::new();
        let mut elements = 0usize;
        loop {
            let (namespace, event) = reader.read_resolved_event().ok()?;
            let ns = match namespace {
                ResolveResult::Bound(namespace) => namespace.as_ref().to_owned(),
                _ => String::new(),
            };
            match event {
                Event::Start(start) => {
                    elements += 1;
                    if elements > limits::DAV_ELEMENTS_MAX || open.len() >= limits::DAV_DEPTH_MAX {
                        return None;
                    }
                    open.push(Self::of(&start, ns));
                }
                Event::Empty(start) => {
                    elements += 1;
                    if elements > limits::DAV_ELEMENTS_MAX {
                        return None;
                    }
                    let node = Self::of(&start, ns);
                    match open.last_mut() {
                        Some(parent) => parent.children.push(node),
                        None => return Some(node),
                    }
                }
                Event::End(_) => {
                    let node = open.pop()?;
                    match open.last_mut() {
                        Some(parent) => parent.children.push(node),
                        None => return Some(node),
                    }
                }
                Event::Text(text) => {
                    if let Some(node) = open.last_mut() {
                        node.text.push_str(&text.xml10_content());
                    }
                }
                Event::CData(text) => {
                    if let Some(node) = open.last_mut() {
                        node.text.push_str(&text.xml10_content());
                    }
                }
                Event::GeneralRef(reference) => {
                    if let Some(node) = open.last_mut() {
                        match reference.resolve_char_ref() {
                            Ok(Some(c)) => node.text.push(c),
                            _ => {
                                node.text.push_str(resolve_predefined_entity(&reference).unwrap_or_default());
                            }
                        }
                    }
                }
                Event::Eof => return None,
                _ => {}
            }
        }
    }

    fn of(start: &BytesStart<'_>, ns: String) -> Self {
        let named = start.try_get_attribute("name").ok().flatten();
        let named = named.map(|named| named.value.as_ref().to_owned()).unwrap_or_default();
        Self { ns, name: start.local_name().as_ref().to_owned(), named, ..Self::default() }
    }

    /// It is this element.
    #[must_use]
    pub fn is(&self, ns: &str, name: &str) -> bool {
        self.ns == ns && self.name == name
    }

    /// The first element of this name directly in it.
    #[must_use]
    pub fn child(&self, ns: &str, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.is(ns, name))
    }

    /// Elements of this name directly in it.
    pub fn all<'a>(&'a self, ns: &'a str, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.is(ns, name))
    }

    /// It or an element anywhere in it has this name.
    #[must_use]
    pub fn holds(&self, ns: &str, name: &str) -> bool {
        self.is(ns, name) || self.children.iter().any(|child| child.holds(ns, name))
    }

    /// The text of an element directly in it, trimmed.
    #[must_use]
    pub fn text_of(&self, ns: &str, name: &str) -> Option<&str> {
        self.child(ns, name).map(|child| child.text.trim()).filter(|text| !text.is_empty())
    }
}

/// One member of a multistatus answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// As the server writes it.
    pub href: String,
    /// The status of the member itself, if it has one: 404 where it is gone, 507 where the list is cut.
    pub status: Option<u16>,
    /// The properties that were found.
    pub props: Node,
}

/// A multistatus answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Multistatus {
    /// In the server's order.
    pub members: Vec<Member>,
    /// The next `sync-token` of a report.
    pub token: Option<String>,
}

impl Multistatus {
    /// Reads one; `None` if it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let root = Node::parse(text).filter(|root| root.is(DAV, "multistatus"))?;
        let token = root.text_of(DAV, "sync-token").map(str::to_owned);
        let members = root.all(DAV, "response").filter_map(|response| {
            let href = response.text_of(DAV, "href")?.to_owned();
            let mut props = Node::default();
            for stat in response.all(DAV, "propstat") {
                let well = stat.text_of(DAV, "status").and_then(code).is_none_or(|code| code / 100 == 2);
                if let (true, Some(found)) = (well, stat.child(DAV, "prop")) {
                    props.children.extend(found.children.iter().cloned());
                }
            }
            Some(Member { href, status: response.text_of(DAV, "status").and_then(code), props })
        });
        Some(Self { members: members.collect(), token })
    }
}

/// `HTTP/1.1 404 Not Found`.
fn code(line: &str) -> Option<u16> {
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Text for the inside of an element.
#[must_use]
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_with_changes_and_removals() {
        let text = "<?xml version='1.0'?><multistatus xmlns=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\">\
            <response><href>/a/b%20c.ics</href><propstat><prop><getetag>\"e&amp;1\"</getetag>\
            <C:calendar-data><![CDATA[BEGIN:X]]></C:calendar-data></prop><status>HTTP/1.1 200 OK</status></propstat>\
            <propstat><prop><displayname>no</displayname></prop><status>HTTP/1.1 404 Not Found</status></propstat>\
            </response><response><href>/a/gone.ics</href><status>HTTP/1.1 404 Not Found</status></response>\
            <response><status>HTTP/1.1 404 Not Found</status></response><sync-token>t&#50;</sync-token></multistatus>";
        let found = Multistatus::parse(text).unwrap();
        assert_eq!(found.token.as_deref(), Some("t2"));
        assert_eq!(found.members.len(), 2);
        assert_eq!(found.members[0].props.text_of(DAV, "getetag"), Some("\"e&1\""));
        assert_eq!(found.members[0].props.text_of(CAL, "calendar-data"), Some("BEGIN:X"));
        assert_eq!(found.members[0].props.text_of(DAV, "displayname"), None);
        assert_eq!(found.members[1].status, Some(404));
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for garbage in
            ["", "<html></html>", "<multistatus xmlns=\"DAV:\"><response>", "{}", "<a:multistatus/>"]
        {
            assert_eq!(Multistatus::parse(garbage), None, "{garbage}");
        }
        let deep = format!("{}{}", "<a>".repeat(5000), "</a>".repeat(5000));
        assert_eq!(Node::parse(&deep), None);
        let bomb = "<!DOCTYPE m [<!ENTITY x \"xxxx\">]><multistatus xmlns=\"DAV:\"><sync-token>&x;1</sync-token></multistatus>";
        assert_eq!(Multistatus::parse(bomb).unwrap().token.as_deref(), Some("1"));
    }
}
