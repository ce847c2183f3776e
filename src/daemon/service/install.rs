//! Installing, restarting and removing the service, whoever looks after it.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::calls::Caller;
use super::launchd::{self, Goal};
use super::{ServiceError, Site, Supervisor, plist, systemd, unit_file};

/// How the service is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The PATH of the service, and of the engines in it: see [`super::login_path::capture`].
    pub path: String,
    /// With the drop-in that takes more rights away (systemd).
    pub hardened: bool,
    /// Have the user's services outlive the login (systemd).
    pub linger: bool,
}

/// What an install came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    /// Files that were written.
    pub wrote: Vec<PathBuf>,
    /// Files that were as they should be.
    pub kept: Vec<PathBuf>,
    /// The daemon.
    pub pid: Option<u32>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// What an uninstall came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Files that were removed.
    pub files: Vec<PathBuf>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// The files of the service as this version would write them.
///
/// # Errors
/// A path that such a file cannot hold.
pub fn files(site: &Site, wishes: &Wishes) -> Result<Vec<(PathBuf, String)>, ServiceError> {
    let text = match site.supervisor {
        Supervisor::Systemd => unit_file::render(site, &wishes.path)?,
        Supervisor::Launchd => plist::render(site, &wishes.path)?,
    };
    let mut files = vec![(site.file(), text)];
    if wishes.hardened && site.supervisor == Supervisor::Systemd {
        files.push((site.hardening(), unit_file::HARDENING.to_owned()));
    }
    Ok(files)
}

/// Writes the files, has the supervisor start the service now and at each login, and looks whether it runs. May be
/// repeated: a running one is restarted with what was written.
///
/// # Errors
/// It does not run afterwards; the text says what is left.
pub async fn install(site: &Site, wishes: &Wishes, caller: &dyn Caller) -> Result<Installed, ServiceError> {
    let file = site.file();
    if fs::read_link(&file).is_ok_and(|target| target == Path::new("/dev/null")) {
        let error =
            ServiceError::new(format!("the service is masked: {} leads to /dev/null", file.display()));
        return Err(error.hint("systemctl --user unmask workagent"));
    }
    let mut installed = Installed::default();
    if site.supervisor == Supervisor::Systemd {
        // Before anything is written: without an answer nothing would come of it.
        systemd::show(caller).await?;
    }
    for (path, text) in files(site, wishes)? {
        if fs::read_to_string(&path).is_ok_and(|there| there == text) {
            installed.kept.push(path);
        } else {
            write(&path, &text)
                .map_err(|error| ServiceError::new(format!("write {}: {error}", path.display())))?;
            installed.wrote.push(path);
        }
    }
    match site.supervisor {
        Supervisor::Systemd => {
            installed.pid = systemd::bring_up(caller).await?;
            if wishes.linger && !systemd::lingers(site) {
                systemd::enable_linger(caller).await?;
            }
            if !wishes.linger && !systemd::lingers(site) {
                installed.notes.push(NO_LINGER.to_owned());
            }
        }
        Supervisor::Launchd => {
            let logs = plist::error_file(&site.home);
            let folder = logs.parent().unwrap_or(&site.home);
            // launchd makes the file, not its folder.
            fs::create_dir_all(folder)
                .map_err(|error| ServiceError::new(format!("make {}: {error}", folder.display())))?;
            installed.pid = launchd::drive(Goal::Running, site, caller).await?.and_then(|job| job.pid);
        }
    }
    Ok(installed)
}

/// What follows when lingering is off.
pub const NO_LINGER: &str = "lingering is off: the service ends when you log out, and starts when you log in; \
                             `loginctl enable-linger` keeps it running";

/// Starts the service anew, from its files as they are.
///
/// # Errors
/// It does not run afterwards; the text says what is left.
pub async fn restart(site: &Site, caller: &dyn Caller) -> Result<Option<u32>, ServiceError> {
    match site.supervisor {
        Supervisor::Systemd => systemd::up(caller).await,
        Supervisor::Launchd => Ok(launchd::drive(Goal::Running, site, caller).await?.and_then(|job| job.pid)),
    }
}

