//! WebDAV requests of one account. Thin: one request each, but that redirects of questions are followed by hand within
//! the server.

use reqwest::Method;
use reqwest::header::{ETAG, HeaderName, IF_MATCH, IF_NONE_MATCH, LOCATION};
use url::Url;

use super::xml::{Multistatus, Node, escaped};
use crate::http::{HttpRequest, HttpResponse, header};
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::platform::api::ApiClient;

const XML: &str = "application/xml; charset=utf-8";
const SPACES: &str =
    "xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\" xmlns:S=\"http://calendarserver.org/ns/\"";

/// The answer to a question about what changed.
#[derive(Debug)]
pub enum Report {
    /// What changed.
    Changes(Multistatus),
    /// The server does not know the position.
    Unknown,
}

/// What a write came to, where it was not a plain error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is done.
    Done,
    /// It is another version, or there is one already.
    Precondition,
    /// An event with that UID stands elsewhere in the calendar.
    SameUid,
}

/// One account at a calendar server.
#[derive(Clone)]
pub struct Client {
    api: ApiClient,
}

impl Client {
    /// Over an account's HTTP.
    #[must_use]
    pub fn new(api: ApiClient) -> Self {
        Self { api }
    }

    /// Where the unit points to.
    #[must_use]
    pub fn base(&self) -> &Url {
        self.api.base()
    }

    /// A link that the server gave, if it stays with the server.
    ///
    /// # Errors
    /// `Config`: it leads elsewhere.
    pub fn pinned(&self, href: &str) -> Result<Url, PortError> {
        self.api.pinned(href)
    }

    async fn ask(&self, method: &str, url: &Url, depth: &str, body: &str) -> Result<HttpResponse, PortError> {
        let mut url = url.clone();
        for _ in 0..=limits::DAV_REDIRECTS_MAX {
            let method = Method::from_bytes(method.as_bytes())
                .map_err(|error| PortError::caused(ErrorClass::Bug, "make a request", error))?;
            let request = HttpRequest::writing(method, url.clone())
                .reading()
                .body(XML, body.as_bytes().to_vec())
                .header(HeaderName::from_static("depth"), depth)
                .body_bytes_max(limits::CALDAV_BYTES_MAX);
            let response = self.api.send(request).await?;
            let moved = matches!(response.status, 301 | 302 | 307 | 308);
            let Some(target) = header(&response.headers, LOCATION).filter(|_| moved) else {
                return Ok(response);
            };
            // Against the place it came from, not the base.
            let target = url.join(target).map(String::from).unwrap_or_default();
            url = self.api.pinned(&target)?;
        }
        let doing = format!("{method} {}", crate::http::masked(&url));
        Err(PortError::caused(ErrorClass::Config, doing, "the server redirects in a circle"))
    }

    /// Properties of a resource, and with depth 1 of what is in it. `None`: there is no such resource, or it is none
    /// that can be asked.
    pub async fn properties(
        &self,
        url: &Url,
        depth: &str,
        names: &str,
    ) -> Result<Option<Multistatus>, PortError> {
        let body = format!("<D:propfind {SPACES}><D:prop>{names}</D:prop></D:propfind>");
        let response = self.ask("PROPFIND", url, depth, &body).await?;
        if matches!(response.status, 403 | 404 | 405 | 501) {
            return Ok(None);
        }
        self.multistatus(response).map(Some)
    }

    /// What changed since a position.
    pub async fn changes(&self, calendar: &Url, token: &str) -> Result<Report, PortError> {
        let body = format!(
            "<D:sync-collection {SPACES}><D:sync-token>{}</D:sync-token><D:sync-level>1</D:sync-level>\
             <D:prop><D:getetag/></D:prop></D:sync-collection>",
            escaped(token)
        );
        // RFC 6578 wants depth 0 here; servers that want 1 are content with the level.
        let response = self.ask("REPORT", calendar, "0", &body).await?;
        let refused = matches!(response.status, 403 | 409 | 412 | 507);
        let unknown = refused
            && std::str::from_utf8(&response.body).is_ok_and(|text| {
                Node::parse(text).is_some_and(|root| root.holds(super::xml::DAV, "valid-sync-token"))
            });
        // Some servers say it by the status alone.
        if unknown || matches!(response.status, 409 | 410 | 412 | 507) {
            return Ok(Report::Unknown);
        }
        self.multistatus(response).map(Report::Changes)
    }

