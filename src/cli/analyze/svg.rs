//! The picture, drawn by us: one self-contained SVG without script, style sheet or anything from elsewhere.

use std::fmt::Write as _;

use super::graph::{Graph, Link, Means, Node, State};
use super::layout::{self, Item, Layout};
use crate::model::drawing::{FONTS, columns, curve, escape, fit, number, width};

const NAME_SIZE: f64 = 12.0;
const NOTE_SIZE: f64 = 10.0;
const NAME_COLUMNS_MAX: usize = 32;
const NOTE_COLUMNS_MAX: usize = 38;
const PADDING: f64 = 10.0;
const BOX_HEIGHT: f64 = 36.0;
const STEP: f64 = 48.0;
/// A link that only passes needs less room than a box.
const PASS_STEP: f64 = 14.0;
const GAP: f64 = 84.0;
const MARGIN: f64 = 24.0;
const HEAD: f64 = 44.0;
const LEGEND_STEP: f64 = 20.0;

/// How a state looks: border, fill, text, dashes.
fn look(state: State) -> (&'static str, &'static str, &'static str, &'static str) {
    match state {
        State::On => ("#2e7d32", "#edf7ee", "#16321a", ""),
        State::Off => ("#9aa0a6", "#f4f5f6", "#5f6368", "4 3"),
        State::Bad => ("#c62828", "#fdecea", "#5c1212", ""),
        State::Missing => ("#c62828", "#ffffff", "#8e1b1b", "2 3"),
    }
}

/// How a link looks: colour, width, dashes.
fn stroke(means: Means) -> (&'static str, &'static str, &'static str) {
    match means {
        Means::Cases => ("#1565c0", "1.8", ""),
        Means::Uses => ("#37474f", "1.2", ""),
        Means::Secret => ("#8d6e63", "1", "1 3"),
        Means::Requires => ("#37474f", "2", "7 3"),
        Means::Wants => ("#607d8b", "1.2", "7 3"),
        Means::PartOf => ("#6a1b9a", "1.2", "8 3 2 3"),
        Means::After => ("#90a4ae", "1.2", "3 3"),
        Means::Conflicts => ("#c62828", "1.6", "5 2"),
    }
}

fn legend(means: Means) -> &'static str {
    match means {
        Means::Cases => "its cases go there",
        Means::Uses => "uses",
        Means::Secret => "reads the secret",
        Means::Requires => "requires",
        Means::Wants => "wants",
        Means::PartOf => "part of",
        Means::After => "starts after",
        Means::Conflicts => "conflicts",
    }
}

/// Draws the graph.
#[must_use]
pub fn draw(graph: &Graph) -> String {
    let columns_of: Vec<usize> = graph.nodes.iter().map(|node| node.column).collect();
    let pairs: Vec<(usize, usize)> = graph.links.iter().map(|link| (link.from, link.to)).collect();
    let layout = layout::place(&columns_of, &pairs, |item| match item {
        Item::Node(_) => STEP,
        Item::Pass(..) => PASS_STEP,
    });
    Picture::new(graph, &layout).text()
}

struct Picture<'a> {
    graph: &'a Graph,
    layout: &'a Layout,
    /// Left edge and width of each column.
    columns: Vec<(f64, f64)>,
    /// The column of each node.
    at: Vec<usize>,
    size: (f64, f64),
}

impl<'a> Picture<'a> {
    fn new(graph: &'a Graph, layout: &'a Layout) -> Self {
        let mut x = MARGIN;
        let mut columns = Vec::new();
        let mut at = vec![0; graph.nodes.len()];
        for (column, items) in layout.columns.iter().enumerate() {
            let mut wide: f64 = 0.0;
            for item in items {
                if let Item::Node(index) = item
                    && let Some(node) = graph.nodes.get(*index)
                {
                    wide = wide.max(box_width(node));
                    if let Some(place) = at.get_mut(*index) {
                        *place = column;
                    }
                }
            }
            columns.push((x, wide));
            x += wide + GAP;
        }
        let bottom = layout.middles.values().copied().fold(0.0, f64::max) + STEP / 2.0;
        // Links within one column bulge to its right.
        let size = ((x - GAP + MARGIN + 40.0).max(520.0), HEAD + bottom + MARGIN);
        Self { graph, layout, columns, at, size }
    }

    fn middle(&self, item: Item) -> f64 {
        HEAD + self.layout.middles.get(&item).copied().unwrap_or_default()
    }

