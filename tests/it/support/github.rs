//! A small GitHub in this process: keeps issues, comments and notifications, counts, limits and fails as told, and writes
//! down every request. It answers as the real one is known to; what it does not know is a 404.

mod hub;
mod routes;

use std::sync::{Arc, Mutex, MutexGuard};

use workagent::model::time::Clock;

use super::http::{Answer, HttpServer};

pub use hub::{Hub, ME, Outage, Trouble, user};

/// The server and what it keeps.
pub struct FakeGithub {
    http: HttpServer,
    hub: Arc<Mutex<Hub>>,
}

impl FakeGithub {
    /// With the clock of those who ask, so that a manual one moves both.
    pub fn start(clock: &Clock) -> Self {
        let hub = Arc::new(Mutex::new(Hub::new(clock.clone())));
        let for_server = Arc::clone(&hub);
        let http = HttpServer::by(move |seen| {
            let mut hub = for_server.lock().unwrap();
            routes::answer(&mut hub, seen)
        });
        hub.lock().unwrap().base = http.url("");
        Self { http, hub }
    }

    /// The most requests at once.
    pub fn most_at_once(&self) -> usize {
        self.http.most_at_once()
    }

    pub fn url(&self) -> String {
        self.http.url("")
    }

    pub fn hub(&self) -> MutexGuard<'_, Hub> {
        self.hub.lock().unwrap()
    }

    /// The next request whose target begins so is met like this instead.
    pub fn once(&self, method: &str, target: &str, answer: Answer) {
        self.hub().once.push((method.to_owned(), target.to_owned(), answer));
    }

    /// `GET /user`, one line a request since the last time this was asked.
    pub fn asked(&self) -> Vec<String> {
        let mut hub = self.hub();
        let from = std::mem::replace(&mut hub.told, 0);
        let lines =
            hub.log.iter().skip(from).map(|asked| format!("{} {}", asked.method, asked.target)).collect();
        hub.told = hub.log.len();
        lines
    }
}
