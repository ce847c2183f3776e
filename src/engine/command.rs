//! Any program as an engine: the case on standard input, the answer on standard output.

mod answer;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use self::answer::{Collected, Collector, Output};
use super::{EngineContext, EngineSpec, ExecutionEngine, failed, port_failure, prompt};
use crate::model::class::PortError;
use crate::model::limits;
use crate::model::run::{EngineError, EngineOutcome, EngineRequest, RunFailure, RunLimits};
use crate::model::text::{cut, short_size};
use crate::model::time::short_span;
use crate::process::{ChildEnd, ChildLimits, ChildReport, ChildSpec, env, lookup};
use crate::unit::plan::{EngineUnit, EnvUnit};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The row of the catalog.
pub const SPEC: EngineSpec = EngineSpec {
    name: "command",
    summary: "Runs any program: the case on its input, the reply on its output",
    keys: &[
        KeySpec::new(
            "program",
            ValueType::Text,
            "An absolute path, or a name that is looked up on the PATH of the child",
        ).specifiers()
        .required(),
        KeySpec::new("args", ValueType::List, "Arguments. Never a secret: command lines are visible to everybody").specifiers(),
        KeySpec::new(
            "output",
            ValueType::Choice(&["text", "json"]),
            "With text the program gets the prompt, and its output is the reply: what stands between the marks that \
             the prompt asks for, or all of it if there are none. With json it gets a JSON \
             object with case, items, instruction, notes and prompt, and answers with one line that is a JSON object: \
             {\"reply\": …}, {\"nothing_to_do\": …}, {\"question\": …} or {\"error\": {\"class\": …, \"message\": …, \
             \"until\": …}}",
        )
        .default("\"text\""),
        KeySpec::new(
            "local",
            ValueType::Bool,
            "Say that the program hands nothing to other machines, so that private routes may use it",
        )
        .default("false"),
    ],
    check,
    is_local: |settings| settings.flag("local"),
    needs_model: false,
    build,
};

/// Of stderr, what goes into an error text.
const HINT_BYTES_MAX: usize = 600;

/// Runs a program.
#[derive(Debug)]
pub struct CommandEngine {
    program: OsString,
    args: Vec<OsString>,
    output: Output,
    env: Vec<Arc<EnvUnit>>,
    context: EngineContext,
}

fn build(unit: &EngineUnit, context: EngineContext) -> Result<ExecutionEngine, PortError> {
    let settings = &unit.settings;
    Ok(ExecutionEngine::Command(CommandEngine {
        program: settings.text("program").unwrap_or_default().into(),
        args: settings.list("args").iter().map(OsString::from).collect(),
        output: if settings.text("output") == Some("json") { Output::Json } else { Output::Text },
        env: unit.env.clone(),
        context,
    }))
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let program = settings.text("program").unwrap_or_default();
    if program.contains('/') && !program.starts_with('/') {
        let message = "is an absolute path or a name without `/`; relative paths mean nothing to a daemon";
        return vec![KeyProblem { key: "program", message: message.to_owned() }];
    }
    Vec::new()
}

impl CommandEngine {
    pub(super) async fn probe(&self) -> Result<String, EngineError> {
        let env = self.child_env().await?;
        let program = lookup::find(&self.program, &env).map_err(|error| port_failure(&error))?;
        lookup::check(&program, &env).map_err(|error| port_failure(&error))?;
        Ok(format!("{} can be started", program.display()))
    }

    async fn child_env(&self) -> Result<crate::process::ChildEnv, EngineError> {
        let EngineContext { environment, secrets, .. } = &self.context;
        env::build(environment, &self.env, secrets.as_ref()).await.map_err(|error| port_failure(&error))
    }

