//! A unit file out of chosen keys, each with its line of the manual above it; and chosen keys put into a file that is
//! there, where comments and layout stay. Pure on text.

use std::fmt::Write as _;

use toml_edit::{Document, DocumentMut, InlineTable, Item, Table, Value};

use super::edit::Unparsable;
use super::json_schema;
use super::kinds::{self, common};
use super::plan::Kind;
use super::registry::Registry;
use super::schema::KeySpec;

/// Columns of a comment.
const COMMENT_WIDTH: usize = 98;

/// One key with its value.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The table.
    pub table: String,
    /// The key in it.
    pub key: String,
    /// Its value.
    pub value: Value,
}

impl Chosen {
    /// A key with its value.
    pub fn new(table: &str, key: &str, value: impl Into<Value>) -> Self {
        Self { table: table.to_owned(), key: key.to_owned(), value: value.into() }
    }
}

/// `{ secret = "NAME" }`.
#[must_use]
pub fn secret(name: &str) -> Value {
    let mut table = InlineTable::new();
    table.insert("secret", Value::from(name));
    Value::InlineTable(table)
}

/// A list of texts.
#[must_use]
pub fn list<'a>(items: impl IntoIterator<Item = &'a str>) -> Value {
    Value::Array(items.into_iter().collect())
}

/// A whole file: the line for editors, the remarks as comments, the keys by table in the order in which they come.
#[must_use]
pub fn text(kind: Kind, remarks: &[String], chosen: &[Chosen], registry: &Registry) -> String {
    let mut out = format!("{}\n", json_schema::line(kind));
    for remark in remarks {
        comment(&mut out, remark);
    }
    let mut tables: Vec<&str> = Vec::new();
    for key in chosen {
        if !tables.contains(&key.table.as_str()) {
            tables.push(&key.table);
        }
    }
    for table in tables {
        let _ = writeln!(out, "\n[{table}]");
        for Chosen { key, value, .. } in chosen.iter().filter(|key| key.table == table) {
            // What says itself needs no comment.
            if !matches!((table, key.as_str()), ("unit", "description") | ("install", "enabled")) {
                doc(kind, table, key, registry).into_iter().for_each(|doc| comment(&mut out, doc));
            }
            let _ = writeln!(out, "{key} = {}", value.to_string().trim());
        }
    }
    out
}

/// The line of the manual of a key.
#[must_use]
pub fn doc(kind: Kind, table: &str, key: &str, registry: &Registry) -> Option<&'static str> {
    let tables = kinds::spec(kind).tables.iter().chain(common::TABLES);
    let found = tables.filter(|spec| spec.name == table).find_map(|spec| spec.key(key));
    let own = || own_keys(kind, table, registry)?.iter().find(|spec| spec.name == key);
    found.or_else(own).map(|spec| spec.doc)
}

/// The keys of a platform's, engine's or channel's own table.
#[must_use]
pub fn own_keys(kind: Kind, table: &str, registry: &Registry) -> Option<&'static [KeySpec]> {
    match kind {
        Kind::Connector => registry.platform(table).map(|view| view.keys),
        Kind::Engine => registry.engine(table).map(|view| view.keys),
        Kind::Channel => registry.channel(table).map(|view| view.keys),
        _ => None,
    }
}

