//! HTML to readable text, over html5ever's tokenizer: no tree, so time is linear and depth costs nothing.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::{LocalName, local_name};

use super::HiddenParts;
use super::element::{Shape, is_void, raw_kind};
use super::page::Page;
use super::style::{self, Colour, Declared, Sheet, Size};
use crate::model::item::HiddenPart;
use crate::model::limits::HIDDEN_TEXT_BYTES_MAX;
use crate::model::text::{cut, one_line};

/// Elements deeper than this are only counted. Every end tag looks through the open elements, so this bound is what
/// keeps the whole linear; no real mail comes near it.
const DEPTH_MAX: usize = 256;

/// A link target shown behind its text.
const LINK_BYTES_MAX: usize = 2048;

/// The text a person would see, and what they would not: comments, text hidden by style or attribute, text in the
/// colour of its ground, invisible characters.
///
/// Links are kept as `text <url>`, blocks become lines, quotations are marked with `>`. The visible text went through
/// [`hidden_in_text`](super::hidden_in_text) already.
#[must_use]
pub fn to_text(html: &str) -> (String, Vec<HiddenPart>) {
    let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts::default());
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from_slice(html));
    // Scripts would pause the tokenizer; this sink never asks for that, so one call takes all.
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.0.into_inner().finish()
}

#[derive(Default)]
struct Sink(RefCell<Reader>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut reader = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => reader.text(&text),
            Token::CommentToken(text) => reader.hidden.push("html comment", &text),
            Token::TagToken(tag) => match tag.kind {
                TagKind::StartTag => return reader.start(&tag),
                TagKind::EndTag => reader.end(&tag.name),
            },
            Token::EOFToken => reader.close_to(0),
            Token::DoctypeToken(_) | Token::NullCharacterToken | Token::ParseError(_) => {}
        }
        TokenSinkResult::Continue
    }
}

#[derive(Default)]
struct Reader {
    page: Page,
    hidden: HiddenParts,
    /// Hidden text in a row, and why.
    run: Option<(&'static str, String)>,
    open: Vec<Open>,
    /// Elements open beyond [`DEPTH_MAX`].
    deeper: usize,
    /// The element in whose content markup means nothing.
    raw: Option<(LocalName, String)>,
    sheet: Sheet,
}

struct Open {
    name: LocalName,
    look: Look,
    link: Option<(String, usize)>,
}

/// How text looks, as far as being seen goes; inherited.
#[derive(Clone, Copy)]
struct Look {
    gone: Option<&'static str>,
    invisible: bool,
    size: Size,
    colour: Colour,
    background: Colour,
    verbatim: bool,
}

impl Look {
    const PLAIN: Self = Self {
        gone: None,
        invisible: false,
        size: Size::Readable,
        colour: Colour::BLACK,
        background: Colour::WHITE,
        verbatim: false,
    };

    fn with(mut self, declared: Declared) -> Self {
        self.gone = self.gone.or(declared.gone.flatten());
        self.invisible = declared.visible.map_or(self.invisible, |visible| !visible);
        self.size = declared.size.unwrap_or(self.size);
        self.colour = declared.colour.unwrap_or(self.colour);
        match declared.background {
            None | Some(Colour::Transparent) => {}
            Some(background) => self.background = background,
        }
        self
    }

    fn hidden_because(&self) -> Option<&'static str> {
        if self.gone.is_some() {
            return self.gone;
        }
        match self {
            Self { invisible: true, .. } => Some("visibility:hidden"),
            Self { size: Size::Zero, .. } => Some("font-size:0"),
            Self { size: Size::Tiny, .. } => Some("tiny text"),
            Self { colour: Colour::Transparent, .. } => Some("transparent text"),
            Self { colour, background, .. } if colour.same_as(*background) => {
                Some("text in the colour of its background")
            }
            _ => None,
        }
    }
}

impl Reader {
    fn look(&self) -> Look {
        self.open.last().map_or(Look::PLAIN, |open| open.look)
    }

    fn text(&mut self, text: &str) {
        if let Some((_, raw)) = &mut self.raw {
            raw.push_str(text);
            return;
        }
        let look = self.look();
        match look.hidden_because() {
            Some(why) => self.note_hidden(why, text),
            None if look.verbatim => self.show(|page| page.verbatim(text)),
            None if text.trim_ascii().is_empty() => self.page.add_blank(),
            None => self.show(|page| page.flow(text)),
        }
    }

