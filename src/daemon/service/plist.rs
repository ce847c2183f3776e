//! The launchd agent as text: what this version would write, and a reader of property lists.

use std::path::{Path, PathBuf};

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;

use super::site::LABEL;
use super::{ServiceError, Site};

/// The agent as it lies in `packaging/`.
pub const PACKAGED: &str = include_str!("../../../packaging/launchd/local.workagent.plist");

const PROGRAM: &str = "<string>/usr/local/bin/workagent</string>";
const PATH_VALUE: &str = "<string>/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin</string>";
const ERROR_PATH: &str = "<key>StandardErrorPath</key>\n\t<string>/dev/null</string>";

/// Says to the daemon who started it: launchd itself marks its children in no way that it promises.
pub const SUPERVISOR_VARIABLE: &str = "WORKAGENT_SUPERVISOR";

/// Nesting of a property list; launchd's own has three.
const DEPTH_MAX: usize = 32;

/// A property list longer than this is none of a service.
const BYTES_MAX: usize = 1024 * 1024;

/// Where the daemon's standard error goes under launchd. The daemon keeps it short by itself, since launchd never does.
#[must_use]
pub fn error_file(home: &Path) -> PathBuf {
    home.join("Library/Logs/workagent.log")
}

/// The agent for a site, with this PATH.
///
/// # Errors
/// The program's path or a variable holds a character that XML cannot.
pub fn render(site: &Site, path: &str) -> Result<String, ServiceError> {
    let program = site.program.display().to_string();
    let mut variables = escaped(path)?;
    variables = format!("<string>{variables}</string>");
    for (name, value) in &site.kept {
        variables.push_str(&format!(
            "\n\t\t<key>{}</key>\n\t\t<string>{}</string>",
            escaped(name)?,
            escaped(value)?
        ));
    }
    let log = escaped(&error_file(&site.home).display().to_string())?;
    Ok(PACKAGED
        .replace(PROGRAM, &format!("<string>{}</string>", escaped(&program)?))
        .replace(PATH_VALUE, &variables)
        .replace(ERROR_PATH, &format!("<key>StandardErrorPath</key>\n\t<string>{log}</string>")))
}

fn escaped(text: &str) -> Result<String, ServiceError> {
    if text.chars().any(char::is_control) {
        let text = crate::model::text::visible(text);
        return Err(ServiceError::new(format!("{text}: a property list cannot hold control characters")));
    }
    Ok(quick_xml::escape::escape(text).into_owned())
}

/// A value of a property list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `<string>`.
    Text(String),
    /// `<true/>`, `<false/>`.
    Flag(bool),
    /// `<integer>`.
    Number(i64),
    /// `<array>`.
    List(Vec<Self>),
    /// `<dict>`, in the order of the file.
    Dict(Vec<(String, Self)>),
    /// `<date>`, `<data>`, `<real>`: nothing that launchd has a key for.
    Other,
}

impl Value {
    /// A member of a dictionary.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Dict(members) = self else { return None };
        members.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// A text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The members of a dictionary.
    #[must_use]
    pub fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Dict(members) => members,
            _ => &[],
        }
    }

    /// The first text of a list.
    #[must_use]
    pub fn first(&self) -> Option<&str> {
        match self {
            Self::List(all) => all.first()?.text(),
            _ => None,
        }
    }
}

/// The program that an agent starts.
#[must_use]
pub fn program(agent: &Value) -> Option<&str> {
    agent.get("Program").and_then(Value::text).or_else(|| agent.get("ProgramArguments")?.first())
}

/// Reads a property list. An ampersand that stands alone is taken for itself, so that the rest can be judged too;
/// [`lone_ampersand`] tells of it.
///
/// # Errors
/// It is none.
pub fn read(text: &str) -> Result<Value, String> {
    if text.len() > BYTES_MAX {
        return Err("it is longer than a property list of a service".to_owned());
    }
    let mut reader = Reader::from_str(text);
    reader.config_mut().allow_dangling_amp = true;
    let mut open: Vec<Open> = Vec::new();
    loop {
        let event = reader.read_event().map_err(|error| format!("it is not XML: {error}"))?;
        let closed = match &event {
            Event::Start(start) => {
                if open.len() >= DEPTH_MAX {
                    return Err("it is nested too deep".to_owned());
                }
                open.push(Open::new(start.local_name().as_ref()));
                continue;
            }
            Event::Empty(start) => Open::new(start.local_name().as_ref()),
            Event::End(_) => open.pop().ok_or("an element is closed that was not open")?,
            Event::Text(piece) => {
                if let Some(open) = open.last_mut() {
                    open.text.push_str(piece);
                }
                continue;
            }
            Event::CData(piece) => {
                if let Some(open) = open.last_mut() {
                    open.text.push_str(piece);
                }
                continue;
            }
            Event::GeneralRef(reference) => {
                if let Some(open) = open.last_mut() {
                    match reference.resolve_char_ref() {
                        Ok(Some(c)) => open.text.push(c),
                        _ => open.text.push_str(resolve_predefined_entity(reference).unwrap_or_default()),
                    }
                }
                continue;
            }
            Event::Eof => return Err("it ends before it is complete".to_owned()),
            _ => continue,
        };
        if closed.name == "plist" {
            return closed.values.into_iter().next().ok_or_else(|| "it is empty".to_owned());
        }
        let Some(parent) = open.last_mut() else { return Err("the root is not <plist>".to_owned()) };
        parent.take(closed)?;
    }
}

