//! `workagent digest`: what happened in a day, for reading in the morning; as text, Markdown or JSON.

mod markdown;

use std::fmt::Write as _;

use clap::Args;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Paint, counted, line};
use crate::control::wire::digest::{Became, DigestCase, DigestLine, DigestView};
use crate::daemon::exit;
use crate::model::money::shown_usd;
use crate::model::time::Timestamp;

/// `workagent digest`
#[derive(Debug, Args)]
pub struct DigestArgs {
    /// The day, `2026-11-30`, `today` or `yesterday`
    #[arg(long, value_name = "DAY", default_value = "today")]
    day: String,
    /// Print Markdown, for a note or a mail
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub async fn command(args: DigestArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let day = named(&args.day, context.clock.now());
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("day", &day).finish();
    let backend = Backend::connect(context).await?;
    let view: DigestView = backend.get(&format!("/v1/digest?{query}")).await?;
    backend.close().await;
    if args.json {
        context.out.write_all(pretty(&view).as_bytes())?;
    } else if args.markdown {
        context.out.write_all(markdown::shown(&view).as_bytes())?;
    } else {
        let text = shown(&view, context.paint(), context.width());
        context.page(&text);
    }
    Ok(exit::OK)
}

/// `yesterday` is the day before, also where it had 23 hours.
fn named(word: &str, now: Timestamp) -> String {
    use crate::model::time::{day_bounds, local_date};
    match word {
        "today" => local_date(now),
        "yesterday" => local_date(Timestamp(day_bounds(now).0.0 - 1)),
        day => day.to_owned(),
    }
}

/// Columns of the longest title.
const TITLE_COLUMNS: usize = 48;

fn shown(view: &DigestView, paint: Paint, width: usize) -> String {
    let mut out = String::new();
    let until = if view.to == view.now { " (until now)" } else { "" };
    let _ = writeln!(out, "{}{until}", paint.bold(&view.day));
    let _ = writeln!(out, "{}", sums(view));
    for group in &view.groups {
        let _ = writeln!(out, "\n{} ({})", paint.bold(heading(group.became)), group.cases.len());
        for case in &group.cases {
            let id = format!("{:5}", case.id.to_string());
            let title = line(&case.title, TITLE_COLUMNS.min(width.saturating_sub(30)).max(20));
            let _ = writeln!(
                out,
                "  {id} {}",
                line(&format!("{title} · {}", from(case)), width.saturating_sub(8))
            );
            let story = line(&story(case), width.saturating_sub(8));
            let _ = writeln!(out, "        {}", paint.dim(story));
            if let Some(reason) = case.reason.as_ref().filter(|_| tells_reason(group.became)) {
                let _ = writeln!(out, "        {}", line(reason, width.saturating_sub(8)));
            }
        }
    }
    if view.groups.is_empty() {
        out.push_str("\nnothing happened\n");
    }
    if view.cut {
        let _ = writeln!(out, "\nmore happened than fits in a report: the rest of the day is missing");
    }
    if !view.waits.is_empty() {
        let _ = writeln!(out, "\n{}", paint.bold("Now"));
        for wait in &view.waits {
            let _ = writeln!(out, "  {wait}");
        }
    }
    out
}

/// "7 cases: 3 answered, 2 wait for you · 9 runs, 0.42 USD".
fn sums(view: &DigestView) -> String {
    let cases: usize = view.groups.iter().map(|group| group.cases.len()).sum();
    let parts: Vec<String> =
        view.groups.iter().map(|group| format!("{} {}", group.cases.len(), word(group.became))).collect();
    let told = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    let runs = usize::try_from(view.total.runs).unwrap_or(usize::MAX);
    let unknown = if view.total.unknown_runs > 0 { " and what nobody knows" } else { "" };
    format!(
        "{}{told} · {}, {} USD{unknown}",
        counted(cases, "case", "cases"),
        counted(runs, "run", "runs"),
        shown_usd(view.total.cost_micro_usd)
    )
}

fn heading(became: Became) -> &'static str {
    match became {
        Became::Sent => "Answered",
        Became::Waits => "Waits for you",
        Became::UnderWay => "Under way",
        Became::Parked => "Parked",
        Became::Dead => "Given up",
        Became::Done => "Nothing to do",
    }
}

fn word(became: Became) -> &'static str {
    match became {
        Became::Sent => "answered",
        Became::Waits => "for you",
        Became::UnderWay => "under way",
        Became::Parked => "parked",
        Became::Dead => "given up",
        Became::Done => "without an answer",
    }
}

fn tells_reason(became: Became) -> bool {
    matches!(became, Became::Parked | Became::Dead | Became::Done)
}

/// "inbox, Pat <pat@example.org>".
fn from(case: &DigestCase) -> String {
    if case.author.is_empty() {
        case.connector.clone()
    } else {
        format!("{}, {}", case.connector, case.author)
    }
}

/// "08:12 item, 08:13 draft, 09:40 approved, 09:41 sent": each word once in a row, with the time it came first.
fn story(case: &DigestCase) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut last: Option<&DigestLine> = None;
    for line in &case.lines {
        if last.is_some_and(|last| last.event == line.event) {
            continue;
        }
        parts.push(format!("{} {}", time_of_day(line.at), line.event));
        last = Some(line);
    }
    parts.join(", ")
}

/// `08:12`, by this machine's clock.
fn time_of_day(at: Timestamp) -> String {
    let local = at.local(at);
    let clock = local.rsplit(' ').find(|part| part.contains(':')).unwrap_or(&local);
    clock.get(..5).unwrap_or(clock).to_owned()
}

#[cfg(test)]
mod tests;
