//! Where nodes stand: columns left to right; in each, an order with few crossings (barycentres, kept if better); then
//! heights that pull linked nodes level without overlap. Links over several columns get a place in each between.

use std::collections::BTreeMap;

/// The order found for each column, and how high each item stands.
#[derive(Debug)]
pub struct Layout {
    /// Items of each column, top to bottom.
    pub columns: Vec<Vec<Item>>,
    /// The middle of each item, in the units of the given heights.
    pub middles: BTreeMap<Item, f64>,
}

/// What takes a place in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// A node, by its index.
    Node(usize),
    /// Where a link passes: its index, and the column.
    Pass(usize, usize),
}

/// Sweeps in search of an order with few crossings; more changes little.
const SWEEPS: usize = 16;

/// Rounds of levelling.
const ROUNDS: usize = 12;

/// Places nodes. `columns` says each node's column; links are pairs of nodes; `height` is the room an item needs.
#[must_use]
pub fn place(columns: &[usize], links: &[(usize, usize)], height: impl Fn(Item) -> f64) -> Layout {
    let mut used: Vec<usize> = columns.to_vec();
    used.sort_unstable();
    used.dedup();
    let column = |node: usize| {
        let wanted = columns.get(node).copied().unwrap_or_default();
        used.iter().position(|at| *at == wanted).unwrap_or_default()
    };
    let mut web =
        Web { columns: vec![Vec::new(); used.len()], left: BTreeMap::new(), right: BTreeMap::new() };
    for node in 0..columns.len() {
        web.put(column(node), Item::Node(node));
    }
    for (index, (from, to)) in links.iter().enumerate() {
        let (first, last) = if column(*from) <= column(*to) { (*from, *to) } else { (*to, *from) };
        if column(first) == column(last) {
            continue;
        }
        let mut before = Item::Node(first);
        for between in column(first) + 1..column(last) {
            let pass = Item::Pass(index, between);
            web.put(between, pass);
            web.join(before, pass);
            before = pass;
        }
        web.join(before, Item::Node(last));
    }
    web.order();
    let middles = web.heights(&height);
    Layout { columns: web.columns, middles }
}

struct Web {
    columns: Vec<Vec<Item>>,
    left: BTreeMap<Item, Vec<Item>>,
    right: BTreeMap<Item, Vec<Item>>,
}

impl Web {
    fn put(&mut self, column: usize, item: Item) {
        if let Some(items) = self.columns.get_mut(column) {
            items.push(item);
        }
    }

    fn join(&mut self, left: Item, right: Item) {
        self.right.entry(left).or_default().push(right);
        self.left.entry(right).or_default().push(left);
    }

    /// Sweeps to and fro, each time by the mean place of the neighbours on one side; the best order seen wins.
    fn order(&mut self) {
        let mut best = (self.crossings(), self.columns.clone());
        for sweep in 0..SWEEPS {
            let rightwards = sweep % 2 == 0;
            let count = self.columns.len();
            for step in 1..count {
                let at = if rightwards { step } else { count - 1 - step };
                self.sort(at, rightwards);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.columns.clone());
            }
        }
        self.columns = best.1;
    }

    fn sort(&mut self, column: usize, by_left: bool) {
        let beside = if by_left { column.checked_sub(1) } else { Some(column + 1) };
        let places = places(beside.and_then(|beside| self.columns.get(beside)));
        let neighbours = if by_left { &self.left } else { &self.right };
        let Some(items) = self.columns.get_mut(column) else { return };
        let most = items.len().max(1) as f64;
        let scale = places.len().max(1) as f64 / most;
        let mut keyed: Vec<(f64, Item)> = items
            .iter()
            .enumerate()
            .map(|(at, item)| {
                let near = neighbours.get(item).into_iter().flatten();
                let near: Vec<f64> = near.filter_map(|item| places.get(item)).map(|at| *at as f64).collect();
                (mean(&near).unwrap_or(at as f64 * scale), *item)
            })
            .collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        *items = keyed.into_iter().map(|(_, item)| item).collect();
    }

    fn crossings(&self) -> usize {
        self.columns
            .windows(2)
            .map(|pair| match pair {
                [left, right] => self.crossings_between(left, right),
                _ => 0,
            })
            .sum()
    }

    /// Pairs of links in the wrong order, counted with a Fenwick tree: ten thousand links are no trouble.
    fn crossings_between(&self, left: &[Item], right: &[Item]) -> usize {
        let places = places(Some(&right.to_vec()));
        let mut ends: Vec<usize> = Vec::new();
        for item in left {
            let mut own: Vec<usize> = self
                .right
                .get(item)
                .into_iter()
                .flatten()
                .filter_map(|other| places.get(other).copied())
                .collect();
            own.sort_unstable();
            ends.extend(own);
        }
        let mut tree = vec![0_usize; right.len() + 1];
        let mut crossings = 0;
        for (seen, end) in ends.iter().enumerate() {
            let mut at = end + 1;
            let mut not_beyond = 0;
            while at > 0 {
                not_beyond += tree.get(at).copied().unwrap_or_default();
                at &= at - 1;
            }
            crossings += seen - not_beyond;
            let mut at = end + 1;
            while let Some(count) = tree.get_mut(at) {
                *count += 1;
                at += at & at.wrapping_neg();
            }
        }
        crossings
    }

    fn heights(&self, height: &impl Fn(Item) -> f64) -> BTreeMap<Item, f64> {
        let mut middles = BTreeMap::new();
        for items in &self.columns {
            let mut top = 0.0;
            for item in items {
                middles.insert(*item, top + height(*item) / 2.0);
                top += height(*item);
            }
        }
        for round in 0..ROUNDS {
            let mut order: Vec<&Vec<Item>> = self.columns.iter().collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for items in order {
                let wanted: Vec<f64> = items.iter().map(|item| self.wish(*item, &middles)).collect();
                for (item, at) in items.iter().zip(level(items, &wanted, height)) {
                    middles.insert(*item, at);
                }
            }
        }
        let top = self
            .columns
            .iter()
            .filter_map(|items| items.first())
            .filter_map(|item| middles.get(item).map(|middle| middle - height(*item) / 2.0));
        let top = top.fold(f64::INFINITY, f64::min);
        if top.is_finite() {
            middles.values_mut().for_each(|middle| *middle -= top);
        }
        middles
    }

    /// The mean height of all neighbours; where there are none, where it is.
    fn wish(&self, item: Item, middles: &BTreeMap<Item, f64>) -> f64 {
        let near = self.left.get(&item).into_iter().chain(self.right.get(&item)).flatten();
        let near: Vec<f64> = near.filter_map(|item| middles.get(item).copied()).collect();
        mean(&near).unwrap_or_else(|| middles.get(&item).copied().unwrap_or_default())
    }
}

