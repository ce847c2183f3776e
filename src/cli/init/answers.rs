//! The answers in a file instead of a talk. Secrets are never in it: it says where each is read from.

use std::fmt::Write as _;
use std::io::{BufRead as _, Read as _};
use std::path::Path;

use toml::Value as Toml;
use toml_edit::Value;

use super::choices::Choice;
use super::draft::{Connect, Draft, Engine};
use super::guides::{self, GUIDES};
use super::here::Here;
use super::interview::meant::existing;
use crate::catalog::CATALOG;
use crate::cli::error::CliError;
use crate::cli::look::line;
use crate::model::environment::Environment;
use crate::model::limits;
use crate::secret::SecretValue;
use crate::unit::compose;
use crate::unit::is_unit_name;
use crate::unit::plan::Kind;
use crate::unit::schema::{KeySpec, ValueType};

/// A secret is a line or a key, not a file.
const SECRET_BYTES_MAX: u64 = 64 * 1024;

/// What a file says.
#[derive(Debug)]
pub struct Answers {
    /// What is to be set up.
    pub draft: Draft,
    /// Units that are there may be changed.
    pub change_existing: bool,
    /// A login that does not work is an error, and nothing is written.
    pub verify: bool,
}

/// Where a secret is read from.
enum Source<'a> {
    Env(&'a str),
    File(&'a str),
    Stdin,
    Stored(&'a str),
}

/// Reads the file.
///
/// # Errors
/// The file cannot be read or says something that is not understood. No value is repeated: it may be a secret.
pub async fn read(
    file: &Path,
    here: &Here,
    choices: &[Choice],
    environment: &Environment,
) -> Result<Answers, CliError> {
    let shown = file.display();
    let wrong = |why: String| {
        CliError::usage(format!("{shown}: {why}"))
            .hint("workagent init --print-answers shows what can stand there")
    };
    let text = text_of(file, limits::UNIT_FILE_BYTES_MAX)
        .map_err(|error| CliError::usage(format!("read {shown}: {error}")))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        // Its own text would show the line, and a secret that somebody put there.
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        wrong(format!("line {}: {}", before.matches('\n').count() + 1, error.message()))
    })?;
    let mut draft = Draft::default();
    let mut answers = Answers { draft: Draft::default(), change_existing: false, verify: true };
    for (key, value) in &table {
        match (key.as_str(), value) {
            ("connect", Toml::Array(items)) => {
                for item in items {
                    let item =
                        item.as_table().ok_or_else(|| wrong("each [[connect]] is a table".to_owned()))?;
                    let connect = connect(item, here, environment).await.map_err(wrong)?;
                    if draft.connect.iter().any(|other| other.name == connect.name) {
                        return Err(wrong(format!(
                            "two of [[connect]] are called {}: give a `name`",
                            connect.name
                        )));
                    }
                    draft.connect.push(connect);
                }
            }
            ("engine", Toml::Table(item)) => {
                draft.engine = Some(engine(item, here, choices, environment).await.map_err(wrong)?);
            }
            ("init", Toml::Table(item)) => init(item, &mut draft, &mut answers).map_err(wrong)?,
            (other, _) => {
                let other = line(other, 40);
                return Err(wrong(format!("`{other}`: there are [[connect]], [engine] and [init]")));
            }
        }
    }
    answers.draft = draft;
    Ok(answers)
}

fn init(item: &toml::Table, draft: &mut Draft, answers: &mut Answers) -> Result<(), String> {
    for (key, value) in item {
        let flag = value.as_bool().ok_or_else(|| format!("[init] {}: true or false", line(key, 40)))?;
        match key.as_str() {
            "rehearsal" => draft.rehearsal = Some(flag),
            "private" => draft.private = flag,
            "service" => draft.service = flag,
            "change_existing" => answers.change_existing = flag,
            "verify" => answers.verify = flag,
            other => return Err(format!("[init] has no key `{}`", line(other, 40))),
        }
    }
    Ok(())
}

