//! Long texts go through the user's pager, on a terminal only.

use std::ffi::OsString;
use std::io::IsTerminal as _;

use super::context::Context;
use super::error::CliError;
use crate::process::foreground;

/// Quits at once if the text fits, keeps colours, leaves the text on the screen.
const PAGER_DEFAULT: &str = "less -FRX";

/// Shows what a command left in `Context::pages`.
///
/// # Errors
/// Standard output is gone.
pub fn show(context: &mut Context<'_>) -> Result<(), CliError> {
    // The pager is another way out than `Context::out`.
    let text = context.scrubber.scrub_owned(std::mem::take(&mut context.pages));
    let Some(pager) = pager(context, &text) else {
        context.out.write_all(text.as_bytes())?;
        return Ok(());
    };
    context.out.flush()?;
    // An interrupt is for the pager; if we ended, the shell and the pager would share the terminal.
    let quiet = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let caught = quiet.as_ref().ok().and_then(|runtime| {
        let _inside = runtime.enter();
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).ok()
    });
    let shown = foreground::page(&pager, &text);
    drop(caught);
    if let Err(error) = shown {
        // Not reason enough to keep the text from the user.
        context.note(&format!("note: {}\n", error.doing));
        context.out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// The pager for a text, if one is wanted and of use.
fn pager(context: &Context<'_>, text: &str) -> Option<OsString> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let rows = size.map(|size| usize::from(size.ws_row)).filter(|rows| *rows > 0).unwrap_or(usize::MAX);
    let fits = text.lines().count() < rows;
    if context.global.no_pager || text.is_empty() || fits || !std::io::stdout().is_terminal() {
        return None;
    }
    let named = ["WORKAGENT_PAGER", "PAGER"].iter().find_map(|name| context.environment.get_os(name));
    let pager = named.map_or_else(|| OsString::from(PAGER_DEFAULT), ToOwned::to_owned);
    (!pager.is_empty() && pager != "cat").then_some(pager)
}