/// As near to the wishes as the order and the heights allow, by least squares: neighbours that want the same room are
/// moved together until nobody does.
fn level(items: &[Item], wanted: &[f64], height: &impl Fn(Item) -> f64) -> Vec<f64> {
    let mut offsets = Vec::new();
    let mut below = 0.0;
    for item in items {
        offsets.push(below + height(*item) / 2.0);
        below += height(*item);
    }
    // Without the offsets, "no overlap" is "never falling".
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (wish, offset) in wanted.iter().zip(&offsets) {
        blocks.push((wish - offset, 1));
        while let [.., (before, before_count), (last, last_count)] = blocks[..] {
            if before <= last {
                break;
            }
            let count = before_count + last_count;
            let together = (before * before_count as f64 + last * last_count as f64) / count as f64;
            blocks.truncate(blocks.len() - 2);
            blocks.push((together, count));
        }
    }
    let starts = blocks.into_iter().flat_map(|(start, count)| std::iter::repeat_n(start, count));
    starts.zip(offsets).map(|(start, offset)| start + offset).collect()
}

fn places(items: Option<&Vec<Item>>) -> BTreeMap<Item, usize> {
    items.into_iter().flatten().enumerate().map(|(at, item)| (*item, at)).collect()
}

fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(layout: &Layout) -> Vec<Vec<usize>> {
        let node = |item: &Item| match item {
            Item::Node(node) => Some(*node),
            Item::Pass(..) => None,
        };
        layout.columns.iter().map(|items| items.iter().filter_map(node).collect()).collect()
    }

    #[test]
    fn links_do_not_cross_where_they_need_not() {
        // Three pairs, the right column given upside down.
        let layout = place(&[0, 0, 0, 1, 1, 1], &[(0, 5), (1, 4), (2, 3)], |_| 10.0);
        let columns = order(&layout);
        assert_eq!(columns[0].len(), 3);
        let straight: Vec<usize> = columns[0].iter().map(|node| 5 - node).collect();
        assert_eq!(columns[1], straight);
        for (left, right) in [(0, 5), (1, 4), (2, 3)] {
            let middle = |node| layout.middles[&Item::Node(node)];
            assert!((middle(left) - middle(right)).abs() < 0.01);
        }
    }

    #[test]
    fn nothing_overlaps_and_the_top_is_the_top() {
        let links: Vec<(usize, usize)> = (0..30).map(|node| (node, 30 + node % 4)).collect();
        let columns: Vec<usize> = (0..34).map(|node| if node < 30 { 1 } else { 7 }).collect();
        let layout = place(&columns, &links, |_| 10.0);
        for items in &layout.columns {
            let middles: Vec<f64> = items.iter().map(|item| layout.middles[item]).collect();
            assert!(middles.windows(2).all(|pair| pair[1] - pair[0] > 9.99), "{middles:?}");
        }
        let top = layout.middles.values().copied().fold(f64::INFINITY, f64::min);
        assert!((top - 5.0).abs() < 0.01);
    }

    #[test]
    fn a_long_link_has_a_place_in_each_column_between() {
        let layout = place(&[0, 1, 2, 3], &[(3, 0), (1, 2)], |_| 10.0);
        assert_eq!(layout.columns[1].len() + layout.columns[2].len(), 4);
        assert!(layout.middles.contains_key(&Item::Pass(0, 1)));
    }

    #[test]
    fn crossings_are_counted() {
        let web = |links: &[(usize, usize)]| {
            let mut web = Web { columns: vec![Vec::new(); 2], left: BTreeMap::new(), right: BTreeMap::new() };
            for node in 0..3 {
                web.put(0, Item::Node(node));
                web.put(1, Item::Node(10 + node));
            }
            links.iter().for_each(|(left, right)| web.join(Item::Node(*left), Item::Node(*right)));
            web.crossings()
        };
        assert_eq!(web(&[(0, 12), (1, 11), (2, 10)]), 3);
        assert_eq!(web(&[(0, 10), (0, 11), (1, 11), (2, 11)]), 0);
        assert_eq!(web(&[(0, 11), (1, 10), (1, 12)]), 1);
    }
}
