//! `workagent secret login`: a person logs in at a platform with their own client; the token goes into the store, with
//! what renews it, and is shown to nobody.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::bundle::login::{LoggedIn, Login, Shown};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::line;
use crate::cli::units::{UnitSet, names};
use crate::daemon::exit;
use crate::model::class::chain;
use crate::model::secret_ref::SecretRef;
use crate::model::time::short_span;
use crate::secret::secrets::Secrets;
use crate::unit::plan::{Kind, UnitName};
use crate::unit::value::{Settings, Value};

/// Runs the command.
pub(super) async fn command(
    given: &str,
    secrets: &Secrets,
    context: &mut Context<'_>,
) -> Result<u8, CliError> {
    let set = UnitSet::read(context);
    let full = if given.contains(".connector") { given.to_owned() } else { format!("{given}.connector") };
    let unit = names::find(&set, &full)?;
    if unit.kind != Kind::Connector {
        return Err(CliError::usage(format!("{unit} is no connector")));
    }
    let table = |name: &str| set.compiled.origins.settings(&unit, name).unwrap_or_default();
    let platform = table("connector").text("platform").unwrap_or_default().to_owned();
    let name = stored_under(&table(&platform), &unit)?;
    let login = Login::of(&platform, &table(&platform), &table("oauth")).map_err(|error| {
        let hint = format!(
            "register a client of your own at {platform}, and name it in {unit}: [oauth] client_id = …"
        );
        CliError::new(exit::CONFIG, chain(&error)).hint(hint)
    })?;
    let scrubber = context.scrubber.clone();
    let show = |shown: Shown| {
        let _ = crate::cli::masked::stderr(&scrubber).write_all(text(&shown).as_bytes());
    };
    let came = login.run(secrets, &context.clock, &show).await;
    let LoggedIn { token, grant } = came.map_err(|error| CliError::doing("log in", &error))?;
    let (expires_at, renewed) = (grant.expires_at, grant.refresh.is_some());
    let now = context.clock.now();
    let outcome = secrets.put(&name, token, Some(grant), None).await.map_err(super::set_error)?;
    super::stored(&name, secrets, outcome.as_ref(), context)?;
    match (expires_at, renewed) {
        (Some(_), true) => writeln!(context.out, "it is renewed by itself")?,
        (Some(at), false) => {
            let span = short_span(at.since(now));
            writeln!(context.out, "note: it ends in {span} and nothing renews it; then log in again")?;
        }
        (None, _) => {}
    }
    Ok(exit::OK)
}

/// The name under which the connector looks for its token.
fn stored_under(own: &Settings, unit: &UnitName) -> Result<String, CliError> {
    let secrets: Vec<&Value> = own.0.values().filter(|value| matches!(value, Value::Secret(_))).collect();
    let only = if let [Value::Secret(one)] = secrets.as_slice() { Some(one) } else { None };
    match own.secret("token").or(only) {
        Some(SecretRef::Stored(name)) => Ok(name.clone()),
        Some(SecretRef::Env(name)) => {
            let error = CliError::usage(format!(
                "{unit} takes its token from the variable {name}, not from the store"
            ));
            Err(error.hint("write token = { secret = \"NAME\" } in it"))
        }
        None => {
            let error = CliError::usage(format!("{unit} names no secret to store the token under"));
            Err(error.hint("write token = { secret = \"NAME\" } in it"))
        }
    }
}

/// For the person, on standard error: what to do now.
pub(in crate::cli) fn text(shown: &Shown) -> String {
    match shown {
        Shown::Code { code, url, url_complete, good_for } => {
            let mut text = format!("open    {}\nenter   {}\n", line(url, 300), line(code, 60));
            if let Some(whole) = url_complete {
                let _ = writeln!(text, "or open {}", line(whole, 400));
            }
            let _ = writeln!(text, "waiting for you there, at most {} …", short_span(*good_for));
            text
        }
        Shown::Page { url, port } => format!(
            "open this address in a browser on this machine:\n\n{}\n\n\
             (from another machine: ssh -L {port}:127.0.0.1:{port} to this one first)\n\
             waiting for the browser to come back …\n",
            line(url, 4000)
        ),
    }
}