    /// The events that take place in a span, whole.
    pub async fn between(&self, calendar: &Url, from: &str, to: &str) -> Result<Multistatus, PortError> {
        let body = format!(
            "<C:calendar-query {SPACES}><D:prop><D:getetag/><C:calendar-data/></D:prop><C:filter>\
             <C:comp-filter name=\"VCALENDAR\"><C:comp-filter name=\"VEVENT\">\
             <C:time-range start=\"{from}\" end=\"{to}\"/></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>"
        );
        let response = self.ask("REPORT", calendar, "1", &body).await?;
        self.multistatus(response)
    }

    /// These events, whole.
    pub async fn events(&self, calendar: &Url, hrefs: &[String]) -> Result<Multistatus, PortError> {
        let hrefs: String = hrefs.iter().map(|href| format!("<D:href>{}</D:href>", escaped(href))).collect();
        let body = format!(
            "<C:calendar-multiget {SPACES}><D:prop><D:getetag/><C:calendar-data/></D:prop>{hrefs}</C:calendar-multiget>"
        );
        let response = self.ask("REPORT", calendar, "1", &body).await?;
        self.multistatus(response)
    }

    /// One event and its version. `None`: it is gone.
    pub async fn event(&self, url: Url) -> Result<Option<(String, Option<String>)>, PortError> {
        let response =
            self.api.send(HttpRequest::get(url).body_bytes_max(limits::CALDAV_EVENT_BYTES_MAX)).await?;
        if matches!(response.status, 404 | 410) {
            return Ok(None);
        }
        let response = self.api.checked(response, |_| None)?;
        let etag = header(&response.headers, ETAG).map(|etag| etag.trim_start_matches("W/").to_owned());
        let doing = format!("GET {}", crate::http::masked(&response.final_url));
        let text = String::from_utf8(response.body)
            .map_err(|_| PortError::caused(ErrorClass::Permanent, doing, "the event is not UTF-8"))?;
        Ok(Some((text, etag)))
    }

    /// Writes an event in place of that version, or where there is none (`None`).
    ///
    /// # Errors
    /// Anything but a definite no is `Uncertain`.
    pub async fn put(&self, url: Url, version: Option<&str>, text: &str) -> Result<Written, PortError> {
        let request = HttpRequest::writing(Method::PUT, url)
            .body("text/calendar; charset=utf-8", text.as_bytes().to_vec());
        let request = match version {
            Some(etag) => request.header(IF_MATCH, etag),
            None => request.header(IF_NONE_MATCH, "*"),
        };
        let response = self.api.send(request).await?;
        if response.status == 412 {
            return Ok(Written::Precondition);
        }
        let same_uid = matches!(response.status, 403 | 409)
            && std::str::from_utf8(&response.body).is_ok_and(|text| {
                Node::parse(text).is_some_and(|root| root.holds(super::xml::CAL, "no-uid-conflict"))
            });
        if same_uid {
            return Ok(Written::SameUid);
        }
        self.api.checked(response, |_| None).map(|_| Written::Done)
    }

    fn multistatus(&self, response: HttpResponse) -> Result<Multistatus, PortError> {
        let response = self.api.checked(response, |_| None)?;
        let doing = format!("ask {}", crate::http::masked(&response.final_url));
        if response.is_html() {
            let why = "a web page came instead of an answer: a login page of the network, or a proxy";
            return Err(PortError::caused(ErrorClass::NETWORK, doing, why));
        }
        std::str::from_utf8(&response.body).ok().and_then(Multistatus::parse).ok_or_else(|| {
            PortError::caused(ErrorClass::NETWORK, doing, "the answer is no whole multistatus")
        })
    }
}
