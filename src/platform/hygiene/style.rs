//! The few words of CSS that hide text: in `style` attributes and in simple rules of `style` elements.
//!
//! This is not a CSS engine: it knows declarations by which mail hides text in practice, and rules whose selector is a
//! single tag, class, id, or tag with class. Rules inside `@media` depend on the screen and are left alone.

/// What a style says about being seen; `None` where it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Declared {
    /// Gone with everything in it, and why; `Some(None)`: a `display` that shows.
    pub gone: Option<Option<&'static str>>,
    pub visible: Option<bool>,
    pub size: Option<Size>,
    pub colour: Option<Colour>,
    pub background: Option<Colour>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Zero,
    /// Two pixels or less.
    Tiny,
    Readable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colour {
    Rgb([u8; 3]),
    Transparent,
    /// A picture, a gradient, a name we do not know: no judgement.
    Unknown,
}

impl Colour {
    pub const WHITE: Self = Self::Rgb([255; 3]);
    pub const BLACK: Self = Self::Rgb([0; 3]);

    /// Cannot be told apart by eye.
    pub fn same_as(self, other: Self) -> bool {
        match (self, other) {
            (Self::Rgb(a), Self::Rgb(b)) => a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 8),
            _ => false,
        }
    }

    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Some(digits) = text.strip_prefix('#') {
            return Self::from_hex(digits).unwrap_or(Self::Unknown);
        }
        if let Some(rest) = text.strip_prefix("rgba(").or_else(|| text.strip_prefix("rgb(")) {
            return Self::from_function(rest).unwrap_or(Self::Unknown);
        }
        match text {
            "white" | "snow" | "ivory" => Self::WHITE,
            "black" => Self::BLACK,
            "red" => Self::Rgb([255, 0, 0]),
            "green" => Self::Rgb([0, 128, 0]),
            "blue" => Self::Rgb([0, 0, 255]),
            "gray" | "grey" => Self::Rgb([128; 3]),
            "silver" => Self::Rgb([192; 3]),
            "whitesmoke" => Self::Rgb([245; 3]),
            "transparent" => Self::Transparent,
            _ => Self::Unknown,
        }
    }

    fn from_hex(digits: &str) -> Option<Self> {
        let nibbles = digits
            .chars()
            .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
            .collect::<Option<Vec<_>>>()?;
        match *nibbles.as_slice() {
            [_, _, _, 0] | [_, _, _, _, _, _, 0, 0] => Some(Self::Transparent),
            [r, g, b] | [r, g, b, _] => Some(Self::Rgb([r * 17, g * 17, b * 17])),
            [a, b, c, d, e, f] | [a, b, c, d, e, f, _, _] => {
                Some(Self::Rgb([a * 16 + b, c * 16 + d, e * 16 + f]))
            }
            _ => None,
        }
    }

    fn from_function(rest: &str) -> Option<Self> {
        let numbers = rest
            .trim_end_matches(')')
            .split([',', ' ', '/'])
            .filter(|part| !part.is_empty())
            .map(|part| part.parse::<f32>().ok())
            .collect::<Option<Vec<_>>>()?;
        match *numbers.as_slice() {
            [_, _, _, alpha] if alpha <= 0.02 => Some(Self::Transparent),
            [r, g, b] | [r, g, b, _] => {
                Some(Self::Rgb([r, g, b].map(|channel| channel.clamp(0.0, 255.0) as u8)))
            }
            _ => None,
        }
    }
}

