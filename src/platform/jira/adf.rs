//! The Atlassian Document Format: a tree of nodes in JSON, both ways.
//!
//! To text it is read as Markdown would be written, with every unknown node standing for what it holds. From Markdown a
//! subset is made that every product takes.

use serde_json::{Map, Value, json};

use super::inline::Span;
use super::markdown::Block;
use crate::model::item::HiddenPart;
use crate::platform::hygiene::{HiddenParts, text::hidden_in_text};
use crate::platform::json;

/// What a document says.
#[derive(Debug, Default, PartialEq)]
pub struct Read {
    /// Readable text.
    pub text: String,
    /// What a reader would not see.
    pub hidden: Vec<HiddenPart>,
    /// The account ids that it calls.
    pub mentions: Vec<String>,
}

/// Reads a document; a plain text (older interfaces, wiki markup) stands for itself.
#[must_use]
pub fn to_text(value: &Value) -> Read {
    let mut writer = Writer::default();
    match value {
        Value::String(text) => writer.out.push_str(text),
        value => writer.block(value, ""),
    }
    let (text, characters) = hidden_in_text(&writer.out);
    let mut hidden = writer.hidden;
    hidden.extend(characters);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    Read {
        text: lines.join("\n").trim_matches('\n').to_owned(),
        hidden: hidden.finish(),
        mentions: writer.mentions,
    }
}

#[derive(Default)]
struct Writer {
    out: String,
    hidden: HiddenParts,
    mentions: Vec<String>,
}

impl Writer {
    /// Ends a line that was begun, and leaves one empty.
    fn gap(&mut self, prefix: &str) {
        if !self.out.is_empty() {
            self.line();
            if !self.out.ends_with("\n\n") && prefix.is_empty() {
                self.out.push('\n');
            }
        }
    }

    fn line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// A node that stands on lines of its own; each begins with `prefix`.
    fn block(&mut self, node: &Value, prefix: &str) {
        let content = json::list(node, "/content");
        match json::text_or_empty(node, "/type") {
            "heading" => {
                let level = json::number(node, "/attrs/level").unwrap_or(1).clamp(1, 6);
                self.gap(prefix);
                self.start(prefix);
                self.out.push_str(&"#".repeat(usize::try_from(level).unwrap_or(1)));
                self.out.push(' ');
                self.inline(content, prefix);
            }
            "paragraph" | "caption" => {
                self.gap(prefix);
                self.start(prefix);
                self.inline(content, prefix);
            }
            "codeBlock" => {
                self.gap(prefix);
                self.start(prefix);
                self.out.push_str("```");
                self.out.push_str(json::text_or_empty(node, "/attrs/language"));
                let code: String = content.iter().map(|text| json::text_or_empty(text, "/text")).collect();
                for line in code.lines().chain(["```"]) {
                    self.line();
                    self.start(prefix);
                    self.out.push_str(line);
                }
            }
            "rule" => {
                self.gap(prefix);
                self.start(prefix);
                self.out.push_str("---");
            }
            "blockquote" => {
                self.gap(prefix);
                self.all(content, &format!("{prefix}> "));
            }
            "bulletList" | "orderedList" | "taskList" | "decisionList" => self.list(node, prefix),
            "table" => {
                self.gap(prefix);
                for row in content {
                    self.line();
                    self.start(prefix);
                    self.out.push('|');
                    for cell in json::list(row, "/content") {
                        let read =
                            to_text(&json!({ "type": "doc", "content": json::list(cell, "/content") }));
                        self.out.push_str(&format!(" {} |", read.text.replace('\n', " ")));
                        self.hidden.extend(read.hidden);
                        self.mentions.extend(read.mentions);
                    }
                }
            }
            "expand" | "nestedExpand" => {
                self.gap(prefix);
                self.start(prefix);
                self.out.push_str(&format!("[{}]", json::text_or_empty(node, "/attrs/title")));
                self.all(content, prefix);
            }
            "media" | "mediaInline" => {
                self.line();
                self.start(prefix);
                let name =
                    json::text(node, "/attrs/alt").or(json::text(node, "/attrs/url")).unwrap_or("a file");
                self.out.push_str(&format!("[attached: {name}]"));
            }
            "blockCard" | "embedCard" => {
                self.gap(prefix);
                self.start(prefix);
                self.out.push_str(json::text_or_empty(node, "/attrs/url"));
            }
            "text" | "mention" | "emoji" | "hardBreak" | "inlineCard" | "date" | "status" => {
                self.inline(std::slice::from_ref(node), prefix);
            }
            _ => {
                self.gap(prefix);
                self.all(content, prefix);
            }
        }
    }

