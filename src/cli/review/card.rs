//! A draft on one screen: what it answers, who gets it, the text, what is odd about it.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use crate::cli::case::item_text;
use crate::cli::look::{Paint, ago, block, line};
use crate::control::wire::ReviewView;
use crate::model::draft::DraftState;
use crate::model::effect::Offer;
use crate::model::item::Item;
use crate::model::time::{Timestamp, short_span};

/// Lines of the foreign text that are shown; the draft is shown whole.
const LINES_MAX: usize = 40;

/// The card of a draft.
pub fn card(view: &ReviewView, now: Timestamp, width: usize, paint: Paint) -> String {
    let draft = &view.draft;
    let mut out = String::new();
    let head = format!(
        "── {} · case {} · {} · made by {} {} ",
        draft.id,
        draft.case,
        draft.connector,
        line(&draft.made_by, 60),
        ago(draft.made_at, now)
    );
    let rule = "─".repeat(width.saturating_sub(head.chars().count()).min(width));
    let _ = writeln!(out, "{}", paint.bold(format!("{head}{rule}")));
    if let Some(item) = view.items.last() {
        out.push_str(&item_text(item, width, paint, LINES_MAX));
        if view.items.len() > 1 {
            let more = view.items.len() - 1;
            let _ = writeln!(
                out,
                "  {}",
                paint.dim(format!("{more} earlier in the thread: workagent case show {}", draft.case))
            );
        }
    }
    out.push('\n');
    let envelope = &draft.envelope;
    if !envelope.from.is_empty() {
        let _ = writeln!(out, "  reply from  {}", line(&envelope.from, width));
    }
    let _ = writeln!(out, "  reply to    {}", paint.cyan(whole(&envelope.recipients(), width)));
    if !envelope.cc.is_empty() {
        let _ = writeln!(out, "  copy to     {}", paint.cyan(whole(&envelope.cc.join(", "), width)));
    }
    if !envelope.subject.is_empty() {
        let _ = writeln!(out, "  subject     {}", line(&envelope.subject, width));
    }
    if !draft.destination.is_empty() {
        let _ = writeln!(out, "  by way of   {}", paint.dim(line(&draft.destination, width)));
    }
    for effect in &envelope.effects {
        let _ = writeln!(out, "  and also    {}", paint.yellow(whole(&effect.to_string(), width)));
    }
    let offered: Vec<String> = Item::offered(&view.items).iter().map(Offer::form).collect();
    if !offered.is_empty() {
        let _ = writeln!(out, "  possible    {}", paint.dim(whole(&offered.join("; "), width)));
    }
    if draft.body.is_empty() {
        let _ = writeln!(out, "  {}", paint.dim("no text"));
    } else if draft.body == draft.engine_body {
        // Whole, however long: an approval is of all of it.
        out.push_str(&block(&draft.body, "  ┃ ", width, usize::MAX));
    } else {
        out.push_str(&difference(&draft.engine_body, &draft.body, paint));
    }
    if let Some(route) = &view.route {
        let _ = writeln!(out, "  {}", paint.dim(line(route, width)));
    }
    for remark in &draft.remarks {
        let _ = writeln!(out, "  {} {}", paint.yellow("note"), line(remark, width));
    }
    if draft.stale {
        let _ = writeln!(out, "  {} the thread moved on after this draft was made", paint.red("stale"));
    }
    match (&view.blocked, view.hold) {
        _ if draft.state != DraftState::Open => {
            let _ = writeln!(out, "  it is {} already", draft.state.word());
        }
        (Some(why), _) => {
            let _ = writeln!(out, "  {} {}", paint.red("cannot be sent:"), line(why, width));
        }
        (None, Some(hold)) if !hold.is_zero() => {
            let span = short_span(hold);
            let _ =
                writeln!(out, "  {}", paint.dim(format!("after approval it can be taken back for {span}")));
        }
        _ => {}
    }
    let short_hash: String = draft.hash.chars().take(12).collect();
    let _ = writeln!(out, "  {}", paint.dim(format!("version {short_hash}")));
    out
}

/// All of it, wrapped under its beginning: nobody may be sent to who was not on the screen.
fn whole(text: &str, width: usize) -> String {
    let margin = " ".repeat(14);
    block(text, &margin, width, usize::MAX).trim().to_owned()
}

/// What an edit changed against the engine's text, whole, with `-` and `+` in front.
pub fn difference(before: &str, after: &str, paint: Paint) -> String {
    let mut out = String::new();
    for change in TextDiff::from_lines(before, after).iter_all_changes() {
        let text = line(change.value().trim_end_matches('\n'), usize::MAX);
        let _ = match change.tag() {
            ChangeTag::Delete => writeln!(out, "  {}", paint.red(format!("- {text}"))),
            ChangeTag::Insert => writeln!(out, "  {}", paint.green(format!("+ {text}"))),
            ChangeTag::Equal => writeln!(out, "  ┃ {text}"),
        };
    }
    out
}
