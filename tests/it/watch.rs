//! The watcher of unit directories, with real files: whatever way a change comes about, the next look sees it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use workagent::catalog::CATALOG;
use workagent::daemon::watch::{WatchMode, WatchOptions, Watcher};
use workagent::unit::compile::{CompileEnv, compile};
use workagent::unit::load::load;
use workagent::unit::search::SearchPath;

/// Hanging is a failure, a busy machine is not.
const LONG: Duration = Duration::from_secs(60);

/// Long enough for an event that should not come to come.
const MOMENT: Duration = Duration::from_millis(300);

/// A directory with unit files in `units`, watched.
struct Scene {
    dir: tempfile::TempDir,
    search: SearchPath,
    watcher: Watcher,
}

impl Scene {
    /// Watches `units` after `before` made what is there. There is no rescan: what is not noticed is not seen.
    async fn new(before: impl FnOnce(&Path)) -> Self {
        Self::with(WatchOptions::default(), before).await
    }

    async fn with(options: WatchOptions, before: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        before(dir.path());
        let search = SearchPath { builtin: false, dirs: vec![dir.path().join("units")], files: Vec::new() };
        let options = WatchOptions { rescan: Duration::from_secs(86_400), ..options };
        let mut watcher = Watcher::new(search.clone(), options);
        // The first one comes by itself.
        tokio::time::timeout(LONG, watcher.changed()).await.unwrap();
        Self { dir, search, watcher }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// What a look sees: `file = text`, and `file ! trouble`.
    fn look(&self) -> String {
        let loaded = load(&self.search, &[]);
        let name = |path: &Path| path.strip_prefix(self.path("units")).unwrap().display().to_string();
        let read = loaded.files.iter().map(|file| format!("{} = {}", name(&file.path), file.text));
        let troubles = loaded.notices.iter().filter(|notice| notice.instead_of.is_some());
        let troubles = troubles.map(|notice| format!("{} ! {:?}", name(&notice.path), notice.trouble));
        let mut lines: Vec<String> = read.chain(troubles).collect();
        lines.sort();
        lines.join("; ")
    }

    /// Waits until a look after an event sees this; how many looks it took.
    async fn sees(&mut self, expected: &str) -> usize {
        let mut looks = 0;
        let mut last = String::new();
        let waited = tokio::time::timeout(LONG, async {
            loop {
                self.watcher.changed().await;
                last = self.look();
                looks += 1;
                if last == expected {
                    break;
                }
            }
        });
        assert!(waited.await.is_ok(), "expected {expected}\nsaw {last}\nthere is {}", self.look());
        looks
    }

    /// Nothing of what happened is worth a look.
    async fn sleeps(&mut self) {
        let woken = tokio::time::timeout(MOMENT, self.watcher.changed()).await;
        assert!(woken.is_err(), "woken for nothing");
    }

    fn modes(&self) -> Vec<WatchMode> {
        self.watcher.modes().list().into_iter().map(|(_, mode)| mode).collect()
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Whole or not at all, as careful editors save.
fn save(path: &Path, text: &str) {
    let temporary = path.with_extension("tmp");
    write(&temporary, text);
    fs::rename(temporary, path).unwrap();
}

/// As `ln -sfn` does, but without a moment in which there is none.
fn relink(target: impl AsRef<Path>, link: &Path) {
    let temporary = link.with_file_name(".relink");
    symlink(target, &temporary).unwrap();
    fs::rename(temporary, link).unwrap();
}

fn one_unit(root: &Path) {
    write(&root.join("units/a.env.toml"), "0");
}

#[tokio::test]
async fn saved_by_renaming_again_and_again() {
    let mut scene = Scene::new(one_unit).await;
    let file = scene.path("units/a.env.toml");
    for text in ["1", "2", "3"] {
        save(&file, text);
        scene.sees(&format!("a.env.toml = {text}")).await;
    }
    fs::write(&file, "4").unwrap();
    scene.sees("a.env.toml = 4").await;
    fs::remove_file(&file).unwrap();
    scene.sees("").await;
    fs::write(&file, "5").unwrap();
    scene.sees("a.env.toml = 5").await;
}

#[tokio::test]
async fn saved_by_vim_with_a_backup() {
    let mut scene = Scene::new(one_unit).await;
    let file = scene.path("units/a.env.toml");
    for text in ["1", "2"] {
        write(&scene.path("units/4913"), "");
        fs::remove_file(scene.path("units/4913")).unwrap();
        write(&scene.path("units/.a.env.toml.swp"), "swap");
        fs::rename(&file, scene.path("units/a.env.toml~")).unwrap();
        write(&file, text);
        fs::remove_file(scene.path("units/a.env.toml~")).unwrap();
        fs::remove_file(scene.path("units/.a.env.toml.swp")).unwrap();
        scene.sees(&format!("a.env.toml = {text}")).await;
    }
}

#[tokio::test]
async fn truncated_and_then_written() {
    use std::io::Write as _;
    let mut scene = Scene::new(one_unit).await;
    let mut file = fs::File::create(scene.path("units/a.env.toml")).unwrap();
    file.write_all(b"1").unwrap();
    drop(file);
    scene.sees("a.env.toml = 1").await;
}

#[tokio::test]
async fn a_new_drop_in_directory_and_its_file_at_once() {
    let mut scene = Scene::new(one_unit).await;
    write(&scene.path("units/a.env.d/10-x.toml"), "x");
    scene.sees("a.env.d/10-x.toml = x; a.env.toml = 0").await;
    save(&scene.path("units/a.env.d/10-x.toml"), "y");
    scene.sees("a.env.d/10-x.toml = y; a.env.toml = 0").await;
    fs::remove_dir_all(scene.path("units/a.env.d")).unwrap();
    scene.sees("a.env.toml = 0").await;
    write(&scene.path("units/a.env.d/20-z.toml"), "z");
    scene.sees("a.env.d/20-z.toml = z; a.env.toml = 0").await;
}

#[tokio::test]
async fn a_drop_in_in_a_directory_that_came_before_it() {
    let mut scene = Scene::new(one_unit).await;
    fs::create_dir(scene.path("units/a.env.d")).unwrap();
    scene.sees("a.env.toml = 0").await;
    write(&scene.path("units/a.env.d/10-x.toml"), "x");
    scene.sees("a.env.d/10-x.toml = x; a.env.toml = 0").await;
}

#[tokio::test]
async fn a_link_to_a_file_elsewhere_whose_target_is_edited() {
    let mut scene = Scene::new(|root| {
        write(&root.join("dotfiles/workagent/a.env.toml"), "0");
        fs::create_dir(root.join("units")).unwrap();
        symlink("../dotfiles/workagent/a.env.toml", root.join("units/a.env.toml")).unwrap();
    })
    .await;
    let target = scene.path("dotfiles/workagent/a.env.toml");
    fs::write(&target, "1").unwrap();
    scene.sees("a.env.toml = 1").await;
    save(&target, "2");
    scene.sees("a.env.toml = 2").await;
    // Two names for one target.
    symlink(&target, scene.path("units/b.env.toml")).unwrap();
    scene.sees("a.env.toml = 2; b.env.toml = 2").await;
    save(&target, "3");
    scene.sees("a.env.toml = 3; b.env.toml = 3").await;
    // Gone, and come again.
    fs::remove_file(&target).unwrap();
    scene.sees("a.env.toml ! Dangling; b.env.toml ! Dangling").await;
    fs::write(&target, "4").unwrap();
    scene.sees("a.env.toml = 4; b.env.toml = 4").await;
    // A neighbour that nobody links to.
    fs::write(scene.path("dotfiles/workagent/c.env.toml"), "").unwrap();
    scene.sleeps().await;
}

#[tokio::test]
async fn a_link_to_a_link_that_is_turned() {
    let mut scene = Scene::new(|root| {
        for version in ["aaa", "bbb"] {
            write(&root.join("store").join(version).join("a.env.toml"), version);
        }
        fs::create_dir(root.join("units")).unwrap();
        symlink("store/aaa", root.join("profile")).unwrap();
        symlink(root.join("profile/a.env.toml"), root.join("units/a.env.toml")).unwrap();
    })
    .await;
    relink("store/bbb", &scene.path("profile"));
    scene.sees("a.env.toml = bbb").await;
    save(&scene.path("store/bbb/a.env.toml"), "edited");
    scene.sees("a.env.toml = edited").await;
}

#[tokio::test]
async fn a_unit_directory_that_is_a_link_to_a_generation() {
    let mut scene = Scene::new(|root| {
        for generation in ["1", "2"] {
            write(&root.join("generations").join(generation).join("a.env.toml"), generation);
        }
        symlink("generations/1", root.join("units")).unwrap();
    })
    .await;
    relink("generations/2", &scene.path("units"));
    scene.sees("a.env.toml = 2").await;
    save(&scene.path("generations/2/a.env.toml"), "edited");
    scene.sees("a.env.toml = edited").await;
    // The old one is nobody's business any more.
    save(&scene.path("generations/1/a.env.toml"), "edited");
    scene.sleeps().await;
}

#[tokio::test]
async fn a_mounted_config_map_that_is_swapped() {
    let generation = |root: &Path, name: &str, text: &str| {
        write(&root.join("units").join(name).join("a.env.toml"), text);
    };
    let mut scene = Scene::new(|root| {
        generation(root, "..2026_11_30_1", "1");
        symlink("..2026_11_30_1", root.join("units/..data")).unwrap();
        symlink("..data/a.env.toml", root.join("units/a.env.toml")).unwrap();
    })
    .await;
    for (before, now, text) in
        [("..2026_11_30_1", "..2026_11_30_2", "2"), ("..2026_11_30_2", "..2026_11_30_3", "3")]
    {
        generation(scene.dir.path(), now, text);
        symlink(now, scene.path("units/..data_tmp")).unwrap();
        fs::rename(scene.path("units/..data_tmp"), scene.path("units/..data")).unwrap();
        fs::remove_dir_all(scene.path("units").join(before)).unwrap();
        scene.sees(&format!("a.env.toml = {text}")).await;
    }
}

#[tokio::test]
async fn a_directory_that_is_removed_and_made_again() {
    let mut scene = Scene::new(one_unit).await;
    for text in ["1", "2"] {
        fs::remove_dir_all(scene.path("units")).unwrap();
        scene.sees("").await;
        assert_eq!(scene.modes(), [WatchMode::Missing]);
        write(&scene.path("units/a.env.toml"), text);
        scene.sees(&format!("a.env.toml = {text}")).await;
        assert_eq!(scene.modes(), [WatchMode::Watched]);
    }
    // In one go, as a package manager may do it.
    write(&scene.path("units.new/a.env.toml"), "3");
    fs::rename(scene.path("units"), scene.path("units.old")).unwrap();
    fs::rename(scene.path("units.new"), scene.path("units")).unwrap();
    scene.sees("a.env.toml = 3").await;
    save(&scene.path("units/a.env.toml"), "4");
    scene.sees("a.env.toml = 4").await;
}

#[tokio::test]
async fn a_directory_that_is_missing_at_the_start() {
    let mut scene = Scene::new(|_| {}).await;
    assert_eq!(scene.modes(), [WatchMode::Missing]);
    write(&scene.path("units/a.env.toml"), "1");
    scene.sees("a.env.toml = 1").await;
}

#[tokio::test]
async fn a_directory_missing_with_its_parents() {
    let dir = tempfile::tempdir().unwrap();
    let units = dir.path().join("config/workagent/units");
    let search = SearchPath { builtin: false, dirs: vec![units.clone()], files: Vec::new() };
    let options = WatchOptions { rescan: Duration::from_secs(86_400), ..WatchOptions::default() };
    let mut watcher = Watcher::new(search, options);
    watcher.changed().await;
    // Others live there too.
    write(&dir.path().join("something.else"), "");
    assert!(tokio::time::timeout(MOMENT, watcher.changed()).await.is_err());
    write(&units.join("a.env.toml"), "1");
    tokio::time::timeout(LONG, watcher.changed()).await.unwrap();
    assert_eq!(watcher.modes().list(), [(units.clone(), WatchMode::Watched)]);
    save(&units.join("a.env.toml"), "2");
    tokio::time::timeout(LONG, watcher.changed()).await.unwrap();
}

#[tokio::test]
async fn links_in_a_ring_and_their_end() {
    let mut scene = Scene::new(|root| {
        one_unit(root);
        symlink("c.env.toml", root.join("units/b.env.toml")).unwrap();
        symlink("b.env.toml", root.join("units/c.env.toml")).unwrap();
        symlink(".", root.join("units/env.d")).unwrap();
    })
    .await;
    assert!(scene.look().contains("b.env.toml ! Loop"), "{}", scene.look());
    fs::remove_file(scene.path("units/env.d")).unwrap();
    fs::remove_file(scene.path("units/c.env.toml")).unwrap();
    scene.sees("a.env.toml = 0; b.env.toml ! Dangling").await;
    relink("a.env.toml", &scene.path("units/b.env.toml"));
    scene.sees("a.env.toml = 0; b.env.toml = 0").await;
}

#[tokio::test]
async fn a_unit_directory_that_is_a_ring() {
    let mut scene = Scene::new(|root| {
        symlink("other", root.join("units")).unwrap();
        symlink("units", root.join("other")).unwrap();
    })
    .await;
    assert_eq!(scene.modes(), [WatchMode::Missing]);
    write(&scene.path("real/a.env.toml"), "1");
    relink("real", &scene.path("other"));
    scene.sees("a.env.toml = 1").await;
}

#[tokio::test]
async fn what_cannot_be_read_and_then_can() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut scene = Scene::new(|root| {
        one_unit(root);
        fs::create_dir(root.join("units/b.env.toml")).unwrap();
    })
    .await;
    assert_eq!(scene.look(), "a.env.toml = 0; b.env.toml ! NotAFile(\"a directory\")");
    fs::remove_dir(scene.path("units/b.env.toml")).unwrap();
    write(&scene.path("units/b.env.toml"), "1");
    scene.sees("a.env.toml = 0; b.env.toml = 1").await;
    // A change of permissions is a change; what it makes of the look depends on who runs this.
    let file = scene.path("units/b.env.toml");
    for mode in [0o000, 0o600] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        tokio::time::timeout(LONG, scene.watcher.changed()).await.unwrap();
    }
    assert_eq!(scene.look(), "a.env.toml = 0; b.env.toml = 1");
}

#[tokio::test]
async fn no_watches_left_means_polling() {
    let options = WatchOptions { watches_max: 1, poll: Duration::from_millis(20), ..WatchOptions::default() };
    let mut scene = Scene::with(options, |root| {
        one_unit(root);
        write(&root.join("dotfiles/b.env.toml"), "0");
        symlink(root.join("dotfiles/b.env.toml"), root.join("units/b.env.toml")).unwrap();
    })
    .await;
    assert_eq!(scene.modes(), [WatchMode::Polled]);
    save(&scene.path("units/a.env.toml"), "1");
    scene.sees("a.env.toml = 1; b.env.toml = 0").await;
    save(&scene.path("dotfiles/b.env.toml"), "2");
    scene.sees("a.env.toml = 1; b.env.toml = 2").await;
    write(&scene.path("units/a.env.d/x.toml"), "x");
    scene.sees("a.env.d/x.toml = x; a.env.toml = 1; b.env.toml = 2").await;
    save(&scene.path("units/a.env.d/x.toml"), "y");
    scene.sees("a.env.d/x.toml = y; a.env.toml = 1; b.env.toml = 2").await;
    fs::remove_dir_all(scene.path("units")).unwrap();
    scene.sees("").await;
    // Watched ones are free again, and what does not matter wakes nobody.
    write(&scene.path("other"), "");
    scene.sleeps().await;
}

#[tokio::test]
async fn two_hundred_files_at_once() {
    let mut scene = Scene::new(one_unit).await;
    let units = scene.path("units");
    let writer = std::thread::spawn(move || {
        for number in 0..200 {
            save(&units.join(format!("n{number:03}.env.toml")), "1");
        }
    });
    let named = |number| format!("n{number:03}.env.toml = 1");
    let all: Vec<String> = std::iter::once("a.env.toml = 0".to_owned()).chain((0..200).map(named)).collect();
    let looks = scene.sees(&all.join("; ")).await;
    writer.join().unwrap();
    assert!(looks < 20, "{looks} looks");
}

#[tokio::test]
async fn reading_and_editor_leftovers_wake_nobody() {
    let mut scene = Scene::new(one_unit).await;
    scene.look();
    for name in [".a.env.toml.swp", "#a.env.toml#", "4913", "a.env.toml~", "notes.txt", ".#a.env.toml"] {
        let path = scene.path("units").join(name);
        write(&path, "");
        fs::remove_file(path).unwrap();
    }
    write(&scene.path("beside"), "");
    scene.sleeps().await;
}

#[tokio::test]
async fn more_events_than_the_kernel_keeps_mean_a_look() {
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events");
    let Some(limit) = limit.ok().and_then(|text| text.trim().parse::<usize>().ok()) else { return };
    let mut scene = Scene::new(one_unit).await;
    let path = scene.path("units/.unseen");
    // Three events each: made, closed, removed.
    for _ in 0..limit / 2 {
        fs::File::create(&path).unwrap();
        fs::remove_file(&path).unwrap();
    }
    tokio::time::timeout(LONG, scene.watcher.changed()).await.unwrap();
}

#[tokio::test]
async fn what_is_seen_is_not_lost_when_the_wait_is_given_up() {
    let options = WatchOptions { quiet: Duration::from_secs(1), ..WatchOptions::default() };
    let mut scene = Scene::with(options, one_unit).await;
    save(&scene.path("units/a.env.toml"), "1");
    scene.sleeps().await;
    scene.sees("a.env.toml = 1").await;
}

#[tokio::test]
async fn a_rescan_comes_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let search = SearchPath { builtin: false, dirs: vec![dir.path().to_owned()], files: Vec::new() };
    let options = WatchOptions { rescan: Duration::from_millis(10), ..WatchOptions::default() };
    let mut watcher = Watcher::new(search, options);
    for _ in 0..3 {
        tokio::time::timeout(LONG, watcher.changed()).await.unwrap();
    }
}