    fn all(&mut self, nodes: &[Value], prefix: &str) {
        nodes.iter().for_each(|node| self.block(node, prefix));
    }

    fn start(&mut self, prefix: &str) {
        if self.out.is_empty() || self.out.ends_with('\n') {
            self.out.push_str(prefix);
        }
    }

    fn list(&mut self, node: &Value, prefix: &str) {
        if !prefix.ends_with("  ") {
            self.gap(prefix);
        }
        let first = json::number(node, "/attrs/order").unwrap_or(1);
        let ordered = json::text(node, "/type") == Some("orderedList");
        for (number, item) in (first..).zip(json::list(node, "/content")) {
            let kind = json::text_or_empty(item, "/type");
            if matches!(kind, "taskList" | "bulletList" | "orderedList") {
                self.list(item, &format!("{prefix}  "));
                continue;
            }
            let mark = match (ordered, json::text(item, "/attrs/state")) {
                (true, _) => format!("{number}. "),
                (false, Some("DONE")) => "- [x] ".to_owned(),
                (false, Some("TODO")) => "- [ ] ".to_owned(),
                _ => "- ".to_owned(),
            };
            self.line();
            self.out.push_str(prefix);
            self.out.push_str(&mark);
            let inner = format!("{prefix}{}", " ".repeat(mark.len()));
            let content = json::list(item, "/content");
            for (nth, part) in content.iter().enumerate() {
                let is_text = matches!(json::text_or_empty(part, "/type"), "paragraph" | "text" | "mention");
                match (nth, is_text) {
                    (0, _) if json::text(part, "/type") == Some("paragraph") => {
                        self.inline(json::list(part, "/content"), &inner);
                    }
                    (_, true) if json::text(part, "/type") != Some("paragraph") => {
                        self.inline(std::slice::from_ref(part), &inner);
                    }
                    _ => self.block(part, &inner),
                }
            }
        }
    }

    fn inline(&mut self, nodes: &[Value], prefix: &str) {
        for node in nodes {
            match json::text_or_empty(node, "/type") {
                "text" => self.text(node),
                "hardBreak" => {
                    self.out.push('\n');
                    self.start(prefix);
                }
                "mention" => {
                    let name = json::text_or_empty(node, "/attrs/text").trim_start_matches('@');
                    self.out.push('@');
                    self.out.push_str(if name.is_empty() { "somebody" } else { name });
                    self.mentions.extend(json::text(node, "/attrs/id").map(str::to_owned));
                }
                "emoji" => {
                    let short = json::text(node, "/attrs/shortName");
                    self.out.push_str(json::text(node, "/attrs/text").or(short).unwrap_or_default());
                }
                "date" => {
                    let at = json::number(node, "/attrs/timestamp").and_then(|ms| i64::try_from(ms).ok());
                    let day = at.map(|ms| crate::model::time::Timestamp(ms).to_string());
                    self.out.push_str(day.as_deref().and_then(|day| day.get(..10)).unwrap_or_default());
                }
                "status" => self.out.push_str(&format!("[{}]", json::text_or_empty(node, "/attrs/text"))),
                "inlineCard" => self.out.push_str(json::text_or_empty(node, "/attrs/url")),
                _ if node.get("content").is_some() => self.all(json::list(node, "/content"), prefix),
                // Of a kind not known: what it would show.
                _ => {
                    let shown = json::text(node, "/text").or(json::text(node, "/attrs/text"));
                    self.out.push_str(shown.unwrap_or_default());
                }
            }
        }
    }

    fn text(&mut self, node: &Value) {
        let text = json::text_or_empty(node, "/text");
        let marks = json::list(node, "/marks");
        let has = |kind: &str| marks.iter().find(|mark| json::text(mark, "/type") == Some(kind));
        let colour =
            has("textColor").map(|mark| json::text_or_empty(mark, "/attrs/color").to_ascii_lowercase());
        if colour.is_some_and(|colour| matches!(colour.as_str(), "#fff" | "#ffffff" | "white")) {
            self.hidden.push("white text", text);
            return;
        }
        let around = [("strong", "**"), ("em", "*"), ("strike", "~~"), ("code", "`")];
        let around: Vec<&str> =
            around.iter().filter(|(kind, _)| has(kind).is_some()).map(|(_, mark)| *mark).collect();
        let inner = text.trim();
        let link =
            has("link").map(|mark| json::text_or_empty(mark, "/attrs/href")).filter(|href| *href != inner);
        if inner.is_empty() || (around.is_empty() && link.is_none()) {
            self.out.push_str(text);
            return;
        }
        // Blanks at the border stay outside of the marks.
        let (start, end) = (text.len() - text.trim_start().len(), text.trim_end().len());
        self.out.push_str(text.get(..start).unwrap_or_default());
        if link.is_some() {
            self.out.push('[');
        }
        self.out.extend(around.iter().copied());
        self.out.push_str(inner);
        self.out.extend(around.iter().rev().copied());
        if let Some(link) = link {
            self.out.push_str(&format!("]({link})"));
        }
        self.out.push_str(text.get(end..).unwrap_or_default());
    }
}

