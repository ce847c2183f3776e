//! Which entries of a feed are the same thing over time.
//!
//! The rule, in order: the entry's own id (RSS `guid`, Atom and JSON `id`) → its link without tracking parameters →
//! its title and day. An entry is known if any of its names is known, so a new id with the old link, or a new link
//! with the old id, is the old entry. A name shared by several entries of one document, and one that is the address
//! of the site itself, names nothing and is not used.

use std::collections::{HashMap, HashSet};

use url::Url;

use crate::model::text::{digest, one_line};

/// Query parameters that only tell where a reader came from.
const TRACKING: &[&str] = &[
    "fbclid",
    "gclid",
    "dclid",
    "msclkid",
    "yclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "xtor",
    "cmpid",
    "wt_mc",
    "wt_zmc",
    "at_medium",
    "at_campaign",
    "ns_source",
    "ns_mchannel",
    "ns_campaign",
    "ns_linkname",
    "_hsenc",
    "_hsmi",
];

/// Longest name kept as it is; longer ones become a digest.
const NAME_BYTES_MAX: usize = 256;

/// What identity looks at.
#[derive(Clone, Debug, Default)]
pub struct Traits {
    /// As given, trimmed; empty if missing.
    pub id: String,
    /// As given; empty if missing.
    pub link: String,
    /// One line.
    pub title: String,
    /// Days since 1970, if dated.
    pub day: Option<i64>,
    /// Of title and text.
    pub content: String,
}

/// Names of one entry, best first; never empty.
pub type Names = Vec<String>;

/// The names of each entry, `None` for one that repeats an earlier entry of the same document.
#[must_use]
pub fn names(entries: &[Traits], home: Option<&str>) -> Vec<Option<Names>> {
    let home = home.map(place);
    let named: Vec<[Option<String>; 2]> =
        entries.iter().map(|entry| strong_names(entry, home.as_deref())).collect();
    let repeats = repeats(entries, &named);
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for (names, repeat) in named.iter().zip(&repeats) {
        for name in names.iter().flatten().filter(|_| !repeat) {
            *uses.entry(name).or_default() += 1;
        }
    }
    let mut taken = HashSet::new();
    let mut all = Vec::with_capacity(entries.len());
    for ((entry, names), repeat) in entries.iter().zip(&named).zip(&repeats) {
        if *repeat {
            all.push(None);
            continue;
        }
        let mut own: Names =
            names.iter().flatten().filter(|name| uses.get(name.as_str()) == Some(&1)).cloned().collect();
        if own.is_empty() {
            own.push(weak_name(entry, &taken));
        }
        taken.extend(own.iter().cloned());
        all.push(Some(own));
    }
    all
}

/// Id and link, as names.
fn strong_names(entry: &Traits, home: Option<&str>) -> [Option<String>; 2] {
    let mut id = None;
    if !entry.id.is_empty() {
        // Many ids are addresses, and change with the site's scheme or its tracking.
        let text = if is_web(&entry.id) { place(&entry.id) } else { one_line(&entry.id, usize::MAX) };
        id = (!text.is_empty() && Some(text.as_str()) != home).then(|| short("id", &text));
    }
    let mut link = None;
    if is_web(&entry.link) {
        let text = place(&entry.link);
        let root = !text.trim_start_matches('/').contains(['/', '?', '#']);
        link = (!root && Some(text.as_str()) != home).then(|| short("link", &text));
    }
    [id, link]
}

fn weak_name(entry: &Traits, taken: &HashSet<String>) -> String {
    let day = entry.day.map(|day| day.to_string()).unwrap_or_default();
    let by_title = match entry.title.is_empty() {
        true => None,
        false => Some(format!("text:{}", head(&digest(&[entry.title.as_bytes(), day.as_bytes()])))),
    };
    by_title
        .filter(|name| !taken.contains(name))
        .unwrap_or_else(|| format!("text:{}", head(&digest(&[entry.content.as_bytes(), day.as_bytes()]))))
}

/// Entries that say the same as an earlier one: same id with same link, title or content, or nothing to tell them by.
fn repeats(entries: &[Traits], named: &[[Option<String>; 2]]) -> Vec<bool> {
    let mut seen = HashSet::new();
    entries
        .iter()
        .zip(named)
        .map(|(entry, [id, link])| {
            let marks = match (id, link) {
                (Some(id), Some(link)) => {
                    vec![(id.as_str(), link.as_str()), (id.as_str(), entry.title.as_str())]
                }
                (Some(id), None) => {
                    vec![(id.as_str(), entry.title.as_str()), (id.as_str(), entry.content.as_str())]
                }
                (None, Some(link)) => vec![(link.as_str(), entry.title.as_str())],
                (None, None) => vec![("", entry.content.as_str())],
            };
            let repeat = marks.iter().any(|mark| seen.contains(mark));
            seen.extend(marks);
            repeat
        })
        .collect()
}