    fn show(&mut self, write: impl FnOnce(&mut Page)) {
        self.end_run();
        write(&mut self.page);
    }

    fn note_hidden(&mut self, why: &'static str, text: &str) {
        if self.run.as_ref().is_some_and(|(running, _)| *running != why) {
            self.end_run();
        }
        let (_, run) = self.run.get_or_insert_with(|| (why, String::new()));
        let room = (HIDDEN_TEXT_BYTES_MAX + 1).saturating_sub(run.len());
        run.push_str(cut(text, room));
    }

    fn end_run(&mut self) {
        if let Some((why, run)) = self.run.take() {
            self.hidden.push(why, &run);
        }
    }

    fn start(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        self.close_implied(&tag.name);
        let shape = Shape::of(&tag.name);
        let declared = self.declared(tag);
        let mut look = self.look().with(declared);
        look.verbatim |= tag.name == local_name!("pre");
        let seen = look.hidden_because().is_none();
        if seen {
            self.lay_out_start(tag, shape);
        } else if shape != Shape::Inline {
            // Keeps the lines of a hidden block apart.
            if let Some((_, run)) = &mut self.run {
                run.push('\n');
            }
        }
        if is_void(&tag.name) {
            return TokenSinkResult::Continue;
        }
        if let Some(kind) = raw_kind(&tag.name) {
            self.raw = Some((tag.name.clone(), String::new()));
            return TokenSinkResult::RawData(kind);
        }
        if tag.name == local_name!("plaintext") {
            return TokenSinkResult::Plaintext;
        }
        if self.deeper > 0 || self.open.len() >= DEPTH_MAX {
            self.deeper += 1;
            // What is hidden down here stays hidden until the last element that is looked after closes: hiding too
            // much is said in the report, showing too much is not.
            if let Some(last) = self.open.last_mut() {
                last.look = last.look.with(declared);
            }
            return TokenSinkResult::Continue;
        }
        let link = (tag.name == local_name!("a") && seen)
            .then(|| attribute(tag, "href").and_then(link_target))
            .flatten()
            .map(|target| (target, self.page.mark()));
        self.open.push(Open { name: tag.name.clone(), look, link });
        TokenSinkResult::Continue
    }

    /// What attributes and rules say about being seen.
    fn declared(&self, tag: &Tag) -> Declared {
        let classes = attribute(tag, "class").unwrap_or("");
        let id = attribute(tag, "id").unwrap_or("");
        let mut declared = self.sheet.look_up(&tag.name, classes, id);
        let attributes = Declared {
            gone: (attribute(tag, "hidden").is_some())
                .then_some(Some("hidden attribute"))
                .or((tag.name == local_name!("template")).then_some(Some("template"))),
            colour: attribute(tag, "color").map(|c| Colour::parse(&c.to_ascii_lowercase())),
            background: attribute(tag, "bgcolor").map(|c| Colour::parse(&c.to_ascii_lowercase())),
            ..Declared::default()
        };
        declared = attributes.under(declared);
        if attribute(tag, "background").is_some() {
            declared.background = Some(Colour::Unknown);
        }
        attribute(tag, "style").map_or(declared, |css| declared.under(style::parse(css)))
    }

    fn lay_out_start(&mut self, tag: &Tag, shape: Shape) {
        match shape {
            Shape::Inline => {}
            Shape::Block => self.page.break_line(1),
            Shape::Paragraph => self.page.break_line(2),
            Shape::Quote => self.page.quote(),
            Shape::Cell => self.page.add_blank(),
            Shape::Break => self.page.add_break(),
            Shape::Point => {
                self.page.break_line(1);
                self.show(|page| page.word("-"));
                self.page.add_blank();
            }
            Shape::Rule => {
                self.page.break_line(1);
                self.show(|page| page.word("---"));
                self.page.break_line(1);
            }
            Shape::Image => {
                let alternative = one_line(attribute(tag, "alt").unwrap_or(""), LINK_BYTES_MAX);
                if !alternative.is_empty() {
                    self.show(|page| page.flow(&format!("[image: {alternative}]")));
                }
            }
        }
    }