fn comment(out: &mut String, text: &str) {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > COMMENT_WIDTH {
            let _ = writeln!(out, "# {line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(out, "{}", format!("# {line}").trim_end());
}

/// The text with these keys. A key that has its value already is left as it is written.
///
/// # Errors
/// The text has errors.
pub fn put(text: &str, chosen: &[Chosen]) -> Result<String, Unparsable> {
    let present = Document::parse(text).map_err(|_| Unparsable)?;
    let same = |key: &Chosen| {
        let held =
            present.get(&key.table).and_then(Item::as_table_like).and_then(|table| table.get(&key.key));
        held.and_then(Item::as_value).is_some_and(|held| is_same(held, &key.value))
    };
    let new: Vec<&Chosen> = chosen.iter().filter(|key| !same(key)).collect();
    if new.is_empty() {
        return Ok(text.to_owned());
    }
    let mut document: DocumentMut = text.parse().map_err(|_| Unparsable)?;
    for Chosen { table, key, value } in new {
        let has_lines = !document.is_empty();
        let entry = document.entry(table).or_insert_with(|| {
            let mut table = Table::new();
            if has_lines {
                table.decor_mut().set_prefix("\n");
            }
            Item::Table(table)
        });
        let table = entry.as_table_like_mut().ok_or(Unparsable)?;
        let mut value = value.clone();
        if let Some(held) = table.get(key).and_then(Item::as_value) {
            // A remark behind the old value stays.
            *value.decor_mut() = held.decor().clone();
        }
        match table.get_mut(key) {
            // Putting it in anew would lay out its key anew, too.
            Some(held) => *held = Item::Value(value),
            None => {
                table.insert(key, Item::Value(value));
            }
        }
    }
    let changed = document.to_string();
    if text.contains("\r\n") { Ok(changed.replace("\r\n", "\n").replace('\n', "\r\n")) } else { Ok(changed) }
}

/// The same value, however it is written.
fn is_same(held: &Value, wanted: &Value) -> bool {
    match (held, wanted) {
        (Value::String(a), Value::String(b)) => a.value() == b.value(),
        (Value::Integer(a), Value::Integer(b)) => a.value() == b.value(),
        (Value::Boolean(a), Value::Boolean(b)) => a.value() == b.value(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::InlineTable(a), Value::InlineTable(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::CATALOG;

    #[test]
    fn a_file_is_made_of_keys_and_their_manual() {
        let chosen = [
            Chosen::new("unit", "description", "Mail of \"me\""),
            Chosen::new("connector", "platform", "imap"),
            Chosen::new("imap", "host", "imap.example.org"),
            Chosen::new("imap", "port", 993),
            Chosen::new("imap", "password", secret("mail/me")),
            Chosen::new("install", "enabled", true),
        ];
        let text = text(Kind::Connector, &["Mine.".to_owned()], &chosen, &CATALOG.registry());
        insta::assert_snapshot!(text, @r#"
        #:schema ../schema/connector.json
        # Mine.

        [unit]
        description = 'Mail of "me"'

        [connector]
        # The platform, which also names the unit's own table
        platform = "imap"

        [imap]
        # The IMAP server
        host = "imap.example.org"
        # Its port; by default 993, or 143 with `starttls` or `none`
        port = 993
        # The password, often one made for this program
        password = { secret = "mail/me" }

        [install]
        enabled = true
        "#);
        assert_eq!(put(&text, &chosen).unwrap(), text);
    }

    fn check(text: &str, chosen: &[Chosen], expected: &str) {
        let changed = put(text, chosen).unwrap();
        assert_eq!(changed, expected);
        assert_eq!(put(&changed, chosen).unwrap(), changed, "a second time changes nothing");
    }

    #[test]
    fn what_a_person_wrote_stays() {
        check(
            "# mine\n[imap] # here\n  host   =  'a'   # the old one\nuser = \"me\"\n# end\n",
            &[Chosen::new("imap", "host", "b"), Chosen::new("imap", "user", "me")],
            "# mine\n[imap] # here\n  host   =  \"b\"   # the old one\nuser = \"me\"\n# end\n",
        );
        check(
            "[imap]\r\nhost = \"a\"\r\n",
            &[Chosen::new("install", "enabled", true)],
            "[imap]\r\nhost = \"a\"\r\n\r\n[install]\r\nenabled = true\r\n",
        );
        let listed = "[route]\nengines = [ \"a\",\n  'b' ] # two\n";
        check(listed, &[Chosen::new("route", "engines", list(["a", "b"]))], listed);
        assert_eq!(put("[imap", &[]), Err(Unparsable));
    }
}
