//! Programs that print secrets: password managers, and what makes new values.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use super::{ChildEnd, ChildLimits, ChildSpec, ProcessRoom, env};
use crate::model::class::chain;
use crate::model::environment::Environment;
use crate::model::limits::{SECRET_BYTES_MAX, SECRET_PROGRAM};
use crate::model::secret_ref::SecretRef;
use crate::model::text::one_line;
use crate::secret::program::{Asked, ProgramError, Programs};
use crate::secret::{SecretError, SecretStore, SecretValue};
use crate::unit::plan::EnvUnit;

/// Of what such a program says on its standard error.
const SAID_BYTES_MAX: usize = 200;

/// Runs programs that print secrets, as children like any other: with the allowlisted environment and what they are
/// passed, no secret among their arguments.
pub struct SecretPrograms {
    process: ProcessRoom,
    environment: Environment,
}

impl SecretPrograms {
    /// With the daemon's environment.
    #[must_use]
    pub fn new(process: ProcessRoom, environment: Environment) -> Self {
        Self { process, environment }
    }

    async fn run(&self, asked: Asked<'_>) -> Result<SecretValue, ProgramError> {
        let Asked { command, pass, stdin } = asked;
        let said = |why: String| ProgramError { why, hung: false };
        let Some((program, args)) = command.split_first() else {
            return Err(said("no program is named".to_owned()));
        };
        let unit = EnvUnit { name: "secret".to_owned(), pass: pass.to_vec(), ..EnvUnit::default() };
        let child_env = env::build(&self.environment, &[Arc::new(unit)], &NoSecrets).await;
        let child_env = child_env.map_err(|error| said(chain(&error)))?;
        let home = self.environment.get("HOME").unwrap_or("/");
        let spec = ChildSpec {
            program: program.into(),
            args: args.iter().map(Into::into).collect(),
            env: child_env,
            cwd: home.into(),
            stdin: stdin.map(|value| value.expose_to_the_wire().as_bytes().to_vec()).unwrap_or_default(),
            limits: ChildLimits {
                first_output: SECRET_PROGRAM,
                idle: SECRET_PROGRAM,
                total: SECRET_PROGRAM,
                line_bytes_max: SECRET_BYTES_MAX,
                stdout_bytes_max: SECRET_BYTES_MAX,
            },
        };
        // Large enough at once: a buffer that grows leaves copies behind.
        let mut printed = Zeroizing::new(Vec::with_capacity(SECRET_BYTES_MAX + 1));
        let mut take = |line: &[u8]| {
            printed.extend_from_slice(line);
            printed.push(b'\n');
        };
        let report = self.process.run(spec, &CancellationToken::new(), &mut take).await;
        let report = report.map_err(|error| said(chain(&error)))?;
        let told = match report.stderr_tail.trim() {
            "" => String::new(),
            text => format!(": {}", one_line(text, SAID_BYTES_MAX)),
        };
        let shown = one_line(program, 80);
        match report.end {
            ChildEnd::Exited(0) if report.lines_skipped == 0 => {}
            ChildEnd::Exited(0) | ChildEnd::OverCap => {
                return Err(said(format!("`{shown}` printed more than {SECRET_BYTES_MAX} bytes")));
            }
            ChildEnd::Exited(code) => return Err(said(format!("`{shown}` ended with {code}{told}"))),
            ChildEnd::TimedOutFirst
            | ChildEnd::TimedOutIdle
            | ChildEnd::TimedOutProgress
            | ChildEnd::TimedOutTotal => {
                let why = format!("`{shown}` gave no value within {}s{told}", SECRET_PROGRAM.as_secs());
                return Err(ProgramError { why, hung: true });
            }
            end => return Err(said(format!("`{shown}` was ended ({end:?}){told}"))),
        }
        let text = std::str::from_utf8(&printed);
        let text = text.map_err(|_| said(format!("`{shown}` printed no text in UTF-8")))?;
        Ok(SecretValue::new(text.to_owned()))
    }
}

impl Programs for SecretPrograms {
    fn print<'a>(&'a self, asked: Asked<'a>) -> BoxFuture<'a, Result<SecretValue, ProgramError>> {
        Box::pin(self.run(asked))
    }
}

/// A program that prints secrets is given none by its environment but what is passed by name.
struct NoSecrets;

impl SecretStore for NoSecrets {
    fn read<'a>(&'a self, reference: &'a SecretRef) -> BoxFuture<'a, Result<SecretValue, SecretError>> {
        Box::pin(async move { Err(SecretError::Missing { name: reference.to_string() }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn print(command: &[&str], stdin: Option<&str>) -> Result<String, ProgramError> {
        let root = tempfile::tempdir().unwrap();
        let environment = Environment::of([("PATH", "/usr/bin:/bin"), ("VAULT", "open"), ("OTHER", "x")]);
        let programs = SecretPrograms::new(ProcessRoom::new(root.path().join("notes")), environment);
        let command: Vec<String> = command.iter().map(|part| (*part).to_owned()).collect();
        let stdin = stdin.map(|text| SecretValue::new(text.to_owned()));
        let pass = ["VAULT".to_owned()];
        let asked = Asked { command: &command, pass: &pass, stdin: stdin.as_ref() };
        programs.print(asked).await.map(|value| value.expose_to_the_wire().to_owned())
    }

    #[tokio::test]
    async fn what_it_prints_is_the_value() {
        assert_eq!(
            print(&["printf", "canary\\nof two lines\\n"], None).await.unwrap(),
            "canary\nof two lines"
        );
        assert_eq!(print(&["cat"], Some("the old one")).await.unwrap(), "the old one");
        assert_eq!(print(&["sh", "-c", "echo $VAULT$OTHER"], None).await.unwrap(), "open");
    }

    #[tokio::test]
    async fn a_failure_says_what_the_program_said_and_never_what_it_printed() {
        let error =
            print(&["sh", "-c", "echo canary; echo not signed in >&2; exit 3"], None).await.unwrap_err();
        assert_eq!(error.why, "`sh` ended with 3: not signed in");
        let error = print(&["no-such-program-here"], None).await.unwrap_err();
        assert!(error.why.contains("not found on the PATH"), "{}", error.why);
        let error = print(&["sh", "-c", "yes canary | head -c 100000"], None).await.unwrap_err();
        assert!(error.why.contains("printed more than"), "{}", error.why);
        let error = print(&["printf", "\\377"], None).await.unwrap_err();
        assert!(error.why.contains("no text in UTF-8"), "{}", error.why);
    }
}
