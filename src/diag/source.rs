//! Source files of findings: text, places, and what in them must not be shown.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// A place in a file, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
}

impl Span {
    /// A place; positions beyond 4 GiB (far over the size limit of unit files) become the last one.
    #[must_use]
    pub fn new(source: SourceId, range: &Range<usize>) -> Self {
        let cut = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { source, start: cut(range.start), end: cut(range.end) }
    }

    /// The file as a whole.
    #[must_use]
    pub fn file(source: SourceId) -> Self {
        Self { source, start: 0, end: 0 }
    }

    /// As a range.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One file, or something on the search path that could not be read.
#[derive(Clone, Debug)]
pub struct Source {
    /// As found on the search path.
    pub path: PathBuf,
    /// The text; empty if it could not be read.
    pub text: Arc<str>,
}

/// All files of one compile.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    sources: Vec<Source>,
    secrets: Vec<Span>,
}

impl SourceMap {
    /// Takes a file in.
    pub fn add(&mut self, path: PathBuf, text: Arc<str>) -> SourceId {
        let id = SourceId(u32::try_from(self.sources.len()).unwrap_or(u32::MAX));
        self.sources.push(Source { path, text });
        id
    }

    /// Takes a file in under a number that it had before, so that places found then are still right. Numbers below that
    /// nobody has are files without a path and a text. What is there already keeps its text if this one has none.
    pub fn put(&mut self, id: SourceId, path: &Path, text: &Arc<str>) {
        let at = id.0 as usize;
        if self.sources.len() <= at {
            self.sources.resize(at + 1, Source { path: PathBuf::new(), text: "".into() });
        }
        if let Some(source) = self.sources.get_mut(at) {
            if source.path.as_os_str().is_empty() {
                path.clone_into(&mut source.path);
            }
            if !text.is_empty() {
                source.text = Arc::clone(text);
            }
        }
    }

    /// A file has this number.
    #[must_use]
    pub fn has(&self, id: SourceId) -> bool {
        self.get(id).is_some_and(|source| !source.path.as_os_str().is_empty())
    }

    /// Marks a place as one that holds a secret: it is never shown.
    pub fn hide(&mut self, span: Span) {
        self.secrets.push(span);
    }

    /// The places in a file that hold a secret, as marked.
    pub fn hidden(&self, id: SourceId) -> impl Iterator<Item = Range<usize>> + '_ {
        self.secrets.iter().filter(move |span| span.source == id).map(|span| span.range())
    }

    /// The number of a file.
    #[must_use]
    pub fn find(&self, path: &Path) -> Option<SourceId> {
        let at = self.sources.iter().position(|source| source.path == path)?;
        u32::try_from(at).ok().map(SourceId)
    }

    /// The path of a file.
    #[must_use]
    pub fn path(&self, id: SourceId) -> &Path {
        self.get(id).map_or(Path::new(""), |source| &source.path)
    }

    /// The text of a file.
    #[must_use]
    pub fn text(&self, id: SourceId) -> &str {
        self.get(id).map_or("", |source| &source.text)
    }

    /// The text at a place.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text(span.source).get(span.range()).unwrap_or("")
    }

    /// Line and column in characters of the first byte of a place, both from 1.
    #[must_use]
    pub fn position(&self, span: Span) -> (u32, u32) {
        self.position_at(span.source, span.start as usize)
    }

    /// Line and column of the end of a place (the column behind its last character), both from 1.
    #[must_use]
    pub fn end_position(&self, span: Span) -> (u32, u32) {
        self.position_at(span.source, span.end as usize)
    }

    /// All files.
    pub fn all(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| !source.path.as_os_str().is_empty())
    }

    fn position_at(&self, id: SourceId, at: usize) -> (u32, u32) {
        let text = self.text(id);
        let before = &text[..text.floor_char_boundary(at)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.get(line_start..).map_or(0, |part| part.chars().count()) + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }

    fn get(&self, id: SourceId) -> Option<&Source> {
        self.sources.get(id.0 as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let mut map = SourceMap::default();
        let id = map.add("a".into(), "äb = 1\nc = 2\n".into());
        let at = |range| map.position(Span::new(id, &range));
        assert_eq!((at(0..1), at(2..3), at(8..9), at(99..99)), ((1, 1), (1, 2), (2, 1), (3, 1)));
    }
}
