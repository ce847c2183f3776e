//! `workagent mcp`: a small MCP server on standard input and output. An agent that a person works with reads cases and
//! proposes drafts; an engine's agent hands in the draft of its one run. Nothing here can send.

mod desk;
mod protocol;
mod run_desk;

use std::io::{BufRead, Read as _, Write};
use std::path::PathBuf;

use clap::Args;

use self::desk::Desk;
use self::protocol::{Reply, Server};
use self::run_desk::RunTools;
use super::context::Context;
use super::error::CliError;
use crate::daemon::exit;

/// `workagent mcp`
///
/// Speaks MCP on standard input and output until its input ends. Without options it serves the daemon's cases:
/// they can be searched and read, and a draft can be put before you in `workagent review`. It cannot approve and
/// cannot send.
///
/// To use it, name it in your agent's configuration: `claude mcp add workagent -- workagent mcp`, or
/// `codex mcp add workagent -- workagent mcp`.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct McpArgs {
    /// Serve one run of an engine instead: the private directory that the daemon made for it
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
}

/// One request: a draft in which each byte is escaped, and some more.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Runs the command.
pub async fn command(args: McpArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let mut input = std::io::stdin().lock();
    match args.run {
        Some(dir) => {
            let tools = RunTools::open(&dir)?;
            let server = Server::new(tools.list());
            while let Some(line) = next_line(&mut input)? {
                let answer = match server.hear(line.as_deref()) {
                    Reply::Say(answer) => answer,
                    Reply::Call(call) => call.answer(tools.call(&call.tool, &call.arguments)),
                    Reply::Nothing => continue,
                };
                say(context.out, &answer)?;
            }
        }
        None => {
            let desk = Desk::new();
            let server = Server::new(desk.list());
            while let Some(line) = next_line(&mut input)? {
                let answer = match server.hear(line.as_deref()) {
                    Reply::Say(answer) => answer,
                    Reply::Call(call) => call.answer(desk.call(&call.tool, &call.arguments, context).await),
                    Reply::Nothing => continue,
                };
                say(context.out, &answer)?;
            }
        }
    }
    Ok(exit::OK)
}

/// The next line; `Some(None)` for one that is too long; `None` at the end.
fn next_line(input: &mut impl BufRead) -> Result<Option<Option<Vec<u8>>>, CliError> {
    let mut line = Vec::new();
    let most = LINE_BYTES_MAX as u64;
    let read = |input: &mut dyn BufRead, line: &mut Vec<u8>| {
        input.take(most).read_until(b'\n', line).map_err(|error| CliError::doing("read the input", &error))
    };
    if read(input, &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') || line.len() < LINE_BYTES_MAX {
        return Ok(Some(Some(line)));
    }
    while line.last() != Some(&b'\n') {
        line.clear();
        if read(input, &mut line)? == 0 {
            break;
        }
    }
    Ok(Some(None))
}

fn say(out: &mut dyn Write, answer: &serde_json::Value) -> Result<(), CliError> {
    writeln!(out, "{answer}")?;
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded() {
        let mut input = Vec::new();
        input.extend_from_slice(b"one\n");
        input.resize(input.len() + 2 * LINE_BYTES_MAX + 7, b'x');
        input.extend_from_slice(b"\ntwo");
        let mut input = input.as_slice();
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input).unwrap() {
            lines.push(line.map(|line| String::from_utf8(line).unwrap()));
        }
        assert_eq!(lines, [Some("one\n".into()), None, Some("two".into())]);
    }
}