    pub(super) async fn run(
        &self,
        request: &EngineRequest,
        run_limits: RunLimits,
        run_dir: &Path,
        cancel: &CancellationToken,
    ) -> Result<EngineOutcome, EngineError> {
        let prompt = prompt::build(request);
        let stdin = match self.output {
            Output::Text => prompt.text().into_bytes(),
            Output::Json => answer::request(request, &prompt)
                .map_err(|error| failed(RunFailure::Protocol, format!("write the request: {error}")))?,
        };
        let spec = ChildSpec {
            program: self.program.clone(),
            args: self.args.clone(),
            env: self.child_env().await?,
            cwd: run_dir.to_owned(),
            stdin,
            limits: ChildLimits {
                first_output: run_limits.first_event,
                idle: run_limits.idle,
                total: run_limits.total,
                line_bytes_max: limits::CHILD_LINE_BYTES_MAX,
                stdout_bytes_max: limits::CHILD_STDOUT_BYTES_MAX,
            },
        };
        let mut collector = Collector::new(self.output, prompt.draft.clone());
        let mut on_line = |line: &[u8]| collector.take(line);
        let report = self.context.process.run(spec, cancel, &mut on_line).await;
        let report = report.map_err(|error| port_failure(&error))?;
        let mut remarks = prompt.remarks;
        if report.swept > 0 {
            remarks.push(format!("the program left {} processes behind; they were ended", report.swept));
        }
        ended_well(&report, run_limits, &collector)?;
        // What was skipped may have been the answer, or a part of it.
        if report.lines_skipped > 0 {
            let most = short_size(limits::CHILD_LINE_BYTES_MAX as u64);
            let detail = format!("line too long: it wrote a line of more than {most}");
            return Err(failed(RunFailure::Protocol, with_hint(&detail, &report)));
        }
        let result = match collector.finish() {
            Collected::Result(result) => result,
            Collected::Failed(failure, message) => return Err(failed(failure, with_hint(&message, &report))),
        };
        Ok(EngineOutcome { remarks, ..EngineOutcome::of(result) })
    }
}

/// In the order of distrust: what we did ourselves, then what the program says of its failure, then its exit code.
fn ended_well(report: &ChildReport, run_limits: RunLimits, collector: &Collector) -> Result<(), EngineError> {
    let ended = |failure, what: String| Err(failed(failure, with_hint(&what, report)));
    match report.end {
        ChildEnd::Cancelled => ended(RunFailure::Cancelled, "it was cancelled".to_owned()),
        ChildEnd::TimedOutFirst => ended(
            RunFailure::TimeoutIdle,
            format!("it said nothing for {}", short_span(run_limits.first_event)),
        ),
        ChildEnd::TimedOutIdle | ChildEnd::TimedOutProgress => {
            ended(RunFailure::TimeoutIdle, format!("it fell silent for {}", short_span(run_limits.idle)))
        }
        ChildEnd::TimedOutTotal => {
            ended(RunFailure::TimeoutTotal, format!("it took longer than {}", short_span(run_limits.total)))
        }
        ChildEnd::OverCap => {
            let most = short_size(limits::CHILD_STDOUT_BYTES_MAX as u64);
            ended(RunFailure::Protocol, format!("it wrote more than {most}"))
        }
        ChildEnd::Exited(0) => Ok(()),
        // Its own words about the failure say more than a number.
        ChildEnd::Exited(_) | ChildEnd::Signalled(_) if collector.holds_error() => Ok(()),
        ChildEnd::Exited(code) => ended(RunFailure::Exit, format!("exit status {code}")),
        ChildEnd::Signalled(signal) => ended(RunFailure::Exit, format!("ended by signal {signal}")),
    }
}

/// With the last lines of stderr, which is where programs say what they miss.
pub(super) fn with_hint(what: &str, report: &ChildReport) -> String {
    let tail = report.stderr_tail.trim();
    let start = tail.ceil_char_boundary(tail.len().saturating_sub(HINT_BYTES_MAX));
    match cut(tail.get(start..).unwrap_or_default(), HINT_BYTES_MAX).trim() {
        "" => what.to_owned(),
        hint => format!("{what}: {hint}"),
    }
}

#[cfg(test)]
mod tests;