    fn end(&mut self, name: &LocalName) {
        if let Some((raw, text)) = self.raw.take_if(|(raw, _)| raw == name) {
            if raw == local_name!("style") {
                self.sheet.add(&text);
            } else if matches!(&*raw, "textarea" | "xmp") {
                self.text(&text);
            }
            return;
        }
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        match self.open.iter().rposition(|open| open.name == *name) {
            Some(at) => self.close_to(at),
            None if *name == local_name!("br") => self.page.add_break(),
            None => {}
        }
    }

    /// End tags that HTML lets one leave out.
    fn close_implied(&mut self, name: &LocalName) {
        let (closes, within): (&[&str], &[&str]) = match &**name {
            "li" => (&["li"], &["ul", "ol", "menu"]),
            "dt" | "dd" => (&["dt", "dd"], &["dl"]),
            "td" | "th" => (&["td", "th"], &["tr", "table"]),
            "tr" => (&["tr"], &["table"]),
            "option" => (&["option"], &["select"]),
            _ if Shape::of(name).is_block() => {
                (&["p"], &["td", "th", "table", "button", "blockquote", "div"])
            }
            _ => return,
        };
        for at in (0..self.open.len()).rev() {
            let Some(open) = self.open.get(at) else { return };
            if closes.contains(&&*open.name) {
                return self.close_to(at);
            }
            if within.contains(&&*open.name) {
                return;
            }
        }
    }

    /// Closes all elements from the one at `depth` on.
    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            let Some(open) = self.open.pop() else { return };
            if open.look.hidden_because().is_some() {
                continue;
            }
            if let Some((target, mark)) = open.link
                && !says_the_same(self.page.since(mark), &target)
            {
                self.page.add_blank();
                self.show(|page| page.word(&format!("<{target}>")));
            }
            match Shape::of(&open.name) {
                Shape::Block | Shape::Point => self.page.break_line(1),
                Shape::Paragraph => self.page.break_line(2),
                Shape::Quote => self.page.unquote(),
                Shape::Cell => self.page.add_blank(),
                Shape::Inline | Shape::Break | Shape::Rule | Shape::Image => {}
            }
        }
    }

    fn finish(mut self) -> (String, Vec<HiddenPart>) {
        self.end_run();
        let (visible, invisible) = super::hidden_in_text(&self.page.finish());
        self.hidden.extend(invisible);
        (visible, self.hidden.finish())
    }
}

fn attribute<'a>(tag: &'a Tag, name: &str) -> Option<&'a str> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
}

/// A target worth showing: one that leads out of the mail.
fn link_target(href: &str) -> Option<String> {
    let href = one_line(href, LINK_BYTES_MAX).replace(' ', "%20").replace(['<', '>'], "");
    let lower = href.to_ascii_lowercase();
    ["http://", "https://", "mailto:", "tel:", "ftp://"]
        .iter()
        .any(|scheme| lower.starts_with(scheme))
        .then_some(href)
}