async fn connect(item: &toml::Table, here: &Here, environment: &Environment) -> Result<Connect, String> {
    let text = |key: &str| item.get(key).and_then(Toml::as_str);
    let what = text("what").ok_or("each [[connect]] says `what`")?;
    let guide = guides::by_word(what).ok_or_else(|| {
        let words: Vec<&str> = GUIDES.iter().map(|guide| guide.what).collect();
        format!("what = \"{}\": there are {}", line(what, 40), words.join(", "))
    })?;
    let name = text("name").unwrap_or(guide.unit);
    if !is_unit_name(name) {
        return Err("`name` has letters, digits, `-`, `_`, `.` and begins with a letter or digit".to_owned());
    }
    let mut connect = Connect::new(guide, name);
    if here.own_connectors().iter().any(|held| held == name) {
        let held = existing(here, name)?;
        if held.guide.platform != guide.platform {
            return Err(format!("{name}.connector is there already, and is {}", held.guide.what));
        }
        connect = held;
    }
    // The account first: secrets are named by it.
    let (secrets, plain): (Vec<_>, Vec<_>) = item.iter().partition(|(key, _)| connect.is_secret(key));
    for (key, value) in plain {
        match (key.as_str(), value) {
            ("what" | "name", _) => {}
            ("backlog", Toml::String(backlog)) => connect.backlog = Some(backlog.clone()),
            ("outbound", Toml::String(outbound)) => connect.outbound = Some(outbound.clone()),
            ("client_id", Toml::String(id)) => connect.client_id = Some(id.clone()),
            (key, value) => {
                let spec = connect.spec(key).ok_or_else(|| unknown(guide.what, key, guide.platform))?;
                match value {
                    Toml::String(text) if !spec.value.is_list() => connect.put(key, text),
                    value => {
                        connect.keys.insert(key.to_owned(), plain_value(spec, value)?);
                    }
                }
            }
        }
    }
    for (key, value) in secrets {
        let name = match source(key, value)? {
            Source::Stored(name) => stored(name, here).await?,
            source => {
                let name = connect.secret_name(key);
                here.typed.put(&name, secret(key, &source, environment)?, None);
                name
            }
        };
        connect.secrets.insert(key.clone(), name);
    }
    Ok(connect)
}

async fn engine(
    item: &toml::Table,
    here: &Here,
    choices: &[Choice],
    environment: &Environment,
) -> Result<Engine, String> {
    let word = item.get("use").and_then(Toml::as_str).ok_or("[engine] says which one to `use`")?;
    let found = choices.iter().find(|choice| choice.engine.name == word).map(|choice| choice.engine.clone());
    // Those that were not found here can still be meant, with all their keys.
    let known = CATALOG.engine(word).map(|spec| Engine::new(word, spec.name));
    let mut engine = found.or(known).ok_or_else(|| {
        let words: Vec<&str> = choices.iter().map(|choice| choice.engine.name.as_str()).collect();
        format!("use = \"{}\": there are {}", line(word, 40), words.join(", "))
    })?;
    for (key, value) in item {
        match (key.as_str(), value) {
            ("use", _) => {}
            ("name", Toml::String(name)) if is_unit_name(name) => engine.name.clone_from(name),
            ("model", Toml::String(model)) => engine.model = Some(model.clone()),
            (key, value) => {
                let keys =
                    compose::own_keys(Kind::Engine, &engine.engine, &here.registry).unwrap_or_default();
                let spec = keys.iter().find(|spec| spec.name == key);
                let spec = spec.ok_or_else(|| unknown(word, key, &engine.engine))?;
                if spec.value != ValueType::Secret {
                    engine.keys.insert(key.to_owned(), plain_value(spec, value)?);
                    continue;
                }
                let name = match source(key, value)? {
                    Source::Stored(name) => stored(name, here).await?,
                    source => {
                        let name = format!("{}/key", engine.name);
                        here.typed.put(&name, secret(key, &source, environment)?, None);
                        name
                    }
                };
                engine.secrets.insert(key.to_owned(), name);
            }
        }
    }
    Ok(engine)
}

fn unknown(what: &str, key: &str, table: &str) -> String {
    format!("{what} has no key `{}`; `workagent manual {table}` lists them", line(key, 40))
}

fn plain_value(spec: &KeySpec, value: &Toml) -> Result<Value, String> {
    let wrong = || format!("`{}` has a value of another type", spec.name);
    match value {
        Toml::String(text) => Ok(Value::from(text.as_str())),
        Toml::Integer(number) => Ok(Value::from(*number)),
        Toml::Boolean(flag) => Ok(Value::from(*flag)),
        Toml::Array(items) => {
            let items: Option<Vec<&str>> = items.iter().map(Toml::as_str).collect();
            items.map(compose::list).ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

fn source<'a>(key: &str, value: &'a Toml) -> Result<Source<'a>, String> {
    let wrong = || {
        format!(
            "`{key}` is a secret and is never written here: {{ env = \"NAME\" }}, {{ file = \"PATH\" }}, \
             {{ stdin = true }} or {{ stored = \"NAME\" }}"
        )
    };
    let table = value.as_table().ok_or_else(wrong)?;
    let mut entries = table.iter();
    let (Some((word, value)), None) = (entries.next(), entries.next()) else { return Err(wrong()) };
    match (word.as_str(), value) {
        ("env", Toml::String(name)) => Ok(Source::Env(name)),
        ("file", Toml::String(path)) => Ok(Source::File(path)),
        ("stdin", Toml::Boolean(true)) => Ok(Source::Stdin),
        ("stored", Toml::String(name)) => Ok(Source::Stored(name)),
        _ => Err(wrong()),
    }
}

async fn stored(name: &str, here: &Here) -> Result<String, String> {
    if let Some(problem) = crate::model::secret_ref::name_problem(name) {
        return Err(format!("stored = …: that is no name of a secret: {problem}"));
    }
    if !here.typed.is_there(name).await {
        return Err(format!("no secret is stored under `{name}`: workagent secret set {name}"));
    }
    Ok(name.to_owned())
}

fn secret(key: &str, source: &Source<'_>, environment: &Environment) -> Result<SecretValue, String> {
    let text = match source {
        Source::Env(name) => environment
            .get(name)
            .map(str::to_owned)
            .ok_or_else(|| format!("`{key}`: the variable {} is not set", line(name, 60)))?,
        Source::File(path) => text_of(Path::new(path), SECRET_BYTES_MAX)
            .map_err(|error| format!("`{key}`: read {path}: {error}"))?,
        Source::Stdin => {
            let mut text = String::new();
            let read = std::io::stdin().lock().take(SECRET_BYTES_MAX).read_line(&mut text);
            read.map_err(|error| format!("`{key}`: read standard input: {error}"))?;
            text
        }
        Source::Stored(_) => String::new(),
    };
    let value = SecretValue::new(text);
    if value.is_empty() { Err(format!("`{key}`: the secret is empty")) } else { Ok(value) }
}

fn text_of(path: &Path, bytes_max: u64) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(bytes_max + 1).read_to_string(&mut text)?;
    if text.len() as u64 > bytes_max {
        return Err(std::io::Error::other(format!("it has more than {bytes_max} bytes")));
    }
    Ok(text)
}

