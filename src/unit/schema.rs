//! The words in which platforms, engines and kinds describe their keys. One table serves parsing, "did you mean",
//! defaults and documentation.

use super::kinds;
use super::plan::Kind;

/// The type of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueType {
    /// Any text.
    Text,
    /// `true`, `false`.
    Bool,
    /// A whole number within bounds, both allowed.
    Integer {
        /// Lowest.
        min: i64,
        /// Highest.
        max: i64,
    },
    /// `"30s"`; within bounds, both allowed.
    Duration {
        /// Shortest.
        min_s: u64,
        /// Longest.
        max_s: u64,
    },
    /// `"8M"` or a number of bytes.
    Size,
    /// An amount in US dollars: `"0.50"`, `0.5` or `5`.
    Usd,
    /// A file or directory; `~` and specifiers allowed; made absolute.
    Path,
    /// An `http`, `https` or `file` URL.
    Url,
    /// A host name or address, without scheme and port.
    Host,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    List,
    /// A list of the names of other units of this kind, an edge of the graph.
    Units(&'static str),
    /// The name of another unit of this kind, an edge of the graph.
    Unit(&'static str),
    /// A list of words out of these.
    Choices(&'static [&'static str]),
    /// `{ secret = "name" }` or `{ env = "NAME" }`; a literal is a finding that does not echo it.
    Secret,
    /// A free table of environment names to text or secret reference.
    EnvMap,
    /// `"new"`, `"all"` or a duration.
    Backlog,
    /// Calendar expressions, one text or a list of them; kept in normal form, as [`super::value::Value::List`].
    Calendars,
    /// What conditions ask, one text or a list of them, each with `!` in front if it is turned round; as
    /// [`super::value::Value::List`].
    Tests(Tested),
    /// What is logged: [`crate::model::log_filter::LogFilter`]; kept in normal form.
    LogFilter,
    /// Windows of the week, one text or a list of them; kept in normal form, as [`super::value::Value::List`].
    Windows,
}

impl ValueType {
    /// Its values are lists, which layers can add to and take from.
    #[must_use]
    pub const fn is_list(&self) -> bool {
        matches!(self, Self::List | Self::Units(_) | Self::Choices(_) | Self::Calendars | Self::Windows)
    }
}

/// What a condition asks about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tested {
    /// A file or directory; `~` and specifiers allowed.
    Path,
    /// A name.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A unit's full name.
    Unit,
}

/// One key of a table.
#[derive(Clone, Copy, Debug)]
pub struct KeySpec {
    /// As written in the file.
    pub name: &'static str,
    /// Its type.
    pub value: ValueType,
    /// A unit without it is refused (if enabled).
    pub required: bool,
    /// Takes the specifiers of [`super::SPECIFIERS`]: its values are texts in which `%i` and the like are filled in.
    pub specifiers: bool,
    /// As it would be written in TOML, `"\"60s\""`; `None`: absent stays absent.
    pub default: Option<&'static str>,
    /// A change takes effect without a restart of the daemon.
    pub live: bool,
    /// One or two sentences for the manual, imperative or descriptive, without a period at the end of one.
    pub doc: &'static str,
}

impl KeySpec {
    /// An optional key without a default. Paths, hosts, secrets and names of units take specifiers.
    #[must_use]
    pub const fn new(name: &'static str, value: ValueType, doc: &'static str) -> Self {
        let specifiers = matches!(
            value,
            ValueType::Path | ValueType::Host | ValueType::Secret | ValueType::Units(_) | ValueType::Unit(_)
        );
        Self { name, value, required: false, specifiers, default: None, live: true, doc }
    }

    /// The same key, with specifiers filled in.
    #[must_use]
    pub const fn specifiers(mut self) -> Self {
        self.specifiers = true;
        self
    }

    /// The same key, required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// The same key, read only when the daemon starts.
    #[must_use]
    pub const fn at_start(mut self) -> Self {
        self.live = false;
        self
    }

    /// The same key with a default, as TOML text.
    #[must_use]
    pub const fn default(mut self, toml: &'static str) -> Self {
        self.default = Some(toml);
        self
    }
}

/// A problem of a key (or of a missing one) in an own table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyProblem {
    /// The key in the platform's or engine's table.
    pub key: &'static str,
    /// A short lower-case sentence; never a value that may be secret.
    pub message: String,
}

/// A table of a kind of unit.
#[derive(Clone, Copy, Debug)]
pub struct TableSpec {
    /// Its name in the file.
    pub name: &'static str,
    /// Its keys; for a free table the type of all its values is `EnvMap`'s, and `keys` is empty.
    pub keys: &'static [KeySpec],
    /// Takes any environment name as a key.
    pub free: bool,
    /// One line for the manual.
    pub doc: &'static str,
}

impl TableSpec {
    /// A table with these keys.
    #[must_use]
    pub const fn new(name: &'static str, keys: &'static [KeySpec], doc: &'static str) -> Self {
        Self { name, keys, free: false, doc }
    }

    /// A key by its name.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static KeySpec> {
        self.keys.iter().find(|spec| spec.name == name)
    }
}

/// A kind of unit.
#[derive(Clone, Copy, Debug)]
pub struct KindSpec {
    /// Its tables, without `[unit]` and `[install]`, which all have.
    pub tables: &'static [TableSpec],
    /// `[install] enabled` if it is not said.
    pub enabled: bool,
    /// One line for the manual.
    pub doc: &'static str,
}

/// A change of this key takes effect only when the daemon is started again. The own tables of platforms and engines, and
/// keys that there are not, are live.
#[must_use]
pub fn needs_restart(kind: Kind, table: &str, key: &str) -> bool {
    let tables = kinds::spec(kind).tables.iter();
    tables.filter(|spec| spec.name == table).filter_map(|spec| spec.key(key)).any(|spec| !spec.live)
}
