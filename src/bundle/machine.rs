//! What is on this machine that could answer: model servers on their usual ports, programs of agents. It changes nothing.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::join_all;
use rustix::fs::{Access, access};
use serde::Deserialize;
use url::Url;

use crate::http::{HttpRequest, HttpRoom};
use crate::model::environment::Environment;

/// A server on this machine answers at once, or it is none.
const SERVER: Duration = Duration::from_millis(800);

/// Bytes of a list of models; a server with a thousand of them needs less.
const LIST_BYTES_MAX: usize = 1024 * 1024;

/// Models that are told.
const MODELS_MAX: usize = 50;

/// Model servers that speak Chat Completions, with the port each takes when nobody says otherwise.
pub const SERVERS: [(&str, u16); 3] = [("ollama", 11_434), ("lm-studio", 1234), ("llama-cpp", 8080)];

/// Directories below the home where agents install themselves, and that a short PATH leaves out.
const BELOW_HOME: [&str; 6] =
    [".local/bin", "bin", ".npm-global/bin", ".bun/bin", ".cargo/bin", ".claude/local"];

/// Likewise, for all users.
const FOR_ALL: [&str; 2] = ["/usr/local/bin", "/opt/homebrew/bin"];

/// A model server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelServer {
    /// `ollama`, `lm-studio`, `llama-cpp`.
    pub name: String,
    /// `http://127.0.0.1:11434`.
    pub base_url: String,
    /// What it has, in its own order.
    pub models: Vec<String>,
}

#[derive(Deserialize)]
struct ModelList {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

/// Asks these ports of 127.0.0.1 for their models, all at once. Something else that listens there is passed over.
pub async fn model_servers(ports: &[(&str, u16)]) -> Vec<ModelServer> {
    let http = HttpRoom::default();
    let asked = ports.iter().map(|(name, port)| model_server(&http, name, *port));
    join_all(asked).await.into_iter().flatten().collect()
}

async fn model_server(http: &HttpRoom, name: &str, port: u16) -> Option<ModelServer> {
    let base_url = format!("http://127.0.0.1:{port}");
    let url = Url::parse(&format!("{base_url}/v1/models")).ok()?;
    let request = HttpRequest::get(url).same_origin().total(SERVER).body_bytes_max(LIST_BYTES_MAX);
    let answer = http.send(request).await.ok().filter(|answer| answer.status == 200)?;
    let list: ModelList = answer.json().ok()?;
    let models = list.data.into_iter().map(|model| model.id).filter(|id| is_plain(id)).take(MODELS_MAX);
    Some(ModelServer { name: name.to_owned(), base_url, models: models.collect() })
}

/// It goes into a unit file and onto a terminal.
fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.len() <= 200 && !id.chars().any(char::is_control)
}

/// The first file of this name that can be started: on the PATH, then where agents install themselves.
#[must_use]
pub fn program(name: &str, environment: &Environment) -> Option<PathBuf> {
    let path = environment.get_os("PATH").map(OsString::from).unwrap_or_default();
    let home = environment.get_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let below = home.iter().flat_map(|home| BELOW_HOME.map(|dir| home.join(dir)));
    let mut seen = BTreeSet::new();
    std::env::split_paths(&path)
        .chain(below)
        .chain(FOR_ALL.map(PathBuf::from))
        .filter(|dir| dir.is_absolute() && seen.insert(dir.clone()))
        .map(|dir| dir.join(name))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::os::unix::fs::PermissionsExt as _;

    /// Answers one request with this.
    fn server(answer: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", answer.len());
            let _ = stream.write_all(format!("{head}{answer}").as_bytes());
        });
        port
    }

    #[tokio::test]
    async fn servers_tell_their_models_and_others_are_passed_over() {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let models = r#"{"object":"list","data":[{"id":"qwen3:8b"},{"id":"bad\u001b[31m"},{"id":"b"}]}"#;
        let (good, page) = (server(models), server("<html>a page</html>"));
        let found = model_servers(&[("ollama", good), ("lm-studio", page), ("llama-cpp", closed)]).await;
        let expected = ModelServer {
            name: "ollama".into(),
            base_url: format!("http://127.0.0.1:{good}"),
            models: vec!["qwen3:8b".into(), "b".into()],
        };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn programs_are_found_also_where_the_path_does_not_lead() {
        let root = tempfile::tempdir().unwrap();
        let at = |dir: &str, mode| {
            let dir = root.path().join(dir);
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("wa-agent"), "x").unwrap();
            std::fs::set_permissions(dir.join("wa-agent"), std::fs::Permissions::from_mode(mode)).unwrap();
            dir
        };
        let (plain, local) = (at("plain", 0o644), at("home/.local/bin", 0o755));
        let home = root.path().join("home").display().to_string();
        let environment = Environment::of([("PATH", plain.display().to_string()), ("HOME", home)]);
        assert_eq!(program("wa-agent", &environment), Some(local.join("wa-agent")));
        assert_eq!(program("wa-no-such-agent", &environment), None);
    }
}
