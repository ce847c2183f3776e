//! A draft on one screen: what it answers, who gets it, the text, what is odd about it.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use crate::cli::case::item_text;
use crate::cli::look::{Paint, ago, block, counted, line};
use crate::control::wire::ReviewView;
use crate::model::draft::DraftState;
use crate::model::money::shown_usd;
use crate::model::text::short_size;
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
    let earlier = view.items.len().saturating_sub(1);
    let unseen = view.hidden.iter().filter(|hidden| hidden.item < earlier).count();
    if unseen > 0 {
        let _ = writeln!(
            out,
            "  {} {} in earlier items: workagent case show {}",
            paint.red("hidden"),
            counted(unseen, "part", "parts"),
            draft.case
        );
    }
    for attachment in view.attachments.iter().filter(|attachment| attachment.item < earlier) {
        let size = short_size(attachment.file.size_bytes);
        let _ = writeln!(out, "  attached {} ({size}, earlier)", line(&attachment.file.name, 80));
    }
    out.push_str(&addressed(view, width, paint));
    if draft.body.is_empty() {
        let _ = writeln!(out, "  {}", paint.dim("no text"));
    } else if draft.body == draft.engine_body {
        // Whole, however long: an approval is of all of it.
        out.push_str(&block(&draft.body, "  ┃ ", width, usize::MAX));
    } else {
        out.push_str(&difference(&draft.engine_body, &draft.body, paint));
    }
    if let Some(made) = made(view) {
        let _ = writeln!(out, "  {}", paint.dim(line(&made, width)));
    }
    if let Some(route) = &view.route {
        let _ = writeln!(out, "  {}", paint.dim(line(route, width)));
    }
    for remark in &draft.remarks {
        let _ = writeln!(out, "  {} {}", paint.yellow("note"), line(remark, width));
    }
    if draft.stale {
        out.push_str(&came_since(view, now, width, paint));
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

/// Who gets it, from which account and which way, and what happens besides.
fn addressed(view: &ReviewView, width: usize, paint: Paint) -> String {
    let (draft, mut out) = (&view.draft, String::new());
    let envelope = &draft.envelope;
    if !view.account.is_empty() {
        let _ = writeln!(out, "  reply from  {}", line(&view.account, width));
    }
    let _ = writeln!(out, "  reply to    {}", paint.cyan(whole(&envelope.recipients(), width)));
    if !envelope.cc.is_empty() {
        let _ = writeln!(out, "  copy to     {}", paint.cyan(whole(&envelope.cc.join(", "), width)));
    }
    if !envelope.subject.is_empty() {
        let _ = writeln!(out, "  subject     {}", line(&envelope.subject, width));
    }
    if !envelope.place.is_empty() && !envelope.to.is_empty() {
        let _ = writeln!(out, "  where       {}", line(&envelope.place, width));
    }
    if !draft.destination.is_empty() && draft.destination != view.account {
        let _ = writeln!(out, "  by way of   {}", paint.dim(line(&draft.destination, width)));
    }
    for (number, effect) in (1..).zip(&view.effects) {
        let mark = if effect.chosen { 'x' } else { ' ' };
        let value = effect.free_value.as_ref().map(|what| format!(": <{what}>")).unwrap_or_default();
        let text = format!("[{mark}] {number} {}{value} ({})", effect.effect, effect.what);
        // What will happen stands there whole, however long.
        let text =
            if effect.chosen { whole(&text, width) } else { line(&text, width.saturating_sub(14).max(30)) };
        let _ = match effect.chosen {
            true => writeln!(out, "  and also    {}", paint.yellow(text)),
            false => writeln!(out, "  possible    {}", paint.dim(text)),
        };
    }
    out
}

/// "claude, model m, 12s, $0.03": the run that made it.
fn made(view: &ReviewView) -> Option<String> {
    let run = view.run.as_ref()?;
    let took = run.ended_at.map(|ended| short_span(ended.since(run.started_at)));
    let cost = run.usage.cost_micro_usd.map(shown_usd);
    let model = run.facts.model.as_ref().map(|model| format!("model {model}"));
    let parts: Vec<String> = [Some(run.engine.clone()), model, took, cost].into_iter().flatten().collect();
    Some(parts.join(", "))
}

/// What came into the thread after the engine had looked.
fn came_since(view: &ReviewView, now: Timestamp, width: usize, paint: Paint) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "  {} the thread moved on after this draft was made", paint.red("stale"));
    let from = view.items.len().saturating_sub(view.items_since);
    for item in view.items.iter().skip(from) {
        let who = item.author.as_ref().map_or("somebody", |author| match author.name.as_str() {
            "" => author.address.as_str(),
            name => name,
        });
        let when = item.at.map(|at| format!(" {}", ago(at, now))).unwrap_or_default();
        let came = format!("since then: {who}{when}: {}", item.title);
        let _ = writeln!(out, "        {}", line(&came, width.saturating_sub(8).max(30)));
    }
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