/// Stops the service, and removes what an install wrote. State, units and secrets stay.
///
/// # Errors
/// The supervisor does not let go of it, or a file cannot be removed.
pub async fn uninstall(site: &Site, caller: &dyn Caller) -> Result<Removed, ServiceError> {
    let mut removed = Removed::default();
    match site.supervisor {
        Supervisor::Systemd => systemd::take_down(caller).await?,
        Supervisor::Launchd => {
            launchd::drive(Goal::Gone, site, caller).await?;
        }
    }
    for path in [site.file(), site.hardening()] {
        match fs::remove_file(&path) {
            Ok(()) => removed.files.push(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(ServiceError::new(format!("remove {}: {error}", path.display()))),
        }
    }
    if site.supervisor == Supervisor::Systemd {
        // Only where nothing of the user's is left in it.
        if let Some(folder) = site.hardening().parent() {
            let _ = fs::remove_dir(folder);
        }
        systemd::forget(caller).await?;
        if let Some(file) = systemd::show(caller).await?.file() {
            let file = file.display();
            removed
                .notes
                .push(format!("{file} is of a package and stays; the service is stopped and disabled"));
        }
    }
    Ok(removed)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::calls::scripted::Scripted;
    use super::*;

    fn site(root: &Path, supervisor: Supervisor) -> Site {
        Site {
            supervisor,
            program: PathBuf::from("/usr/local/bin/workagent"),
            home: root.to_path_buf(),
            config_home: root.join("config"),
            user: "nobody-at-all".to_owned(),
            uid: 501,
            kept: Vec::new(),
        }
    }

    const ACTIVE: &str = "LoadState=loaded\nActiveState=active\nMainPID=77\n";

    #[tokio::test]
    async fn install_again_and_uninstall_under_systemd() {
        let root = tempfile::tempdir().unwrap();
        let site = site(root.path(), Supervisor::Systemd);
        let wishes = Wishes { path: "/bin".to_owned(), hardened: true, linger: false };
        let up = || {
            Scripted::new([
                ("show", 0, "LoadState=not-found\n"),
                ("daemon-reload", 0, ""),
                ("enable", 0, ""),
                ("reset-failed", 0, ""),
                ("restart", 0, ""),
                ("show", 0, ACTIVE),
            ])
        };
        let first = install(&site, &wishes, &up()).await.unwrap();
        let expected = Installed {
            wrote: vec![site.file(), site.hardening()],
            kept: Vec::new(),
            pid: Some(77),
            notes: vec![NO_LINGER.to_owned()],
        };
        assert_eq!(first, expected);
        let again = install(&site, &wishes, &up()).await.unwrap();
        assert_eq!((again.wrote, again.kept), (Vec::new(), first.wrote.clone()));
        let down = Scripted::new([
            ("disable --now", 0, ""),
            ("daemon-reload", 0, ""),
            ("reset-failed", 0, ""),
            ("show", 0, "LoadState=not-found\n"),
        ]);
        let removed = uninstall(&site, &down).await.unwrap();
        assert_eq!(removed.files, first.wrote);
        assert!(!site.hardening().parent().unwrap().exists());
        down.asked();
    }

    #[tokio::test]
    async fn a_masked_service_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let site = site(root.path(), Supervisor::Systemd);
        fs::create_dir_all(site.file().parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/dev/null", site.file()).unwrap();
        let error = install(&site, &Wishes::default(), &Scripted::new([])).await.unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("systemctl --user unmask workagent"));
    }

    #[tokio::test]
    async fn an_agent_is_written_and_loaded() {
        let root = tempfile::tempdir().unwrap();
        let site = site(root.path(), Supervisor::Launchd);
        let running = include_str!("../../../tests/fixtures/service/launchctl/print-running.txt");
        let caller = Scripted::new([
            ("print gui/501/local.workagent", 113, "Could not find service"),
            ("enable gui/501/local.workagent", 0, ""),
            ("bootstrap gui/501 ", 0, ""),
            ("print", 0, running),
            ("print", 0, running),
        ]);
        let installed =
            install(&site, &Wishes { path: "/bin".to_owned(), ..Wishes::default() }, &caller).await;
        assert_eq!(installed.unwrap().pid, Some(4242));
        assert!(site.home.join("Library/Logs").is_dir());
        caller.asked();
    }
}