/// What was said, as a file for the next time. Secrets are to be filled in by where they come from.
#[must_use]
pub fn printed(draft: &Draft) -> String {
    let mut out = format!("{HEAD}\n");
    for connect in &draft.connect {
        let _ = writeln!(out, "[[connect]]\nwhat = \"{}\"\nname = \"{}\"", connect.guide.what, connect.name);
        keys(&mut out, &connect.keys, &connect.secrets);
        for (key, value) in [("backlog", &connect.backlog), ("outbound", &connect.outbound)] {
            if let Some(value) = value {
                let _ = writeln!(out, "{key} = {}", Value::from(value.as_str()));
            }
        }
        out.push('\n');
    }
    if let Some(engine) = &draft.engine {
        let _ = writeln!(out, "[engine]\nuse = \"{}\"", engine.name);
        if let Some(model) = &engine.model {
            let _ = writeln!(out, "model = {}", Value::from(model.as_str()));
        }
        keys(&mut out, &engine.keys, &engine.secrets);
        out.push('\n');
    }
    out.push_str("[init]\n");
    if let Some(rehearsal) = draft.rehearsal {
        let _ = writeln!(out, "rehearsal = {rehearsal}");
    }
    let _ = writeln!(out, "private = {}\nservice = {}", draft.private, draft.service);
    out
}

fn keys(
    out: &mut String,
    keys: &std::collections::BTreeMap<String, Value>,
    secrets: &std::collections::BTreeMap<String, String>,
) {
    for (key, value) in keys {
        let _ = writeln!(out, "{key} = {}", value.to_string().trim());
    }
    for (key, name) in secrets {
        let _ = writeln!(out, "{key} = {{ stored = \"{name}\" }}");
    }
}

const HEAD: &str = "\
# Answers for `workagent init --answers FILE`. A secret never stands here but where it is read from, once, into the store:
#   { env = \"NAME\" }   { file = \"PATH\" }   { stdin = true }, a line each   { stored = \"NAME\" }, it is there already
";

/// A file to fill in.
#[must_use]
pub fn template() -> String {
    let words: Vec<&str> = GUIDES.iter().map(|guide| guide.what).collect();
    format!(
        "{HEAD}
# One for each account. `what`: {}. Any key of the platform's own table can stand
# here (`workagent manual imap`); these are what mail needs.
[[connect]]
what = \"mail\"
name = \"inbox\"                            # the unit becomes inbox.connector
user = \"me@example.org\"
host = \"imap.example.org\"                 # or with a port: \"localhost:993\"
smtp_host = \"smtp.example.org\"            # left out: nothing can be sent
password = {{ env = \"MAIL_PASSWORD\" }}
backlog = \"new\"                           # what is there already: \"new\" leaves it alone, \"7d\", \"all\"
#outbound = \"reviewed\"                    # or \"never\", \"auto\"

# Who answers. Left out: as it is. `workagent init` in a terminal lists what is found on this machine.
[engine]
use = \"template\"                          # ollama, claude, codex, anthropic, openai, google, program, …
#model = \"qwen3:8b\"
#text = \"Hello {{{{ name }}}}, thank you.\"    # any key of the engine's own table
#key = {{ env = \"ANTHROPIC_API_KEY\" }}

[init]
rehearsal = true                          # everything but the sending; `workagent init --live` ends it
private = false                           # only engines on this machine, also later
service = false                           # install the service of the user, and start it
change_existing = false                   # units that are there already may be changed
verify = true                             # a login that does not work is an error, and nothing is written
",
        words.join(", ")
    )
}
