//! `workagent validate`: what it prints and how it ends.

use workagent::cli::validate::{Format, ValidateArgs, ValidateError, validate};
use workagent::model::environment::Environment;

use super::*;

fn run(args: &ValidateArgs) -> (u8, String) {
    run_in(args, &Environment::of([("HOME", "/nonexistent")]))
}

fn run_in(args: &ValidateArgs, environment: &Environment) -> (u8, String) {
    let mut out = Vec::new();
    let code = validate(args, environment, Style::default(), &mut out).unwrap();
    (code, String::from_utf8(out).unwrap())
}

fn unit_dir(dir: &Path) -> ValidateArgs {
    ValidateArgs { unit_dirs: vec![dir.to_owned()], ..ValidateArgs::default() }
}

/// A directory with an env unit, which needs no platform or engine.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(temp.path().join(name), text).unwrap();
    }
    temp
}

#[test]
fn exit_codes() {
    let fine = folder(&[("a.env.toml", "[set]\nA = \"1\"\n")]);
    assert_eq!(run(&unit_dir(fine.path())), (0, "1 file, no errors\n".to_owned()));
    let warned = folder(&[("a.env.toml", ""), ("b.toml", "")]);
    let (code, out) = run(&unit_dir(warned.path()));
    assert!(code == 0 && out.ends_with("\n2 files, no errors, 1 warning\n"), "{out}");
    assert_eq!(run(&ValidateArgs { strict: true, ..unit_dir(warned.path()) }).0, 3);
    let broken = folder(&[("a.env.toml", "[st]\n"), ("b.env.toml", "x = 1\n")]);
    let (code, out) = run(&unit_dir(broken.path()));
    assert!(code == 1 && out.ends_with("\n2 files, 2 errors\n"), "{out}");
    let missing = validate(
        &unit_dir(&fine.path().join("nowhere")),
        &Environment::default(),
        Style::default(),
        &mut Vec::new(),
    );
    assert!(matches!(&missing, Err(error @ ValidateError::NoSuchPath { .. }) if error.exit_code() == 2));
}

#[test]
fn short_and_github() {
    let dir = folder(&[("a.env.toml", "\n[unst]\nnames = []\n")]);
    let run = |format| {
        run(&ValidateArgs { format, ..unit_dir(dir.path()) })
            .1
            .replace(&dir.path().display().to_string(), "D")
    };
    insta::assert_snapshot!(run(Format::Short), @r#"
    D/a.env.toml:2:2: error[unknown-table]: unknown table `[unst]`
    1 file, 1 error
    "#);
    insta::assert_snapshot!(run(Format::Github), @"::error file=D/a.env.toml,line=2,col=2,endLine=2,endColumn=6,title=unknown-table::unknown table `[unst]` (did you mean `[unit]`?)");
}

#[test]
fn json_is_stable() {
    let dir = folder(&[("a.env.toml", "\n[unst]\nnames = []\n"), ("b.env.toml~", "")]);
    let (code, out) = run(&ValidateArgs { json: true, ..unit_dir(dir.path()) });
    assert_eq!(code, 1);
    insta::assert_snapshot!(out.replace(&dir.path().display().to_string(), "D"), @r#"
    {
      "version": 1,
      "findings": [
        {
          "code": "ignored-file",
          "severity": "info",
          "message": "ignored 1 name that is no unit file",
          "file": "D",
          "line": null,
          "column": null,
          "end_line": null,
          "end_column": null,
          "label": "",
          "related": [],
          "notes": [
            "`b.env.toml~`: a backup copy"
          ],
          "suggestion": null
        },
        {
          "code": "unknown-table",
          "severity": "error",
          "message": "unknown table `[unst]`",
          "file": "D/a.env.toml",
          "line": 2,
          "column": 2,
          "end_line": 2,
          "end_column": 6,
          "label": "not a table of env units",
          "related": [],
          "notes": [],
          "suggestion": {
            "message": "did you mean `[unit]`?",
            "edit": {
              "file": "D/a.env.toml",
              "line": 2,
              "column": 2,
              "end_line": 2,
              "end_column": 6,
              "replacement": "unit"
            }
          }
        }
      ],
      "files": 1,
      "errors": 1,
      "warnings": 0,
      "infos": 1,
      "cut": 0
    }
    "#);
}

#[test]
fn a_file_is_checked_among_the_others_and_only_its_findings_are_shown() {
    let home = folder(&[("a.env.toml", "[unst]\n"), ("b.env.toml", "")]);
    let other = folder(&[("c.env.toml", "[unit]\nwants = [\"b.env\", \"d.env\"]\n")]);
    let args = ValidateArgs {
        paths: vec![other.path().join("c.env.toml")],
        format: Format::Short,
        ..unit_dir(home.path())
    };
    let (code, out) = run(&args);
    assert_eq!(code, 1);
    insta::assert_snapshot!(out.replace(&other.path().display().to_string(), "O"), @r#"
    O/c.env.toml:2:19: error[dangling-reference]: there is no env unit `d`
    1 file, 1 error
    "#);
}

#[test]
fn the_environment_names_the_directories() {
    let home = tempfile::tempdir().unwrap();
    let units = home.path().join(".config/workagent/units");
    std::fs::create_dir_all(&units).unwrap();
    std::fs::write(units.join("a.env.toml"), "[unst]\n").unwrap();
    let (code, out) = run_in(&ValidateArgs::default(), &Environment::of([("HOME", home.path())]));
    assert!(code == 1 && out.contains(".config/workagent/units/a.env.toml"), "{out}");
    let fine = folder(&[("a.env.toml", "")]);
    let environment = Environment::of([
        ("HOME", home.path().as_os_str()),
        ("WORKAGENT_UNIT_PATH", fine.path().as_os_str()),
    ]);
    assert_eq!(run_in(&ValidateArgs::default(), &environment), (0, "1 file, no errors\n".to_owned()));
}
