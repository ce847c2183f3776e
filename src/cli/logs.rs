//! `workagent logs`: what the daemon wrote, from the journal where it goes there; else where it went.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;

use super::backend::Backend;
use super::case;
use super::context::Context;
use super::error::CliError;
use super::units::{UnitSet, names};
use crate::control::wire::StatusView;
use crate::daemon::exit;
use crate::daemon::logging::JOURNAL_SOCKET;
use crate::model::ids::CaseId;
use crate::process::foreground;
use crate::store::CaseRecord;

/// `workagent logs`
#[derive(Debug, Args)]
pub struct LogsArgs {
    /// Only what is about this unit (may be given more than once)
    #[arg(long = "unit", short, value_name = "UNIT")]
    units: Vec<String>,
    /// Only what is about this case, `c12` or `12`; without a journal, its record
    #[arg(long, value_name = "CASE")]
    case: Option<CaseId>,
    /// Go on with what comes
    #[arg(long, short)]
    follow: bool,
    /// The last so many lines
    #[arg(long, short = 'n', value_name = "N")]
    lines: Option<u32>,
    /// From then on, as journalctl reads it: `10:00`, `yesterday`, `-2h`
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// One JSON object a line, as journalctl prints it
    #[arg(long)]
    json: bool,
}

/// Where the log goes.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Journal,
    /// In words, behind "the log goes to".
    Elsewhere(String),
}

/// Runs the command.
pub async fn command(args: LogsArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let set = UnitSet::read(context);
    let units = args.units.iter().map(|word| names::find(&set, word)).collect::<Result<Vec<_>, _>>()?;
    let pid = match Backend::daemon(context).await {
        Ok(backend) => backend.get::<StatusView>("/v1/status").await?.pid,
        Err(error) if error.code == exit::NOT_RUNNING => None,
        Err(error) => return Err(error),
    };
    match place(pid, Path::new(JOURNAL_SOCKET).exists()) {
        Place::Journal => {
            let units: Vec<String> = units.iter().map(ToString::to_string).collect();
            let words =
                journalctl(&args, &units, rustix::process::getuid().as_raw(), context.global.no_pager);
            let status = foreground::run("journalctl".as_ref(), &words)
                .map_err(|error| CliError::doing("read the journal", &error))?;
            Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::FAILURE))
        }
        Place::Elsewhere(place) => {
            match args.case {
                Some(id) => record(id, &place, args.json, context).await,
                None => {
                    let error =
                        CliError::new(exit::FAILURE, format!("the log goes to {place}, not to the journal"));
                    Err(error.hint("as a service it goes to the journal; `--case CASE` shows the record of a case here too"))
                }
            }
        }
    }
}

/// Where the daemon's standard error leads; without a daemon, where a service's would.
fn place(pid: Option<u32>, journal: bool) -> Place {
    let Some(pid) = pid else {
        return if journal {
            Place::Journal
        } else {
            Place::Elsewhere("the standard error of `workagent run`".to_owned())
        };
    };
    match std::fs::read_link(format!("/proc/{pid}/fd/2")) {
        Ok(target) => leads_to(pid, &target.to_string_lossy()),
        Err(_) if journal => Place::Journal,
        Err(_) => Place::Elsewhere(format!("the standard error of the daemon (process {pid})")),
    }
}

fn leads_to(pid: u32, target: &str) -> Place {
    match target {
        // systemd gives a service a socket of journald's.
        _ if target.starts_with("socket:") => Place::Journal,
        _ if target.starts_with("pipe:") => {
            Place::Elsewhere(format!("a pipe behind the daemon (process {pid})"))
        }
        _ if target.starts_with("/dev/pts/") || target.starts_with("/dev/tty") => {
            Place::Elsewhere(format!("the terminal {target}, where the daemon (process {pid}) runs"))
        }
        "/dev/null" => Place::Elsewhere("/dev/null: it is thrown away".to_owned()),
        file => Place::Elsewhere(super::look::line(file, 400)),
    }
}

/// Fields of the same name are alternatives, different ones go together.
fn journalctl(args: &LogsArgs, units: &[String], uid: u32, no_pager: bool) -> Vec<OsString> {
    let mut words = vec!["SYSLOG_IDENTIFIER=workagent".to_owned(), format!("_UID={uid}")];
    words.extend(units.iter().map(|unit| format!("UNIT={unit}")));
    words.extend(args.case.map(|case| format!("CASE={case}")));
    if args.follow {
        words.push("--follow".to_owned());
    }
    words.extend(args.lines.map(|lines| format!("--lines={lines}")));
    words.extend(args.since.as_ref().map(|since| format!("--since={since}")));
    if args.json {
        words.push("--output=json".to_owned());
    }
    if no_pager {
        words.push("--no-pager".to_owned());
    }
    words.into_iter().map(OsString::from).collect()
}

async fn record(id: CaseId, place: &str, json: bool, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    let record: CaseRecord = backend.get(&format!("/v1/cases/{id}")).await?;
    backend.close().await;
    context.note(&format!("note: the log goes to {place}; this is the record of {id}\n"));
    let text = if json {
        case::pretty(&record)
    } else {
        case::show(&record, context.clock.now(), context.width(), context.paint())
    };
    context.page(&text);
    Ok(exit::OK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_journalctl_is_asked() {
        let args = LogsArgs {
            units: Vec::new(),
            case: Some("c12".parse().unwrap()),
            follow: true,
            lines: Some(5),
            since: Some("-2h".into()),
            json: false,
        };
        let words = journalctl(&args, &["inbox.connector".into(), "a.engine".into()], 1000, true);
        assert_eq!(
            words,
            [
                "SYSLOG_IDENTIFIER=workagent",
                "_UID=1000",
                "UNIT=inbox.connector",
                "UNIT=a.engine",
                "CASE=c12",
                "--follow",
                "--lines=5",
                "--since=-2h",
                "--no-pager"
            ]
        );
    }

    #[test]
    fn where_the_log_goes() {
        assert_eq!(leads_to(7, "socket:[123]"), Place::Journal);
        assert_eq!(leads_to(7, "/tmp/x.log"), Place::Elsewhere("/tmp/x.log".into()));
        assert!(
            matches!(leads_to(7, "/dev/pts/3"), Place::Elsewhere(words) if words.contains("terminal /dev/pts/3"))
        );
        assert_eq!(place(None, true), Place::Journal);
    }
}
