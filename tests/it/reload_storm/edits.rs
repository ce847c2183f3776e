//! Edits of unit files by chance: what a person does to them in a year, the mistakes included.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::support::binary::House;

/// splitmix64.
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

/// Where each text has room for a mistake.
const HEAD: &str = "[unit]\ndescription = \"edited\"\n";

/// A file that is edited again and again: with a number, its text.
type Text = fn(u64) -> String;

const MAILDIR: &str = "[connector]\nplatform = \"maildir\"\nbacklog = \"all\"\noutbound = \"auto\"\nhold = \"0s\"\n\
     [maildir]\npath = \"{root}/PATH\"\naddress = [\"me@example.org\"]\nout = \"{root}/out\"\n";

const PROGRAM: &str =
    "[command]\nprogram = \"/bin/sh\"\nargs = [\"{root}/engine.sh\"]\noutput = \"json\"\n[install]\n";

pub fn maildir(path: &str, every: u64) -> String {
    let text = MAILDIR.replace("PATH", path);
    format!("{HEAD}{text}[schedule]\nevery = \"{}s\"\n[install]\n", 1 + every % 3)
}

fn program(concurrency: u64, enabled: bool) -> String {
    let concurrency = 1 + concurrency % 5;
    format!(
        "{HEAD}[engine]\nengine = \"command\"\nenv = [\"extra\"]\nconcurrency = {concurrency}\n{PROGRAM}enabled = {enabled}\n"
    )
}

const EDITED: [(&str, Text); 8] = [
    ("moving.connector.toml", |n| format!("{}enabled = true\n", maildir("moving", n))),
    (TEMPLATE, |n| maildir("box/%i", n)),
    ("slow.engine.toml", |n| program(n, true)),
    ("second.engine.toml", |n| program(n, !n.is_multiple_of(3))),
    ("moving.route.toml", |n| {
        format!(
            "{HEAD}[route]\nengines = [\"slow\", \"second\", \"polite\"]\non = [\"refused\"]\nprompt = \"Be kind, {n}.\"\n\
             [match]\nconnector = [\"moving\", \"still\"]\n"
        )
    }),
    ("extra.env.toml", |n| format!("{HEAD}[set]\nSTORM = \"{n}\"\n")),
    ("tick.timer.toml", |n| {
        format!(
            "{HEAD}[timer]\ntitle = \"Tick {n}\"\ntext = \"Look around.\"\n[schedule]\ncalendar = \"*:*:0/5\"\n"
        )
    }),
    ("workagent.daemon.toml", |n| format!("{HEAD}[daemon]\nworkers = {}\n", 3 + n % 6)),
];

/// Files that are there or not.
const TOGGLED: [(&str, &str); 6] = [
    ("second.engine.d/10-more.toml", "[engine]\nconcurrency = 6\n"),
    (OFF, "[install]\nenabled = false\n"),
    ("spare.timer.d/mask.toml", "[install]\nmasked = true\n"),
    ("box@.connector.d/all.toml", "[unit]\ndescription = \"a box\"\n"),
    ("more.route.toml", "[route]\npriority = -1\nengines = [\"linked\"]\n[match]\nkind = [\"nothing\"]\n"),
    ("more@two.env.d/10.toml", "[set]\nTWO = \"2\"\n"),
];

const BAD_DROP_IN: &str = "slow.engine.d/20-bad.toml";
const TEMPLATE: &str = "box@.connector.toml";
const OFF: &str = "box@one.connector.d/90-off.toml";
const LINK: &str = "linked.engine.toml";
const REMOVED: &str = "moving.connector.toml";

/// The unit files of a house, under a hand that does not rest.
pub struct Hand<'a> {
    house: &'a House,
    pub chance: Chance,
    /// Files with an error in them, as things stand.
    pub broken: BTreeSet<&'static str>,
    /// What was done, how often.
    pub done: BTreeMap<&'static str, u64>,
}

impl<'a> Hand<'a> {
    /// Writes the first version of everything.
    pub fn new(house: &'a House, seed: u64) -> Self {
        let hand = Self { house, chance: Chance(seed), broken: BTreeSet::new(), done: BTreeMap::new() };
        for (file, text) in EDITED {
            house.unit(file, &text(1));
        }
        for (version, words) in [("a", "Thanks."), ("b", "Thank you.")] {
            house.write(
                &format!("store/{version}.toml"),
                &format!("[engine]\nengine = \"template\"\n[template]\ntext = \"{words}\"\n[condition]\npath_exists = \"{{root}}/flag\"\n"),
            );
        }
        hand.link("a");
        house.unit("still.connector.toml", &format!("{}enabled = true\n", maildir("still", 0)));
        house.unit("box@one.connector.d/10-on.toml", "[install]\nenabled = true\n");
        house.unit(
            "spare.timer.toml",
            "[timer]\ntitle = \"Night\"\n[schedule]\ncalendar = \"Mon 03:00\"\n[install]\nenabled = true\n",
        );
        house.unit("more@.env.toml", "[set]\nONE = \"1\"\n");
        house.unit("offline.target.d/still.toml", "[unit]\nwants = { append = [\"still.connector\"] }\n");
        house.unit(
            "polite.engine.toml",
            "[engine]\nengine = \"template\"\n[template]\ntext = \"Thank you.\"\n",
        );
        house.unit("rest.route.toml", "[route]\npriority = -9\nengines = [\"polite\"]\n");
        house.unit(
            "box.route.toml",
            "[route]\nengines = [\"second\", \"slow\", \"polite\"]\non = [\"refused\"]\n[match]\nconnector = [\"box@*\"]\n",
        );
        hand
    }

