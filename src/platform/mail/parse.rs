//! The mail parser's result, asked in the words of this room.
//!
//! Where a header stands twice, the parser takes the last and most programs show the first: here it is the first, and
//! [`Mail::count`] lets the map say so.

use mail_parser::{Address, DateTime, Header, HeaderValue, Message};

use crate::model::item::Party;
use crate::model::limits;
use crate::model::text::{cut, one_line};
use crate::model::time::Timestamp;

/// A name or another header text that a person reads.
const HEADER_TEXT_BYTES_MAX: usize = 998;

/// A Message-ID longer than this could not stand on one line of an answer.
const MESSAGE_ID_BYTES_MAX: usize = 900;

/// A parsed mail.
pub(super) struct Mail<'a> {
    /// As it was given, not defused.
    pub raw: &'a [u8],
    /// As parsed.
    pub message: Message<'a>,
}

impl<'a> Mail<'a> {
    /// The fields of the mail's own header, in order.
    pub fn headers(&self) -> &[Header<'a>] {
        self.message.parts.first().map_or(&[], |part| part.headers.as_slice())
    }

    /// The bytes behind the header.
    pub fn body_bytes(&self) -> &'a [u8] {
        let at = self.message.parts.first().map_or(0, |part| part.offset_body as usize);
        self.raw.get(at..).unwrap_or_default()
    }

    /// How often a field stands there.
    pub fn count(&self, name: &str) -> usize {
        self.all(name).count()
    }

    /// The first field of that name as one line, not decoded; `None` if there is none.
    pub fn raw_line(&self, name: &str) -> Option<String> {
        let header = self.all(name).next()?;
        Some(one_line(&String::from_utf8_lossy(self.raw_value(header)), HEADER_TEXT_BYTES_MAX))
    }

    /// The bytes of a field's value.
    pub fn raw_value(&self, header: &Header<'_>) -> &'a [u8] {
        self.raw.get(header.offset_start as usize..header.offset_end as usize).unwrap_or_default()
    }

    /// The first subject, decoded, not yet cleaned.
    pub fn subject(&self) -> &str {
        self.all("subject").find_map(|header| header.value.as_text()).unwrap_or("")
    }

    /// The mailboxes of the first field of that name, usable or not. Bounded.
    pub fn mailboxes(&self, name: &str) -> Vec<Party> {
        let Some(HeaderValue::Address(address)) = self.all(name).next().map(|header| &header.value) else {
            return Vec::new();
        };
        addresses(address)
    }

    /// The ids of the first field of that name without brackets, in order. Bounded by what a header can hold.
    pub fn ids(&self, name: &str) -> Vec<&str> {
        match self.all(name).next().map(|header| &header.value) {
            Some(HeaderValue::Text(id)) => vec![without_brackets(id)],
            Some(HeaderValue::TextList(ids)) => ids.iter().map(|id| without_brackets(id)).collect(),
            _ => Vec::new(),
        }
    }

    /// The mail's own id without brackets.
    pub fn message_id(&self) -> Option<&str> {
        self.ids("message-id").first().copied().filter(|id| !id.trim().is_empty())
    }

    /// The sender's claim of when, if it is a date at all.
    pub fn date(&self) -> Option<Timestamp> {
        let date = self.all("date").find_map(|header| header.value.as_datetime())?;
        is_real(date).then(|| Timestamp::from_seconds(date.to_timestamp()))
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &Header<'a>> {
        self.headers().iter().filter(move |header| header.name.as_str().eq_ignore_ascii_case(name))
    }
}

/// The parser leaves the brackets on in fields whose meaning it does not know.
fn without_brackets(id: &str) -> &str {
    id.trim_start_matches('<').trim_end_matches('>')
}

/// An id with its brackets, if it can stand in a header as it is; the sender may have put anything there.
pub(super) fn bracketed(id: &str) -> Option<String> {
    let fits = !id.is_empty() && id.len() <= MESSAGE_ID_BYTES_MAX;
    let harmless = id.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>'));
    (fits && harmless).then(|| format!("<{id}>"))
}

fn addresses(address: &Address<'_>) -> Vec<Party> {
    address
        .iter()
        .take(limits::ITEM_LIST_LEN_MAX)
        .map(|one| {
            let (name, _) = crate::platform::hygiene::hidden_in_text(one.name.as_deref().unwrap_or(""));
            Party {
                name: one_line(&name, HEADER_TEXT_BYTES_MAX),
                address: cut(one.address.as_deref().unwrap_or("").trim(), HEADER_TEXT_BYTES_MAX).to_owned(),
            }
        })
        .collect()
}

/// The parser lets 31 February pass.
fn is_real(date: &DateTime) -> bool {
    let day_exists = || {
        let back = DateTime::from_timestamp(date.to_timestamp_local());
        (back.month, back.day) == (date.month, date.day)
    };
    date.is_valid() && day_exists()
}
