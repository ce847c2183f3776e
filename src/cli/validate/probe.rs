//! `validate --probe`: tries live what the units that are on need: programs, secrets, logins. It changes nothing.

use std::fmt::Write as _;

use serde_json::json;

use crate::bundle::probe::{Scene, Seen};
use crate::cli::backend::daemon_environment;
use crate::cli::case::pretty;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::{Paint, block, line};
use crate::process::ProcessRoom;
use crate::secret::Scrubber;
use crate::secret::secrets::Secrets;

/// Looks, prints, and says whether something is missing.
///
/// # Errors
/// There is no place for the state.
pub fn command(as_json: bool, context: &mut Context<'_>) -> Result<bool, CliError> {
    let paths = context.paths()?;
    let compiled = crate::cli::analyze::compiled(context);
    let threads = crate::cli::threads(1)?;
    let scrubber = Scrubber::default();
    let mut seen = threads.block_on(async {
        // Under a daemon, programs are looked up on its PATH, which is seldom that of a shell.
        let environment = daemon_environment(&paths).await.unwrap_or_else(|| context.environment.clone());
        let (file, key) = (paths.secrets_file(), paths.secrets_key());
        let secrets = Secrets::new(file, key, environment.clone(), scrubber.clone()).shared();
        let process = ProcessRoom::new(paths.process_notes());
        let (clock, state_dir) = (context.clock.clone(), paths.state.clone());
        Scene { environment, secrets, clock, process, state_dir }.look(&compiled.plan).await
    });
    for look in &mut seen {
        match &mut look.result {
            Ok(text) | Err(text) => *text = scrubber.scrub(text).into_owned(),
        }
    }
    let missing = seen.iter().any(|look| look.result.is_err());
    let text = if as_json {
        let looks: Vec<_> = seen
            .iter()
            .map(|look| {
                let (ok, text) = match &look.result {
                    Ok(text) => (true, text),
                    Err(text) => (false, text),
                };
                json!({"unit": look.unit, "what": look.what, "ok": ok, "text": text})
            })
            .collect();
        pretty(&json!({"version": 1, "probes": looks}))
    } else {
        shown(&seen, Paint { colour: context.colour() }, context.width())
    };
    context.out.write_all(text.as_bytes())?;
    Ok(missing)
}

fn shown(seen: &[Seen], paint: Paint, width: usize) -> String {
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
