//! Levels of the search path, drop-ins, merging.

use super::*;

const BASE: &str = "[connector]\nplatform = \"feed\"\n[feed]\nurl = \"https://a/\"\n[schedule]\nevery = \"1h\"\n[install]\nenabled = true\n";

/// The poll interval of `a.connector`, or why it is off.
fn check(files: &[(&str, &str)], expected: &str) {
    let compiled = compile_texts(files);
    let shown = match compiled.plan.connectors.get("a").unwrap() {
        Standing::Active(unit) => {
            format!("{} {:?}", unit.settings.text("url").unwrap(), unit.schedule.every.unwrap())
        }
        Standing::Off(off) => format!("{}: {}", off.state.word(), off.reason),
    };
    let found = short(&compiled, Path::new("/u"));
    assert_eq!(format!("{found}{shown}"), expected);
}

#[test]
fn a_higher_file_replaces_a_lower_one_whole() {
    check(
        &[("1:a.connector.toml", BASE), ("2:a.connector.toml", &BASE.replace("1h", "2h"))],
        "https://a/ 7200s",
    );
    check(
        &[("2:a.connector.toml", &BASE.replace("1h", "2h")), ("1:a.connector.toml", "[broken")],
        "https://a/ 7200s",
    );
}

#[test]
fn a_drop_in_overrides_single_keys() {
    check(
        &[("1:a.connector.toml", BASE), ("2:a.connector.d/every.toml", "[schedule]\nevery = \"2h\"\n")],
        "https://a/ 7200s",
    );
}

#[test]
fn drop_ins_apply_by_file_name_over_all_levels_and_the_highest_of_one_name_counts() {
    check(
        &[
            ("1:a.connector.toml", BASE),
            ("3:a.connector.d/10-first.toml", "[schedule]\nevery = \"2h\"\n"),
            ("1:a.connector.d/20-second.toml", "[schedule]\nevery = \"3h\"\n"),
        ],
        "https://a/ 10800s",
    );
    check(
        &[
            ("1:a.connector.toml", BASE),
            ("1:a.connector.d/x.toml", "[schedule]\nevery = \"2h\"\n"),
            ("2:a.connector.d/x.toml", "[schedule]\nevery = \"3h\"\n"),
        ],
        "https://a/ 10800s",
    );
}

#[test]
fn a_drop_in_for_the_kind_comes_before_the_units_own() {
    check(
        &[
            ("1:a.connector.toml", &BASE.replace("[schedule]\nevery = \"1h\"\n", "")),
            ("2:connector.d/z.toml", "[schedule]\nevery = \"2h\"\n"),
            ("1:a.connector.d/a.toml", "[schedule]\nevery = \"3h\"\n"),
        ],
        "https://a/ 10800s",
    );
}

#[test]
fn a_drop_in_can_disable_and_mask() {
    check(
        &[("1:a.connector.toml", BASE), ("2:a.connector.d/enabled.toml", "[install]\nenabled = false\n")],
        "disabled: [install] enabled = false",
    );
    check(
        &[("1:a.connector.toml", "[conn]\n"), ("2:a.connector.d/mask.toml", "[install]\nmasked = true\n")],
        "masked: [install] masked = true",
    );
}

#[test]
fn a_reference_in_a_drop_in_replaces_the_other_form_whole() {
    let base = "[engine]\nengine = \"openai-chat\"\n[openai-chat]\nbase_url = \"http://127.0.0.1/\"\nmodel = \"m\"\napi_key = { secret = \"a\" }\n";
    let over = "[openai-chat]\napi_key = { env = \"KEY\" }\n";
    let compiled = compile_texts(&[("1:a.engine.toml", base), ("1:a.engine.d/x.toml", over)]);
    let Standing::Active(engine) = &compiled.plan.engines["a"] else { panic!("{compiled:?}") };
    assert_eq!(engine.settings.secret("api_key").unwrap().to_string(), "$KEY");
}

