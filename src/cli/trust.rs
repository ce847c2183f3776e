//! `workagent trust`: how often you left drafts as they were, and what goes by itself.

use clap::Args;

use super::backend::Backend;
use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{Paint, block, line};
use crate::control::wire::trust::TrustView;
use crate::daemon::exit;
use crate::model::auto::Agreement;

/// From so many decisions on, with so many of a hundred as written, a rule is worth a thought.
const ENOUGH: u64 = 20;
const GOOD: u64 = 95;

/// `workagent trust`
#[derive(Debug, Args)]
pub struct TrustArgs {
    /// Of this connector only
    connector: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub async fn command(args: TrustArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    let mut views: Vec<TrustView> = backend.get("/v1/trust").await?;
    backend.close().await;
    if let Some(wanted) = &args.connector {
        let wanted = wanted.strip_suffix(".connector").unwrap_or(wanted);
        views.retain(|view| view.connector == wanted);
        if views.is_empty() {
            let error = format!("no connector that is on and may send is called {wanted}");
            return Err(CliError::usage(error).hint("workagent list-units --all"));
        }
    }
    let text = if args.json { pretty(&views) } else { shown(&views, context.paint(), context.width()) };
    context.page(&text);
    Ok(exit::OK)
}

/// Pure: a paragraph for each connector.
fn shown(views: &[TrustView], paint: Paint, width: usize) -> String {
    if views.is_empty() {
        return "no connector is on that may send\n".to_owned();
    }
    let mut out = String::new();
    for view in views {
        let how = if view.auto { "sends by itself" } else { "every draft is shown to you" };
        out.push_str(&format!("{}  {how}\n", paint.bold(format!("{}.connector", view.connector))));
        if view.auto || !view.kinds.is_empty() || !view.recipients.is_empty() {
            out.push_str(&block(&rule(view), "  ", width, 3));
        }
        for kind in &view.by_kind {
            let text = line(&format!("{}: {}", kind.kind, told(kind.record)), width.saturating_sub(2));
            out.push_str(&format!("  {text}\n"));
        }
        if view.by_kind.is_empty() {
            out.push_str("  you decided about no draft of it yet\n");
        }
        match (view.auto, &view.not_yet) {
            (true, Some(why)) => out.push_str(&block(why, "  ", width, 3)),
            (true, None) => {}
            (false, _) => out.push_str(&offer(view, paint, width)),
        }
    }
    out
}

/// What `[auto]` says.
fn rule(view: &TrustView) -> String {
    let listed = |all: &[String], none: &str| if all.is_empty() { none.to_owned() } else { all.join(", ") };
    let mut text =
        format!("[auto] {} to {}", listed(&view.kinds, "every kind"), listed(&view.recipients, "everybody"));
    if let Some(of) = view.show_one_in {
        text.push_str(&format!("; one case in {of} is shown"));
    }
    if view.after > 0 {
        text.push_str(&format!("; after {} decisions, {}% as written", view.after, view.agreement));
    }
    text
}

fn told(record: Agreement) -> String {
    let percent = record.percent().map(|percent| format!(" ({percent}%)")).unwrap_or_default();
    format!("{} of {} approved as written{percent}", record.as_written, record.decided)
}

/// A record that is good is told with the rule that would follow from it; anything else promises nothing.
fn offer(view: &TrustView, paint: Paint, width: usize) -> String {
    let is_good = |record: &Agreement| {
        record.decided >= ENOUGH && record.percent().is_some_and(|percent| percent >= GOOD)
    };
    let good: Vec<String> = view
        .by_kind
        .iter()
        .filter(|kind| is_good(&kind.record))
        .map(|kind| format!("{:?}", kind.kind))
        .collect();
    if good.is_empty() {
        return String::new();
    }
    let text = format!(
        "could go by themselves, if you want that: workagent edit {}.connector, with outbound = \"auto\" and [auto] \
         kinds = [{}], recipients = […], show_one_in = 5, after = {ENOUGH}",
        view.connector,
        good.join(", ")
    );
    format!("  {} {}", paint.dim("→"), block(&text, "    ", width, 4).trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::wire::trust::KindRecord;

    const PLAIN: Paint = Paint { colour: false };

    fn view(auto: bool, decided: u64, as_written: u64) -> TrustView {
        let record = Agreement { decided, as_written };
        TrustView {
            connector: "inbox".into(),
            auto,
            kinds: if auto { vec!["mail".into()] } else { Vec::new() },
            recipients: if auto { vec!["*@example.org".into()] } else { Vec::new() },
            show_one_in: auto.then_some(5),
            after: if auto { 20 } else { 0 },
            agreement: 95,
            record,
            not_yet: None,
            by_kind: vec![KindRecord { kind: "mail".into(), record }],
        }
    }

    #[test]
    fn a_good_record_is_told_with_the_rule_it_would_carry() {
        let text = shown(&[view(false, 20, 19)], PLAIN, 80);
        insta::assert_snapshot!(text, @r#"
        inbox.connector  every draft is shown to you
          mail: 19 of 20 approved as written (95%)
          → could go by themselves, if you want that: workagent edit inbox.connector,
            with outbound = "auto" and [auto] kinds = ["mail"], recipients = […],
            show_one_in = 5, after = 20
        "#);
        assert!(!shown(&[view(false, 19, 19)], PLAIN, 80).contains("could go"));
        assert!(!shown(&[view(false, 40, 37)], PLAIN, 80).contains("could go"));
    }

    #[test]
    fn a_rule_says_what_goes_and_what_is_missing() {
        let so_far = Agreement { decided: 12, as_written: 11 };
        let not_yet = Some(crate::model::auto::Stays::TooFew { so_far, wanted: 20 }.to_string());
        let view = TrustView { not_yet, ..view(true, 12, 11) };
        insta::assert_snapshot!(shown(&[view], PLAIN, 80), @r"
        inbox.connector  sends by itself
          [auto] mail to *@example.org; one case in 5 is shown; after 20 decisions, 95%
          as written
          mail: 11 of 12 approved as written (91%)
          would be sent by itself after 8 more decisions of yours; of 12 so far you left
          11 as written
        ");
    }
}
