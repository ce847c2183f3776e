//! `workagent secret list`: what is stored or read, never a value.

use std::fmt::Write as _;

use crate::cli::backend::Backend;
use crate::cli::case::pretty;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::look::{Paint, ago, block, line, table};
use crate::control::wire::StatusView;
use crate::control::wire::secrets::{SecretView, StoreView};
use crate::daemon::exit;
use crate::model::time::{Timestamp, short_span};

/// Narrower screens get longer lines than they have room for.
const WIDTH: usize = 80;

/// Runs the command.
pub(super) async fn command(json: bool, context: &mut Context<'_>) -> Result<u8, CliError> {
    let backend = Backend::connect(context).await?;
    let secrets = backend.get::<Vec<SecretView>>("/v1/secrets").await;
    let status = backend.get::<StatusView>("/v1/status").await;
    backend.close().await;
    let (secrets, status) = (secrets?, status?);
    let text = if json {
        pretty(&secrets)
    } else {
        shown(&secrets, &status.secret_stores, context.clock.now(), Paint { colour: context.colour() })
    };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

/// For people.
fn shown(secrets: &[SecretView], stores: &[StoreView], now: Timestamp, paint: Paint) -> String {
    let mut out = String::new();
    let in_order = |store: &StoreView| matches!(store.state.as_str(), "ok" | "untried");
    if secrets.is_empty() && stores.iter().all(in_order) {
        out.push_str("no secret is stored, and no unit that is on reads one\n");
    }
    let rows: Vec<Vec<String>> = secrets.iter().map(|secret| row(secret, now)).collect();
    for (row, secret) in table(&rows).lines().zip(secrets) {
        out.push_str(row);
        out.push('\n');
        if !secret.units.is_empty() {
            let units = format!("read by {}", secret.units.join(", "));
            out.push_str(&block(&units, "    ", WIDTH, 4));
        }
    }
    let told = secrets.iter().filter_map(|secret| told(secret, now));
    for text in told {
        out.push_str(&block(&text, "! ", WIDTH, 4));
    }
    let of = |store: &StoreView| {
        let state = if store.state == "untried" { String::new() } else { format!(": {}", store.state) };
        format!("{} is {}{state}", store.backend, store.place)
    };
    out.push('\n');
    for store in stores {
        let _ = writeln!(out, "{}", paint.dim(line(&of(store), 200)));
        for text in store.why.iter().chain(&store.hint) {
            out.push_str(&block(text, "  ", WIDTH, 6));
        }
    }
    out
}

fn row(secret: &SecretView, now: Timestamp) -> Vec<String> {
    let state = match (secret.state.as_str(), secret.set_at) {
        ("ok", Some(at)) => format!("set {}", ago(at, now)),
        ("ok", None) => "there".to_owned(),
        ("unasked", _) => "asked for at use".to_owned(),
        (state, _) => state.to_owned(),
    };
    let version = secret.version.map(|version| format!("v{version}")).unwrap_or_default();
    let ends = match (secret.ends, secret.rotate_at) {
        (Some(ends), _) if ends <= now => "ended".to_owned(),
        (Some(ends), _) => format!("ends in {}", short_span(ends.since(now))),
        (None, Some(at)) if at <= now => "to be replaced".to_owned(),
        (None, Some(at)) => format!("replaced in {}", short_span(at.since(now))),
        (None, None) => String::new(),
    };
    vec![line(&secret.name, 60), secret.backend.clone(), version, state, ends]
}

/// What has to be done about it.
fn told(secret: &SecretView, now: Timestamp) -> Option<String> {
    let name = &secret.name;
    if secret.state == "missing" && !secret.units.is_empty() {
        return Some(format!("{name} is not stored: workagent secret set {name}"));
    }
    let due = secret.rotate_at.is_some_and(|at| at <= now);
    due.then(|| format!("{name} is to be replaced: workagent secret rotate {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(name: &str, backend: &str, state: &str) -> SecretView {
        SecretView {
            name: name.to_owned(),
            backend: backend.to_owned(),
            entry: None,
            state: state.to_owned(),
            why: None,
            version: None,
            set_at: None,
            ends: None,
            rotate_at: None,
            units: Vec::new(),
        }
    }

    #[test]
    fn each_secret_has_its_store_its_age_and_its_readers() {
        let now = Timestamp(1_000 * 86_400_000);
        let day = |days: i64| Some(Timestamp(now.0 + days * 86_400_000));
        let secrets = [
            SecretView {
                version: Some(3),
                set_at: day(-80),
                ends: day(10),
                rotate_at: day(-4),
                units: vec!["inbox.connector".into(), "claude.engine".into()],
                ..secret("mail/work", "keyring", "ok")
            },
            SecretView { units: vec!["feed.connector".into()], ..secret("feed", "file", "missing") },
            secret("ai/key", "command", "unasked"),
        ];
        let stores = [StoreView {
            backend: "keyring".into(),
            place: "the keyring (Secret Service)".into(),
            state: "needs-unlock".into(),
            since: None,
            why: Some("needs unlock: the keyring is locked".into()),
            hint: Some("unlock it".into()),
        }];
        insta::assert_snapshot!(shown(&secrets, &stores, now, Paint { colour: false }), @r"
        mail/work  keyring  v3  set 80d ago       ends in 10d
            read by inbox.connector, claude.engine
        feed       file         missing
            read by feed.connector
        ai/key     command      asked for at use
        ! mail/work is to be replaced: workagent secret rotate mail/work
        ! feed is not stored: workagent secret set feed

        keyring is the keyring (Secret Service): needs-unlock
          needs unlock: the keyring is locked
          unlock it
        ");
    }
}
