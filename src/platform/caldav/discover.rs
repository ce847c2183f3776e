//! From the URL of the unit to the calendars behind it: well-known place, principal, home, calendars (RFC 4791,
//! RFC 6764).

use url::Url;

use super::client::Client;
use super::xml::{CAL, CS, DAV, Member, Multistatus, Node};
use crate::model::class::{ErrorClass, PortError};
use crate::model::text::one_line;

/// Where the calendars are, and who we are there.
#[derive(Clone, Debug)]
pub struct Home {
    /// Listed to find calendars; or a calendar itself.
    pub url: Url,
    /// It is a calendar itself.
    pub single: bool,
    /// Our addresses as the server knows them, lower case.
    pub addresses: Vec<String>,
}

/// A calendar as it was listed.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// Its path, decoded: its name in the cursor.
    pub path: String,
    /// Where it is asked.
    pub url: Url,
    /// For people.
    pub name: String,
    /// The position behind everything in it; `None`: the server keeps none.
    pub token: Option<String>,
    /// Changes when anything in it does.
    pub ctag: Option<String>,
}

const WHO: &str =
    "<D:current-user-principal/><D:resourcetype/><C:calendar-home-set/><C:calendar-user-address-set/>";
const CALENDAR: &str = "<D:resourcetype/><D:displayname/><C:supported-calendar-component-set/><D:sync-token/>\
                        <D:supported-report-set/><S:getctag/>";

/// Finds the home.
///
/// # Errors
/// `Config`: there is no calendar server, or it names no calendars of ours.
pub async fn home(client: &Client) -> Result<Home, PortError> {
    let base = client.base().clone();
    let mut places = vec![base.clone()];
    let well_known = client.pinned("/.well-known/caldav")?;
    // A server by itself says at a well-known place where its calendars begin.
    if base.path() == "/" {
        places.insert(0, well_known);
    } else {
        places.push(well_known);
    }
    for place in places {
        let Some(found) = client.properties(&place, "0", WHO).await? else { continue };
        let Some(member) = found.members.first() else { continue };
        if is_calendar(&member.props) {
            return Ok(Home { url: place, single: true, addresses: addresses(&member.props) });
        }
        if let Some(home) = home_of(client, &member.props)? {
            return Ok(Home { url: home, single: false, addresses: addresses(&member.props) });
        }
        let principal =
            member.props.child(DAV, "current-user-principal").and_then(|found| found.text_of(DAV, "href"));
        let Some(principal) = principal else { continue };
        let found = client.properties(&client.pinned(principal)?, "0", WHO).await?;
        let Some(member) = found.as_ref().and_then(|found| found.members.first()) else { continue };
        if let Some(home) = home_of(client, &member.props)? {
            return Ok(Home { url: home, single: false, addresses: addresses(&member.props) });
        }
    }
    let why = "no calendars are to be found there; `url` may name the server, your principal or one calendar";
    Err(PortError::caused(ErrorClass::Config, format!("explore {}", crate::http::masked(&base)), why))
}

fn home_of(client: &Client, props: &Node) -> Result<Option<Url>, PortError> {
    let href = props.child(CAL, "calendar-home-set").and_then(|home| home.text_of(DAV, "href"));
    href.map(|href| client.pinned(href)).transpose()
}

fn addresses(props: &Node) -> Vec<String> {
    let set = props.child(CAL, "calendar-user-address-set");
    let hrefs = set.into_iter().flat_map(|set| set.all(DAV, "href"));
    let all = hrefs.map(|href| href.text.trim().to_lowercase());
    all.filter_map(|href| href.strip_prefix("mailto:").map(str::to_owned)).take(64).collect()
}

fn is_calendar(props: &Node) -> bool {
    props.child(DAV, "resourcetype").is_some_and(|kind| kind.child(CAL, "calendar").is_some())
}

/// The calendars with events.
///
/// # Errors
/// As of the requests; links to other hosts are a `Config` error.
pub async fn calendars(client: &Client, home: &Home) -> Result<Vec<Calendar>, PortError> {
    let depth = if home.single { "0" } else { "1" };
    let found = client.properties(&home.url, depth, CALENDAR).await?;
    let Multistatus { members, .. } = found.ok_or_else(|| {
        let doing = format!("list the calendars of {}", crate::http::masked(&home.url));
        PortError::caused(ErrorClass::Config, doing, "there is nothing any more")
    })?;
    members.iter().filter_map(|member| calendar(client, member).transpose()).collect()
}

fn calendar(client: &Client, member: &Member) -> Result<Option<Calendar>, PortError> {
    let props = &member.props;
    let components = props.child(CAL, "supported-calendar-component-set");
    let events = components.is_none_or(|set| {
        set.children.is_empty() || set.all(CAL, "comp").any(|comp| comp.named.eq_ignore_ascii_case("VEVENT"))
    });
    if !is_calendar(props) || !events {
        return Ok(None);
    }
    let url = client.pinned(&member.href)?;
    let path = plain(url.path());
    let name = one_line(props.text_of(DAV, "displayname").unwrap_or_default(), 128);
    let reports = props.child(DAV, "supported-report-set");
    let syncs = reports.is_none_or(|reports| reports.holds(DAV, "sync-collection"));
    Ok(Some(Calendar {
        name: if name.is_empty() { path.clone() } else { name },
        token: props.text_of(DAV, "sync-token").filter(|_| syncs).map(str::to_owned),
        ctag: props.text_of(CS, "getctag").map(str::to_owned),
        path,
        url,
    }))
}

/// A path without percent signs: servers write the same one in several ways.
#[must_use]
pub fn plain(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..2).filter(|_| first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_in_several_ways() {
        for path in ["/a%20b/%C3%BC@x.ics", "/a b/ü@x.ics", "/a%20b/%c3%bc%40x.ics"] {
            assert_eq!(plain(path), "/a b/ü@x.ics");
        }
        assert_eq!(plain("/100%/%zz%2"), "/100%/%zz%2");
    }
}
