//! What the reader needs to know about HTML's elements.

use html5ever::LocalName;
use html5ever::tokenizer::states::RawKind;

/// How an element lies on the page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Inline,
    Block,
    Paragraph,
    Quote,
    Point,
    Cell,
    Break,
    Rule,
    Image,
}

impl Shape {
    pub fn of(name: &LocalName) -> Self {
        match &**name {
            "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "pre" => Self::Paragraph,
            "blockquote" => Self::Quote,
            "li" => Self::Point,
            "td" | "th" => Self::Cell,
            "br" => Self::Break,
            "hr" => Self::Rule,
            "img" => Self::Image,
            "address" | "article" | "aside" | "body" | "center" | "dd" | "details" | "dialog" | "div"
            | "dl" | "dt" | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "header" | "html"
            | "main" | "nav" | "ol" | "section" | "summary" | "table" | "tbody" | "thead" | "tfoot"
            | "tr" | "ul" | "caption" | "option" => Self::Block,
            _ => Self::Inline,
        }
    }

    pub fn is_block(self) -> bool {
        matches!(self, Self::Block | Self::Paragraph | Self::Quote | Self::Rule)
    }
}

/// Has no content and no end tag.
pub(super) fn is_void(name: &LocalName) -> bool {
    matches!(
        &**name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "source"
            | "track"
            | "wbr"
    )
}

/// How the tokenizer reads the content of elements in which markup means nothing.
pub(super) fn raw_kind(name: &LocalName) -> Option<RawKind> {
    match &**name {
        "script" => Some(RawKind::ScriptData),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => Some(RawKind::Rawtext),
        "title" | "textarea" => Some(RawKind::Rcdata),
        _ => None,
    }
}
