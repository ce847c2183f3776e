//! What is done on a connection: log in, open mailboxes, fetch, search, append.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_imap::imap_proto::{AttributeValue, MailboxDatum, NameAttribute, Response, ResponseCode, Status};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::ClientConfig;

use super::name::{WireName, quoted};
use super::spec::{Account, Security};
use super::status::{self, Refusal};
use super::wire::{GoAhead, Wire};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits::{IMAP_ANSWER_BYTES_MAX, IMAP_HEADS_BYTES_MAX};
use crate::model::time::Timestamp;
use crate::secret::SecretValue;

/// A logged-in connection.
#[derive(Debug)]
pub struct Session {
    /// The connection.
    pub wire: Wire,
    /// `imap.example.org:993`, for errors.
    server: String,
}

/// What opening a mailbox tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mailbox {
    /// All UIDs are void when it changes.
    pub uid_validity: u32,
    /// The next UID to be given, where the server says.
    pub uid_next: Option<u32>,
    /// The number of mails.
    pub exists: u32,
    /// Grows with every change, where the server keeps it.
    pub highest_modseq: Option<u64>,
}

/// What is known of a mail before its bytes are fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// RFC822.SIZE.
    pub size_bytes: u32,
    /// INTERNALDATE: when the server got it.
    pub received_at: Option<Timestamp>,
    /// Flags and keywords, as the server writes them.
    pub flags: Vec<String>,
}

impl Session {
    /// Connects and logs in.
    ///
    /// # Errors
    /// `Network`, `Auth`, `Config`, as [`status`] tells them apart.
    pub async fn open(
        account: &Account,
        tls: Arc<ClientConfig>,
        secret: &SecretValue,
    ) -> Result<Self, PortError> {
        let mut wire = Wire::open(&account.imap, tls, account.timeout).await?;
        let doing = format!("log in to {} as {}", account.imap, account.login.user);
        let (user, secret) = (account.login.user.as_str(), secret.expose_to_the_wire());
        if account.login.oauth {
            let answer = format!("user={user}\u{1}auth=Bearer {secret}\u{1}\u{1}");
            authenticate(&mut wire, &doing, "XOAUTH2", &answer).await?;
        } else if wire.can("AUTH=PLAIN") {
            authenticate(&mut wire, &doing, "PLAIN", &format!("\0{user}\0{secret}")).await?;
        } else if wire.can("LOGINDISABLED") {
            let why = match account.imap.security {
                Security::None => "the server takes no password without TLS",
                _ => "the server takes no password",
            };
            return Err(PortError::caused(ErrorClass::Config, doing, why));
        } else {
            let command = format!("LOGIN {} {}", quoted(user), quoted(secret));
            let tag = wire.begin(&doing, &command, IMAP_ANSWER_BYTES_MAX).await?;
            end_of_login(&doing, wire.finish(&doing, &tag, |_| ()).await?)?;
        }
        wire.read_capabilities().await?;
        let mut session = Self { wire, server: account.imap.to_string() };
        if session.wire.can("ID") {
            // Some servers serve nobody who has not said who they are; the answer tells nothing.
            session.wire.command("introduce ourselves", "ID (\"name\" \"workagent\")", |_| ()).await?;
        }
        Ok(session)
    }

    /// Opens a mailbox for reading only.
    ///
    /// # Errors
    /// `Config` where it does not exist; `Network`.
    pub async fn examine(&mut self, name: &WireName) -> Result<Mailbox, PortError> {
        let doing = format!("open mailbox {} on {}", name.as_str(), self.server);
        let option = if self.wire.can("CONDSTORE") { " (CONDSTORE)" } else { "" };
        let command = format!("EXAMINE {}{option}", name.quoted());
        let mut mailbox = Mailbox::default();
        let tag = self.wire.begin(&doing, &command, IMAP_ANSWER_BYTES_MAX).await?;
        let refusal = self
            .wire
            .finish(&doing, &tag, |response| match response {
                Response::MailboxData(MailboxDatum::Exists(count)) => mailbox.exists = *count,
                Response::Data { status: Status::Ok, outcome } => match &outcome.code {
                    Some(ResponseCode::UidValidity(value)) => mailbox.uid_validity = *value,
                    Some(ResponseCode::UidNext(value)) => mailbox.uid_next = Some(*value),
                    Some(ResponseCode::HighestModSeq(value)) => mailbox.highest_modseq = Some(*value),
                    _ => {}
                },
                _ => {}
            })
            .await?;
        if let Some(refusal) = refusal {
            let error = status::refused(&doing, &refusal);
            // A plain NO to this command means: there is no such mailbox for you.
            let class = if refusal.code.is_empty() { ErrorClass::Config } else { error.class };
            return Err(PortError { class, ..error });
        }
        if mailbox.uid_validity == 0 {
            return Err(PortError::caused(
                ErrorClass::Config,
                doing,
                "the mailbox has no lasting message numbers",
            ));
        }
        Ok(mailbox)
    }

