//! A browser that comes back to this machine (RFC 8252) with a code that only we can use (PKCE, RFC 7636). The port is
//! open on loopback only, takes one answer, and is closed with it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::answer::Granted;
use super::client::{Client, Told, token};
use crate::http::HttpRoom;
use crate::model::class::{ErrorClass, PortError};
use crate::model::limits;
use crate::model::text::one_line;
use crate::model::time::Clock;
use crate::secret::random::random_hex;
use crate::secret::{SecretStore, SecretValue};

/// A page that waits to be answered.
pub struct Pending {
    /// What the person opens.
    pub url: String,
    /// The port that waits, for people who sit at another machine.
    pub port: u16,
    listener: TcpListener,
    redirect: String,
    state: String,
    verifier: SecretValue,
}

/// What a browser brought.
#[derive(Debug, PartialEq)]
enum Brought {
    Code(String),
    Refused(String),
    OtherState,
    /// Something else was asked for: `/favicon.ico`.
    Nothing,
}

const PATH: &str = "/callback";

/// Opens the port and makes the address.
///
/// # Errors
/// `Config`: the port is taken, or the unit has no `authorize_url`.
pub async fn begin(client: &Client) -> Result<Pending, PortError> {
    let doing = || format!("wait on port {} of this machine for the browser", client.redirect_port);
    let config = |error: std::io::Error| PortError::caused(ErrorClass::Config, doing(), error);
    let Some(url) = &client.authorize_url else {
        return Err(PortError::new(ErrorClass::Config, "`authorize_url` is missing"));
    };
    let listener = TcpListener::bind(("127.0.0.1", client.redirect_port)).await.map_err(config)?;
    let port = listener.local_addr().map_err(config)?.port();
    let redirect = format!("http://{}:{port}{PATH}", client.redirect_host);
    // 64 digits of chance are in the alphabet and the length that the standard wants.
    let (state, verifier) = (random_hex(32), random_hex(64));
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    let mut url = url.clone();
    {
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.grant.client_id)
            .append_pair("redirect_uri", &redirect)
            .append_pair("state", &state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        if !client.scope.is_empty() {
            query.append_pair("scope", &client.scope);
        }
        query.extend_pairs(client.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    }
    Ok(Pending {
        url: url.to_string(),
        port,
        listener,
        redirect,
        state,
        verifier: SecretValue::new(verifier),
    })
}

impl Pending {
    /// Waits for the browser, and changes its code for a token.
    ///
    /// # Errors
    /// `Permanent`: nobody came in time, the person refused, or the answer belongs to another question.
    pub async fn granted(
        self,
        client: &Client,
        http: &HttpRoom,
        secrets: &dyn SecretStore,
        clock: &Clock,
    ) -> Result<Granted, PortError> {
        let doing = || format!("log in at {}", client.place());
        let permanent = |why: String| PortError::caused(ErrorClass::Permanent, doing(), why);
        let came = tokio::time::timeout(limits::OAUTH_WAIT, self.visitors()).await;
        let came = came.map_err(|_| permanent("the browser did not come back in time".to_owned()))?;
        let Self { listener, redirect, verifier, .. } = self;
        // One answer: whoever comes later finds nobody.
        drop(listener);
        let Some((brought, mut visitor)) = came else {
            return Err(permanent("too many visitors came and none brought an answer".to_owned()));
        };
        let code = match brought {
            Brought::Code(code) => SecretValue::new(code),
            Brought::Refused(why) => {
                tell(&mut visitor, "200 OK", "The login was refused. This page can be closed.").await;
                return Err(permanent(format!("it was refused there ({why})")));
            }
            // They are answered at the door.
            Brought::OtherState | Brought::Nothing => {
                return Err(permanent("nobody brought an answer".to_owned()));
            }
        };
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code.expose_to_the_wire()),
            ("redirect_uri", redirect.as_str()),
            ("code_verifier", verifier.expose_to_the_wire()),
        ];
        let told = token(http, secrets, clock, &client.grant, &form).await;
        // Only now: the code alone is no login.
        let page = match &told {
            Ok(Told::Granted(_)) => "You are logged in. This page can be closed.",
            _ => "The login did not work; the terminal says why. This page can be closed.",
        };
        tell(&mut visitor, "200 OK", page).await;
        match told? {
            Told::Granted(granted) => Ok(granted),
            Told::Refused(refused) => Err(PortError::caused(ErrorClass::Permanent, doing(), refused)),
        }
    }

    /// Lets visitors in, one after the other, until one brings an answer to our question. Whoever brings another is told
    /// so, and does not end the wait: any page in the browser can make it knock here.
    async fn visitors(&self) -> Option<(Brought, TcpStream)> {
        for _ in 0..limits::OAUTH_VISITORS_MAX {
            let Ok((mut stream, _)) = self.listener.accept().await else { continue };
            let met = tokio::time::timeout(limits::OAUTH_VISIT, self.meet(&mut stream)).await;
            if let Ok(Some(brought)) = met {
                return Some((brought, stream));
            }
        }
        None
    }

    async fn meet(&self, stream: &mut TcpStream) -> Option<Brought> {
        let mut head = Vec::new();
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            let mut piece = [0; 2048];
            let read = stream.read(&mut piece).await.ok()?;
            head.extend_from_slice(piece.get(..read)?);
            if read == 0 || head.len() > limits::OAUTH_HEAD_BYTES_MAX {
                return None;
            }
        }
        match brought(&String::from_utf8_lossy(&head), &self.state, self.port) {
            Brought::OtherState => {
                tell(stream, "400 Bad Request", "This is not the answer that is waited for.").await;
                None
            }
            Brought::Nothing => {
                tell(stream, "404 Not Found", "There is nothing here.").await;
                None
            }
            brought => Some(brought),
        }
    }
}

