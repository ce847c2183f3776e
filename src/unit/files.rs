//! Which files make up a unit, in the order in which they count.

use std::collections::{BTreeMap, BTreeSet};

use super::load::{Loaded, Role, Target, UnitFile};
use super::plan::{Kind, UnitName};

impl UnitName {
    /// A full name as it is written: `inbox.connector`. Any name is taken; `None` if it does not end in a kind.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (name, word) = text.rsplit_once('.')?;
        let kind = Kind::from_word(word)?;
        (!name.is_empty()).then(|| Self { name: name.to_owned(), kind })
    }
}

/// The files of one unit.
#[derive(Clone, Debug, Default)]
pub struct UnitFiles<'a> {
    /// The whole unit, or a link to null in its place: the highest of that name, or its template's.
    pub main: Option<&'a UnitFile>,
    /// Laid over it one after another: drop-ins of the kind, of the template, its own; by file name inside each.
    pub drop_ins: Vec<&'a UnitFile>,
    /// Of the same names in lower directories: they do not count. The lowest first.
    pub replaced: Vec<&'a UnitFile>,
}

impl<'a> UnitFiles<'a> {
    /// Those of a unit, of what was read.
    #[must_use]
    pub fn of(loaded: &'a Loaded, name: &UnitName) -> Self {
        let mut files = Self::default();
        let template = name.template();
        for main in [Some(name), template.as_ref()].into_iter().flatten() {
            let whole = [Role::Main(main.clone()), Role::Mask(main.clone())];
            files.main = files.take(loaded.files.iter().filter(|file| whole.contains(&file.role)));
            if files.main.is_some() {
                break;
            }
        }
        let targets =
            [Some(Target::Kind(name.kind)), template.map(Target::Unit), Some(Target::Unit(name.clone()))];
        for target in targets.into_iter().flatten() {
            let mut by_name: BTreeMap<&str, Vec<&UnitFile>> = BTreeMap::new();
            for layer in &loaded.files {
                if let Role::DropIn { target: of, file } = &layer.role
                    && *of == target
                {
                    by_name.entry(file).or_default().push(layer);
                }
            }
            for same in by_name.into_values() {
                let highest = files.take(same.into_iter());
                files.drop_ins.extend(highest);
            }
        }
        files.replaced.sort_by_key(|file| file.level);
        files
    }

    /// Those that count, in order.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &'a UnitFile> {
        self.main.into_iter().chain(self.drop_ins.clone())
    }

    /// The highest of same-named files; the others are replaced.
    fn take(&mut self, same: impl Iterator<Item = &'a UnitFile>) -> Option<&'a UnitFile> {
        let mut same: Vec<&UnitFile> = same.collect();
        same.sort_by_key(|file| (file.level, &file.path));
        let highest = same.pop();
        self.replaced.extend(same);
        highest
    }
}

/// Every unit that has a whole file, templates among them, or that stands for one that could not be read.
#[must_use]
pub fn names(loaded: &Loaded) -> BTreeSet<UnitName> {
    let unread = loaded.notices.iter().filter_map(|notice| notice.instead_of.as_ref().map(|(_, role)| role));
    let roles = loaded.files.iter().map(|file| &file.role).chain(unread);
    roles
        .filter_map(|role| match role {
            Role::Main(name) | Role::Mask(name) => Some(name.clone()),
            Role::DropIn { .. } => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(level: usize, path: &str, role: Role) -> UnitFile {
        UnitFile { level, path: path.into(), dir: "/".into(), role, text: "".into() }
    }

    fn main(level: usize, name: &str) -> UnitFile {
        file(level, &format!("/{level}/{name}.toml"), Role::Main(UnitName::parse(name).unwrap()))
    }

    fn drop_in(level: usize, of: &str, own: &str) -> UnitFile {
        let target =
            UnitName::parse(of).map_or_else(|| Target::Kind(Kind::from_word(of).unwrap()), Target::Unit);
        file(level, &format!("/{level}/{of}.d/{own}"), Role::DropIn { target, file: own.to_owned() })
    }

    fn check(files: Vec<UnitFile>, name: &str, counts: &[&str], replaced: &[&str]) {
        let loaded = Loaded { files, ..Loaded::default() };
        let found = UnitFiles::of(&loaded, &UnitName::parse(name).unwrap());
        let shown = |file: &UnitFile| file.path.display().to_string();
        assert_eq!(found.all().map(shown).collect::<Vec<_>>(), counts);
        assert_eq!(found.replaced.into_iter().map(shown).collect::<Vec<_>>(), replaced);
    }

    #[test]
    fn the_highest_of_a_name_counts_and_drop_ins_go_by_width_and_then_by_name() {
        check(
            vec![
                drop_in(1, "x.connector", "b.toml"),
                drop_in(3, "x.connector", "a.toml"),
                drop_in(2, "x.connector", "b.toml"),
                drop_in(3, "connector", "z.toml"),
                drop_in(3, "y.connector", "a.toml"),
                main(1, "x.connector"),
                main(2, "x.connector"),
            ],
            "x.connector",
            &[
                "/2/x.connector.toml",
                "/3/connector.d/z.toml",
                "/3/x.connector.d/a.toml",
                "/2/x.connector.d/b.toml",
            ],
            &["/1/x.connector.toml", "/1/x.connector.d/b.toml"],
        );
    }

    #[test]
    fn an_instance_has_the_files_of_its_template_until_it_has_its_own() {
        let mut files = vec![
            main(0, "github@.connector"),
            drop_in(2, "github@work.connector", "a.toml"),
            drop_in(2, "github@.connector", "z.toml"),
        ];
        let layers = ["/2/github@.connector.d/z.toml", "/2/github@work.connector.d/a.toml"];
        let with = |main| [&[main], layers.as_slice()].concat();
        check(files.clone(), "github@work.connector", &with("/0/github@.connector.toml"), &[]);
        files.push(main(2, "github@work.connector"));
        check(files, "github@work.connector", &with("/2/github@work.connector.toml"), &[]);
    }
}
