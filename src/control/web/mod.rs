//! The page: what a person needs to see and decide, in a browser on the same machine. Everything it shows and does goes by
//! the handlers of the control API, which it asks in process; nothing else is known to it.
//!
//! It listens on the loopback interface only, and only when the daemon unit or `workagent open` say so. Who comes without a
//! session sees how to get one; a session is opened by a token that was handed out over the control socket.

mod answer;
mod decide;
mod doors;
mod events;
mod form;
mod guard;
mod port;
mod render;
pub mod site;
mod views;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use self::answer::Trouble;
use self::doors::Doors;
use self::events::News;
use self::render::Templates;
use super::client::Client;
use crate::model::limits::{WEB_BODY_BYTES_MAX, WEB_SESSION_LIFE_MAX};
use crate::model::time::Clock;

/// What the handlers of the page work with.
struct Page {
    client: Client,
    doors: Arc<Doors>,
    templates: Arc<Templates>,
    clock: Clock,
    port: u16,
    news: Mutex<News>,
    streams: events::Streams,
    stop: CancellationToken,
}

type Shared = State<Arc<Page>>;
type Reply = Result<Response, Trouble>;

/// All routes of the page.
fn router(page: Arc<Page>) -> Router {
    let inside = Router::new()
        .route("/", get(views::today::today))
        .route("/review", get(views::review::next))
        .route("/review/{id}", get(views::review::show))
        .route("/review/{id}/decide", post(decide::draft))
        .route("/case", get(views::case::list))
        .route("/case/{id}", get(views::case::show))
        .route("/case/{id}/retry", post(decide::retry))
        .route("/case/{id}/dismiss", post(decide::dismiss))
        .route("/outbox", get(views::outbox::list))
        .route("/outbox/{id}/cancel", post(decide::cancel))
        .route("/outbox/{id}/release", post(decide::release))
        .route("/outbox/{id}/dismiss", post(decide::give_up))
        .route("/units", get(views::units::list))
        .route("/units/{unit}/kick", post(decide::kick))
        .route("/units/{unit}/reset", post(decide::reset))
        .route("/pause", post(decide::pause))
        .route("/resume", post(decide::resume))
        .route("/logout", post(decide::logout))
        .route("/news", get(events::stream))
        .fallback(|| async { Trouble::not_found("there is no such page") })
        .layer(middleware::from_fn_with_state(Arc::clone(&page), admit));
    Router::new()
        .route("/login", get(login))
        .route("/style.css", get(|| file("text/css; charset=utf-8", include_str!("assets/style.css"))))
        .route("/page.js", get(|| file("text/javascript; charset=utf-8", include_str!("assets/page.js"))))
        .route("/icon.svg", get(|| file("image/svg+xml", include_str!("assets/icon.svg"))))
        .fallback_service(inside.with_state(Arc::clone(&page)))
        .layer(DefaultBodyLimit::max(WEB_BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(Arc::clone(&page), guard::guard))
        .with_state(page)
}

async fn file(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// Lets in who has a session.
async fn admit(State(page): Shared, mut request: Request, next: Next) -> Response {
    let cookie = guard::cookie(page.port, request.headers());
    let Some(mut session) = cookie.and_then(|cookie| page.doors.session(cookie)) else {
        return page.outside(StatusCode::UNAUTHORIZED, "You are not logged in here.");
    };
    // Taken before the view asks for anything: what changes while it is put together is news.
    let is_look = request.method().is_safe();
    if is_look {
        session.news = page.print().await;
    }
    request.extensions_mut().insert(session.clone());
    let answer = next.run(request).await;
    if !is_look {
        // What somebody did here is no news to the view that follows.
        page.look_again().await;
    }
    match answer {
        answer if answer.extensions().get::<Trouble>().is_some() => {
            let trouble = answer.extensions().get::<Trouble>().cloned().unwrap_or_default();
            page.trouble(&session, &trouble).await
        }
        answer => answer,
    }
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    token: String,
}

async fn login(State(page): Shared, Query(entry): Query<Entry>) -> Response {
    let Some(cookie) = page.doors.enter(&entry.token) else {
        let text = "This link was used already, or is too old: each opens the page once, for a minute.";
        return page.outside(StatusCode::FORBIDDEN, text);
    };
    // Not a redirect: with that, a browser that came from another site would keep a strict cookie to itself.
    let mut answer = page.html(StatusCode::OK, "entered.html", json!({}));
    guard::set_cookie(&mut answer, page.port, &cookie, WEB_SESSION_LIFE_MAX);
    answer
}
