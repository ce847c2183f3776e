//! What the loader makes of real directories: links, masks, what cannot be read.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

const ON: &str = "[set]\nA = \"1\"\n";

/// A directory `units`, and a place for what its links lead to.
struct Scene {
    _temp: tempfile::TempDir,
    root: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("etc/units")).unwrap();
        fs::create_dir_all(root.join("store")).unwrap();
        Self { _temp: temp, root }
    }

    fn units(&self) -> PathBuf {
        self.root.join("etc/units")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, path: &str, target: &str) {
        symlink(target, self.root.join(path)).unwrap();
    }

    fn load(&self) -> Loaded {
        load(&search(&self.units()), &[])
    }

    /// The findings and the standings.
    fn compiled(&self) -> String {
        let compiled = compile(&self.load(), &registry(), &env());
        format!("{}\n{}", short(&compiled, &self.root), standings(&compiled)).trim().to_owned()
    }
}

#[test]
fn a_link_to_null_masks_the_unit_at_its_level() {
    let scene = Scene::new();
    scene.write("low/a.env.toml", ON);
    scene.write("low/b.env.toml", ON);
    scene.link("etc/units/a.env.toml", "/dev/null");
    let (low, high) = (scene.root.join("low"), scene.units());
    let standings_of = |dirs: Vec<PathBuf>| {
        let compiled =
            compile(&load(&SearchPath { builtin: false, dirs, files: Vec::new() }, &[]), &registry(), &env());
        let place = match compiled.plan.envs.get("a") {
            Some(Standing::Off(off)) => off.place.clone().map(|place| place.file),
            _ => None,
        };
        (standings(&compiled), place)
    };
    assert_eq!(
        standings_of(vec![low.clone(), high.clone()]),
        ("a.env masked: a link to /dev/null\nb.env on".to_owned(), Some(high.join("a.env.toml")))
    );
    assert_eq!(standings_of(vec![high, low]).0, "a.env on\nb.env on");
}

#[test]
fn an_empty_file_masks_nothing() {
    let scene = Scene::new();
    scene.write("etc/units/a.env.toml", "");
    assert_eq!(scene.compiled(), "a.env on");
}

#[test]
fn a_drop_in_that_is_a_link_to_null_takes_the_lower_one_away() {
    let scene = Scene::new();
    scene.write("low/a.env.toml", ON);
    scene.write("low/a.env.d/off.toml", "[install]\nenabled = false\n");
    fs::create_dir(scene.units().join("a.env.d")).unwrap();
    scene.link("etc/units/a.env.d/off.toml", "/dev/null");
    let dirs = vec![scene.root.join("low"), scene.units()];
    let all = load(&SearchPath { builtin: false, dirs, files: Vec::new() }, &[]);
    assert_eq!(standings(&compile(&all, &registry(), &env())), "a.env on");
}