/// An element whose end has not come yet.
struct Open {
    name: String,
    text: String,
    key: Option<String>,
    keys: Vec<String>,
    values: Vec<Value>,
}

impl Open {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), text: String::new(), key: None, keys: Vec::new(), values: Vec::new() }
    }

    /// A child has come to its end.
    fn take(&mut self, child: Self) -> Result<(), String> {
        if child.name == "key" {
            if self.name != "dict" || self.key.is_some() {
                return Err(format!("the key {} stands where none can", child.text));
            }
            self.key = Some(child.text);
            return Ok(());
        }
        if self.name == "dict" {
            let key = self.key.take().ok_or_else(|| format!("<{}> has no key", child.name))?;
            self.keys.push(key);
        }
        self.values.push(child.value()?);
        Ok(())
    }

    fn value(self) -> Result<Value, String> {
        Ok(match self.name.as_str() {
            "string" => Value::Text(self.text),
            "true" => Value::Flag(true),
            "false" => Value::Flag(false),
            "integer" => {
                Value::Number(self.text.trim().parse().map_err(|_| format!("{} is no integer", self.text))?)
            }
            "array" => Value::List(self.values),
            "dict" => match self.key {
                Some(key) => return Err(format!("the key {key} has no value")),
                None => Value::Dict(self.keys.into_iter().zip(self.values).collect()),
            },
            "date" | "data" | "real" => Value::Other,
            other => return Err(format!("<{other}> is no element of a property list")),
        })
    }
}

/// The line of an ampersand that begins no entity: launchd refuses the whole file for it.
#[must_use]
pub fn lone_ampersand(text: &str) -> Option<usize> {
    text.lines().position(|line| {
        line.match_indices('&').any(|(at, _)| {
            let rest = line.get(at + 1..).unwrap_or_default();
            let name = rest.split(';').next().filter(|_| rest.contains(';')).unwrap_or_default();
            !(["amp", "lt", "gt", "quot", "apos"].contains(&name) || name.starts_with('#'))
        })
    })
}

/// The label of our agent, as the file has to say it.
#[must_use]
pub fn has_our_label(agent: &Value) -> bool {
    agent.get("Label").and_then(Value::text) == Some(LABEL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::service::Supervisor;

    fn site(program: &str) -> Site {
        Site {
            supervisor: Supervisor::Launchd,
            program: program.into(),
            home: PathBuf::from("/Users/an na"),
            config_home: PathBuf::from("/Users/an na/.config"),
            user: "anna".to_owned(),
            uid: 501,
            kept: vec![("XDG_STATE_HOME".to_owned(), "/Users/an na/R & D".to_owned())],
        }
    }

    #[test]
    fn an_agent_for_a_home_with_a_space_and_an_ampersand() {
        for place in [PROGRAM, PATH_VALUE, ERROR_PATH] {
            assert!(PACKAGED.contains(place), "{place}");
        }
        let text = render(&site("/Users/an na/R & D/workagent"), "/Users/an na/bin:/bin").unwrap();
        assert_eq!(lone_ampersand(&text), None);
        let agent = read(&text).unwrap();
        assert!(has_our_label(&agent));
        assert_eq!(program(&agent), Some("/Users/an na/R & D/workagent"));
        let variables = agent.get("EnvironmentVariables").unwrap();
        assert_eq!(variables.get("PATH").unwrap().text(), Some("/Users/an na/bin:/bin"));
        assert_eq!(variables.get("XDG_STATE_HOME").unwrap().text(), Some("/Users/an na/R & D"));
        assert_eq!(variables.get(SUPERVISOR_VARIABLE).unwrap().text(), Some("launchd"));
        assert_eq!(agent.get("KeepAlive").unwrap().get("SuccessfulExit"), Some(&Value::Flag(false)));
        assert_eq!(agent.get("ThrottleInterval"), Some(&Value::Number(30)));
        assert_eq!(agent.get("ProcessType"), None);
        assert_eq!(
            agent.get("StandardErrorPath").unwrap().text(),
            Some("/Users/an na/Library/Logs/workagent.log")
        );
    }

    #[test]
    fn what_is_no_property_list_is_told() {
        let check = |inner: &str, expected: &str| {
            let error = read(&format!("<plist version=\"1.0\">{inner}</plist>")).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check("<dict><key>A</key></dict>", "the key A has no value");
        check("<dict><string>A</string></dict>", "<string> has no key");
        check("<dict><key>A</key><key>B</key></dict>", "the key B stands where none can");
        check("<integer>x</integer>", "x is no integer");
        check("<dict>", "not XML");
        check("", "empty");
        assert!(read("<dict/>").unwrap_err().contains("root"));
        assert!(read("").unwrap_err().contains("ends"));
    }
}
