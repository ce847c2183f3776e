//! One file a generation in a directory of its own.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;

use super::{FORMAT, KeptPlan, PlanHead};
use crate::daemon::paths::{PathsError, make_private};
use crate::model::limits::{PLAN_BYTES_MAX, PLANS_KEPT_MAX};

/// Holds the number of the generation that plans are pinned to.
const PINNED: &str = "pinned";

/// The plans of one state directory. What cannot be read is passed over: it costs a last good version, never a start.
#[derive(Clone, Debug)]
pub struct PlanStore {
    dir: PathBuf,
    /// The note is read at each reload; what is wrong with it is told once.
    pin_trouble_told: Arc<AtomicBool>,
}

/// What is the matter with a kept plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// There is none with this number.
    #[error("there is no generation {generation} in {}", dir.display())]
    NoSuch {
        /// The number.
        generation: i64,
        /// The store.
        dir: PathBuf,
    },
    /// Not the JSON that was written.
    #[error("{} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the reader tripped over.
        #[source]
        source: serde_json::Error,
    },
    /// It says something else than its name, or is longer than a plan can be.
    #[error("{} is damaged: {why}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// "it holds generation 3".
        why: String,
    },
    /// Written by a later program.
    #[error("{} is of format {format}, and this program knows {FORMAT}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u32,
    },
    /// The directory cannot be made, or is not ours alone.
    #[error("keep plans")]
    Dir(#[from] PathsError),
    /// A file cannot be read, written or removed.
    #[error("{doing} {}", path.display())]
    Io {
        /// "write".
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl PlanStore {
    /// The plans in a directory, which is made (mode 0700) when the first one is written.
    #[must_use]
    pub fn open(dir: PathBuf) -> Self {
        Self { dir, pin_trouble_told: Arc::default() }
    }

    /// Keeps a plan, and lets go of the oldest ones over [`PLANS_KEPT_MAX`], never of the pinned one. A crash leaves
    /// the file whole or not there.
    ///
    /// Generations only grow, so plans with a higher number than this one belong to a database that is gone: they are
    /// removed, or they would be taken for the latest.
    ///
    /// # Errors
    /// [`PlanError::Dir`], [`PlanError::Io`].
    pub fn write(&self, plan: &KeptPlan) -> Result<(), PlanError> {
        let path = self.path(plan.generation);
        let text = serde_json::to_vec_pretty(plan).map_err(|error| PlanError::Io {
            doing: "write",
            path: path.clone(),
            source: error.into(),
        })?;
        self.replace(&path, &text)?;
        let numbers = self.numbers()?;
        let pinned = self.pinned();
        let mut room = PLANS_KEPT_MAX;
        for number in numbers.into_iter().rev() {
            let stays =
                number == plan.generation || number < plan.generation && (room > 0 || pinned == Some(number));
            if stays {
                room = room.saturating_sub(1);
            } else {
                remove(&self.path(number))?;
            }
        }
        Ok(())
    }

    /// Keeps a plan unless it is kept already, as after a restart on the same unit files.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn keep(&self, plan: &KeptPlan) -> Result<(), PlanError> {
        match self.get(plan.generation) {
            Ok(kept) if kept.hash == plan.hash => Ok(()),
            _ => self.write(plan),
        }
    }

    /// The last one that can be read. What is passed over on the way is told in the log.
    #[must_use]
    pub fn latest(&self) -> Option<KeptPlan> {
        let numbers = self.numbers().unwrap_or_else(|error| {
            pass_over(&error);
            Vec::new()
        });
        numbers.into_iter().rev().find_map(|number| self.get(number).inspect_err(pass_over).ok())
    }

    /// One generation.
    ///
    /// # Errors
    /// [`PlanError`]: it is not there or cannot be used.
    pub fn get(&self, generation: i64) -> Result<KeptPlan, PlanError> {
        let path = self.path(generation);
        let plan = match File::open(&path) {
            Ok(file) => read(&path, file)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(PlanError::NoSuch { generation, dir: self.dir.clone() });
            }
            Err(source) => return Err(PlanError::Io { doing: "open", path, source }),
        };
        if plan.generation == generation {
            return Ok(plan);
        }
        Err(PlanError::Wrong { path, why: format!("it holds generation {}", plan.generation) })
    }

    /// All that are kept, the oldest first, and what could not be read.
    #[must_use]
    pub fn list(&self) -> (Vec<PlanHead>, Vec<PlanError>) {
        let (mut heads, mut troubles) = (Vec::new(), Vec::new());
        let numbers = self.numbers().unwrap_or_else(|error| {
            troubles.push(error);
            Vec::new()
        });
        let mut earlier: Option<KeptPlan> = None;
        for number in numbers {
            match self.get(number) {
                Ok(plan) => {
                    heads.push(plan.head(earlier.as_ref()));
                    earlier = Some(plan);
                }
                Err(error) => troubles.push(error),
            }
        }
        (heads, troubles)
    }

    /// Pins plans to a generation: a reload takes it instead of the unit files, until [`unpin`](Self::unpin).
    ///
    /// # Errors
    /// There is no such plan, or the note cannot be written.
    pub fn pin(&self, generation: i64) -> Result<(), PlanError> {
        self.get(generation)?;
        self.replace(&self.dir.join(PINNED), format!("{generation}\n").as_bytes())?;
        // Between the look and the note it may have been let go of as too old.
        self.get(generation).map(drop).inspect_err(|_| {
            let _ = self.unpin();
        })
    }

    /// Takes the unit files again.
    ///
    /// # Errors
    /// The note cannot be removed.
    pub fn unpin(&self) -> Result<(), PlanError> {
        remove(&self.dir.join(PINNED))
    }

    /// The generation that plans are pinned to. A note that cannot be read pins nothing, and is told in the log once.
    #[must_use]
    pub fn pinned(&self) -> Option<i64> {
        let path = self.dir.join(PINNED);
        let trouble = match fs::read_to_string(&path) {
            Ok(text) => match text.trim().parse() {
                Ok(number) => return Some(number),
                Err(_) => PlanError::Wrong { path, why: "it holds no number".to_owned() },
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(source) => PlanError::Io { doing: "read", path, source },
        };
        if !self.pin_trouble_told.swap(true, Ordering::Relaxed) {
            pass_over(&trouble);
        }
        None
    }

    fn path(&self, generation: i64) -> PathBuf {
        self.dir.join(format!("{generation:06}.json"))
    }

    /// The numbers of the kept plans, going up.
    fn numbers(&self) -> Result<Vec<i64>, PlanError> {
        let failed = |source| PlanError::Io { doing: "list", path: self.dir.clone(), source };
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut numbers = BTreeSet::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".json")?.parse::<i64>().ok());
            // Only names as we write them: `7.json` is not `000007.json`.
            if let Some(number) =
                number.filter(|number| self.path(*number).file_name() == Some(name.as_os_str()))
            {
                numbers.insert(number);
            }
        }
        Ok(numbers.into_iter().collect())
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), PlanError> {
        make_private(&self.dir)?;
        let failed = |source| PlanError::Io { doing: "write", path: path.to_owned(), source };
        // Made with mode 0600.
        let mut temporary = tempfile::NamedTempFile::new_in(&self.dir).map_err(failed)?;
        temporary.write_all(bytes).map_err(failed)?;
        temporary.as_file().sync_all().map_err(failed)?;
        temporary.persist(path).map_err(|error| failed(error.error))?;
        File::open(&self.dir).and_then(|dir| dir.sync_all()).map_err(failed)
    }
}

fn read(path: &Path, file: File) -> Result<KeptPlan, PlanError> {
    #[derive(Deserialize)]
    struct Head {
        format: u32,
    }
    let mut bytes = Vec::new();
    file.take(PLAN_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|source| PlanError::Io {
        doing: "read",
        path: path.to_owned(),
        source,
    })?;
    if bytes.len() as u64 > PLAN_BYTES_MAX {
        return Err(PlanError::Wrong { path: path.to_owned(), why: "it is too large".to_owned() });
    }
    let newer = |format| PlanError::Newer { path: path.to_owned(), format };
    match serde_json::from_slice::<KeptPlan>(&bytes) {
        Ok(plan) if plan.format > FORMAT => Err(newer(plan.format)),
        Ok(plan) => Ok(plan),
        Err(source) => match serde_json::from_slice::<Head>(&bytes) {
            Ok(head) if head.format > FORMAT => Err(newer(head.format)),
            _ => Err(PlanError::Damaged { path: path.to_owned(), source }),
        },
    }
}

fn remove(path: &Path) -> Result<(), PlanError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(PlanError::Io { doing: "remove", path: path.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

fn pass_over(error: &PlanError) {
    tracing::warn!("a kept plan is passed over: {}", crate::model::class::chain(error));
}