fn is_web(text: &str) -> bool {
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    lower.starts_with("http://") || lower.starts_with("https://")
}

/// The address without scheme, tracking and trailing slash: `//example.org/a?n=1`.
#[must_use]
pub fn place(address: &str) -> String {
    let Ok(url) = Url::parse(address.trim()) else { return one_line(address, usize::MAX) };
    let mut text = format!("//{}", url.host_str().unwrap_or_default());
    if let Some(port) = url.port() {
        text.push_str(&format!(":{port}"));
    }
    text.push_str(url.path().trim_end_matches('/'));
    let kept = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        !name.is_empty() && !name.starts_with("utm_") && !TRACKING.contains(&name.as_str())
    };
    let query = url.query().unwrap_or_default().split('&').filter(kept).collect::<Vec<_>>();
    if !query.is_empty() {
        text.push('?');
        text.push_str(&query.join("&"));
    }
    if let Some(fragment) = url.fragment().filter(|fragment| kept(fragment)) {
        text.push('#');
        text.push_str(fragment);
    }
    text
}

fn short(kind: &str, text: &str) -> String {
    if text.len() <= NAME_BYTES_MAX {
        format!("{kind}:{text}")
    } else {
        format!("{kind}#{}", head(&digest(&[text.as_bytes()])))
    }
}

/// 128 bits of a digest.
fn head(digest: &str) -> &str {
    digest.get(..32).unwrap_or(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, link: &str, title: &str) -> Traits {
        Traits {
            id: id.into(),
            link: link.into(),
            title: title.into(),
            day: Some(20_787),
            content: title.into(),
        }
    }

    fn check(entries: &[Traits], expected: &[&[&str]]) {
        let shown: Vec<Vec<String>> =
            names(entries, Some("https://example.org/")).into_iter().map(Option::unwrap_or_default).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn id_then_link() {
        check(
            &[entry("n-1", "https://example.org/a", "A"), entry("", "https://example.org/b", "B")],
            &[&["id:n-1", "link://example.org/a"], &["link://example.org/b"]],
        );
    }

    #[test]
    fn scheme_and_tracking_do_not_count() {
        let link = "https://example.org/a/?utm_source=rss&n=1&fbclid=x#utm_medium=feed";
        check(
            &[entry("http://example.org/a?n=1", link, "A")],
            &[&["id://example.org/a?n=1", "link://example.org/a?n=1"]],
        );
    }

    #[test]
    fn a_shared_id_and_the_home_page_name_nothing() {
        let home = "http://example.org";
        check(
            &[
                entry(home, "https://example.org/a", "A"),
                entry("same", "https://example.org/b", "B"),
                entry("same", "https://example.org/c", "C"),
                entry("d", home, "D"),
            ],
            &[&["link://example.org/a"], &["link://example.org/b"], &["link://example.org/c"], &["id:d"]],
        );
    }

    #[test]
    fn title_and_day_when_there_is_nothing_else() {
        let named = names(&[entry("", "", "A"), entry("", "", "B")], None);
        let [Some(a), Some(b)] = named.as_slice() else { panic!("{named:?}") };
        assert!(a[0].starts_with("text:") && a.len() == 1 && a != b);
        let again = names(&[entry("", "", "B"), entry("", "", "A")], None);
        assert_eq!(again, [Some(b.clone()), Some(a.clone())]);
    }

    #[test]
    fn same_title_and_day_with_other_text_are_two() {
        let mut other = entry("", "", "Daily note");
        other.content = "other".into();
        let named = names(&[entry("", "", "Daily note"), other], None);
        assert!(named[1].is_some() && named[0] != named[1]);
    }

    #[test]
    fn the_same_entry_twice_is_one() {
        let a = entry("n-1", "https://example.org/a", "A");
        check(&[a.clone(), a], &[&["id:n-1", "link://example.org/a"], &[]]);
    }

    #[test]
    fn two_articles_under_one_link_are_two() {
        check(
            &[entry("1", "https://example.org/log", "A"), entry("2", "https://example.org/log", "B")],
            &[&["id:1"], &["id:2"]],
        );
    }

    #[test]
    fn a_huge_id_is_cut_down() {
        let named = names(&[entry(&"x".repeat(10_000), "", "A")], None);
        assert_eq!(named[0].as_ref().map(|names| names[0].len()), Some(35));
    }
}
