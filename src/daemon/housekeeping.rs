//! What is done beside the work, now and then: letting go of what is over and old, giving room back, backups by the clock.
//! Each in small steps; none of it holds up a case.

use std::path::PathBuf;

use super::assembly;
use super::backup::{self, Kept, Sources};
use super::paths::Paths;
use crate::control::api::Present;
use crate::model::class::chain;
use crate::model::keep::Keep;
use crate::model::limits;
use crate::model::live::Live;
use crate::model::time::Clock;
use crate::store::{Expected, Store, StoreError};

/// The flag that says since when no backup could be made, and why.
pub const FAILED: &str = "backup-failed";

/// What its name begins with: only backups made here make room for newer ones.
const BY_ITSELF: &str = "auto-";

/// Keeps house while the daemon runs.
pub struct Housekeeping {
    /// The record.
    pub store: Store,
    /// Where things lie.
    pub paths: Paths,
    /// The directory of the user's unit files.
    pub units: Option<PathBuf>,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// What counts now.
    pub present: Live<Present>,
    /// Now.
    pub clock: Clock,
}

impl Housekeeping {
    /// Until it is dropped.
    pub async fn work(self) {
        // Not at once: a start has other things to do, and a daemon that is started again and again is to start fast.
        tokio::time::sleep(limits::HOUSEKEEPING_FIRST).await;
        loop {
            let keep = self.present.get().plan.daemon.keep.clone();
            if let Err(error) = self.tidy(&keep).await {
                tracing::warn!("keep house: {}", chain(&error));
            }
            self.back_up(&keep).await;
            tokio::time::sleep(limits::HOUSEKEEPING_EVERY).await;
        }
    }

    /// Lets go of what is old enough and gives the room back. What is left over for the next time is not urgent.
    async fn tidy(&self, keep: &Keep) -> Result<(), StoreError> {
        assembly::stamp(&self.paths, &self.store).await;
        let mut cases = 0;
        for _ in 0..limits::HOUSEKEEPING_STEPS_MAX {
            match self.store.let_go(keep).await? {
                0 => break,
                more => cases += more,
            }
        }
        if cases > 0 {
            tracing::info!(cases, "let go of what was over for longer than it is kept");
        }
        for _ in 0..limits::HOUSEKEEPING_STEPS_MAX {
            if !self.store.shrink().await? {
                break;
            }
        }
        Ok(())
    }

    async fn back_up(&self, keep: &Keep) {
        let Some(every) = keep.backup_every else { return };
        let now = self.clock.now();
        let made = self.made();
        if made.first().is_some_and(|newest| now.since(newest.at) < every) {
            return;
        }
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let to = backup::usual_path(&self.paths.state, &format!("{BY_ITSELF}{host}"), now);
        let sources = Sources {
            database: self.store.life().path.clone(),
            expected: Expected::Anything,
            units: self.units.clone(),
            plans: self.paths.plans(),
            secrets: None,
            host,
            home: self.home.clone(),
            now,
        };
        let failed = match backup::make(sources, &to).await {
            Ok(made) => {
                tracing::info!(bytes = made.size_bytes, "made the backup {}", made.path.display());
                for old in self.made().into_iter().skip(keep.backups.max(1)) {
                    let _ = std::fs::remove_file(old.path);
                }
                None
            }
            Err(error) => {
                let why = chain(&error);
                tracing::warn!("make the backup that is due: {why}");
                Some(format!("no backup could be made at {now}: {why}"))
            }
        };
        let told = self.store.set_flag(FAILED, failed.as_deref()).await;
        if let Err(error) = told {
            tracing::warn!("note how the backup went: {}", chain(&error));
        }
    }

    /// Backups made here, newest first.
    fn made(&self) -> Vec<Kept> {
        let ours = |kept: &Kept| {
            kept.path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(BY_ITSELF))
        };
        backup::kept(&self.paths.state, &self.store.life().path).into_iter().filter(ours).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::daemon::assembly::compile_units;
    use crate::model::environment::Environment;
    use crate::model::time::Timestamp;
    use crate::store::StoreOptions;
    use crate::unit::search::SearchPath;

    async fn house(root: &std::path::Path, clock: &Clock) -> Housekeeping {
        let paths = Paths::below(root).unwrap();
        paths.make().unwrap();
        let options = StoreOptions { path: paths.database(), normal: true, clock: clock.clone() };
        let store = Store::open(options).await.unwrap();
        let search = SearchPath { builtin: false, dirs: Vec::new(), files: Vec::new() };
        let none: [(&str, &str); 0] = [];
        let compiled = compile_units(&search, &Environment::of(none), paths.state.clone());
        let present = Live::new(Present::new(Arc::new(compiled.plan), 1, 0));
        Housekeeping { store, paths, units: None, home: None, present, clock: clock.clone() }
    }

    #[tokio::test]
    async fn backups_come_when_they_are_due_and_the_oldest_go() {
        let root = tempfile::tempdir().unwrap();
        let clock = Clock::manual(Timestamp(1_796_000_000_000));
        let house = house(root.path(), &clock).await;
        let day = Duration::from_secs(86_400);
        let keep = Keep { backup_every: Some(day), backups: 2, ..Keep::default() };
        house.back_up(&Keep::default()).await;
        assert!(house.made().is_empty());
        for made in [1, 2, 2] {
            house.back_up(&keep).await;
            clock.advance(day / 2);
            house.back_up(&keep).await;
            assert_eq!(house.made().len(), made);
            clock.advance(day / 2);
        }
        // One that a person made is not counted, and does not go.
        assert_eq!(house.made().first().map(|kept| kept.at), Some(clock.now().minus(day)));
    }

    #[tokio::test]
    async fn a_backup_that_cannot_be_made_is_told_until_one_is() {
        let root = tempfile::tempdir().unwrap();
        let clock = Clock::manual(Timestamp(1_796_000_000_000));
        let house = house(root.path(), &clock).await;
        let keep = Keep { backup_every: Some(Duration::from_secs(3600)), ..Keep::default() };
        let folder = house.paths.state.join("backups");
        std::fs::write(&folder, "in the way").unwrap();
        house.back_up(&keep).await;
        let flag = house.store.flag(FAILED).await.unwrap().unwrap();
        assert!(flag.contains("no backup could be made at"), "{flag}");
        std::fs::remove_file(&folder).unwrap();
        house.back_up(&keep).await;
        assert_eq!(house.store.flag(FAILED).await.unwrap(), None);
    }
}
