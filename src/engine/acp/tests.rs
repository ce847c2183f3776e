//! What a unit may say.

use super::*;
use crate::unit::value::Value;

fn settings(keys: &[(&str, Value)]) -> Settings {
    Settings(keys.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn list(entry: &str) -> Value {
    Value::List(vec![entry.into()])
}

#[test]
fn what_cannot_work_is_said_before_a_run() {
    let problems = |keys: &[(&str, Value)]| -> Vec<String> {
        check(&settings(keys)).iter().map(|problem| format!("{}: {}", problem.key, problem.message)).collect()
    };
    assert_eq!(problems(&[("preset", text("gemini"))]), Vec::<String>::new());
    assert_eq!(problems(&[("preset", text("custom"))]), ["program: is needed where the preset is `custom`"]);
    assert_eq!(
        problems(&[("preset", text("gemini")), ("program", text("./gemini"))]),
        ["program: is an absolute path or a name without `/`; relative paths mean nothing to a daemon"]
    );
    assert_eq!(
        problems(&[("config", list("effort")), ("allow", list("find")), ("mcp", list("crm"))]),
        [
            "allow: has an entry that is not \"SERVER/TOOL\", in letters, digits, hyphens and underscores",
            "mcp: has an entry without `=`; write \"NAME = PROGRAM\"",
            "config: has an entry without `=`; write \"NAME=VALUE\"",
        ]
    );
}

#[test]
fn every_preset_can_be_started_by_its_name_alone() {
    for name in presets::NAMES.iter().filter(|name| **name != presets::CUSTOM) {
        assert_eq!(check(&settings(&[("preset", text(name))])), [], "{name}");
        assert!(!presets::find(name).unwrap().program.is_empty(), "{name}");
    }
}
