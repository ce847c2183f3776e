//! Findings for people, as rustc shows its own: the sentence, the place, the line with the marks, the notes, the edit.

use std::collections::HashMap;

use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Origin, Patch as Edit, Renderer, Snippet,
    renderer::DEFAULT_TERM_WIDTH,
};

use super::mask::Masked;
use super::{Finding, Severity, SourceId, SourceMap, Span};
use crate::model::text;

/// How findings are shown.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// With ANSI colours.
    pub colour: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { colour: false, width: DEFAULT_TERM_WIDTH }
    }
}

/// All findings, a blank line behind each.
#[must_use]
pub fn render(findings: &[Finding], sources: &SourceMap, style: Style) -> String {
    let renderer = if style.colour { Renderer::styled().hyperlink(false) } else { Renderer::plain() };
    let renderer = renderer.term_width(style.width.max(40));
    let mut shown = Shown::default();
    for finding in findings {
        for span in places(finding) {
            shown.mask(span.source, sources);
        }
    }
    let mut out = String::new();
    for finding in findings {
        let groups = groups(finding, &shown);
        out.push_str(&renderer.render(&groups));
        out.push_str("\n\n");
    }
    out
}

/// Masked texts by file: each is masked once, however many findings it has.
#[derive(Default)]
struct Shown(HashMap<SourceId, (String, Masked)>);

impl Shown {
    fn mask(&mut self, id: SourceId, sources: &SourceMap) {
        self.0.entry(id).or_insert_with(|| {
            let path = sources.path(id).display().to_string();
            (path, Masked::new(sources.text(id), sources.hidden(id)))
        });
    }
}

fn places(finding: &Finding) -> impl Iterator<Item = Span> + '_ {
    let patch = finding.suggestion.iter().filter_map(|suggestion| suggestion.patch.as_ref());
    std::iter::once(finding.span)
        .chain(finding.labels.iter().map(|label| label.span))
        .chain(patch.map(|patch| patch.span))
}

fn groups<'a>(finding: &'a Finding, shown: &'a Shown) -> Vec<Group<'a>> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let title = level.primary_title(text::clean(&finding.title)).id(finding.check.code);
    let mut group = Group::with_title(title);

    let mut marks: Vec<(Span, AnnotationKind, &str)> =
        vec![(finding.span, AnnotationKind::Primary, finding.label.as_str())];
    marks.extend(
        finding.labels.iter().map(|label| (label.span, AnnotationKind::Context, label.text.as_str())),
    );
    let mut files: Vec<SourceId> = Vec::new();
    for (span, _, _) in &marks {
        if !files.contains(&span.source) {
            files.push(span.source);
        }
    }
    for file in files {
        let Some((path, masked)) = shown.0.get(&file) else { continue };
        // A finding about a whole file, or about one that could not be read, has no line to show.
        if finding.span == Span::file(file) {
            group = group.element(Origin::path(path.as_str()));
            continue;
        }
        let here = marks.iter().filter(|(span, _, _)| span.source == file);
        let annotations = here.map(|(span, kind, label)| annotation(masked, *span, *kind, label));
        let snippet = Snippet::source(masked.text.as_str()).path(path.as_str()).annotations(annotations);
        group = group.element(snippet);
    }
    for note in &finding.notes {
        group = group.element(Level::NOTE.message(text::clean(note)));
    }
    let mut groups = Vec::new();
    if let Some(suggestion) = &finding.suggestion {
        let words = text::clean(&suggestion.text);
        let edit = suggestion.patch.as_ref().and_then(|patch| {
            let (_, masked) = shown.0.get(&patch.span.source)?;
            let range = masked.range(patch.span.range());
            Some(Snippet::source(masked.text.as_str()).patch(Edit::new(range, patch.replacement.as_str())))
        });
        match edit {
            Some(edit) => groups.push(Level::HELP.secondary_title(words).element(edit)),
            None => group = group.element(Level::HELP.message(words)),
        }
    }
    groups.insert(0, group);
    groups
}

fn annotation<'a>(masked: &Masked, span: Span, kind: AnnotationKind, label: &'a str) -> Annotation<'a> {
    let annotation = kind.span(masked.range(span.range()));
    if label.is_empty() { annotation } else { annotation.label(label) }
}
