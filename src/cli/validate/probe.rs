//! `validate --probe`: tries live what the units that are on need: programs, secrets, logins. It changes nothing.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::bundle::probe::{Scene, Seen};
use crate::cli::backend::service_environment;
use crate::cli::case::pretty;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::{Paint, block, line};
use crate::daemon::paths::Paths;
use crate::daemon::secrets::Around;
use crate::process::ProcessRoom;
use crate::secret::Scrubber;
use crate::unit::plan::Plan;

/// Looks at everything that is on; texts are masked.
///
/// # Errors
/// There is no place for the state.
pub fn look(context: &Context<'_>) -> Result<Vec<Seen>, CliError> {
    let paths = context.paths()?;
    let compiled = crate::cli::analyze::compiled(context);
    let threads = crate::cli::threads(1)?;
    let scrubber = context.scrubber.clone();
    let mut seen = threads.block_on(async {
        scene(context, &paths, &compiled.plan, &scrubber).await.look(&compiled.plan).await
    });
    for look in &mut seen {
        match &mut look.result {
            Ok(text) | Err(text) => *text = scrubber.scrub(text).into_owned(),
        }
    }
    Ok(seen)
}

/// What looks need, as the daemon would have it.
pub(in crate::cli) async fn scene(
    context: &Context<'_>,
    paths: &Paths,
    plan: &Plan,
    scrubber: &Scrubber,
) -> Scene {
    // Under a supervisor, programs are looked up on its PATH, which is seldom that of a shell.
    let (environment, _) = service_environment(context, paths).await;
    let around = Around {
        environment: environment.clone(),
        scrubber: scrubber.clone(),
        clock: context.clock.clone(),
        ask: false,
    };
    let secrets = crate::daemon::secrets::open(paths, plan, around).shared();
    let process = ProcessRoom::new(paths.process_notes());
    Scene { environment, secrets, clock: context.clock.clone(), process, state_dir: paths.state.clone() }
}

/// One document: the findings, which are one already, with `probes` in it.
#[must_use]
pub fn with_findings(seen: &[Seen], findings: &[u8]) -> String {
    let mut document: Value = serde_json::from_slice(findings).unwrap_or_else(|_| json!({"version": 1}));
    let looks = seen.iter().map(|look| {
        let (Ok(text) | Err(text)) = &look.result;
        json!({"unit": look.unit, "what": look.what, "ok": look.result.is_ok(), "text": text})
    });
    if let Some(object) = document.as_object_mut() {
        object.insert("probes".to_owned(), looks.collect());
    }
    pretty(&document)
}

/// For people.
#[must_use]
pub fn shown(seen: &[Seen], paint: Paint, width: usize) -> String {
    if seen.is_empty() {
        return "nothing to try: no connector and no engine is on\n".to_owned();
    }
    let mut out = String::new();
    for look in seen {
        let (mark, text) = match &look.result {
            Ok(text) => (paint.green("ok     ").to_string(), text),
            Err(text) => (paint.red("missing").to_string(), text),
        };
        let _ = writeln!(out, "{mark}  {} {}", line(&look.unit, 60), paint.dim(look.what));
        out.push_str(&block(text, "         ", width, 6));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_and_probes_are_one_document() {
        let seen = [Seen { unit: "a.engine".into(), what: "program", result: Err("not found".into()) }];
        let text = with_findings(&seen, br#"{"version": 1, "findings": []}"#);
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["findings"], json!([]));
        assert_eq!(
            document["probes"],
            json!([{"unit": "a.engine", "what": "program", "ok": false, "text": "not found"}])
        );
    }
}
