//! What is asked of the user's systemd.

use std::path::PathBuf;

use super::calls::{Caller, PATIENT, QUICK};
use super::show::{PROPERTIES, Shown};
use super::site::UNIT;
use super::{ServiceError, Site, exit_meaning};
use crate::model::text::one_line;
use crate::process::call::Called;

/// What systemd says of the service.
///
/// # Errors
/// It does not answer.
pub async fn show(caller: &dyn Caller) -> Result<Shown, ServiceError> {
    let called = systemctl(caller, &["show", UNIT, PROPERTIES], QUICK).await?;
    said_no(&called)?;
    Ok(Shown::parse(&called.stdout))
}

/// `systemctl --user`, whatever it comes to.
///
/// # Errors
/// It is not there, or hangs.
pub(super) async fn systemctl(
    caller: &dyn Caller,
    args: &[&str],
    time: std::time::Duration,
) -> Result<Called, ServiceError> {
    let mut all = vec!["--user", "--no-pager", "--no-ask-password"];
    all.extend(args);
    Ok(caller.call("systemctl", &all, time).await?)
}

fn said_no(called: &Called) -> Result<(), ServiceError> {
    if called.is_ok() {
        return Ok(());
    }
    let said = one_line(called.complaint(), 300);
    if ["connect to bus", "D-Bus connection", "connect to user scope bus"]
        .iter()
        .any(|word| said.contains(word))
    {
        return Err(no_bus(&said));
    }
    Err(ServiceError::new(format!("systemctl --user: {said}")))
}

fn no_bus(said: &str) -> ServiceError {
    let error = ServiceError::new(format!("the user's service manager does not answer: {said}"));
    error.hint(
        "log in as this user (a shell by `su` or `sudo` has no session; `machinectl shell USER@` makes one), or run \
         `loginctl enable-linger` and set XDG_RUNTIME_DIR=/run/user/UID",
    )
}

/// Has systemd take over the file that was written, and start it now and at each login. Its process.
///
/// # Errors
/// It does not run afterwards; the text says why.
pub(super) async fn bring_up(caller: &dyn Caller) -> Result<Option<u32>, ServiceError> {
    for args in [&["daemon-reload"][..], &["enable", UNIT]] {
        said_no(&systemctl(caller, args, PATIENT).await?)?;
    }
    up(caller).await
}

/// Starts it anew, waits for it, and looks whether it runs.
pub(super) async fn up(caller: &dyn Caller) -> Result<Option<u32>, ServiceError> {
    // One that failed too often is not started again without that; nothing to forget is no fault.
    systemctl(caller, &["reset-failed", UNIT], QUICK).await?;
    let restarted = systemctl(caller, &["restart", UNIT], PATIENT).await?;
    let shown = show(caller).await?;
    if restarted.is_ok() && shown.get("ActiveState") == Some("active") {
        return Ok(shown.pid());
    }
    let error = ServiceError::new(format!("the service does not run: {}", why_not(&shown)));
    Err(error.hint(format!("journalctl --user -u {UNIT} -n 30")))
}

/// Why it does not run, in words.
#[must_use]
pub fn why_not(shown: &Shown) -> String {
    let state = shown.get("ActiveState").unwrap_or("unknown");
    match shown.get("Result") {
        Some("watchdog") => return format!("{state}, it gave no sign of life in time"),
        Some("oom-kill") => return format!("{state}, the system ran out of memory"),
        Some("timeout") => return format!("{state}, it was not ready in time"),
        Some("start-limit-hit") => return format!("{state}, it could not start several times in a row"),
        _ => {}
    }
    let code = shown.number("ExecMainStatus").and_then(|code| i32::try_from(code).ok()).unwrap_or(0);
    match (shown.get("LoadState"), exit_meaning(code)) {
        (Some("masked"), _) => "masked".to_owned(),
        (Some("not-found"), _) => "not installed".to_owned(),
        (_, Some(meaning)) => format!("{state}, exit code {code} ({meaning})"),
        (_, None) if code != 0 => format!("{state}, exit code {code}"),
        _ => state.to_owned(),
    }
}

