use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::*;
use crate::catalog::CATALOG;
use crate::model::limits::PLANS_KEPT_MAX;
use crate::unit::compile::{CompileEnv, compile};
use crate::unit::load::load;
use crate::unit::search::SearchPath;

/// A token of the kind that people paste into comments.
const CANARY: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

fn unit(text: &str) -> KeptUnit {
    let origins = [("engine.engine".to_owned(), "/u/a.engine.toml:2:10".to_owned())].into();
    KeptUnit::On { text: text.into(), origins }
}

fn off(reason: &str) -> KeptUnit {
    KeptUnit::Off { state: "disabled".to_owned(), reason: reason.to_owned(), place: None }
}

fn plan(generation: i64, units: &[(&str, KeptUnit)]) -> KeptPlan {
    KeptPlan {
        format: FORMAT,
        generation,
        hash: format!("hash {generation}"),
        applied_at: Timestamp(1_796_025_600_000 + generation),
        files: vec![KeptFile { path: "/u/a.engine.toml".into(), sha256: "00".repeat(32) }],
        units: units.iter().map(|(name, unit)| ((*name).to_owned(), unit.clone())).collect(),
    }
}

/// A store below a directory that is removed with the first of the two.
fn store() -> (tempfile::TempDir, PlanStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = PlanStore::open(dir.path().join("plans"));
    (dir, store)
}

fn kept(store: &PlanStore) -> Vec<i64> {
    let (heads, troubles) = store.list();
    assert!(troubles.is_empty(), "{troubles:?}");
    heads.iter().map(|head| head.generation).collect()
}

#[test]
fn what_is_written_is_read() {
    let (_dir, store) = store();
    assert_eq!(store.latest(), None);
    let first =
        plan(1, &[("a.engine", unit("x = 1\n")), ("b.route", off("`[install] enabled` is not true"))]);
    store.write(&first).unwrap();
    let second = plan(2, &[("a.engine", off("masked"))]);
    store.write(&second).unwrap();
    assert_eq!(store.latest().unwrap(), second);
    assert_eq!(store.get(1).unwrap(), first);
    assert!(matches!(store.get(3), Err(PlanError::NoSuch { generation: 3, .. })));
}

#[test]
fn a_start_on_the_same_files_leaves_the_plan_as_it_is() {
    let (_dir, store) = store();
    let first = plan(1, &[]);
    store.keep(&first).unwrap();
    store.keep(&KeptPlan { applied_at: Timestamp(9), ..first.clone() }).unwrap();
    assert_eq!(store.get(1).unwrap(), first);
    let other = KeptPlan { hash: "of another database".to_owned(), ..first };
    store.keep(&other).unwrap();
    assert_eq!(store.get(1).unwrap(), other);
}

#[test]
fn only_the_owner_reads_it() {
    let (dir, store) = store();
    store.write(&plan(1, &[])).unwrap();
    store.pin(1).unwrap();
    let mode = |name: &str| fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("plans"), mode("plans/000001.json"), mode("plans/pinned")), (0o700, 0o600, 0o600));
}

#[test]
fn old_plans_go_but_the_pinned_one_stays() {
    let (_dir, store) = store();
    for generation in 1..=3 {
        store.write(&plan(generation, &[])).unwrap();
    }
    store.pin(2).unwrap();
    let last = i64::try_from(PLANS_KEPT_MAX).unwrap() + 5;
    for generation in 4..=last {
        store.write(&plan(generation, &[])).unwrap();
    }
    let expected: Vec<i64> = std::iter::once(2).chain(6..=last).collect();
    assert_eq!(kept(&store), expected);
    store.unpin().unwrap();
    store.write(&plan(last + 1, &[])).unwrap();
    assert_eq!(kept(&store), (7..=last + 1).collect::<Vec<_>>());
}

#[test]
fn plans_of_a_database_that_is_gone_are_not_the_latest() {
    let (_dir, store) = store();
    for generation in [7, 8, 1_000_000] {
        store.write(&plan(generation, &[])).unwrap();
    }
    assert_eq!(kept(&store), [7, 8, 1_000_000]);
    store.write(&plan(1, &[])).unwrap();
    assert_eq!(kept(&store), [1]);
}