#[test]
fn s07_a_circle_or_a_loose_end_is_an_error_of_one_unit() {
    let scene = Scene::new();
    scene.link("etc/units/a.env.toml", "b.env.toml");
    scene.link("etc/units/b.env.toml", "a.env.toml");
    scene.link("etc/units/c.env.toml", "../../store/gone.toml");
    scene.write("etc/units/ok.env.toml", ON);
    insta::assert_snapshot!(scene.compiled(), @r"
    etc/units/a.env.toml: error[unreadable]: links that lead in a circle
    etc/units/b.env.toml: error[unreadable]: links that lead in a circle
    etc/units/c.env.toml: error[unreadable]: a link to something that does not exist

    a.env bad-setting: links that lead in a circle
    b.env bad-setting: links that lead in a circle
    c.env bad-setting: a link to something that does not exist
    ok.env on
    ");
}

#[test]
fn s07_a_retargeted_link_is_another_text_and_two_names_may_lead_to_one_file() {
    let scene = Scene::new();
    let feed = |every: &str| {
        format!(
            "[connector]\nplatform = \"feed\"\n[feed]\nurl = \"https://a/\"\n[schedule]\nevery = \"{every}\"\n[install]\nenabled = true\n"
        )
    };
    scene.write("store/aaa/mail.toml", &feed("1h"));
    scene.write("store/bbb/mail.toml", &feed("2h"));
    scene.write("store/ccc/mail.toml", &feed("2h"));
    let every = |target: &str| {
        for name in ["mail", "post"] {
            let link = scene.units().join(format!("{name}.connector.toml"));
            let _ = fs::remove_file(&link);
            symlink(scene.root.join(target), link).unwrap();
        }
        let compiled = compile(&scene.load(), &registry(), &env());
        let all: Vec<_> = compiled.plan.connectors.values().collect();
        let [Standing::Active(mail), Standing::Active(post)] = all[..] else { panic!("{compiled:?}") };
        (mail.schedule.every.unwrap().as_secs(), post.schedule.every.unwrap().as_secs(), compiled.plan.hash)
    };
    let (first, second, third) =
        (every("store/aaa/mail.toml"), every("store/bbb/mail.toml"), every("store/ccc/mail.toml"));
    assert_eq!((first.0, first.1, second.0, second.1), (3600, 3600, 7200, 7200));
    assert_ne!(first.2, second.2);
    assert_eq!(second, third, "the same bytes are the same plan");
}

#[test]
fn a_unit_directory_may_be_a_link() {
    let scene = Scene::new();
    fs::remove_dir(scene.units()).unwrap();
    scene.write("store/gen1/units/a.env.toml", ON);
    scene.link("etc/units", "../store/gen1/units");
    assert_eq!(scene.compiled(), "a.env on");
}

#[test]
fn a_missing_directory_is_an_empty_one() {
    let scene = Scene::new();
    let path = search(&scene.root.join("home/me/units"));
    let loaded = load(&path, &[]);
    assert!(loaded.files.is_empty());
    assert_eq!(loaded.unread_dirs().count(), 0, "what was removed is removed");
}

#[test]
fn a_directory_that_cannot_be_read_is_an_error_and_no_deletion() {
    let scene = Scene::new();
    scene.write("etc/units/a.env.toml", ON);
    let before = scene.load();
    fs::remove_dir_all(scene.units()).unwrap();
    // Whoever runs the tests may read everything, but nobody can read a circle.
    scene.link("etc/units", "units");
    let mut now = scene.load();
    assert_eq!(now.unread_dirs().collect::<Vec<_>>(), [scene.units()]);
    let shown = |loaded: &Loaded| {
        let compiled = compile(loaded, &registry(), &env());
        format!("{}\n{}", short(&compiled, &scene.root), standings(&compiled))
    };
    let told = "etc/units: error[unreadable]: cannot read this directory: links that lead in a circle";
    assert_eq!(shown(&now), format!("{told}\n\n"));
    now.keep_unread(&before);
    assert_eq!(shown(&now), format!("{told}\n\na.env on"));
}

#[test]
fn a_unit_whose_drop_ins_cannot_be_read_is_off_rather_than_without_them() {
    let scene = Scene::new();
    scene.write("etc/units/a.env.toml", ON);
    scene.write("etc/units/b.env.toml", ON);
    scene.link("etc/units/a.env.d", "../../store/gone");
    insta::assert_snapshot!(scene.compiled(), @r"
    etc/units/a.env.d: error[unreadable]: cannot read this directory: a link to something that does not exist

    a.env bad-setting: cannot read this directory: a link to something that does not exist
    b.env on
    ");
}

#[test]
fn files_and_directories_that_others_can_write_are_told() {
    let scene = Scene::new();
    scene.write("etc/units/a.env.toml", ON);
    scene.write("etc/units/b.env.toml", ON);
    let mode = |path: &str, mode| {
        fs::set_permissions(scene.root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("etc/units", 0o755);
    mode("etc/units/a.env.toml", 0o644);
    mode("etc/units/b.env.toml", 0o644);
    assert_eq!(scene.compiled(), "a.env on\nb.env on");
    mode("etc/units", 0o777);
    mode("etc/units/b.env.toml", 0o646);
    insta::assert_snapshot!(scene.compiled(), @r"
    etc/units: warning[writable-by-others]: everybody can put unit files into this directory
    etc/units/b.env.toml: warning[writable-by-others]: everybody can write this unit file

    a.env on
    b.env on
    ");
    // A group of one's own has the number of its user; any other group is others.
    mode("etc/units", 0o755);
    mode("etc/units/b.env.toml", 0o664);
    let file = scene.units().join("b.env.toml");
    let own = fs::metadata(&file).unwrap();
    let same = {
        use std::os::unix::fs::MetadataExt as _;
        own.uid() == own.gid()
    };
    assert_eq!(scene.compiled().contains("its group can write"), !same);
}
