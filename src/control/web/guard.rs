//! What every request to the page must pass, and what every answer carries.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Page;

/// Nothing may be loaded but our own files, no page may frame ours, and forms go nowhere else. No script, style or
/// handler in the text of a page runs: there is no 'unsafe-inline'.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// On every answer, errors too. With `no-referrer` browsers would send `Origin: null` with our own forms; `same-origin`
/// tells nobody else anything either.
const HEADERS: [(HeaderName, &str); 8] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
];

/// Refuses what does not come from our own page, in a fixed order: the name we were called by (a name of somebody else's
/// that leads here is the beginning of DNS rebinding), then where the request was made.
pub(super) async fn guard(State(page): State<Arc<Page>>, request: Request, next: Next) -> Response {
    let mut answer = match problem(page.port, request.method(), request.headers()) {
        Some((status, text)) => (status, text).into_response(),
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn problem(port: u16, method: &Method, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
    let one = |name: HeaderName| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        }
    };
    let Some(host) = one(header::HOST).filter(|host| is_ours(host, port)) else {
        return Some((StatusCode::MISDIRECTED_REQUEST, "this page has another name\n"));
    };
    let is_look = matches!(*method, Method::GET | Method::HEAD);
    if !is_look && *method != Method::POST {
        return Some((StatusCode::METHOD_NOT_ALLOWED, "only GET and POST\n"));
    }
    let from = headers.contains_key(header::ORIGIN).then(|| one(header::ORIGIN).unwrap_or(""));
    let is_own = from.is_some_and(|origin| origin.strip_prefix("http://") == Some(host));
    if (from.is_some() || !is_look) && !is_own {
        return Some((StatusCode::FORBIDDEN, "the request was not made on this page\n"));
    }
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    if !is_look && site.is_some_and(|site| site != b"same-origin") {
        return Some((StatusCode::FORBIDDEN, "the request was not made on this page\n"));
    }
    None
}

/// One of the names of this machine for itself, with our port.
fn is_ours(host: &str, port: u16) -> bool {
    let Some((name, number)) = host.rsplit_once(':') else { return false };
    matches!(name, "127.0.0.1" | "localhost") && number == port.to_string()
}

/// Named after the port: two daemons on one machine do not log each other out.
fn cookie_name(port: u16) -> String {
    format!("workagent-{port}")
}

/// Has a browser keep our cookie for so long, or forget it. No script reads it, no other site sends it.
pub(super) fn set_cookie(answer: &mut Response, port: u16, value: &str, life: Duration) {
    let (name, life_s) = (cookie_name(port), life.as_secs());
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={life_s}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        answer.headers_mut().insert(header::SET_COOKIE, cookie);
    }
}

/// The value of our cookie.
pub(super) fn cookie(port: u16, headers: &HeaderMap) -> Option<&str> {
    let name = cookie_name(port);
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: Method, headers: &[(&'static str, &'static str)], expected: Option<u16>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        let found = problem(7000, &method, &map).map(|(status, _)| status.as_u16());
        assert_eq!(found, expected, "{method} {headers:?}");
    }

    #[test]
    fn only_our_own_names() {
        for host in ["127.0.0.1:7000", "localhost:7000"] {
            check(Method::GET, &[("host", host)], None);
        }
        for host in
            ["127.0.0.1", "evil.example:7000", "127.0.0.1:7001", "127.0.0.1.evil.example:7000", "", ":7000"]
        {
            check(Method::GET, &[("host", host)], Some(421));
        }
        check(Method::GET, &[], Some(421));
        check(Method::GET, &[("host", "127.0.0.1:7000"), ("host", "evil.example")], Some(421));
    }

    #[test]
    fn changes_come_from_our_own_page() {
        let host = ("host", "127.0.0.1:7000");
        check(Method::POST, &[host, ("origin", "http://127.0.0.1:7000")], None);
        for origin in ["null", "", "http://localhost:7000", "https://127.0.0.1:7000", "http://127.0.0.1:7001"]
        {
            check(Method::POST, &[host, ("origin", origin)], Some(403));
        }
        check(Method::POST, &[host], Some(403));
        check(Method::GET, &[host, ("origin", "http://evil.example")], Some(403));
        let cross = ("sec-fetch-site", "cross-site");
        check(Method::POST, &[host, ("origin", "http://127.0.0.1:7000"), cross], Some(403));
        // A link in a terminal, or in another page, may lead here.
        check(Method::GET, &[host, cross], None);
        check(Method::DELETE, &[host, ("origin", "http://127.0.0.1:7000")], Some(405));
    }

    #[test]
    fn our_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers
            .append(header::COOKIE, HeaderValue::from_static("a=1; workagent-70=x; workagent-7000=abc; b=2"));
        assert_eq!(cookie(7000, &headers), Some("abc"));
        assert_eq!(cookie(7, &headers), None);
    }
}