    fn column(&self, index: usize) -> (f64, f64) {
        self.columns.get(index).copied().unwrap_or_default()
    }

    fn text(&self) -> String {
        let mut body = String::new();
        for (index, link) in self.graph.links.iter().enumerate() {
            self.link(index, link, &mut body);
        }
        for (index, node) in self.graph.nodes.iter().enumerate() {
            self.node(index, node, &mut body);
        }
        let (legend, lines) = self.legend();
        let height = self.size.1 + lines as f64 * LEGEND_STEP;
        let (wide, high) = (number(self.size.0), number(height));
        let units = || self.graph.nodes.iter().filter(|node| node.is_unit());
        let count = |state| units().filter(|node| node.state == state).count();
        let bad = count(State::Bad) + count(State::Missing);
        let title =
            format!("workagent units: {} on, {} off, {bad} with errors", count(State::On), count(State::Off));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
             font-family=\"{FONTS}\">\n<title>{title}</title>\n<defs>\n"
        );
        for means in Means::ALL {
            let (colour, ..) = stroke(means);
            let _ = writeln!(
                out,
                "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
                 markerUnits=\"userSpaceOnUse\" orient=\"auto-start-reverse\"><path d=\"M0 0.8 L8 4 L0 7.2 z\" \
                 fill=\"{colour}\"/></marker>",
                means.word()
            );
        }
        let _ = write!(
            out,
            "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<text x=\"{MARGIN}\" y=\"26\" \
             font-size=\"13\" font-weight=\"bold\" fill=\"#202124\">{title}</text>\n{body}{legend}</svg>\n"
        );
        out
    }

    fn node(&self, index: usize, node: &Node, out: &mut String) {
        let (x, wide) = self.column(self.at.get(index).copied().unwrap_or_default());
        let y = self.middle(Item::Node(index)) - BOX_HEIGHT / 2.0;
        let (border, fill, text, dashes) = look(node.state);
        let hover = match &node.why {
            Some(why) => format!("{}: {why}", node.id),
            None => node.id.clone(),
        };
        let _ = write!(
            out,
            "<g><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{BOX_HEIGHT}\" rx=\"5\" fill=\"{fill}\" \
             stroke=\"{border}\" stroke-width=\"1.2\"{}/>",
            escape(&hover),
            number(x),
            number(y),
            number(wide),
            dash(dashes)
        );
        let (name, note) = (fit(&node.id, NAME_COLUMNS_MAX), fit(&node.note, NOTE_COLUMNS_MAX));
        let (left, colour) = (number(x + PADDING), text);
        let _ = writeln!(
            out,
            "<text x=\"{left}\" y=\"{}\" font-size=\"{NAME_SIZE}\" fill=\"{colour}\">{}</text><text x=\"{left}\" \
             y=\"{}\" font-size=\"{NOTE_SIZE}\" fill=\"{colour}\" opacity=\"0.75\">{}</text></g>",
            number(y + 15.0),
            escape(&name),
            number(y + 28.5),
            escape(&note)
        );
    }

    fn link(&self, index: usize, link: &Link, out: &mut String) {
        let place = |node: usize| self.at.get(node).copied().unwrap_or_default();
        let (from, to) = (place(link.from), place(link.to));
        let (first, last) = if from <= to { (link.from, link.to) } else { (link.to, link.from) };
        let (left, right) = (from.min(to), from.max(to));
        let start = self.middle(Item::Node(first));
        let end = self.middle(Item::Node(last));
        let (x, wide) = self.column(left);
        let path = if left == right {
            let bulge = x + wide + 18.0 + (start - end).abs().min(240.0) / 12.0;
            let (edge, bulge) = (number(x + wide), number(bulge));
            let (start, end) = (number(start + 5.0), number(end - 5.0));
            format!("M{edge} {start} C{bulge} {start} {bulge} {end} {edge} {end}")
        } else {
            let mut points = vec![(x + wide, start)];
            for between in left + 1..right {
                let (x, wide) = self.column(between);
                let y = self.middle(Item::Pass(index, between));
                points.extend([(x, y), (x + wide, y)]);
            }
            points.push((self.column(right).0, end));
            curve(&points)
        };
        let (colour, thick, dashes) = stroke(link.means);
        let marker = if from <= to { "marker-end" } else { "marker-start" };
        // Two that exclude each other have no direction.
        let marker = match link.means {
            Means::Conflicts => String::new(),
            means => format!(" {marker}=\"url(#{})\"", means.word()),
        };
        let name = |node: usize| self.graph.nodes.get(node).map_or("", |node| node.id.as_str());
        let _ = writeln!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{thick}\" opacity=\"0.85\"{}{marker}>\
             <title>{}</title></path>",
            dash(dashes),
            escape(&format!("{} {} {}", name(link.from), link.means.word(), name(link.to)))
        );
    }

    /// What is in the picture, and how it looks; how many lines that takes.
    fn legend(&self) -> (String, usize) {
        let mut out = String::new();
        let mut lines = 1;
        let mut x = MARGIN;
        let top = self.size.1 - 4.0;
        let mut next = |room: f64| {
            if x > MARGIN && x + room > self.size.0 - MARGIN {
                x = MARGIN;
                lines += 1;
            }
            let at = (x, top + (lines as f64 - 1.0) * LEGEND_STEP);
            x += room;
            at
        };
        for state in [State::On, State::Off, State::Bad, State::Missing] {
            if !self.graph.nodes.iter().any(|node| node.state == state) {
                continue;
            }
            let word = match state {
                State::Bad => "has errors",
                State::Missing => "not there",
                other => other.word(),
            };
            let (border, fill, _, dashes) = look(state);
            let (at, y) = next(26.0 + width(columns(word), NOTE_SIZE) + 16.0);
            let _ = writeln!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"20\" height=\"12\" rx=\"3\" fill=\"{fill}\" stroke=\"{border}\"{}/>\
                 <text x=\"{}\" y=\"{}\" font-size=\"{NOTE_SIZE}\" fill=\"#202124\">{word}</text>",
                number(at),
                number(y - 10.0),
                dash(dashes),
                number(at + 26.0),
                number(y)
            );
        }
        for means in Means::ALL {
            if !self.graph.links.iter().any(|link| link.means == means) {
                continue;
            }
            let word = legend(means);
            let (colour, thick, dashes) = stroke(means);
            let (at, y) = next(36.0 + width(columns(word), NOTE_SIZE) + 16.0);
            let marker = match means {
                Means::Conflicts => String::new(),
                means => format!(" marker-end=\"url(#{})\"", means.word()),
            };
            let _ = writeln!(
                out,
                "<path d=\"M{} {} h30\" stroke=\"{colour}\" stroke-width=\"{thick}\"{}{marker}/><text x=\"{}\" \
                 y=\"{}\" font-size=\"{NOTE_SIZE}\" fill=\"#202124\">{word}</text>",
                number(at),
                number(y - 4.0),
                dash(dashes),
                number(at + 36.0),
                number(y)
            );
        }
        (out, lines)
    }
}

