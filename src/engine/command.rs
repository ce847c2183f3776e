//! Any program as an engine: the case on standard input, the answer on standard output.

mod answer;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;
use tokio_util::sync::CancellationToken;

use self::answer::{Collected, Collector, Output};
use super::confine::rights;
use super::dialect::{Dialect, Transcript};
use super::ended::{by_us, naturally, with_hint};
use super::listen::{Start, left_behind, listen};
use super::{EngineContext, EngineSpec, ExecutionEngine, failed, port_failure, prompt};
use crate::model::class::PortError;
use crate::model::limits;
use crate::model::run::{EngineError, EngineOutcome, EngineRequest, RunFailure, RunLimits};
use crate::model::text::short_size;
use crate::process::{ChildEnd, ChildLimits, ChildReport, ChildSpec, env, lookup};
use crate::unit::plan::{EngineUnit, EnvUnit, SandboxRule};
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
            ValueType::Choice(&["text", "json", "gemini", "opencode", "qwen", "copilot"]),
            "With text the program gets the prompt, and its output is the reply: what stands between the marks that \
             the prompt asks for, or all of it if there are none. With json it gets a JSON \
             object with case, items, instruction, notes and prompt, and answers with one line that is a JSON object: \
             {\"reply\": …}, {\"nothing_to_do\": …}, {\"question\": …} or {\"error\": {\"class\": …, \"message\": …, \
             \"until\": …}}. With the name of a program it gets the prompt, and its event lines are read (gemini -o \
             stream-json, opencode run --format json, qwen -o stream-json, copilot --output-format json): the reply \
             must stand between the marks",
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

/// Runs a program.
#[derive(Debug)]
pub struct CommandEngine {
    sandbox: SandboxRule,
    program: OsString,
    args: Vec<OsString>,
    output: How,
    env: Vec<Arc<EnvUnit>>,
    context: EngineContext,
}

/// How its output is read.
#[derive(Clone, Copy, Debug)]
enum How {
    Plain(Output),
    Events(Dialect),
}

impl How {
    fn of(word: &str) -> Self {
        match word {
            "json" => Self::Plain(Output::Json),
            _ => Dialect::of(word).map_or(Self::Plain(Output::Text), Self::Events),
        }
    }
}

fn build(unit: &EngineUnit, context: EngineContext) -> Result<ExecutionEngine, PortError> {
    let settings = &unit.settings;
    Ok(ExecutionEngine::Command(CommandEngine {
        sandbox: unit.sandbox.clone(),
        program: settings.text("program").unwrap_or_default().into(),
        args: settings.list("args").iter().map(OsString::from).collect(),
        output: How::of(settings.text("output").unwrap_or_default()),
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
        let output = match self.output {
            How::Plain(output) => output,
            How::Events(dialect) => return self.listen(dialect, request, run_limits, run_dir, cancel).await,
        };
        let prompt = prompt::build(request);
        let stdin = match output {
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
        let mut collector = Collector::new(output, prompt.draft.clone());
        let mut on_line = |line: &[u8]| collector.take(line);
        let process = &self.context.process;
        let rights = rights(&self.sandbox, &[run_dir]);
        let (spec, unconfined) =
            process.confined(spec, &rights).await.map_err(|error| port_failure(&error))?;
        let report = process.run(spec, cancel, &mut on_line).await;
        let report = report.map_err(|error| port_failure(&error))?;
        let mut remarks = prompt.remarks;
        remarks.extend(unconfined.map(str::to_owned));
        remarks.extend(left_behind(report.swept));
        ended_well(&report, run_limits, &collector)?;
        // What was skipped may have been the answer, or a part of it.
        if report.lines_skipped > 0 {
            let most = short_size(limits::CHILD_LINE_BYTES_MAX as u64);
            let detail = format!("line too long: it wrote a line of more than {most}");
            return Err(failed(RunFailure::Protocol, with_hint(&detail, &report)));
        }
        let outcome = match collector.finish() {
            Collected::Result(outcome) => outcome,
            Collected::Failed(failure, message) => return Err(failed(failure, with_hint(&message, &report))),
        };
        Ok(EngineOutcome { remarks, ..outcome })
    }

    /// A program whose event lines are known. Its text is a draft only between the marks: errors and notices of such
    /// programs come as text too.
    async fn listen(
        &self,
        dialect: Dialect,
        request: &EngineRequest,
        run_limits: RunLimits,
        run_dir: &Path,
        cancel: &CancellationToken,
    ) -> Result<EngineOutcome, EngineError> {
        let prompt = prompt::build(request);
        let start = Start {
            program: self.program.clone(),
            args: self.args.clone(),
            env: self.child_env().await?,
            cwd: run_dir.to_owned(),
            stdin: prompt.text().into_bytes(),
            rights: rights(&self.sandbox, &[run_dir]),
        };
        let transcript = Transcript::new(dialect, self.context.clock.clone(), TimeZone::system());
        let listened = listen(&self.context.process, start, run_limits, cancel, transcript).await?;
        let heard = listened.heard;
        let result = match prompt::read_answer(&heard.answer.text, &prompt.draft) {
            Ok(result) => result,
            Err((failure, detail)) => return Err(EngineError { failure, detail, usage: heard.usage }),
        };
        let mut remarks = prompt.remarks;
        remarks.extend(heard.remarks);
        remarks.extend(left_behind(listened.swept));
        Ok(EngineOutcome { usage: heard.usage, facts: heard.facts, remarks, ..EngineOutcome::of(result) })
    }
}

/// In the order of distrust: what we did ourselves, then what the program says of its failure, then its exit code.
fn ended_well(report: &ChildReport, run_limits: RunLimits, collector: &Collector) -> Result<(), EngineError> {
    let ended = |(failure, what): (RunFailure, String)| Err(failed(failure, with_hint(&what, report)));
    if let Some(end) = by_us(report.end, run_limits) {
        return ended(end);
    }
    match report.end {
        ChildEnd::Exited(0) => Ok(()),
        // Its own words about the failure say more than a number.
        _ if collector.holds_error() => Ok(()),
        end => ended(naturally(end)),
    }
}

#[cfg(test)]
mod tests;