    /// Flags, dates and sizes of the mails with UIDs from `first` on (up to `last`, where given), at most `count_max`
    /// of them, the lowest; `plain`: sizes only. The server may say more than was asked; only what lies in the range is
    /// kept.
    ///
    /// # Errors
    /// `Network`.
    pub async fn heads(
        &mut self,
        first: u32,
        last: Option<u32>,
        count_max: usize,
        plain: bool,
    ) -> Result<Heads, PortError> {
        let end = last.map_or_else(|| "*".to_owned(), |last| last.to_string());
        let wanted = if plain { "UID RFC822.SIZE" } else { "UID FLAGS INTERNALDATE RFC822.SIZE" };
        let command = format!("UID FETCH {first}:{end} ({wanted})");
        let doing = format!("list new mail on {}", self.server);
        let mut found = BTreeMap::new();
        let mut left_out = false;
        self.wire
            .long_command(&doing, &command, IMAP_HEADS_BYTES_MAX, |response| {
                let Response::Fetch(_, attributes) = response else { return };
                let Some((uid, head)) = read_head(attributes) else { return };
                // `n:*` gives the last mail even when its UID is below n.
                if uid < first || last.is_some_and(|last| uid > last) {
                    return;
                }
                found.insert(uid, head);
                if found.len() > count_max {
                    found.pop_last();
                    left_out = true;
                }
            })
            .await?;
        Ok(Heads { found, left_out })
    }

    /// The bytes of some mails, whole or at most the first `part` bytes, given to `on` one by one; `\Seen` stays as it
    /// is. Mails that are gone by now do not come.
    ///
    /// # Errors
    /// `Network`.
    pub async fn bodies(
        &mut self,
        uids: &[u32],
        part: Option<u32>,
        bytes_max: u64,
        mut on: impl FnMut(u32, &[u8]),
    ) -> Result<(), PortError> {
        let set = uids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let window = part.map(|bytes| format!("<0.{bytes}>")).unwrap_or_default();
        let command = format!("UID FETCH {set} (UID BODY.PEEK[]{window})");
        let doing = format!("fetch mail from {}", self.server);
        self.wire
            .long_command(&doing, &command, bytes_max, |response| {
                let Response::Fetch(_, attributes) = response else { return };
                let uid = attributes.iter().find_map(|attribute| match attribute {
                    AttributeValue::Uid(uid) => Some(*uid),
                    _ => None,
                });
                let body = attributes.iter().find_map(|attribute| match attribute {
                    AttributeValue::BodySection { section: None, data, .. } => Some(data.as_deref()),
                    _ => None,
                });
                // Changed flags of other mails come as FETCH answers too, without a body.
                if let (Some(uid), Some(body)) = (uid, body)
                    && uids.contains(&uid)
                {
                    on(uid, body.unwrap_or_default());
                }
            })
            .await
    }

    /// Does the open mailbox hold a mail with this Message-ID or this value of another header?
    ///
    /// # Errors
    /// `Network`.
    pub async fn holds(&mut self, message_id: &str, header: &str, value: &str) -> Result<bool, PortError> {
        let doing = format!("search on {}", self.server);
        let command = format!(
            "UID SEARCH OR HEADER Message-ID {} HEADER {header} {}",
            quoted(message_id),
            quoted(value)
        );
        let mut found = false;
        self.wire
            .command(&doing, &command, |response| {
                if let Response::MailboxData(MailboxDatum::Search(uids)) = response {
                    found |= !uids.is_empty();
                }
            })
            .await?;
        Ok(found)
    }

    /// The mailboxes of sent and of all mail, as the server marks them (RFC 6154); where it marks none, the usual
    /// names stand for sent mail.
    ///
    /// # Errors
    /// `Network`.
    pub async fn special(&mut self) -> Result<Special, PortError> {
        let doing = format!("list mailboxes on {}", self.server);
        let marks = if self.wire.can("LIST-EXTENDED") && self.wire.can("SPECIAL-USE") {
            " RETURN (SPECIAL-USE)"
        } else {
            ""
        };
        let mut special = Special::default();
        let mut usual = None;
        self.wire
            .command(&doing, &format!("LIST \"\" \"*\"{marks}"), |response| {
                let Response::MailboxData(MailboxDatum::List(entry)) = response else { return };
                let name = || WireName::from_wire(&entry.name);
                let marked = |mark: &NameAttribute<'_>| entry.name_attributes.contains(mark);
                if marked(&NameAttribute::Sent) {
                    special.sent.get_or_insert_with(name);
                } else if marked(&NameAttribute::All) {
                    special.all.get_or_insert_with(name);
                } else if is_usual_sent_name(&entry.name, entry.delimiter.as_deref()) {
                    usual.get_or_insert_with(name);
                }
            })
            .await?;
        special.sent = special.sent.or(usual);
        Ok(special)
    }

