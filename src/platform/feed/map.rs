//! Entries of a document to items. Pure.

use feed_rs::model::{Entry, Feed, FeedType};

use super::identity::{self, Names, Traits};
use crate::model::item::{Attachment, Cut, Disposition, HiddenPart, Item, Party, ReplyWay};
use crate::model::limits;
use crate::model::text::{digest, one_line};
use crate::model::time::Timestamp;
use crate::platform::hygiene;

/// An item of a feed with all its names; the first is its key.
#[derive(Debug)]
pub struct Named {
    /// Disposition `Work`; the connector decides.
    pub item: Item,
    /// See [`identity`].
    pub names: Names,
}

/// The entries in the order of the document, repeats left out.
#[must_use]
pub fn items(feed: &Feed, now: Timestamp) -> Vec<Named> {
    let home = feed.links.iter().find(|link| link.rel.as_deref().is_none_or(|rel| rel == "alternate"));
    let read: Vec<(Traits, Item)> = feed.entries.iter().map(|entry| read(entry, feed, now)).collect();
    let traits: Vec<Traits> = read.iter().map(|(traits, _)| traits.clone()).collect();
    let names = identity::names(&traits, home.map(|link| link.href.as_str()));
    read.into_iter()
        .zip(names)
        .filter_map(|((_, mut item), names)| {
            let names = names?;
            let key = names.first()?;
            item.key.clone_from(key);
            // The key too: which of the names is the best changes when an id comes or goes.
            item.identities.clone_from(&names);
            item.threads = vec![key.clone()];
            Some(Named { item, names })
        })
        .collect()
}

fn read(entry: &Entry, feed: &Feed, now: Timestamp) -> (Traits, Item) {
    let (title, mut hidden) = title(entry, feed);
    let (text, hidden_in_body) = body(entry);
    hidden.extend(hidden_in_body);
    hidden.truncate(limits::ITEM_LIST_LEN_MAX);
    let content = digest(&[title.as_bytes(), text.as_bytes()]);
    let at = entry.published.or(entry.updated).map(|at| Timestamp(at.timestamp_millis()));
    let at = at.filter(|at| credible(*at, now));
    let link = link(entry).unwrap_or_default();
    let traits = Traits {
        id: entry.id.trim().to_owned(),
        link: link.clone(),
        title: title.clone(),
        day: at.map(|at| at.0.div_euclid(86_400_000)),
        content: content.clone(),
    };
    let (body, cut) = Cut::to_fit(text);
    let item = Item {
        key: String::new(),
        // Not the date: many feeds stamp every entry anew at every fetch.
        revision: content.get(..32).unwrap_or_default().to_owned(),
        identities: Vec::new(),
        threads: Vec::new(),
        kind: "entry".to_owned(),
        title: if title.is_empty() { "(no title)".to_owned() } else { title },
        author: author(entry, feed),
        at,
        url: Some(one_line(&link, 4096)).filter(|link| !link.is_empty()),
        body,
        hidden,
        attachments: attachments(entry),
        cut,
        labels: labels(entry),
        reply: ReplyWay::Nowhere { reason: "a feed takes no replies".to_owned() },
        offers: Vec::new(),
        disposition: Disposition::Work,
        warnings: Vec::new(),
    };
    (traits, item)
}

fn title(entry: &Entry, feed: &Feed) -> (String, Vec<HiddenPart>) {
    let Some(title) = &entry.title else { return (String::new(), Vec::new()) };
    let text = &title.content;
    // RSS does not say whether a title is HTML, and many hold entities. One with angle brackets stays as it is:
    // taken for tags, `Vec<String>` would lose half of itself.
    let rss = !matches!(feed.feed_type, FeedType::Atom | FeedType::JSON);
    let html = is_html(title.content_type.as_ref()) || (rss && text.contains('&') && !text.contains('<'));
    let (text, hidden) = if html { hygiene::html::to_text(text) } else { hygiene::hidden_in_text(text) };
    (one_line(&text, limits::TITLE_BYTES_MAX), hidden)
}

fn body(entry: &Entry) -> (String, Vec<HiddenPart>) {
    let content = entry.content.as_ref();
    let content =
        content.and_then(|content| Some((content.body.as_deref()?, is_html(content.content_type.as_ref()))));
    let summary =
        entry.summary.as_ref().map(|text| (text.content.as_str(), is_html(text.content_type.as_ref())));
    match content.filter(|(text, _)| !text.trim().is_empty()).or(summary) {
        Some((text, true)) => hygiene::html::to_text(text),
        Some((text, false)) => hygiene::hidden_in_text(text),
        None => (String::new(), Vec::new()),
    }
}

fn is_html(media_type: &str) -> bool {
    matches!(media_type, "text/html" | "application/xhtml+xml")
}

/// The page of the entry: the first alternate. Whatever comes first may be the comments or the audio file.
fn link(entry: &Entry) -> Option<String> {
    let pages = || entry.links.iter().filter(|link| link.rel.as_deref().is_none_or(|rel| rel == "alternate"));
    let is_page = |link: &&feed_rs::model::Link| link.media_type.as_deref().is_none_or(is_html);
    let link = pages().find(is_page).or_else(|| pages().next())?;
    Some(link.href.trim().to_owned())
}

fn author(entry: &Entry, feed: &Feed) -> Option<Party> {
    let by_entry = entry.authors.iter().chain(&feed.authors).next();
    let name = by_entry.and_then(|person| person.name.as_deref());
    let name = name.or(feed.title.as_ref().map(|title| title.content.as_str()));
    let address = by_entry.and_then(|person| person.email.as_deref()).unwrap_or_default();
    let (name, address) = (one_line(name.unwrap_or_default(), 256), one_line(address, 256));
    (!name.is_empty() || !address.is_empty()).then_some(Party { name, address })
}

fn labels(entry: &Entry) -> Vec<String> {
    let all = entry.categories.iter().map(|category| {
        let label = category.label.as_deref().filter(|label| !label.is_empty());
        one_line(label.unwrap_or(&category.term), 128)
    });
    all.filter(|label| !label.is_empty()).take(limits::ITEM_LIST_LEN_MAX).collect()
}

fn attachments(entry: &Entry) -> Vec<Attachment> {
    let media = entry.media.iter().flat_map(|media| &media.content).map(|content| {
        let name = content.url.as_ref().map(|url| url.path()).unwrap_or_default();
        let media_type = content.content_type.as_ref().map(|kind| kind.to_string());
        (name.to_owned(), media_type, content.size)
    });
    let enclosures = entry
        .links
        .iter()
        .filter(|link| link.rel.as_deref() == Some("enclosure") || link.length.is_some())
        .map(|link| (link.href.clone(), link.media_type.clone(), link.length));
    media
        .chain(enclosures)
        .take(limits::ITEM_LIST_LEN_MAX)
        .map(|(path, media_type, size)| Attachment {
            name: one_line(
                path.split(['?', '#']).next().and_then(|path| path.rsplit('/').next()).unwrap_or_default(),
                255,
            ),
            media_type: one_line(&media_type.unwrap_or_default(), 128),
            size_bytes: size.unwrap_or(0),
        })
        .collect()
}

/// Neither the year 1970 of an empty field nor a day far ahead.
fn credible(at: Timestamp, now: Timestamp) -> bool {
    const YEAR_1990: Timestamp = Timestamp(631_152_000_000);
    at > YEAR_1990 && at.0 <= now.0.saturating_add(2 * 86_400_000)
}
