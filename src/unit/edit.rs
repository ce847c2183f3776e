//! Changing one flag in the text of a unit file: comments, layout and line ends stay. Pure on text.

use std::ops::Range;

use toml_edit::{Document, DocumentMut, Item, TableLike, Value};

/// What one file says of a flag of `[install]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Nothing.
    Nothing,
    /// `enabled = true`.
    Flag(bool),
    /// `unset = ["install.enabled"]`: back to the default of the kind.
    Default,
}

/// What a file says of `[install] key`. A text with errors says nothing.
#[must_use]
pub fn said(text: &str, key: &str) -> Said {
    let Ok(document) = Document::parse(text) else { return Said::Nothing };
    if let Some(value) = flag(document.as_table(), key) {
        return Said::Flag(value);
    }
    let path = format!("install.{key}");
    let names = |name: &str| name == path || name == "install";
    let unset = document.get("unset").and_then(Item::as_array);
    if unset.is_some_and(|list| list.iter().any(|name| name.as_str().is_some_and(names))) {
        return Said::Default;
    }
    Said::Nothing
}

/// The text with `[install] key = value`.
///
/// # Errors
/// The text has errors.
pub fn set(text: &str, key: &str, value: bool) -> Result<String, Unparsable> {
    let document = Document::parse(text).map_err(|_| Unparsable)?;
    let word = if value { "true" } else { "false" };
    if let Some(place) = place(document.as_table(), key) {
        // To the byte: everything else stays as it was written.
        let (before, after) = (text.get(..place.start), text.get(place.end..));
        return Ok(format!("{}{word}{}", before.unwrap_or_default(), after.unwrap_or_default()));
    }
    let mut document: DocumentMut = text.parse().map_err(|_| Unparsable)?;
    let has_lines = !text.trim().is_empty();
    let install = document.entry("install").or_insert_with(|| {
        let mut table = toml_edit::Table::new();
        if has_lines {
            table.decor_mut().set_prefix("\n");
        }
        Item::Table(table)
    });
    let table = install.as_table_like_mut().ok_or(Unparsable)?;
    table.insert(key, Item::Value(Value::from(value)));
    let changed = document.to_string();
    if text.contains("\r\n") { Ok(changed.replace("\r\n", "\n").replace('\n', "\r\n")) } else { Ok(changed) }
}

/// The file says nothing but this one flag: it is no loss when it goes.
#[must_use]
pub fn only_says(text: &str, key: &str) -> bool {
    let Ok(document) = Document::parse(text) else { return false };
    let root = document.as_table();
    let install = root.get("install").and_then(Item::as_table_like);
    root.len() == 1 && install.is_some_and(|table| table.len() == 1 && table.contains_key(key))
}

/// The text could not be read, so it was not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file has errors")]
pub struct Unparsable;

fn install(root: &toml_edit::Table) -> Option<&dyn TableLike> {
    root.get("install")?.as_table_like()
}

fn flag(root: &toml_edit::Table, key: &str) -> Option<bool> {
    install(root)?.get(key)?.as_bool()
}

fn place(root: &toml_edit::Table, key: &str) -> Option<Range<usize>> {
    install(root)?.get(key)?.as_value()?.span()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, value: bool, expected: &str) {
        let changed = set(text, "enabled", value).unwrap();
        assert_eq!(changed, expected);
        assert_eq!(said(&changed, "enabled"), Said::Flag(value));
        assert_eq!(set(&changed, "enabled", value).unwrap(), changed, "a second time changes nothing");
    }

    #[test]
    fn the_value_changes_and_nothing_else() {
        check(
            "# mine\n[install] # here\n  enabled   =  false   # not yet\nmasked = false\n",
            true,
            "# mine\n[install] # here\n  enabled   =  true   # not yet\nmasked = false\n",
        );
        check("install.enabled=true", false, "install.enabled=false");
        check(
            "install = { enabled = true, masked = false }\n",
            false,
            "install = { enabled = false, masked = false }\n",
        );
        check("[install]\r\nenabled = false\r\n\r\n# end", true, "[install]\r\nenabled = true\r\n\r\n# end");
    }

    #[test]
    fn a_value_of_another_type_is_mended() {
        check("[install]\nenabled = \"yes\"\n", true, "[install]\nenabled = true\n");
    }

    #[test]
    fn a_missing_key_comes_into_its_table() {
        check(
            "[install]\nmasked = false\n# end\n",
            true,
            "[install]\nmasked = false\nenabled = true\n# end\n",
        );
        check(
            "[unit]\ndescription = \"x\" # keep\n",
            true,
            "[unit]\ndescription = \"x\" # keep\n\n[install]\nenabled = true\n",
        );
        check("", true, "[install]\nenabled = true\n");
        check("[unit]\r\n", true, "[unit]\r\n\r\n[install]\r\nenabled = true\r\n");
    }

    #[test]
    fn what_a_file_says() {
        assert_eq!(said("unset = [\"install.enabled\"]", "enabled"), Said::Default);
        assert_eq!(said("unset = [\"install.masked\"]", "enabled"), Said::Nothing);
        assert_eq!(said("[install]\nenabled = tru", "enabled"), Said::Nothing);
        assert_eq!(set("[install]\nenabled = tru", "enabled", true), Err(Unparsable));
        assert!(only_says("# by hand\n[install]\nmasked = true\n", "masked"));
        assert!(!only_says("[install]\nmasked = true\nenabled = false\n", "masked"));
    }
}