/// Reads the declarations of a `style` attribute or of one rule.
pub(super) fn parse(declarations: &str) -> Declared {
    let text = without_comments(declarations).to_ascii_lowercase();
    let mut declared = Declared::default();
    let (mut flat, mut clipped, mut positioned, mut far) = (false, false, false, false);
    for declaration in text.split(';') {
        let Some((name, value)) = declaration.split_once(':') else { continue };
        let value = value.trim().trim_end_matches("!important").trim();
        match name.trim() {
            "display" => declared.gone = Some((value == "none").then_some("display:none")),
            "opacity" if number(value).is_some_and(|n| n <= 0.02) => declared.gone = Some(Some("opacity:0")),
            "mso-hide" if value == "all" => declared.gone = Some(Some("mso-hide:all")),
            "visibility" => declared.visible = Some(!matches!(value, "hidden" | "collapse")),
            "font-size" => declared.size = size(value),
            "color" => declared.colour = Some(Colour::parse(value)),
            "background-color" => declared.background = Some(Colour::parse(value)),
            "background" => declared.background = Some(background(value)),
            "height" | "max-height" | "width" | "max-width" => flat |= number(value) == Some(0.0),
            "overflow" => clipped = value == "hidden",
            "position" => positioned = matches!(value, "absolute" | "fixed"),
            "left" | "top" | "right" | "bottom" => far |= number(value).is_some_and(|n| n <= -999.0),
            "text-indent" if number(value).is_some_and(|n| n <= -999.0) => {
                declared.gone = Some(Some("moved off the page"));
            }
            _ => {}
        }
    }
    if flat && clipped {
        declared.gone = Some(Some("zero size"));
    }
    if positioned && far {
        declared.gone = Some(Some("moved off the page"));
    }
    declared
}

/// The number in front of a unit.
fn number(value: &str) -> Option<f32> {
    let end = value.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+')).unwrap_or(value.len());
    value.get(..end)?.parse().ok()
}

fn size(value: &str) -> Option<Size> {
    let Some(number) = number(value) else { return Some(Size::Readable) };
    if number <= 0.0 {
        return Some(Size::Zero);
    }
    // A share of the size around it: hidden if that is.
    if value.ends_with('%') || (value.ends_with("em") && !value.ends_with("rem")) {
        return None;
    }
    let pixels = value.ends_with("px") || value.ends_with("pt");
    Some(if pixels && number <= 2.0 { Size::Tiny } else { Size::Readable })
}

fn background(value: &str) -> Colour {
    if value.contains("url(") || value.contains("gradient(") {
        return Colour::Unknown;
    }
    let whole = Colour::parse(value);
    if whole != Colour::Unknown {
        return whole;
    }
    value.split_whitespace().map(Colour::parse).find(|c| *c != Colour::Unknown).unwrap_or(Colour::Unknown)
}

fn without_comments(css: &str) -> String {
    let mut out = String::with_capacity(css.len());
    let mut rest = css;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        rest = after.split_once("*/").map_or("", |(_comment, after)| after);
    }
    out.push_str(rest);
    out
}

/// Rules of `style` elements.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    rules: Vec<(Selector, Declared)>,
}

/// A single tag, class or id, or a tag with a class. An empty part matches all.
#[derive(Debug, Default, PartialEq)]
struct Selector {
    tag: String,
    class: String,
    id: String,
}

/// Every element is matched against every rule; this keeps that linear.
const RULES_MAX: usize = 256;

impl Sheet {
    /// Adds the rules of one `style` element.
    pub fn add(&mut self, css: &str) {
        let css = without_comments(css).to_ascii_lowercase().replace("<!--", "").replace("-->", "");
        let mut rest = css.as_str();
        while let Some(open) = rest.find('{') {
            let (head, after) = rest.split_at(open);
            let head = head.rsplit(';').next().unwrap_or(head).trim();
            let end = block_end(after);
            let block = after.get(1..end).unwrap_or("");
            rest = after.get(end + 1..).unwrap_or("");
            if head.starts_with('@') {
                continue;
            }
            let declared = parse(block);
            if declared == Declared::default() {
                continue;
            }
            for selector in head.split(',').filter_map(Selector::parse) {
                if self.rules.len() < RULES_MAX {
                    self.rules.push((selector, declared));
                }
            }
        }
    }

    /// What the rules say about an element, later rules over earlier ones.
    pub fn look_up(&self, tag: &str, classes: &str, id: &str) -> Declared {
        let mut declared = Declared::default();
        for (selector, said) in &self.rules {
            if selector.matches(tag, classes, id) {
                declared = declared.under(*said);
            }
        }
        declared
    }
}

