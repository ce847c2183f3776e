//! `workagent validate` beyond looking: standard input, `--fix`, `--root`; and values of env units meant for a shell.

use std::sync::Arc;

use workagent::cli::validate::{Format, ValidateArgs, validate};
use workagent::model::environment::Environment;

use super::*;

fn run(args: &ValidateArgs, dir: &Path) -> (u8, String) {
    let mut out = Vec::new();
    let environment = Environment::of([("HOME", "/nonexistent")]);
    let code = validate(args, &environment, Style::default(), &mut out).unwrap();
    (code, String::from_utf8(out).unwrap().replace(&dir.display().to_string(), "D"))
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(temp.path().join(name), text).unwrap();
    }
    temp
}

fn args(dir: &Path) -> ValidateArgs {
    ValidateArgs { unit_dirs: vec![dir.to_owned()], format: Format::Short, ..ValidateArgs::default() }
}

#[test]
fn a_text_on_standard_input_stands_in_for_the_file_of_that_name() {
    let dir = folder(&[("a.env.toml", "[st]\n"), ("b.env.toml", "[unit]\nafter = [\"a.env\", \"c.env\"]\n")]);
    let with = |name: &Path, text: &str| ValidateArgs {
        stdin: Some(Arc::from(text)),
        stdin_name: Some(name.to_owned()),
        paths: vec![name.to_owned()],
        ..args(dir.path())
    };
    // In place of what is on disk.
    let (code, out) = run(&with(&dir.path().join("a.env.toml"), "[set]\nA = \"1\"\n"), dir.path());
    assert_eq!((code, out.as_str()), (0, "1 file, no errors\n"));
    // Beside it, and the rest sees it: c.env is there now.
    let (code, out) = run(&with(Path::new("c.env.toml"), "[unit]\nafter = [\"d.env\"]\n"), dir.path());
    assert_eq!(code, 1);
    assert_eq!(
        out,
        "c.env.toml:2:10: error[dangling-reference]: there is no env unit `d`\n1 file, 1 error\n"
    );
}

#[test]
fn fixes_that_leave_no_choice_are_made_and_comments_are_kept() {
    let text =
        "# mine\n[route]\nengines = [\"t\"]  # who\npriorty = \"5\" # high\n\n[mach]\nconnector = [\"*\"]\n";
    let dir = folder(&[("a.route.toml", text), ("t.engine.toml", "[engine]\nengine = \"template\"\n")]);
    let (code, out) = run(&ValidateArgs { fix: true, format: Format::Human, ..args(dir.path()) }, dir.path());
    let written = std::fs::read_to_string(dir.path().join("a.route.toml")).unwrap();
    assert!(out.contains("-priorty = \"5\" # high\n+priority = \"5\" # high\n"), "{out}");
    assert!(written.starts_with("# mine\n[route]\nengines = [\"t\"]  # who\npriority = "), "{written}");
    assert!(written.contains("[match]\n"), "{written}");
    // Under its right name the value is seen to be of the wrong type; the next run mends that.
    assert_eq!(code, 1, "{out}");
    let (code, _) = run(&ValidateArgs { fix: true, ..args(dir.path()) }, dir.path());
    let written = std::fs::read_to_string(dir.path().join("a.route.toml")).unwrap();
    assert_eq!(code, 0);
    assert!(written.contains("priority = 5 # high\n"), "{written}");
}

#[test]
fn secrets_and_names_of_other_units_are_not_fixed_and_not_shown() {
    let token = "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let env = format!("[set]\nKEY = \"{token}\"\n[unti]\ndescription = \"x\"\n");
    let route = "[route]\nengines = [\"tt\"]\n";
    let dir = folder(&[
        ("a.env.toml", &env),
        ("a.route.toml", route),
        ("t.engine.toml", "[engine]\nengine = \"template\"\n"),
    ]);
    let (_, out) = run(&ValidateArgs { fix: true, format: Format::Human, ..args(dir.path()) }, dir.path());
    let written = std::fs::read_to_string(dir.path().join("a.env.toml")).unwrap();
    assert!(written.contains("[unit]") && written.contains(token), "the table is mended, the secret is left");
    assert!(!out.contains(token), "{out}");
    assert_eq!(std::fs::read_to_string(dir.path().join("a.route.toml")).unwrap(), route);
}

#[test]
fn a_fix_that_would_break_something_else_is_not_made() {
    // The key that was meant is there already.
    let text = "[route]\nengines = [\"t\"]\nenginse = [\"t\"]\n";
    let dir = folder(&[("a.route.toml", text), ("t.engine.toml", "[engine]\nengine = \"template\"\n")]);
    let (code, _) = run(&ValidateArgs { fix: true, ..args(dir.path()) }, dir.path());
    assert_eq!(code, 1);
    assert_eq!(std::fs::read_to_string(dir.path().join("a.route.toml")).unwrap(), text);
}

#[test]
fn a_root_is_looked_into_instead_of_this_system() {
    let root = tempfile::tempdir().unwrap();
    let units = root.path().join("etc/workagent/units");
    std::fs::create_dir_all(&units).unwrap();
    std::fs::write(units.join("a.env.toml"), "[st]\n").unwrap();
    let args =
        ValidateArgs { root: Some(root.path().to_owned()), format: Format::Short, ..ValidateArgs::default() };
    let (code, out) = run(&args, root.path());
    assert_eq!(code, 1);
    assert!(out.starts_with("D/etc/workagent/units/a.env.toml:1:2: error[unknown-table]"), "{out}");
}

#[test]
fn s11_values_meant_for_a_shell_are_warned_of_and_not_shown() {
    let text = "[set]\nTAIL_NOTE = \"bravo        # not a comment\"\nQUOTED = '\"charlie delta\"'\n\
                EXPORTED = \"export X=foxtrot\"\nHOMEDIR = \"$HOME/golf\"\nSPACES = \"hotel india\"\nEMPTY = \"\"\n\
                EQUALS = \"kilo=lima==\"\nCRLF = \"alpha\\r\"\n\"DOT.NAME\" = \"juliet\"\n";
    let compiled = compile_texts(&[("a.env.toml", text)]);
    insta::assert_snapshot!(short(&compiled, Path::new("/u/1")), @r#"
    a.env.toml:2:13: warning[shell-quirk]: `set.TAIL_NOTE` has a note behind `#`, which becomes part of the value
    a.env.toml:3:10: warning[shell-quirk]: `set.QUOTED` has quotes inside its quotes; they become part of the value
    a.env.toml:4:12: warning[shell-quirk]: `set.EXPORTED` begins with `export`, which becomes part of the value
    a.env.toml:5:11: warning[shell-quirk]: `set.HOMEDIR` names a variable, and nothing fills it in
    a.env.toml:9:8: warning[shell-quirk]: `set.CRLF` holds a carriage return, as files from Windows do
    a.env.toml:10:1: error[bad-value]: `set`: the name of a variable has letters, digits and `_`, and begins with no digit
    "#);
    // Lines that end in CR LF mean the same as others.
    let lf = compile_texts(&[("a.env.toml", "[set]\nA = \"alpha\"\n")]);
    let crlf = compile_texts(&[("a.env.toml", "[set]\r\nA = \"alpha\"\r\n")]);
    assert!(crlf.findings.is_empty());
    assert_eq!(lf.plan.hash, crlf.plan.hash);
}
