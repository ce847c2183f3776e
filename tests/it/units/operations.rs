//! What layers do to the keys of those below: lists that grow and shrink, keys that go back, types that change.

use super::*;

const BASE: &str = "[route]\nengines = [\"t\"]\n[match]\nlabels = [\"a\", \"b\", \"c\"]\n";

/// The labels of route `r` with these drop-ins, after the findings.
fn check(drop_ins: &[&str], expected: &str) {
    check_over(BASE, drop_ins, expected);
}

fn check_over(base: &str, drop_ins: &[&str], expected: &str) {
    let names: Vec<String> = (0..drop_ins.len()).map(|at| format!("r.route.d/{at}.toml")).collect();
    let mut files = vec![("t.engine.toml", "[engine]\nengine = \"template\"\n"), ("r.route.toml", base)];
    files.extend(names.iter().map(String::as_str).zip(drop_ins.iter().copied()));
    let compiled = compile_texts(&files);
    let shown = match compiled.plan.routes.get("r").unwrap() {
        Standing::Active(unit) => unit.matches.labels.join(" "),
        Standing::Off(off) => off.state.word().to_owned(),
    };
    let found = short(&compiled, Path::new("/u/1"));
    assert_eq!(format!("{found}{shown}"), expected);
}

fn labels(value: &str) -> String {
    format!("[match]\nlabels = {value}\n")
}

#[test]
fn lists_grow_and_shrink() {
    check(&[&labels("[\"x\"]")], "x");
    check(&[&labels("[]")], "");
    check(&[&labels("{ append = [\"x\", \"y\"] }")], "a b c x y");
    check(&[&labels("{ prepend = [\"x\", \"y\"] }")], "x y a b c");
    check(&[&labels("{ remove = [\"b\"], append = [\"x\"], prepend = [\"y\"] }")], "y a c x");
    check(&[&labels("{ append = [\"x\"] }"), &labels("{ remove = [\"a\", \"x\"] }")], "b c");
    check(&[&labels("[]"), &labels("{ append = [\"x\"] }")], "x");
}

#[test]
fn what_is_there_is_not_added_again() {
    let layer = labels("{ append = [\"x\", \"a\"], prepend = [\"y\", \"c\"] }");
    check(&[&layer], "y a b c x");
    check(&[&layer, &layer], "y a b c x");
}

#[test]
fn in_a_main_file_the_list_below_is_the_default() {
    check_over("[route]\nengines = { append = [\"t\"] }\n[match]\nlabels = { append = [\"x\"] }\n", &[], "x");
}

#[test]
fn removing_what_is_not_there_is_told() {
    check(
        &[&labels("{ remove = [\"z\"] }")],
        "r.route.d/0.toml:2:22: warning[without-effect]: `match.labels` does not have this element\na b c",
    );
}

#[test]
fn other_operations_and_other_values_are_errors() {
    let wrong =
        "error[bad-value]: `match.labels` takes a list, or `{ append = […], prepend = […], remove = […] }`";
    check(&[&labels("{ add = [\"x\"] }")], &format!("r.route.d/0.toml:2:12: {wrong}\nbad-setting"));
    check(&[&labels("{ append = \"x\" }")], &format!("r.route.d/0.toml:2:21: {wrong}\nbad-setting"));
    check(&[&labels("{}")], &format!("r.route.d/0.toml:2:10: {wrong}\nbad-setting"));
}

#[test]
fn unset_takes_a_key_back_to_its_default() {
    check(&["unset = [\"match.labels\"]\n"], "");
    check(&["unset = [\"match.labels\"]\n", &labels("{ append = [\"x\"] }")], "x");
    check(&[&format!("unset = [\"match.labels\"]\n{}", labels("{ append = [\"x\"] }"))], "x");
    check(
        &["unset = [\"route.engines\"]\n"],
        "r.route.toml:1:1: error[missing-key]: missing key `route.engines`\nbad-setting",
    );
}