/// Stops it, and has it start at logins no longer.
pub(super) async fn take_down(caller: &dyn Caller) -> Result<(), ServiceError> {
    let called = systemctl(caller, &["disable", "--now", UNIT], PATIENT).await?;
    // Never installed is as good as gone.
    if called.complaint().contains("does not exist") || called.complaint().contains("not loaded") {
        return Ok(());
    }
    said_no(&called)
}

/// After its file went.
pub(super) async fn forget(caller: &dyn Caller) -> Result<(), ServiceError> {
    said_no(&systemctl(caller, &["daemon-reload"], PATIENT).await?)?;
    systemctl(caller, &["reset-failed", UNIT], QUICK).await?;
    Ok(())
}

/// Whether the user's services outlive the login. The file is all that logind goes by.
#[must_use]
pub fn lingers(site: &Site) -> bool {
    linger_file(&site.user).exists()
}

/// Where logind notes it.
#[must_use]
pub fn linger_file(user: &str) -> PathBuf {
    PathBuf::from("/var/lib/systemd/linger").join(user)
}

/// Has the user's services outlive the login.
///
/// # Errors
/// logind refuses (some systems want an administrator for it), or does not run.
pub(super) async fn enable_linger(caller: &dyn Caller) -> Result<(), ServiceError> {
    let called = caller.call("loginctl", &["enable-linger"], QUICK).await?;
    if called.is_ok() {
        return Ok(());
    }
    let said = one_line(called.complaint(), 200);
    let error = ServiceError::new(format!("the service runs, but lingering was not switched on: {said}"));
    Err(error.hint("sudo loginctl enable-linger \"$USER\""))
}

#[cfg(test)]
mod tests {
    use super::super::calls::scripted::Scripted;
    use super::*;

    const ACTIVE: &str = "LoadState=loaded\nActiveState=active\nMainPID=77\n";

    #[tokio::test]
    async fn up_means_seen_running() {
        let caller = Scripted::new([
            ("daemon-reload", 0, ""),
            ("enable", 0, ""),
            ("reset-failed", 1, "Failed to reset failed state of unit workagent.service: not loaded."),
            ("restart", 0, ""),
            ("show", 0, ACTIVE),
        ]);
        assert_eq!(bring_up(&caller).await.unwrap(), Some(77));
        assert!(caller.asked()[1].contains("--user --no-pager --no-ask-password enable workagent.service"));
    }

    #[tokio::test]
    async fn why_it_does_not_run_is_told() {
        let check = async |shown: &'static str, expected: &str| {
            let caller = Scripted::new([("reset", 0, ""), ("restart", 1, "Job failed"), ("show", 0, shown)]);
            let error = up(&caller).await.unwrap_err();
            assert_eq!(error.message, format!("the service does not run: {expected}"));
            assert!(error.hint.unwrap().starts_with("journalctl --user"));
        };
        check(
            "ActiveState=failed\nResult=exit-code\nExecMainStatus=75\nLoadState=loaded",
            "failed, exit code 75 (another workagent runs with the same state directory; stop it first)",
        )
        .await;
        check("ActiveState=failed\nResult=watchdog", "failed, it gave no sign of life in time").await;
        check("ActiveState=inactive\nLoadState=masked", "masked").await;
        check("ActiveState=failed\nExecMainStatus=9", "failed, exit code 9").await;
    }

    #[tokio::test]
    async fn no_bus_is_told_with_a_way_out() {
        let said = "Failed to connect to bus: $DBUS_SESSION_BUS_ADDRESS and $XDG_RUNTIME_DIR not defined";
        let error = show(&Scripted::new([("show", 1, said)])).await.unwrap_err();
        assert!(error.message.starts_with("the user's service manager does not answer"), "{error}");
        assert!(error.hint.unwrap().contains("XDG_RUNTIME_DIR"));
    }
}