    fn path(&self, file: &str) -> PathBuf {
        self.house.path("units").join(file)
    }

    /// In place, or as editors do that are careful.
    fn save(&mut self, file: &str, text: &str) {
        let path = self.path(file);
        if self.chance.below(2) == 0 && !path.is_symlink() {
            return self.house.unit(file, text);
        }
        let new = self.house.write(&format!("units/{file}.new~"), text);
        fs::rename(new, path).unwrap();
    }

    fn link(&self, to: &str) {
        let new = self.path(".link");
        symlink(format!("../store/{to}.toml"), &new).unwrap();
        fs::rename(new, self.path(LINK)).unwrap();
    }

    fn note(&mut self, what: &'static str) {
        *self.done.entry(what).or_default() += 1;
    }

    /// One edit: a third of the time what is there is left with errors.
    pub fn edit(&mut self) {
        let throw = self.chance.below(3);
        match self.broken.first().copied() {
            Some(file) if throw < 2 => self.mend(file),
            None if throw == 0 => self.spoil(),
            _ => self.change(),
        }
    }

    pub fn mend_all(&mut self) {
        while let Some(file) = self.broken.first().copied() {
            self.mend(file);
        }
    }

    fn mend(&mut self, file: &'static str) {
        self.broken.remove(file);
        self.note("mended");
        match EDITED.iter().find(|(name, _)| *name == file) {
            Some((_, text)) => {
                let text = text(self.chance.below(100));
                self.save(file, &text);
            }
            None if file == LINK => self.link("a"),
            None => fs::remove_file(self.path(file)).unwrap(),
        }
    }

    fn spoil(&mut self) {
        // What is off anyway is not looked at so closely.
        let off = self.path(OFF).exists();
        let on: Vec<_> = EDITED.into_iter().filter(|(file, _)| !(off && *file == TEMPLATE)).collect();
        let (file, text) = self.chance.one(&on);
        let good = text(1 + 3 * self.chance.below(30));
        let mistakes: [(&str, String); 4] = [
            ("syntax error", format!("{good}[half\n")),
            ("unknown key", good.replace(HEAD, &format!("{HEAD}nobody_knows = 1\n"))),
            ("wrong type", good.replace("\"edited\"", "3")),
            ("dangling reference", good.replace(HEAD, &format!("{HEAD}requires = [\"nobody.engine\"]\n"))),
        ];
        match self.chance.below(7) {
            0 => {
                self.note("no UTF-8");
                fs::write(self.path(file), b"[unit]\ndescription = \"\xff\"\n").unwrap();
                self.broken.insert(file);
            }
            1 => {
                self.note("link to nowhere");
                self.link("nowhere");
                self.broken.insert(LINK);
            }
            2 => {
                self.note("bad drop-in");
                self.house.unit(BAD_DROP_IN, "[engine]\nconcurrency = 1000\n");
                self.broken.insert(BAD_DROP_IN);
            }
            other => {
                let (what, text) = &mistakes[usize::try_from(other - 3).unwrap()];
                self.note(what);
                self.save(file, text);
                self.broken.insert(file);
            }
        }
    }

    /// Something that is all right, and leaves alone what is not.
    fn change(&mut self) {
        let whole: Vec<_> = EDITED.into_iter().filter(|(file, _)| !self.broken.contains(file)).collect();
        let (file, text) = self.chance.one(&whole);
        match self.chance.below(10) {
            0 if self.path(file).exists() => {
                self.note("comment");
                let text = fs::read_to_string(self.path(file)).unwrap();
                self.save(file, &format!("# looked at\n{text}"));
            }
            1 if !self.broken.contains(LINK) => {
                self.note("link swapped");
                let to = self.chance.one(&["a", "b"]);
                self.link(to);
            }
            2 if !self.broken.contains(REMOVED) && self.path(REMOVED).exists() => {
                self.note("removed");
                fs::remove_file(self.path(REMOVED)).unwrap();
            }
            // As a mask.
            7 if !self.broken.contains(REMOVED) => {
                self.note("empty file");
                fs::write(self.path(REMOVED), "").unwrap();
            }
            3 => {
                self.note("condition");
                let flag = self.house.path("flag");
                if flag.exists() {
                    fs::remove_file(flag).unwrap();
                } else {
                    fs::write(flag, "").unwrap();
                }
            }
            4 | 5 => {
                let (file, text) = self.chance.one(&TOGGLED);
                if file == OFF && self.broken.contains(TEMPLATE) {
                    return;
                }
                self.note(file);
                if self.path(file).exists() {
                    fs::remove_file(self.path(file)).unwrap();
                } else {
                    self.save(file, text);
                }
            }
            6 => {
                self.note("several at once");
                for (file, text) in whole {
                    let text = text(self.chance.below(100));
                    self.save(file, &text);
                }
            }
            _ => {
                self.note(file);
                let text = text(self.chance.below(100));
                self.save(file, &text);
            }
        }
    }

    /// Everything on, nothing in error.
    pub fn calm(&mut self) {
        self.mend_all();
        for (file, _) in TOGGLED {
            let _ = fs::remove_file(self.path(file));
        }
        for (file, text) in EDITED {
            self.save(file, &text(1));
        }
    }
}