#[test]
fn unset_of_nothing_is_told_and_of_something_unknown_is_an_error() {
    check(
        &["unset = [\"match.kind\"]\n"],
        "r.route.d/0.toml:1:10: warning[without-effect]: `match.kind` is not set in any layer below\na b c",
    );
    check(
        &["unset = [\"match.label\"]\n"],
        "r.route.d/0.toml:1:10: error[unknown-key]: unknown key `match.label`\nbad-setting",
    );
    check(
        &["unset = [\"mtch.labels\"]\n"],
        "r.route.d/0.toml:1:10: error[unknown-table]: unknown table `[mtch]`\nbad-setting",
    );
    let files = [("r.route.toml", BASE), ("r.route.d/x.toml", "unset = [\"match.label\"]\n")];
    let compiled = compile_texts(&files);
    let finding = compiled.findings.iter().find(|finding| finding.check.code == "unknown-key").unwrap();
    let patch = finding.suggestion.as_ref().unwrap().patch.as_ref().unwrap();
    assert_eq!(patch.replacement, "\"match.labels\"");
}

#[test]
fn an_env_units_own_table_of_that_name_is_no_operation() {
    let compiled = compile_texts(&[
        ("a.env.toml", "[set]\nA = \"1\"\nB = \"2\"\n[unset]\nnames = [\"C\"]\n"),
        ("a.env.d/x.toml", "unset = [\"set.A\"]\n"),
        ("a.env.d/y.toml", "[unset]\nnames = { append = [\"D\"] }\n"),
    ]);
    let Standing::Active(unit) = &compiled.plan.envs["a"] else { panic!("{compiled:?}") };
    assert_eq!(unit.set.keys().collect::<Vec<_>>(), ["B"]);
    assert_eq!(unit.unset, ["C", "D"]);
    assert_eq!(short(&compiled, Path::new("/u/1")), "");
}

#[test]
fn dependencies_can_be_emptied() {
    let compiled = compile_texts(&[
        ("a.env.toml", "[unit]\nrequires = [\"gone.env\"]\nwants = [\"b.env\"]\n"),
        ("a.env.d/x.toml", "[unit]\nrequires = []\n"),
        ("b.env.toml", ""),
    ]);
    assert_eq!(short(&compiled, Path::new("/u/1")), "");
    assert_eq!(compiled.plan.edges.len(), 1);
}

#[test]
fn a_change_of_type_is_told_with_both_places() {
    check(
        &[&labels("\"x\"")],
        "r.route.d/0.toml:2:10: error[type-change]: `match.labels` is a list in one layer and a text in another\nbad-setting",
    );
    check(
        &["[route]\npriority = \"high\"\n", "[route]\npriority = 7\n"],
        "r.route.d/0.toml:2:12: error[type-change]: `route.priority` is a whole number in one layer and a text in \
         another\nbad-setting",
    );
    let files = [("r.route.toml", BASE), ("r.route.d/x.toml", &labels("\"x\""))];
    let compiled = compile_texts(&files.map(|(name, text): (&str, &str)| (name, text)));
    let finding = compiled.findings.iter().find(|finding| finding.check.code == "type-change").unwrap();
    assert_eq!(finding.labels.len(), 1);
}

#[test]
fn a_secret_in_a_covered_layer_is_one_all_the_same() {
    let base = "[engine]\nengine = \"openai-chat\"\n[openai-chat]\nbase_url = \"http://127.0.0.1/\"\nmodel = \"m\"\napi_key = \"hunter2\"\n";
    let over = "[openai-chat]\napi_key = { secret = \"k\" }\n";
    let compiled = compile_texts(&[("a.engine.toml", base), ("a.engine.d/x.toml", over)]);
    insta::assert_snapshot!(short(&compiled, Path::new("/u/1")), @"a.engine.toml:6:11: error[literal-secret]: `openai-chat.api_key` holds a secret itself");
    assert!(!human(&compiled, Path::new("/u")).contains("hunter2"));
}