/// A document out of blocks.
#[must_use]
pub fn document(blocks: &[Block]) -> Value {
    json!({ "type": "doc", "version": 1, "content": nodes(blocks) })
}

fn nodes(blocks: &[Block]) -> Vec<Value> {
    blocks.iter().map(node).collect()
}

fn node(block: &Block) -> Value {
    match block {
        Block::Heading(level, spans) => {
            json!({ "type": "heading", "attrs": { "level": level }, "content": texts(spans) })
        }
        Block::Paragraph(spans) => json!({ "type": "paragraph", "content": texts(spans) }),
        Block::Rule => json!({ "type": "rule" }),
        Block::Code { language, text } => {
            let mut node = Map::from_iter([("type".to_owned(), json!("codeBlock"))]);
            if !language.is_empty() {
                node.insert("attrs".to_owned(), json!({ "language": language }));
            }
            if !text.is_empty() {
                node.insert("content".to_owned(), json!([{ "type": "text", "text": text }]));
            }
            Value::Object(node)
        }
        // A quotation holds no headings, code or quotations: what it says is kept.
        Block::Quote(blocks) => json!({ "type": "blockquote", "content": quoted(blocks) }),
        Block::List { first, items } => {
            let items: Vec<Value> = items.iter().map(|item| listed(item)).collect();
            match first {
                None => json!({ "type": "bulletList", "content": items }),
                Some(1) => json!({ "type": "orderedList", "content": items }),
                Some(first) => {
                    json!({ "type": "orderedList", "attrs": { "order": first }, "content": items })
                }
            }
        }
    }
}

/// A list item begins with a paragraph and holds paragraphs, code and lists.
fn listed(blocks: &[Block]) -> Value {
    let mut content = Vec::new();
    for block in blocks {
        match block {
            Block::Paragraph(_) | Block::Code { .. } | Block::List { .. } => content.push(node(block)),
            other => content.extend(plain(other)),
        }
    }
    if content.first().is_none_or(|first| json::text(first, "/type") != Some("paragraph")) {
        content.insert(0, json!({ "type": "paragraph", "content": [] }));
    }
    json!({ "type": "listItem", "content": content })
}

fn quoted(blocks: &[Block]) -> Vec<Value> {
    let mut content = Vec::new();
    for block in blocks {
        match block {
            Block::Paragraph(_) | Block::List { .. } => content.push(node(block)),
            other => content.extend(plain(other)),
        }
    }
    if content.is_empty() {
        content.push(json!({ "type": "paragraph", "content": [] }));
    }
    content
}

/// As paragraphs.
fn plain(block: &Block) -> Vec<Value> {
    match block {
        Block::Heading(_, spans) => {
            let bold: Vec<Span> =
                spans.iter().map(|span| Span { strong: !span.code, ..span.clone() }).collect();
            vec![json!({ "type": "paragraph", "content": texts(&bold) })]
        }
        Block::Code { text, .. } if !text.is_empty() => {
            let code = Span { text: text.clone(), code: true, ..Span::default() };
            vec![json!({ "type": "paragraph", "content": texts(&[code]) })]
        }
        Block::Quote(blocks) => quoted(blocks),
        Block::Rule | Block::Code { .. } => Vec::new(),
        other => vec![node(other)],
    }
}

fn texts(spans: &[Span]) -> Vec<Value> {
    let mut out = Vec::new();
    for span in spans {
        for (nth, line) in span.text.split('\n').enumerate() {
            if nth > 0 {
                out.push(json!({ "type": "hardBreak" }));
            }
            if line.is_empty() {
                continue;
            }
            let mut marks = Vec::new();
            // Code takes no manner beside it but a link.
            let manners = [
                ("strong", span.strong && !span.code),
                ("em", span.em && !span.code),
                ("strike", span.strike && !span.code),
                ("code", span.code),
            ];
            marks.extend(manners.iter().filter(|(_, on)| *on).map(|(kind, _)| json!({ "type": kind })));
            marks.extend(span.link.as_ref().map(|link| json!({ "type": "link", "attrs": { "href": link } })));
            out.push(if marks.is_empty() {
                json!({ "type": "text", "text": line })
            } else {
                json!({ "type": "text", "text": line, "marks": marks })
            });
        }
    }
    out
}

#[cfg(test)]
mod tests;
