//! `workagent service`: the daemon as a service of the user, under systemd or launchd.

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use super::case::pretty;
use super::context::Context;
use super::error::CliError;
use super::look::{self, Cell, Paint, Table};
use crate::daemon::exit;
use crate::daemon::service::install::files;
use crate::daemon::service::{
    self, Installed, Removed, ServiceError, Site, State, Supervisor, System, Wishes, login_path, state,
    systemd,
};
use crate::model::class::chain;

/// `workagent service …`
#[derive(Debug, Args)]
pub struct ServiceArgs {
    #[command(subcommand)]
    command: ServiceCommand,
}

#[derive(Debug, Subcommand)]
enum ServiceCommand {
    /// Write the service's file, start it now and at each login, and look whether it runs
    Install(InstallArgs),
    /// Stop the service and remove its file; units, secrets and the record stay
    Uninstall,
    /// Start the service anew, and look whether it runs
    Restart,
    /// Show what became of the service
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct InstallArgs {
    /// Only print what would be written
    #[arg(long)]
    print: bool,
    /// With --print: for this one instead of the one that runs here
    #[arg(long, value_enum, requires = "print")]
    manager: Option<ManagerChoice>,
    /// The PATH of the service and its engines (default: that of your login shell)
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Take more rights away (systemd): no new privileges, so no programs from snaps, no sudo, no local sendmail
    #[arg(long)]
    hardened: bool,
    /// Keep your services running when you log out (systemd: loginctl enable-linger)
    #[arg(long)]
    linger: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ManagerChoice {
    Systemd,
    Launchd,
}

/// Runs the command.
///
/// # Errors
/// No supervisor, or the service does not run afterwards.
pub async fn command(args: ServiceArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let manager = match &args.command {
        ServiceCommand::Install(InstallArgs { manager: Some(ManagerChoice::Systemd), .. }) => {
            Some(Supervisor::Systemd)
        }
        ServiceCommand::Install(InstallArgs { manager: Some(ManagerChoice::Launchd), .. }) => {
            Some(Supervisor::Launchd)
        }
        // What would be written can be shown anywhere.
        ServiceCommand::Install(InstallArgs { print: true, .. }) => {
            Some(Supervisor::here(&context.environment).unwrap_or(Supervisor::Systemd))
        }
        _ => None,
    };
    let site = site(context, manager)?;
    let caller = System::new(context.environment.clone());
    match args.command {
        ServiceCommand::Install(args) => {
            let path = match args.path {
                Some(path) => path,
                None => login_path::capture(&context.environment).await,
            };
            let wishes = Wishes { path, hardened: args.hardened, linger: args.linger };
            if args.print {
                let mut text = String::new();
                for (path, file) in files(&site, &wishes).map_err(service_error)? {
                    context.note(&format!("{}:\n", path.display()));
                    text.push_str(&file);
                }
                context.out.write_all(text.as_bytes())?;
                return Ok(exit::OK);
            }
            let installed = service::install(&site, &wishes, &caller).await.map_err(service_error)?;
            context.out.write_all(shown_installed(&installed, &site).as_bytes())?;
            for note in &installed.notes {
                context.note(&format!("note: {note}\n"));
            }
        }
        ServiceCommand::Uninstall => {
            let removed = service::uninstall(&site, &caller).await.map_err(service_error)?;
            context.out.write_all(shown_removed(&removed, &site).as_bytes())?;
            for note in &removed.notes {
                context.note(&format!("note: {note}\n"));
            }
        }
        ServiceCommand::Restart => {
            let pid = service::restart(&site, &caller).await.map_err(service_error)?;
            writeln!(context.out, "{}", runs(pid))?;
        }
        ServiceCommand::Status { json } => {
            let state_dir = context.paths()?.state;
            let state = state::ask(&site, &state_dir, &caller).await.map_err(service_error)?;
            let text = if json {
                pretty(&View::of(&state, &site))
            } else {
                shown(&state, &site, context.paint(), context.width())
            };
            context.out.write_all(text.as_bytes())?;
            return Ok(if state.pid.is_some() && state.why_not.is_none() {
                exit::OK
            } else {
                exit::NOT_WELL
            });
        }
    }
    Ok(exit::OK)
}

/// Whose service a command is about.
///
/// # Errors
/// No supervisor, or no home.
pub fn site(context: &Context<'_>, manager: Option<Supervisor>) -> Result<Site, CliError> {
    Site::find(&context.environment, manager, context.global.state_dir.as_deref()).map_err(service_error)
}

/// As commands tell it.
pub fn service_error(error: ServiceError) -> CliError {
    let told = CliError::new(exit::FAILURE, chain(&error));
    CliError { hint: error.hint, ..told }
}

fn runs(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("running (process {pid})"),
        None => "running".to_owned(),
    }
}

fn shown_installed(installed: &Installed, site: &Site) -> String {
    let home = Some(site.home.as_path());
    let mut out = String::new();
    for path in &installed.wrote {
        out.push_str(&format!("wrote {}\n", look::path(path, home)));
    }
    for path in &installed.kept {
        out.push_str(&format!("{} is as it should be\n", look::path(path, home)));
    }
    out.push_str(&format!("{}; it starts at each login\n", runs(installed.pid)));
    out
}

fn shown_removed(removed: &Removed, site: &Site) -> String {
    let mut out = "stopped\n".to_owned();
    for path in &removed.files {
        out.push_str(&format!("removed {}\n", look::path(path, Some(&site.home))));
    }
    out
}

/// `service status --json`.
#[derive(Debug, Serialize)]
struct View {
    version: u32,
    manager: &'static str,
    installed: bool,
    running: bool,
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    drop_ins: Vec<String>,
    at_login: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    restarts: Option<i64>,
    /// systemd only: the user's services outlive the login.
    #[serde(skip_serializing_if = "Option::is_none")]
    lingers: Option<bool>,
}

impl View {
    fn of(state: &State, site: &Site) -> Self {
        let path = |path: &std::path::PathBuf| path.display().to_string();
        Self {
            version: 1,
            manager: site.supervisor.word(),
            installed: state.is_installed(),
            running: state.why_not.is_none(),
            state: state.word.clone(),
            reason: state.off.clone().or_else(|| state.why_not.clone()),
            pid: state.pid,
            file: state.file.as_ref().map(path),
            drop_ins: state.drop_ins.iter().map(path).collect(),
            at_login: state.at_login,
            restarts: state.restarts,
            lingers: (site.supervisor == Supervisor::Systemd).then(|| systemd::lingers(site)),
        }
    }
}

fn shown(state: &State, site: &Site, paint: Paint, width: usize) -> String {
    let name = match site.supervisor {
        Supervisor::Systemd => service::site::UNIT,
        Supervisor::Launchd => service::site::LABEL,
    };
    let (code, word) = match &state.why_not {
        None => ("32", runs(state.pid)),
        Some(_) if !state.is_installed() => ("2", "not installed".to_owned()),
        Some(why) => ("31", why.clone()),
    };
    let glyph = if state.why_not.is_none() { "●" } else { "○" };
    let mut out =
        format!("{} {name}: {}\n", paint.with(code, glyph), paint.with(code, look::line(&word, 400)));
    let mut table = Table::bare(2);
    let mut row = |name: &str, text: String| table.row([Cell::from(format!("  {name}")), Cell::from(text)]);
    let short = |path: &std::path::Path| look::path(path, Some(&site.home));
    if let Some(file) = &state.file {
        row("file", short(file));
    }
    for file in &state.drop_ins {
        row("drop-in", short(file));
    }
    if let Some(program) = &state.program {
        row("program", short(program));
    }
    if let Some(off) = &state.off {
        row("off", off.clone());
    }
    if state.is_installed() {
        let at_login = if state.at_login { "at each login" } else { "only by hand" };
        let lingers = match site.supervisor {
            Supervisor::Systemd if systemd::lingers(site) => "; stays when you log out",
            Supervisor::Systemd => "; ends when you log out (lingering is off)",
            Supervisor::Launchd => "; ends when you log out",
        };
        row("starts", format!("{at_login}{lingers}"));
    }
    if let Some(restarts) = state.restarts.filter(|restarts| *restarts > 0) {
        row(
            "restarted",
            format!(
                "{} after a failure",
                look::counted(usize::try_from(restarts).unwrap_or(0), "time", "times")
            ),
        );
    }
    if let Some(told) = &state.told {
        row("tells", look::line(told, 200));
    }
    out.push_str(&table.render(paint, width));
    if !state.is_installed() {
        out.push_str("`workagent service install` sets it up\n");
    } else if state.is_stale {
        out.push_str("its file was changed since: systemctl --user daemon-reload\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn site() -> Site {
        Site {
            supervisor: Supervisor::Systemd,
            program: PathBuf::from("/usr/bin/workagent"),
            home: PathBuf::from("/home/me"),
            config_home: PathBuf::from("/home/me/.config"),
            user: "nobody-at-all".to_owned(),
            uid: 1000,
            kept: Vec::new(),
        }
    }

    #[test]
    fn a_service_that_runs_and_one_that_does_not() {
        let state = State {
            file: Some(PathBuf::from("/home/me/.config/systemd/user/workagent.service")),
            drop_ins: vec![PathBuf::from("/home/me/.config/systemd/user/workagent.service.d/hardening.conf")],
            at_login: true,
            word: "active".to_owned(),
            pid: Some(4242),
            program: Some(PathBuf::from("/home/me/.cargo/bin/workagent")),
            restarts: Some(2),
            told: Some("12 unit files, generation 3".to_owned()),
            ..State::default()
        };
        insta::assert_snapshot!(shown(&state, &site(), Paint { colour: false }, 80), @r#"
        ● workagent.service: running (process 4242)
          file       ~/.config/systemd/user/workagent.service
          drop-in    ~/.config/systemd/user/workagent.service.d/hardening.conf
          program    ~/.cargo/bin/workagent
          starts     at each login; ends when you log out (lingering is off)
          restarted  2 times after a failure
          tells      12 unit files, generation 3
        "#);
        let failed = State {
            pid: None,
            why_not: Some("failed, exit code 78 (the configuration)".to_owned()),
            told: None,
            restarts: None,
            ..state
        };
        let shown_failed = shown(&failed, &site(), Paint { colour: false }, 80);
        assert!(shown_failed.starts_with("○ workagent.service: failed, exit code 78"), "{shown_failed}");
        let none = State { why_not: Some("not installed".to_owned()), ..State::default() };
        insta::assert_snapshot!(shown(&none, &site(), Paint { colour: false }, 80), @r#"
        ○ workagent.service: not installed
        `workagent service install` sets it up
        "#);
    }
}