/// Answers and closes. Somebody who does not wait for it is no fault, and one who does not take it does not keep us.
async fn tell(stream: &mut TcpStream, status: &str, text: &str) {
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\ncache-control: no-store\r\n\
             referrer-policy: no-referrer\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    let told = async {
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
    };
    let _ = tokio::time::timeout(limits::OAUTH_VISIT, told).await;
}

/// Reads a request. Nothing of it is shown but the server's word for a refusal.
fn brought(head: &str, state: &str, port: u16) -> Brought {
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some("GET"), Some(target)) = (words.next(), words.next()) else { return Brought::Nothing };
    // A page elsewhere whose name was made to lead here still names itself.
    let host =
        lines.filter_map(|line| line.split_once(':')).find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let host = host.map(|(_, value)| value.trim()).unwrap_or_default();
    if host != format!("127.0.0.1:{port}") && host != format!("localhost:{port}") {
        return Brought::Nothing;
    }
    let Ok(url) = Url::parse("http://127.0.0.1").and_then(|base| base.join(target)) else {
        return Brought::Nothing;
    };
    if url.path() != PATH {
        return Brought::Nothing;
    }
    let one =
        |name: &str| url.query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned());
    if one("state").as_deref() != Some(state) {
        return Brought::OtherState;
    }
    match (one("code").filter(|code| !code.is_empty()), one("error")) {
        (_, Some(error)) => Brought::Refused(one_line(&error, 60)),
        (Some(code), None) => Brought::Code(code),
        (None, None) => Brought::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(target: &str, host: &str, expected: Brought) {
        let head = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert_eq!(brought(&head, "s1", 4000), expected, "{target} {host}");
    }

    #[test]
    fn only_the_answer_to_our_own_question_counts() {
        let host = "127.0.0.1:4000";
        check("/callback?code=a%2Bb&state=s1", host, Brought::Code("a+b".into()));
        check("/callback?state=s1&code=c", "localhost:4000", Brought::Code("c".into()));
        check("/callback?code=c&state=s2", host, Brought::OtherState);
        check("/callback?code=c", host, Brought::OtherState);
        check("/callback?error=access_denied&state=s1", host, Brought::Refused("access_denied".into()));
        check("/callback?state=s1", host, Brought::Nothing);
        check("/favicon.ico", host, Brought::Nothing);
        check("/callback?code=c&state=s1", "evil.example:4000", Brought::Nothing);
        check("/callback?code=c&state=s1", "127.0.0.1:4001", Brought::Nothing);
        assert_eq!(brought("POST /callback HTTP/1.1\r\n\r\n", "s1", 4000), Brought::Nothing);
        assert_eq!(brought("", "s1", 4000), Brought::Nothing);
    }
}