#[test]
fn findings_in_a_drop_in_point_into_it() {
    check(
        &[("1:a.connector.toml", BASE), ("2:a.connector.d/x.toml", "\n[schedule]\nevry = \"2h\"\n")],
        "2/a.connector.d/x.toml:3:1: error[unknown-key]: unknown key `schedule.evry`
bad-setting: unknown key `schedule.evry`",
    );
    check(
        &[("1:a.connector.toml", BASE), ("2:a.connector.d/x.toml", "[schedule\n")],
        "2/a.connector.d/x.toml:1:10: error[syntax-error]: a table header that is not closed
bad-setting: a table header that is not closed",
    );
}

#[test]
fn a_table_that_becomes_a_value_is_told_with_both_places() {
    let files = [("1:a.connector.toml", BASE), ("2:a.connector.d/x.toml", "schedule = \"2h\"\n")];
    check(
        &files,
        "2/a.connector.d/x.toml:1:1: error[type-change]: `schedule` is a table in one layer and a text in another
bad-setting: `schedule` is a table in one layer and a text in another",
    );
    assert_eq!(compile_texts(&files).findings[0].labels.len(), 1);
}

#[test]
fn a_drop_in_without_its_unit_is_told() {
    check(
        &[("1:a.connector.toml", BASE), ("2:b.connector.d/x.toml", "")],
        "2/b.connector.d/x.toml: warning[orphan-drop-in]: there is no unit `b.connector` to override
https://a/ 3600s",
    );
}

#[test]
fn relative_paths_begin_at_the_unit_files_directory() {
    let unit = "[engine]\nengine = \"command\"\n[command]\nprogram = \"./run\"\n";
    let over = "[command]\nprogram = \"bin/run\"\n";
    let program = |files: &[(&str, &str)]| {
        let compiled = compile_texts(files);
        let Standing::Active(engine) = &compiled.plan.engines["a"] else { panic!("{compiled:?}") };
        engine.settings.path("program").unwrap().display().to_string()
    };
    assert_eq!(program(&[("1:a.engine.toml", unit)]), "/u/1/run");
    assert_eq!(program(&[("1:a.engine.toml", unit), ("2:a.engine.d/x.toml", over)]), "/u/2/bin/run");
}

#[test]
fn the_loader_finds_drop_ins_of_all_levels_on_disk() {
    let temp = tempfile::tempdir().unwrap();
    let (low, high) = (temp.path().join("low"), temp.path().join("high"));
    std::fs::create_dir_all(high.join("a.connector.d")).unwrap();
    std::fs::create_dir_all(&low).unwrap();
    std::fs::write(low.join("a.connector.toml"), BASE).unwrap();
    std::fs::write(high.join("a.connector.d/10.toml"), "[schedule]\nevery = \"2h\"\n").unwrap();
    std::fs::write(high.join("a.connector.d/10.toml~"), "[schedule]\nevery = \"3h\"\n").unwrap();
    let path = SearchPath { builtin: false, dirs: vec![low, high], files: Vec::new() };
    let compiled = compile(&load(&path, &[]), &registry(), &env());
    let Standing::Active(unit) = &compiled.plan.connectors["a"] else { panic!("{compiled:?}") };
    assert_eq!(unit.schedule.every.unwrap().as_secs(), 7200);
    insta::assert_snapshot!(short(&compiled, temp.path()), @"high/a.connector.d: info[ignored-file]: ignored 1 name that is no unit file");
}

#[test]
fn paths_are_absolute_even_below_a_relative_directory() {
    let temp = tempfile::tempdir().unwrap();
    let depth = std::env::current_dir().unwrap().components().count() - 1;
    let dir = Path::new(&"../".repeat(depth)).join(temp.path().strip_prefix("/").unwrap());
    let text = "[engine]\nengine = \"command\"\n[command]\nprogram = \"run\"\n";
    std::fs::write(dir.join("a.engine.toml"), text).unwrap();
    for path in [
        SearchPath { builtin: false, dirs: vec![dir.clone()], files: Vec::new() },
        SearchPath { builtin: false, dirs: Vec::new(), files: vec![dir.join("a.engine.toml")] },
    ] {
        let compiled = compile(&load(&path, &[]), &registry(), &env());
        let Some(Standing::Active(engine)) = compiled.plan.engines.get("a") else { panic!("{compiled:?}") };
        let program = engine.settings.path("program").unwrap();
        assert!(dir.is_relative() && program.is_absolute() && program.ends_with("run"), "{program:?}");
    }
}