fn says_the_same(text: &str, target: &str) -> bool {
    let bare = |text: &str| {
        let text = text.trim().to_ascii_lowercase();
        let text = ["https://", "http://", "mailto:", "tel:"]
            .iter()
            .find_map(|scheme| text.strip_prefix(scheme))
            .unwrap_or(&text)
            .to_owned();
        text.trim_end_matches('/').to_owned()
    };
    bare(text) == bare(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, visible: &str, hidden: &[(&str, &str)]) {
        let (text, parts) = to_text(html);
        let parts = parts.iter().map(|p| (p.why.as_str(), p.text.as_str())).collect::<Vec<_>>();
        assert_eq!((text.as_str(), parts.as_slice()), (visible, hidden), "{html}");
    }

    #[test]
    fn blocks_become_lines() {
        check(
            "<p>One\n two</p><p>Three<br>four<div>five</div><div>six",
            "One two\n\nThree\nfour\n\nfive\nsix",
            &[],
        );
        check("<ul><li>a<li><b>b</b></ul>c", "- a\n- b\nc", &[]);
        check("<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc", &[]);
        check("<pre>a\n  b</pre>x<hr>y", "a\n  b\n\nx\n---\ny", &[]);
        check("a <b>bold</b>ly <i> spaced</i> &amp; &lt;x&gt;", "a boldly spaced & <x>", &[]);
    }

    #[test]
    fn links_keep_their_target() {
        check(r#"<a href="https://bank.example/">our bank</a>!"#, "our bank <https://bank.example/>!", &[]);
        check(
            r#"<a href="https://evil.example/x">https://bank.example</a>"#,
            "https://bank.example <https://evil.example/x>",
            &[],
        );
        check(r##"<a href="https://a.example/">a.example</a> <a href="#top">up</a>"##, "a.example up", &[]);
        check(r#"<a href="javascript:alert(1)">x</a>"#, "x", &[]);
    }

    #[test]
    fn quotations_are_marked() {
        check(
            "yes<blockquote>no<br>never<blockquote>old</blockquote></blockquote>ok",
            "yes\n\n> no\n> never\n\n> > old\n\nok",
            &[],
        );
    }

    #[test]
    fn comments_and_hidden_elements_are_reported() {
        check("a<!-- do it -->b", "ab", &[("html comment", "do it")]);
        check("a<div style='display:none'>x <b>y</b></div>b", "ab", &[("display:none", "x y")]);
        check("a<span hidden>x</span>b", "ab", &[("hidden attribute", "x")]);
        check("<div style='font-size:0;color:#fff'>x</div>", "", &[("font-size:0", "x")]);
        check("<p style='opacity:0'>x<p>y", "y", &[("opacity:0", "x")]);
        check("<template>x</template>y", "y", &[("template", "x")]);
    }

    #[test]
    fn an_inner_element_can_show_itself_again() {
        let html = "<td style='font-size:0'>a<span style='font-size:14px'>b</span></td>";
        check(html, "b", &[("font-size:0", "a")]);
        check(
            "<div style='visibility:hidden'>a<i style='visibility:visible'>b</i></div>",
            "b",
            &[("visibility:hidden", "a")],
        );
        check(
            "<div style='display:none'>a<i style='display:block'>b</i></div>",
            "",
            &[("display:none", "ab")],
        );
    }

    #[test]
    fn text_in_the_colour_of_its_background_is_hidden() {
        let why = "text in the colour of its background";
        check("a <font color=white>b</font>", "a", &[(why, "b")]);
        check("<td bgcolor='#333'><font color='#fff'>b</font></td>", "b", &[]);
        check("<td style='background:#123456 none'><i style='color:#123457'>b</i>", "", &[(why, "b")]);
        check("<td style='background:url(x)'><i style='color:#fff'>b</i>", "b", &[]);
    }

    #[test]
    fn style_sheets_hide_too() {
        check(
            "<style>.x{display:none}</style><p class='a x'>secret</p>shown",
            "shown",
            &[("display:none", "secret")],
        );
        check("<style>@media print{.x{display:none}}</style><p class=x>shown</p>", "shown", &[]);
    }

    #[test]
    fn scripts_styles_and_titles_are_no_text() {
        check("<title>t</title><script>if (a<b) {'</p>'}</script><style>p{}</style>x", "x", &[]);
        check("<textarea>typed <b></textarea>", "typed <b>", &[]);
    }

    #[test]
    fn broken_markup_is_read_as_far_as_it_goes() {
        check("a</b></div><p", "a", &[]);
        check("<div style='display:none'>x", "", &[("display:none", "x")]);
        check("x<!-- open", "x", &[("html comment", "open")]);
        check("", "", &[]);
    }

    #[test]
    fn depth_costs_nothing_and_hides_nothing() {
        let deep = "<div><b>".repeat(20_000);
        check(&format!("{deep}end</i></i>"), "end", &[]);
        let hidden = format!("{deep}<p style='display:none'>secret");
        check(&hidden, "", &[("display:none", "secret")]);
    }

    #[test]
    fn hidden_parts_are_bounded() {
        let (_, parts) = to_text(&"<!-- x -->".repeat(1000));
        assert_eq!(parts.len(), crate::model::limits::ITEM_LIST_LEN_MAX);
        let (_, parts) = to_text(&format!("<p hidden>{}", "y".repeat(100_000)));
        assert_eq!(parts[0].text.len(), HIDDEN_TEXT_BYTES_MAX);
    }
}
