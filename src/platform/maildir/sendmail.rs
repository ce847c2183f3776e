//! Hands a mail to a program.

use std::ffi::OsString;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::spec::Account;
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::text::one_line;
use crate::platform::ConnectorContext;
use crate::process::{ChildEnd, ChildLimits, ChildSpec, env};

/// "Try again later" of `sysexits.h`, the only definite "not now" that such programs have.
const EX_TEMPFAIL: i32 = 75;

/// What a program said, shown with its exit code.
const SAID_BYTES_MAX: usize = 300;

/// Runs the program with the mail on its standard input; the answer is the evidence.
///
/// # Errors
/// `Config` if the program cannot be started, `Network` for exit code 75, `Permanent` for any other code but 0,
/// `Uncertain` if it was ended from outside: it may have passed the mail on before.
pub async fn hand_over(
    context: &ConnectorContext,
    account: &Account,
    (program, args): (&OsString, &[OsString]),
    mail: &[u8],
) -> Result<String, PortError> {
    let name = program.to_string_lossy();
    let spec = ChildSpec {
        program: program.clone(),
        args: args.to_vec(),
        env: env::build(&context.environment, &[], context.secrets.as_ref()).await?,
        cwd: PathBuf::from("/"),
        stdin: mail.to_vec(),
        // A mail program says nothing when all is well, so silence means nothing.
        limits: ChildLimits {
            first_output: account.timeout,
            idle: account.timeout,
            total: account.timeout,
            line_bytes_max: limits::CHILD_STDERR_BYTES_MAX,
            stdout_bytes_max: limits::SENDMAIL_STDOUT_BYTES_MAX,
        },
    };
    let report = context.process.run(spec, &CancellationToken::new(), &mut |_line| {}).await?;
    let said = one_line(&report.stderr_tail, SAID_BYTES_MAX);
    let (class, how) = match report.end {
        ChildEnd::Exited(0) => return Ok(format!("{name} took it")),
        ChildEnd::Exited(EX_TEMPFAIL) => (ErrorClass::NETWORK, "it asks to try again later".to_owned()),
        ChildEnd::Exited(code) => (ErrorClass::Permanent, format!("it ended with {code}")),
        end => (ErrorClass::Uncertain, format!("it was ended before it was done ({end:?})")),
    };
    let cause = if said.is_empty() { how } else { format!("{how}: {said}") };
    Err(PortError::caused(class, format!("hand a mail to {name}"), cause))
}
