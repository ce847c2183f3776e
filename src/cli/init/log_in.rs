//! Logging in by OAuth during the talk: the token is tried with the others and stored with them.

use std::io::Write as _;

use super::draft::{Connect, Draft};
use super::here::Here;
use super::plan::plan;
use super::talk::{Answer, Question, Talk};
use crate::bundle::login::{LoggedIn, Login, Shown};
use crate::cli::error::CliError;
use crate::cli::secret::login_text;
use crate::model::class::chain;
use crate::unit::plan::{Kind, UnitName};

/// Where a person logs in with a client of their own: platform, and where that client is registered.
/// The others want a secret of the client besides, for `workagent secret login`.
const KNOWN: [(&str, &str); 2] = [
    ("github", "github.com, Settings, Developer settings, OAuth apps; with the device flow switched on"),
    ("gitlab", "Preferences, Applications; not confidential, scope api"),
];

/// The platform can be logged in to like that.
#[must_use]
pub fn is_known(platform: &str) -> bool {
    KNOWN.iter().any(|(known, _)| *known == platform)
}

/// Asks for the client, logs in, and keeps the token with what was typed.
///
/// # Errors
/// The terminal.
pub async fn by_client(
    talk: &mut Talk<'_>,
    here: &Here,
    connect: &mut Connect,
    key: &str,
) -> Result<Answer<()>, CliError> {
    let place =
        KNOWN.iter().find(|(known, _)| *known == connect.guide.platform).map_or("", |(_, place)| place);
    let help = format!("The id of a client that you registered yourself: {place}.");
    let usual = connect.client_id.clone();
    let question = Question::new("Client id of your app", usual.as_deref(), &help);
    match talk.ask(&question, &mut |typed| Ok(typed.to_owned()))? {
        Answer::Is(id) => connect.client_id = Some(id),
        Answer::Back => return Ok(Answer::Back),
        Answer::Leave => return Ok(Answer::Leave),
    }
    let name = connect.secret_name(key);
    connect.secrets.insert(key.to_owned(), name.clone());
    match granted(here, connect).await {
        Ok(LoggedIn { token, grant }) => here.typed.put(&name, token, Some(grant)),
        Err(why) => {
            connect.secrets.remove(key);
            talk.tell("    ", &format!("it does not work: {why}"))?;
            return Ok(Answer::Back);
        }
    }
    Ok(Answer::Is(()))
}

async fn granted(here: &Here, connect: &Connect) -> Result<LoggedIn, String> {
    let draft = Draft { connect: vec![connect.clone()], ..Draft::default() };
    let planned = plan(&draft, here).map_err(|error| error.message)?;
    let files: Vec<_> = planned.into_iter().map(|one| one.file).collect();
    let (compiled, _) = here.errors(&files);
    let unit = UnitName { name: connect.name.clone(), kind: Kind::Connector };
    let table = |name: &str| compiled.origins.settings(&unit, name).unwrap_or_default();
    let platform = connect.guide.platform;
    let login = Login::of(platform, &table(platform), &table("oauth")).map_err(|error| chain(&error))?;
    let show = |shown: Shown| {
        let _ = crate::cli::masked::stderr(here.secrets.scrubber()).write_all(login_text(&shown).as_bytes());
    };
    login.run(&*here.typed, &here.clock, &show).await.map_err(|error| here.masked(&chain(&error)))
}
