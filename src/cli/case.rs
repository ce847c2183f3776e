//! `workagent case`: what came, what became of it, the whole record of one.

use std::fmt::Write as _;
use std::io::Read as _;

use clap::{Args, Subcommand};

use super::backend::Backend;
use super::context::Context;
use super::error::CliError;
use super::look::{Paint, ago, block, counted, harmless, line, table};
use super::replay::ReplayArgs;
use crate::control::wire::{AnswerBody, ListQuery, Reason, TakeOverBody};
use crate::daemon::exit;
use crate::model::case::Case;
use crate::model::draft::Draft;
use crate::model::ids::{CaseId, RunId};
use crate::model::item::{Disposition, Item, ReplyWay};
use crate::model::limits;
use crate::model::money::shown_usd;
use crate::model::outbound::OutboundAction;
use crate::model::parked::Parked;
use crate::model::run::{Run, RunFacts};
use crate::model::text::{cut, short_size, visible};
use crate::model::time::{Timestamp, short_span};
use crate::store::{CaseRecord, KeptPrompt};

mod parked;

/// `workagent case …`
#[derive(Debug, Args)]
pub struct CaseArgs {
    #[command(subcommand)]
    command: Option<CaseCommand>,
}

#[derive(Debug, Subcommand)]
enum CaseCommand {
    /// List cases, newest change first
    List {
        /// Only in this state: new, queued, running, review, approved, sent, closed, parked, dead, dismissed
        #[arg(long)]
        state: Option<String>,
        /// Only those that wait for a time, a person or an answer, with what each waits for
        #[arg(long, conflicts_with = "state")]
        parked: bool,
        /// Only with this label, which an engine proposed
        #[arg(long)]
        label: Option<String>,
        /// At most so many
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the whole record of one case, from item to receipt
    Show {
        /// The case, `c12` or `12`
        case: CaseId,
        /// Show what an engine was told, exactly: of this run, or of the newest
        #[arg(long, value_name = "RUN", num_args = 0..=1)]
        prompt: Option<Option<RunId>>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Answer the question of a parked case; its engine goes on with the answer
    Answer {
        /// The case
        case: CaseId,
        /// The answer; without it, it is read from standard input
        text: Option<String>,
    },
    /// Give a parked, dead or dismissed case one more try
    Retry {
        /// The case
        case: CaseId,
    },
    /// Run a case once more by an engine, and show what it says beside the draft; nothing is sent
    Replay(ReplayArgs),
    /// Say that you answered by hand: its draft is withdrawn, and nothing is sent
    TakeOver {
        /// The case
        case: CaseId,
    },
    /// Say that there is nothing to do here
    Dismiss {
        /// The case
        case: CaseId,
        /// Why, for the record
        #[arg(long, default_value = "dismissed by you")]
        reason: String,
    },
}

/// Runs the command.
pub async fn command(args: CaseArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    if let Some(CaseCommand::Replay(replay)) = args.command {
        return super::replay::command(replay, context).await;
    }
    let backend = Backend::connect(context).await?;
    let command = args.command.unwrap_or(CaseCommand::List {
        state: None,
        parked: false,
        label: None,
        limit: 50,
        json: false,
    });
    let (now, width) = (context.clock.now(), context.width());
    let paint = Paint { colour: context.colour() };
    let text = match command {
        CaseCommand::List { parked: true, label, limit, json, .. } => {
            let query = ListQuery { state: None, limit: Some(limit), label };
            let all: Vec<Parked> = backend.get(&query.path("/v1/parked")).await?;
            if json { pretty(&all) } else { parked::shown(&all, now, paint, width) }
        }
        CaseCommand::List { state, parked: false, label, limit, json } => {
            let query = ListQuery { state, limit: Some(limit), label };
            let cases: Vec<Case> = backend.get(&query.path("/v1/cases")).await?;
            if json {
                pretty(&cases)
            } else if let (Some(state), true) = (&query.state, cases.is_empty()) {
                format!("no case is in the state `{state}`\n")
            } else {
                list(&cases, now, width)
            }
        }
        CaseCommand::Show { case, prompt: Some(run), json } => {
            let query = run.map(|run| format!("?run={run}")).unwrap_or_default();
            let kept: KeptPrompt = backend.get(&format!("/v1/cases/{case}/prompt{query}")).await?;
            if json {
                pretty(&kept)
            } else {
                context.note(&format!("{} of {case}, ended {}\n", kept.run, ago(kept.at, now)));
                visible(&kept.prompt) + "\n"
            }
        }
        CaseCommand::Show { case, prompt: None, json } => {
            let record: CaseRecord = backend.get(&format!("/v1/cases/{case}")).await?;
            if json { pretty(&record) } else { show(&record, now, width, paint) }
        }
        CaseCommand::Answer { case, text } => {
            let text = match text {
                Some(text) => text,
                None => read_answer()?,
            };
            backend.post::<_, ()>(&format!("/v1/cases/{case}/answer"), &AnswerBody { text }).await?;
            format!("{case} goes on with your answer\n")
        }
        CaseCommand::Retry { case } => {
            backend.post::<(), ()>(&format!("/v1/cases/{case}/retry"), &()).await?;
            format!("{case} gets one more try\n")
        }
        // Taken out above.
        CaseCommand::Replay(_) => String::new(),
        CaseCommand::TakeOver { case } => {
            let body = TakeOverBody { by: "terminal".to_owned() };
            backend.post::<_, ()>(&format!("/v1/cases/{case}/take-over"), &body).await?;
            format!("{case} is yours: what was drafted is withdrawn\n")
        }
        CaseCommand::Dismiss { case, reason } => {
            backend.post::<_, ()>(&format!("/v1/cases/{case}/dismiss"), &Reason { reason }).await?;
            format!("{case} is dismissed\n")
        }
    };
    backend.close().await;
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

/// Of a reason, what is shown above the record.
const REASON_LINES_MAX: usize = 12;

/// Indented JSON with a newline.
pub(super) fn pretty<T: serde::Serialize>(value: &T) -> String {
    harmless(&serde_json::to_string_pretty(value).unwrap_or_default()) + "\n"
}

fn list(cases: &[Case], now: Timestamp, width: usize) -> String {
    if cases.is_empty() {
        return "no cases\n".to_owned();
    }
    let head = ["CASE", "STATE", "CHANGED", "CONNECTOR", "TITLE"].map(str::to_owned).to_vec();
    let mut rows = vec![head];
    for case in cases {
        let mut title = line(&case.title, width.saturating_sub(48).max(20));
        if let Some(reason) = &case.reason {
            let _ = write!(title, "  ({})", line(reason, 60));
        }
        rows.push(vec![
            case.id.to_string(),
            case.state.word().to_owned(),
            ago(case.changed_at, now),
            line(&case.connector, 24),
            title,
        ]);
    }
    table(&rows)
}

/// From standard input, as far as an answer may go and one byte further, so that a longer one is refused.
fn read_answer() -> Result<String, CliError> {
    let mut text = String::new();
    std::io::stdin().take(limits::ANSWER_BYTES_MAX as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

/// The unbroken record, for people.
pub(super) fn show(record: &CaseRecord, now: Timestamp, width: usize, paint: Paint) -> String {
    let case = &record.case;
    let mut out = String::new();
    let _ = writeln!(out, "{}  {}", paint.bold(case.id), paint.bold(line(&case.title, width)));
    let _ = write!(out, "   {} since {}", paint.cyan(case.state.word()), ago(case.changed_at, now));
    let _ = write!(out, " · connector {} · {} item(s)", case.connector, case.items);
    if let Some(route) = &case.route {
        let _ = write!(out, " · route {route}");
    }
    if let Some(engine) = &case.engine {
        let _ = write!(out, " · engine {engine}");
    }
    out.push('\n');
    if let Some(reason) = &case.reason {
        out.push_str(&block(reason, "   ", width, REASON_LINES_MAX));
    }
    for item in &record.items {
        let _ = writeln!(out, "\n{}", paint.bold("Item"));
        out.push_str(&item_text(item, width, paint, 12));
    }
    if !case.labels.is_empty() {
        let _ = writeln!(out, "   labels {}", line(&case.labels.join(", "), width));
    }
    for run in &record.runs {
        let _ = writeln!(out, "\n{} {}", paint.bold("Run"), line(&run_text(run, now), width.max(60)));
        let under = under(run, record);
        if !under.is_empty() {
            let _ = writeln!(out, "  {}", paint.dim(line(&under, width.saturating_sub(2))));
        }
        if !run.detail.is_empty() {
            let _ = writeln!(out, "  {}", line(&run.detail, width));
        }
    }
    for draft in &record.drafts {
        let _ = writeln!(
            out,
            "\n{} {} · {} · made by {} {}",
            paint.bold("Draft"),
            draft.id,
            draft.state.word(),
            line(&draft.made_by, 60),
            ago(draft.made_at, now)
        );
        let _ = writeln!(out, "  to {}", line(&draft.envelope.told(), width));
        let _ = writeln!(out, "  {}", paint.dim(version(draft, record)));
        out.push_str(&block(&draft.body, "  ┃ ", width, 20));
    }
    for action in &record.actions {
        let _ = write!(out, "\n{} {} · {}", paint.bold("Send"), action.id, action.state.word());
        if let Some(receipt) = &action.receipt {
            let _ = write!(out, " · {} ({})", line(&receipt.remote_id, 80), line(&receipt.evidence, 80));
        }
        if let Some(error) = &action.last_error {
            let _ = write!(out, " · {}", line(error, width));
        }
        out.push('\n');
        for line in sent_how(action) {
            let _ = writeln!(out, "  {}", paint.dim(line));
        }
    }
    let _ = writeln!(out, "\n{}", paint.bold("Record"));
    let rows: Vec<Vec<String>> = record
        .journal
        .iter()
        .map(|row| {
            let at = row.at.to_string();
            vec![format!("  {at}"), row.event.clone(), line(&row.detail, width.saturating_sub(40).max(30))]
        })
        .collect();
    out.push_str(&table(&rows));
    out
}

/// "r3 · claude · reply · 2m ago, took 12s · claude 2.1.332 · opus · session 0d1f…".
fn run_text(run: &Run, now: Timestamp) -> String {
    let mut parts = vec![run.id.to_string(), run.engine.clone(), run.outcome.clone()];
    parts.push(match run.ended_at {
        Some(ended) => {
            let took = short_span(ended.since(run.started_at));
            format!("{}, took {took}", ago(ended, now))
        }
        None => format!("began {}", ago(run.started_at, now)),
    });
    let RunFacts { session, model, program } = &run.facts;
    parts.extend(program.clone());
    parts.extend(model.clone());
    parts.extend(session.as_ref().map(|session| format!("session {}", cut(session, 40))));
    parts.join(" · ")
}

/// "0.0123 USD (price) · 12300 tokens read, 400 written · prompt 3f2a9c1b22d0 · plan 7 (ab12cd34ef56)".
fn under(run: &Run, record: &CaseRecord) -> String {
    let usage = &run.usage;
    let mut parts = Vec::new();
    match (usage.cost_micro_usd, usage.cost_source.as_str()) {
        (Some(cost), "") => parts.push(format!("{} USD", shown_usd(cost))),
        (Some(cost), source) => parts.push(format!("{} USD ({source})", shown_usd(cost))),
        (None, _) => {}
    }
    match (usage.input_tokens, usage.output_tokens) {
        (None, None) => {}
        (read, written) => parts.push(format!(
            "{} tokens read, {} written",
            read.map_or_else(|| "?".to_owned(), |count| count.to_string()),
            written.map_or_else(|| "?".to_owned(), |count| count.to_string())
        )),
    }
    parts.extend(run.prompt_hash.as_ref().map(|hash| format!("prompt {}", short(hash))));
    parts.push(plan(run.generation, record));
    parts.join(" · ")
}

/// "plan 7 (ab12cd34ef56)".
fn plan(generation: i64, record: &CaseRecord) -> String {
    match record.plans.iter().find(|plan| plan.generation == generation) {
        Some(plan) => format!("plan {generation} ({})", short(&plan.hash)),
        None => format!("plan {generation}"),
    }
}

/// What an approval of a draft is bound to.
fn version(draft: &Draft, record: &CaseRecord) -> String {
    let edited = if draft.body == draft.engine_body { "" } else { " · edited" };
    format!("version {}{edited} · {}", short(&draft.hash), plan(draft.generation, record))
}

/// "d3, version 3f2a9c1b22d0, approved 2026-11-30T08:00:00Z", and where it was tried the first time and how often.
fn sent_how(action: &OutboundAction) -> Vec<String> {
    let (draft, version) = (action.draft, short(&action.hash));
    let mut lines = vec![format!("{draft}, version {version}, approved {}", action.approved_at)];
    lines.extend(
        action.sending_at.map(|at| {
            format!("first try {at}, {} in all", counted(action.attempts as usize, "try", "tries"))
        }),
    );
    lines
}

/// As much of a hash as tells two apart.
fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

/// An item with everything that a person would not see when looking at the original.
pub(super) fn item_text(item: &Item, width: usize, paint: Paint, lines_max: usize) -> String {
    let mut out = String::new();
    let author = item.author.as_ref().map(|author| match (author.name.as_str(), author.address.as_str()) {
        ("", address) => address.to_owned(),
        (name, "") => name.to_owned(),
        (name, address) => format!("{name} <{address}>"),
    });
    if let Some(author) = author {
        let _ = writeln!(out, "  from     {}", line(&author, width));
    }
    let _ = writeln!(out, "  subject  {}", paint.bold(line(&item.title, width)));
    if let Some(at) = item.at {
        let _ = writeln!(out, "  date     {at}");
    }
    if let Some(url) = &item.url {
        let _ = writeln!(out, "  link     {}", line(url, width));
    }
    out.push_str(&block(&item.body, "  │ ", width, lines_max));
    if let Some(cut) = item.cut {
        let kept = short_size(cut.kept_bytes);
        let _ = writeln!(out, "  {} first {kept} of {}", paint.yellow("cut:"), short_size(cut.total_bytes));
    }
    for attachment in &item.attachments {
        let size = short_size(attachment.size_bytes);
        let _ = writeln!(out, "  attached {} ({size})", line(&attachment.name, 80));
    }
    for hidden in &item.hidden {
        let _ = writeln!(
            out,
            "  {} {}: {}",
            paint.red("hidden"),
            line(&hidden.why, 40),
            line(&hidden.text, width.saturating_sub(20).max(30))
        );
    }
    for warning in &item.warnings {
        let _ = writeln!(out, "  {} {}", paint.yellow("note"), line(warning, width));
    }
    match &item.disposition {
        Disposition::NoReply { reason } | Disposition::Quarantined { reason } => {
            let _ = writeln!(out, "  {} {}", paint.yellow("no reply:"), line(reason, width));
        }
        Disposition::Work | Disposition::Own | Disposition::Baseline => {}
    }
    if let ReplyWay::Nowhere { reason } = &item.reply {
        let _ = writeln!(out, "  {} {}", paint.dim("cannot be answered:"), line(reason, width));
    }
    out
}
