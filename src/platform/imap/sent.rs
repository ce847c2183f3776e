//! The copy of a sent mail, and what it proves.
//!
//! A mail found is a mail sent. A mail not found was not sent only where the server itself stores a copy of whatever
//! it takes for delivery: our own copy is put there after the server's "250" was recorded, so a crash before that leaves
//! a mail that was sent and is not there. Then only the user can tell.

use super::name::WireName;
use super::session::{Session, Special};
use super::spec::{Account, SentCopy, SentMailbox};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits::SENT_COPY_DELAY;
use crate::model::outbound::{Confirmation, OutboundAction, Payload, Receipt};
use crate::model::time::Timestamp;
use crate::platform::mail::compose::ACTION_HEADER;

/// It is for us to see to copies.
#[must_use]
pub fn keeps_copies(account: &Account) -> bool {
    !matches!(account.sent_copy, SentCopy::Server | SentCopy::None) && account.sent != SentMailbox::None
}

/// Puts a copy of a sent mail among sent mail, unless the server did.
///
/// # Errors
/// As the session's commands; `Config` where the server marks no mailbox for it.
pub async fn keep_copy(
    session: &mut Session,
    account: &Account,
    action: &OutboundAction,
    payload: &Payload,
) -> Result<(), PortError> {
    if account.sent_copy == SentCopy::Auto && stores_by_itself(session, account) {
        return Ok(());
    }
    let Some(sent) = sent_mailbox(account, session.special().await?) else {
        let why = "the server marks no mailbox for it; name one with `sent`, or say sent = \"\"";
        return Err(PortError::caused(ErrorClass::Config, "put a copy among sent mail", why));
    };
    session.examine(&sent).await?;
    if session.holds(&payload.marker, ACTION_HEADER, &action.key).await? {
        return Ok(());
    }
    session.append(&sent, &payload.bytes).await
}

/// Looks for a mail of which it is not known whether it was sent.
///
/// # Errors
/// As the session's commands; the question stays open then.
pub async fn confirm(
    session: &mut Session,
    account: &Account,
    action: &OutboundAction,
    payload: &Payload,
    (since, now): (Timestamp, Timestamp),
) -> Result<Confirmation, PortError> {
    let special = session.special().await?;
    let certain = match account.sent_copy {
        SentCopy::Server => true,
        SentCopy::Auto => stores_by_itself(session, account),
        SentCopy::Append | SentCopy::None => false,
    };
    let sent = sent_mailbox(account, special.clone());
    let to_ourselves =
        action.envelope.to.iter().chain(&action.envelope.cc).any(|to| account.own.contains(to));
    let inbox = to_ourselves.then(|| WireName::from_person(&account.mailbox));
    let searched_sent = sent.is_some();
    for mailbox in [sent, special.all, inbox].into_iter().flatten() {
        session.examine(&mailbox).await?;
        if session.holds(&payload.marker, ACTION_HEADER, &action.key).await? {
            let evidence = format!("found in {}", mailbox.as_str());
            return Ok(Confirmation::Sent(Receipt { remote_id: payload.marker.clone(), evidence }));
        }
    }
    Ok(if now.since(since) < SENT_COPY_DELAY {
        Confirmation::AskAgain
    } else if certain && searched_sent {
        Confirmation::NotSent
    } else {
        Confirmation::CannotTell
    })
}

fn sent_mailbox(account: &Account, special: Special) -> Option<WireName> {
    match &account.sent {
        SentMailbox::Marked => special.sent,
        SentMailbox::Named(name) => Some(WireName::from_person(name)),
        SentMailbox::None => None,
    }
}

/// Providers of which it is known that they store a copy of whatever is submitted to them.
fn stores_by_itself(session: &Session, account: &Account) -> bool {
    let submission =
        account.smtp.as_ref().map_or("", |(endpoint, _)| endpoint.host.as_str()).to_ascii_lowercase();
    let at = |host: &str| submission == host || submission.ends_with(&format!(".{host}"));
    (session.wire.can("X-GM-EXT-1") && (at("gmail.com") || at("googlemail.com")))
        || at("office365.com")
        || at("outlook.com")
}