#[tokio::test]
async fn content_decides_and_not_time_stamps() {
    let old = std::time::UNIX_EPOCH + Duration::from_secs(1);
    let version = |root: &Path, name: &str, text: &str| {
        let path = root.join("store").join(name).join("a.env.toml");
        write(&path, &format!("[set]\nA = \"{text}\"\n[install]\nenabled = true\n"));
        fs::File::options().append(true).open(path).unwrap().set_modified(old).unwrap();
    };
    let mut scene = Scene::new(|root| {
        version(root, "aaa", "1");
        version(root, "same", "1");
        version(root, "bbb", "2");
        fs::create_dir(root.join("units")).unwrap();
        symlink("../store/aaa/a.env.toml", root.join("units/a.env.toml")).unwrap();
    })
    .await;
    let hash = |scene: &Scene| {
        let registry = CATALOG.registry();
        let env = CompileEnv { home: None, state_dir: "/state".into(), ..CompileEnv::default() };
        compile(&load(&scene.search, &[]), &registry, &env).plan.hash
    };
    let (first, seen) = (hash(&scene), scene.look());
    relink("../store/same/a.env.toml", &scene.path("units/a.env.toml"));
    scene.sees(&seen).await;
    assert_eq!(hash(&scene), first);
    relink("../store/bbb/a.env.toml", &scene.path("units/a.env.toml"));
    scene.sees(&seen.replace('1', "2")).await;
    assert_ne!(hash(&scene), first);
}