#[test]
fn damaged_and_newer_plans_are_passed_over() {
    let (dir, store) = store();
    for generation in 1..=5 {
        store.write(&plan(generation, &[])).unwrap();
    }
    let path = |generation: i64| dir.path().join(format!("plans/{generation:06}.json"));
    let whole = fs::read_to_string(path(5)).unwrap();
    fs::write(path(5), &whole[..whole.len() / 2]).unwrap();
    fs::write(path(4), r#"{"format": 2, "generation": 4, "other": []}"#).unwrap();
    fs::copy(path(1), path(3)).unwrap();
    fs::write(dir.path().join("plans/notes.json"), "mine").unwrap();
    assert_eq!(store.latest().unwrap().generation, 2);
    let (heads, troubles) = store.list();
    assert_eq!(heads.iter().map(|head| head.generation).collect::<Vec<_>>(), [1, 2]);
    let told: Vec<String> = troubles.iter().map(|trouble| trouble.to_string()).collect();
    let at = |generation: i64| path(generation).display().to_string();
    assert_eq!(
        told,
        [
            format!("{} is damaged: it holds generation 1", at(3)),
            format!("{} is of format 2, and this program knows 1", at(4)),
            format!("{} is damaged", at(5)),
        ]
    );
}

#[test]
fn a_pin_needs_a_plan() {
    let (dir, store) = store();
    assert!(matches!(store.pin(1), Err(PlanError::NoSuch { .. })));
    assert_eq!(store.pinned(), None);
    store.write(&plan(1, &[])).unwrap();
    store.pin(1).unwrap();
    assert_eq!(store.pinned(), Some(1));
    fs::write(dir.path().join("plans/pinned"), "soon").unwrap();
    assert_eq!(store.pinned(), None);
    store.unpin().unwrap();
    store.unpin().unwrap();
}

#[test]
fn the_last_good_versions_are_those_of_units_that_were_on() {
    let plan = plan(1, &[("a.engine", unit("x = 1\n")), ("b.route", off("")), ("c.strange", unit(""))]);
    let good: Vec<String> =
        plan.last_good().into_iter().map(|(name, text)| format!("{name}: {text}")).collect();
    assert_eq!(good, ["a.engine: x = 1\n"]);
}

#[test]
fn changes_are_told_unit_by_unit() {
    let before = plan(
        1,
        &[
            ("a.env", unit("1")),
            ("b.env", unit("1")),
            ("c.env", unit("1")),
            ("d.env", off("x")),
            ("e.env", off("x")),
            ("f.env", off("x")),
        ],
    );
    let moved = KeptUnit::On { text: "1".into(), origins: BTreeMap::new() };
    let after = plan(
        2,
        &[
            ("a.env", moved),
            ("b.env", unit("2")),
            ("c.env", off("y")),
            ("d.env", unit("1")),
            ("e.env", off("y")),
            ("g.env", off("y")),
        ],
    );
    let told = |changes: BTreeMap<String, PlanChange>| {
        let lines = changes.into_iter().map(|(name, change)| format!("{name} {}", change.word()));
        lines.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(
        told(after.changes_from(&before)),
        "b.env changed, c.env off, d.env on, e.env changed, f.env removed, g.env added"
    );
    let head = after.head(Some(&before));
    assert_eq!((head.on, head.off), (3, 3));
}

fn compiled(dir: &Path, files: &[(&str, &str)]) -> Compiled {
    for (name, text) in files {
        fs::write(dir.join(name), text).unwrap();
    }
    let search = SearchPath { builtin: true, dirs: vec![dir.to_owned()], files: Vec::new() };
    let registry = CATALOG.registry();
    let env = CompileEnv { home: None, state_dir: "/state".into(), ..CompileEnv::default() };
    compile(&load(&search, registry.shipped), &registry, &env)
}

#[test]
fn it_says_what_was_read_and_what_is_off() {
    let dir = tempfile::tempdir().unwrap();
    let compiled = compiled(
        dir.path(),
        &[("b.engine.toml", "[engine]\nengine = \"nothing\"\n[install]\nenabled = true\n")],
    );
    let kept = KeptPlan::of(&compiled, 4, Timestamp(9));
    let path = dir.path().join("b.engine.toml");
    assert_eq!((kept.generation, kept.applied_at, &kept.hash), (4, Timestamp(9), &compiled.plan.hash));
    assert_eq!(
        kept.files,
        [KeptFile {
            path: path.clone(),
            // printf '[engine]\nengine = "nothing"\n[install]\nenabled = true\n' | sha256sum
            sha256: "1f01edd536b92ffbc126c4ceb9689dc63d90888c18d6a7b767b6e7528d4aed22".to_owned(),
        }]
    );
    let KeptUnit::Off { state, place, .. } = &kept.units["b.engine"] else { panic!("{kept:?}") };
    assert_eq!(
        (state.as_str(), place.as_deref()),
        ("bad-setting", Some(&*format!("{}:2:10", path.display())))
    );
}

#[test]
fn no_secret_gets_into_it() {
    let dir = tempfile::tempdir().unwrap();
    let commented =
        format!("# {CANARY}\n[engine]\nengine = \"template\" # {CANARY}\n[install]\nenabled = true\n");
    let literal = format!("[set]\nA = \"{CANARY}\"\n[install]\nenabled = true\n");
    let broken = format!("[set]\nA = {CANARY}\n");
    let files = [("a.engine.toml", &*commented), ("b.env.toml", &literal), ("c.env.toml", &broken)];
    let compiled = compiled(dir.path(), &files);
    let store = PlanStore::open(dir.path().join("plans"));
    store.write(&KeptPlan::of(&compiled, 1, Timestamp(0))).unwrap();
    let written = fs::read_to_string(dir.path().join("plans/000001.json")).unwrap();
    // The test sees what it looks for: all three are in it, the first with its text.
    assert!(
        written.contains("\"a.engine\": {\n      \"on\"") && written.contains("engine = \\\"template\\\"")
    );
    assert!(written.contains("b.env") && written.contains("c.env.toml"));
    assert!(!written.contains("16C7e42F"), "{written}");
}
