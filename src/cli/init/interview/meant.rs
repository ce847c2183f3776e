//! Which connectors the words of the first question mean.

use crate::cli::init::draft::{Connect, Draft};
use crate::cli::init::guides::{self, GUIDES};
use crate::cli::init::here::Here;
use crate::cli::look::line;
use crate::unit::is_unit_name;
use crate::unit::plan::{Kind, UnitName};

/// The word for a connector that was named before.
#[must_use]
pub fn said(connect: &Connect) -> &str {
    if connect.exists { &connect.name } else { connect.guide.what }
}

/// The connectors that words mean. What was said of one before stays.
///
/// # Errors
/// A word is none of them; the text lists them.
pub fn meant(draft: &Draft, here: &Here, typed: &str) -> Result<Vec<Connect>, String> {
    let mut connects: Vec<Connect> = Vec::new();
    let mut before = draft.connect.clone();
    let known = here.own_connectors();
    for word in typed.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
        if word == "none" {
            continue;
        }
        if let Some(index) = before.iter().position(|connect| said(connect) == word) {
            connects.push(before.remove(index));
            continue;
        }
        let bare = word.trim_end_matches(".toml").trim_end_matches(".connector");
        // `github` is the one that is called so, `github+` one more.
        let (word, one_more) = word.strip_suffix('+').map_or((word, false), |word| (word, true));
        if !one_more && known.iter().any(|name| name == bare) {
            connects.push(existing(here, bare)?);
            continue;
        }
        let Some(guide) = guides::by_word(word) else {
            let words: Vec<&str> = GUIDES.iter().map(|guide| guide.what).collect();
            return Err(format!("`{}` is none of {}", line(word, 40), words.join(", ")));
        };
        let taken = |name: &str| {
            known.iter().any(|held| held == name) || connects.iter().any(|other| other.name == name)
        };
        let numbered = (2..).map(|number| format!("{}-{number}", guide.unit));
        let free = std::iter::once(guide.unit.to_owned()).chain(numbered.take(100)).find(|name| !taken(name));
        let name = free.unwrap_or_else(|| guide.unit.to_owned());
        connects.push(Connect::new(guide, &name));
    }
    Ok(connects)
}

/// A connector that is there, with what its unit says.
///
/// # Errors
/// Its platform is not set up by questions.
pub fn existing(here: &Here, name: &str) -> Result<Connect, String> {
    if !is_unit_name(name) {
        return Err("that is no name of a unit".to_owned());
    }
    let unit = UnitName { name: name.to_owned(), kind: Kind::Connector };
    let settings = |table: &str| here.set.compiled.origins.settings(&unit, table).unwrap_or_default();
    let platform = settings("connector").text("platform").unwrap_or_default().to_owned();
    match guides::by_platform(&platform) {
        Some(guide) => Ok(Connect::existing(guide, name, &settings(&platform))),
        None => Err(format!("{unit} is changed by hand: workagent edit {unit}")),
    }
}