    /// The highest UID in the open mailbox, for servers that do not tell the next one; 0 in an empty mailbox.
    ///
    /// # Errors
    /// `Network`.
    pub async fn last_uid(&mut self) -> Result<u32, PortError> {
        let doing = format!("list new mail on {}", self.server);
        let mut last = 0;
        self.wire
            .command(&doing, "UID FETCH * (UID)", |response| {
                if let Response::Fetch(_, attributes) = response
                    && let Some((uid, _)) = read_head(attributes)
                {
                    last = last.max(uid);
                }
            })
            .await?;
        Ok(last)
    }

    /// Puts a mail into a mailbox, marked as read.
    ///
    /// # Errors
    /// `Config` where the mailbox does not exist or is full; `Network`.
    pub async fn append(&mut self, name: &WireName, mail: &[u8]) -> Result<(), PortError> {
        let doing = format!("store a copy in {} on {}", name.as_str(), self.server);
        let command = format!("APPEND {} (\\Seen) {{{}}}", name.quoted(), mail.len());
        let tag = self.wire.begin(&doing, &command, IMAP_ANSWER_BYTES_MAX).await?;
        let refusal = match self.wire.wait_for_go_ahead(&doing, &tag).await? {
            GoAhead::Yes => {
                self.wire.send(&doing, mail).await?;
                self.wire.send(&doing, b"\r\n").await?;
                self.wire.finish(&doing, &tag, |_| ()).await?
            }
            GoAhead::Ended(refusal) => {
                Some(refusal.unwrap_or_else(|| Refusal::new(true, "", "the mail was not wanted")))
            }
        };
        refusal.map_or(Ok(()), |refusal| Err(status::refused(&doing, &refusal)))
    }
}

/// Mailboxes with a use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Special {
    /// Sent mail.
    pub sent: Option<WireName>,
    /// All mail.
    pub all: Option<WireName>,
}

/// What [`Session::heads`] found.
#[derive(Debug, Default)]
pub struct Heads {
    /// By UID.
    pub found: BTreeMap<u32, Head>,
    /// There were more.
    pub left_out: bool,
}

/// One SASL exchange. The first challenge gets `answer`; a second one is the server's complaint and gets an empty line,
/// so that the real answer comes.
async fn authenticate(wire: &mut Wire, doing: &str, mechanism: &str, answer: &str) -> Result<(), PortError> {
    let tag = wire.begin(doing, &format!("AUTHENTICATE {mechanism}"), IMAP_ANSWER_BYTES_MAX).await?;
    let first = format!("{}\r\n", STANDARD.encode(answer));
    for line in [first.as_str(), "\r\n", "\r\n"] {
        match wire.wait_for_go_ahead(doing, &tag).await? {
            GoAhead::Yes => wire.send(doing, line.as_bytes()).await?,
            GoAhead::Ended(refusal) => return end_of_login(doing, refusal),
        }
    }
    end_of_login(doing, wire.finish(doing, &tag, |_| ()).await?)
}

fn end_of_login(doing: &str, refusal: Option<Refusal>) -> Result<(), PortError> {
    refusal.map_or(Ok(()), |refusal| Err(status::login_refused(doing, &refusal)))
}

fn is_usual_sent_name(name: &str, delimiter: Option<&str>) -> bool {
    let last = delimiter.and_then(|delimiter| name.rsplit(delimiter).next()).unwrap_or(name);
    ["Sent", "Sent Items", "Sent Messages", "Sent Mail"].iter().any(|usual| usual.eq_ignore_ascii_case(last))
}

fn read_head(attributes: &[AttributeValue<'_>]) -> Option<(u32, Head)> {
    let mut uid = None;
    let mut head = Head::default();
    for attribute in attributes {
        match attribute {
            AttributeValue::Uid(value) => uid = Some(*value),
            AttributeValue::Rfc822Size(bytes) => head.size_bytes = *bytes,
            AttributeValue::InternalDate(text) => head.received_at = read_date(text),
            AttributeValue::Flags(flags) => {
                head.flags =
                    flags.iter().filter(|flag| *flag != "\\Recent").map(|flag| flag.to_string()).collect();
            }
            _ => {}
        }
    }
    uid.map(|uid| (uid, head))
}

/// `17-Jul-1996 02:44:25 -0700`, the day perhaps behind a blank.
fn read_date(text: &str) -> Option<Timestamp> {
    let zoned = jiff::fmt::strtime::parse("%d-%b-%Y %H:%M:%S %z", text.trim()).ok()?;
    Some(Timestamp(zoned.to_timestamp().ok()?.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_servers_dates() {
        let read = |text| read_date(text).map(|at| at.to_string());
        assert_eq!(read("17-Jul-1996 02:44:25 -0700").as_deref(), Some("1996-07-17T09:44:25Z"));
        assert_eq!(read(" 7-Jul-1996 02:44:25 +0000").as_deref(), Some("1996-07-07T02:44:25Z"));
        assert_eq!(read("yesterday"), None);
    }
}
