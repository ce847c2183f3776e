//! Switching a unit on, off or masked: which file says so now, and which one has to say it.

use std::path::PathBuf;

use super::{Own, UnitSet};
use crate::cli::error::CliError;
use crate::daemon::exit;
use crate::unit::edit::{self, Said};
use crate::unit::files::UnitFiles;
use crate::unit::kinds;
use crate::unit::load::{Loaded, Role, Target, UnitFile};
use crate::unit::plan::{Kind, UnitName};

/// A flag of `[install]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// `enabled`.
    Enabled,
    /// `masked`.
    Masked,
}

/// What has to be done to a file.
#[derive(Clone, Debug)]
pub enum Step {
    /// It gets this text.
    Write(UnitFile),
    /// It goes: it said nothing else.
    Remove(PathBuf),
}

impl Flag {
    /// The key.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Masked => "masked",
        }
    }

    /// What counts now, and the file that says so; without one it is the default of the kind.
    #[must_use]
    pub fn now<'a>(self, files: &UnitFiles<'a>, kind: Kind) -> (bool, Option<&'a UnitFile>) {
        let default = self == Self::Enabled && kinds::spec(kind).enabled;
        let link = files.main.filter(|main| self == Self::Masked && matches!(main.role, Role::Mask(_)));
        files.all().fold((default || link.is_some(), link), |held, file| {
            match edit::said(&file.text, self.key()) {
                Said::Nothing => held,
                Said::Flag(value) => (value, Some(file)),
                Said::Default => (default, Some(file)),
            }
        })
    }

    /// What has to be done so that a unit's flag is `value`; nothing if it is so already. Changes the value where the
    /// own directory sets it, else in a drop-in of its own there. Nothing is written yet.
    ///
    /// # Errors
    /// A file that counts more says otherwise, or the file to be changed has errors.
    pub fn plan(self, set: &UnitSet, own: &Own, name: &UnitName, value: bool) -> Result<Vec<Step>, CliError> {
        let files = set.files(name);
        let (now, _) = self.now(&files, name.kind);
        if now == value {
            return Ok(Vec::new());
        }
        let link = files.main.filter(|main| matches!(main.role, Role::Mask(_)) && own.has(main));
        if let Some(link) = link.filter(|_| self == Self::Masked && !value) {
            let step = Step::Remove(link.path.clone());
            if self.after(&set.loaded, &step, name) == value {
                return Ok(vec![step]);
            }
        }
        let mine = |file: &&UnitFile| {
            let of_unit = match &file.role {
                Role::Main(of) | Role::Mask(of) => of == name,
                Role::DropIn { target, .. } => *target == Target::Unit(name.clone()),
            };
            of_unit && own.has(file)
        };
        let says = |file: &&UnitFile| matches!(edit::said(&file.text, self.key()), Said::Flag(_));
        let place = files.all().rev().filter(mine).find(says);
        if let Some(file) = place {
            let step = if !value && self == Self::Masked && edit::only_says(&file.text, self.key()) {
                Step::Remove(file.path.clone())
            } else {
                Step::Write(UnitFile { text: self.set(file, value)?.into(), ..file.clone() })
            };
            if self.after(&set.loaded, &step, name) == value {
                return Ok(vec![step]);
            }
        }
        let file = format!("{}.toml", self.key());
        let fresh = own.drop_in(name, &file, "");
        let there = files.all().find(|file| file.path == fresh.path).cloned();
        let fresh = there.unwrap_or(fresh);
        let step = Step::Write(UnitFile { text: self.set(&fresh, value)?.into(), ..fresh });
        if self.after(&set.loaded, &step, name) == value {
            return Ok(vec![step]);
        }
        let (_, winner) = self.now(&files, name.kind);
        let winner = winner.map_or_else(|| "another file".to_owned(), |file| set.short(&file.path));
        let text =
            format!("{winner} counts more than what could be written and says `{} = {now}`", self.key());
        Err(CliError::new(exit::FAILURE, text)
            .hint(format!("change it there, or look: workagent cat {name}")))
    }

    fn set(self, file: &UnitFile, value: bool) -> Result<String, CliError> {
        edit::set(&file.text, self.key(), value).map_err(|error| {
            let text = format!("change {}: {error}", file.path.display());
            CliError::new(exit::FAILURE, text).hint("workagent validate shows the place")
        })
    }

    /// What would count after a step.
    fn after(self, loaded: &Loaded, step: &Step, name: &UnitName) -> bool {
        let mut loaded = loaded.clone();
        let path = match step {
            Step::Write(file) => &file.path,
            Step::Remove(path) => path,
        };
        loaded.files.retain(|file| file.path != *path);
        if let Step::Write(file) = step {
            loaded.files.push(file.clone());
        }
        self.now(&UnitFiles::of(&loaded, name), name.kind).0
    }
}