fn box_width(node: &Node) -> f64 {
    let name = width(columns(&fit(&node.id, NAME_COLUMNS_MAX)), NAME_SIZE);
    let note = width(columns(&fit(&node.note, NOTE_COLUMNS_MAX)), NOTE_SIZE);
    name.max(note) + 2.0 * PADDING
}

fn dash(dashes: &str) -> String {
    if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") }
}

#[cfg(test)]
mod tests {
    use super::super::graph::tests::{HOUSE, compile};
    use super::*;

    #[test]
    fn the_picture_is_whole_and_takes_nothing_from_elsewhere() {
        let text = draw(&Graph::new(&compile(HOUSE)).essential());
        let mut reader = quick_xml::Reader::from_str(&text);
        let mut boxes = 0;
        loop {
            match reader.read_event().unwrap() {
                quick_xml::events::Event::Eof => break,
                quick_xml::events::Event::Start(tag) if tag.name().as_ref() == "g" => boxes += 1,
                _ => {}
            }
        }
        let graph = Graph::new(&compile(HOUSE)).essential();
        assert_eq!(boxes, graph.nodes.len());
        for foreign in ["href", "<script", "@import", "url(http", "<image", "<style"] {
            assert!(!text.contains(foreign), "{foreign}");
        }
    }

    #[test]
    fn texts_fit_their_boxes() {
        let long = "a".repeat(100);
        let node = Node {
            id: format!("{long}.connector"),
            kind: crate::unit::plan::Kind::Connector,
            note: long,
            state: State::On,
            why: None,
            column: 0,
        };
        let wide = box_width(&node);
        assert!(width(NAME_COLUMNS_MAX, NAME_SIZE) + 2.0 * PADDING <= wide + 0.01);
        assert!(wide < 300.0);
    }

    #[test]
    fn an_empty_graph_is_a_picture_too() {
        assert!(draw(&Graph::default()).contains("0 on, 0 off, 0 with errors"));
    }
}