impl Declared {
    /// These declarations with stronger ones laid over them.
    pub fn under(self, stronger: Self) -> Self {
        Self {
            gone: stronger.gone.or(self.gone),
            visible: stronger.visible.or(self.visible),
            size: stronger.size.or(self.size),
            colour: stronger.colour.or(self.colour),
            background: stronger.background.or(self.background),
        }
    }
}

/// Offset of the brace that closes the block which `text` begins with, or its end.
fn block_end(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}

impl Selector {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || text.contains([' ', '>', '+', '~', ':', '[', '*']) {
            return None;
        }
        let end = text.find(['.', '#']).unwrap_or(text.len());
        let (tag, rest) = text.split_at(end);
        let mut selector = Self { tag: tag.to_owned(), ..Self::default() };
        let name = rest.get(1..).unwrap_or("");
        if name.contains(['.', '#']) {
            return None;
        }
        match rest.chars().next() {
            Some('.') => name.clone_into(&mut selector.class),
            Some('#') => name.clone_into(&mut selector.id),
            _ => {}
        }
        Some(selector)
    }

    fn matches(&self, tag: &str, classes: &str, id: &str) -> bool {
        (self.tag.is_empty() || self.tag == tag)
            && (self.id.is_empty() || self.id.eq_ignore_ascii_case(id))
            && (self.class.is_empty()
                || classes.split_ascii_whitespace().any(|class| self.class.eq_ignore_ascii_case(class)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone(css: &str) -> Option<&'static str> {
        parse(css).gone.flatten()
    }

    #[test]
    fn knows_the_ways_to_be_gone() {
        assert_eq!(gone("display:/* x */none !important"), Some("display:none"));
        assert_eq!(gone("OPACITY: 0.0"), Some("opacity:0"));
        assert_eq!(gone("max-height:0px; overflow:hidden"), Some("zero size"));
        assert_eq!(gone("position:absolute;left:-9999px"), Some("moved off the page"));
        for shown in ["display:block", "opacity:0.5", "max-height:0", "left:-9999px", "", "::;;:", "display"]
        {
            assert_eq!(gone(shown), None, "{shown}");
        }
    }

    #[test]
    fn sizes() {
        let size = |css| parse(css).size;
        assert_eq!(size("font-size:0"), Some(Size::Zero));
        assert_eq!(size("font-size:0.0em"), Some(Size::Zero));
        assert_eq!(size("font-size:1px"), Some(Size::Tiny));
        assert_eq!(size("font-size:small"), Some(Size::Readable));
        assert_eq!(size("font-size:120%"), None);
    }

    #[test]
    fn colours() {
        for white in ["#fff", "#FEFEFE", "white", "rgb(255, 255, 255)", "rgba(255 255 255 / 1)"] {
            assert!(Colour::parse(&white.to_ascii_lowercase()).same_as(Colour::WHITE), "{white}");
        }
        assert_eq!(Colour::parse("rgba(0,0,0,0)"), Colour::Transparent);
        for odd in ["#ff", "rgb(", "#", "var(--x)", "#ggg"] {
            assert_eq!(Colour::parse(odd), Colour::Unknown, "{odd}");
        }
    }

    #[test]
    fn rules_match_simple_selectors_outside_media() {
        let mut sheet = Sheet::default();
        sheet.add("@import 'x'; .gone, p.gone2 {display:none} @media print { .x { display:none } } #id{font-size:0}}}{");
        assert_eq!(sheet.look_up("div", "a gone", "").gone, Some(Some("display:none")));
        assert_eq!(sheet.look_up("p", "gone2", "").gone, Some(Some("display:none")));
        assert_eq!(sheet.look_up("div", "gone2 x", ""), Declared::default());
        assert_eq!(sheet.look_up("div", "", "id").size, Some(Size::Zero));
    }
}
