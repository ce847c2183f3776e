//! A small house of units, as a picture.

use super::*;
use crate::catalog::CATALOG;
use crate::unit::CompileEnv;
use crate::unit::load::{Loaded, Role, UnitFile};

/// Compiles texts by file name.
pub(crate) fn compile(files: &[(&str, &str)]) -> Compiled {
    let file = |(name, text): &(&str, &str)| {
        let (stem, word) = name.rsplit_once('.').unwrap();
        let unit = UnitName { name: stem.to_owned(), kind: Kind::from_word(word).unwrap() };
        UnitFile {
            level: 1,
            path: format!("/u/{name}.toml").into(),
            dir: "/u".into(),
            role: Role::Main(unit),
            text: (*text).into(),
        }
    };
    let loaded = Loaded { files: files.iter().map(file).collect(), ..Loaded::default() };
    let env =
        CompileEnv { home: Some("/home/me".into()), state_dir: "/state".into(), ..CompileEnv::default() };
    crate::unit::compile(&loaded, &CATALOG.registry(), &env)
}

/// A mailbox, a feed that is off, a route to a local model and one into nothing.
pub(crate) const HOUSE: &[(&str, &str)] = &[
    (
        "inbox.connector",
        "[connector]\nplatform = \"imap\"\n[imap]\nhost = \"h.example.org\"\nuser = \"me@example.org\"\n\
         password = { secret = \"mail/me\" }\n[install]\nenabled = true\n",
    ),
    ("news.connector", "[connector]\nplatform = \"feed\"\n[feed]\nurl = \"https://example.org/f\"\n"),
    (
        "local.engine",
        "[engine]\nengine = \"openai-chat\"\nmodel = \"qwen3:8b\"\nenv = [\"work\"]\n[openai-chat]\n\
         base_url = \"http://127.0.0.1:11434\"\nkey = { env = \"KEY\" }\n[install]\nenabled = true\n",
    ),
    ("work.env", "[set]\nA = \"1\"\nTOKEN = { secret = \"work/token\" }\n"),
    ("lost.route", "[route]\nengines = [\"lokal\"]\n[match]\nconnector = [\"new*\"]\n"),
    (
        "mail.route",
        "[unit]\nafter = [\"news.connector\"]\n[route]\nengines = [\"local\"]\n[match]\nconnector = [\"in*\"]\n",
    ),
];

pub(crate) fn text(graph: &Graph) -> String {
    let node = |at: usize| graph.nodes[at].id.as_str();
    let mut lines: Vec<String> = graph
        .nodes
        .iter()
        .map(|node| format!("{} {} {} ({})", node.column, node.id, node.state.word(), node.note))
        .collect();
    lines.extend(
        graph.links.iter().map(|link| format!("{} {} {}", node(link.from), link.means.word(), node(link.to))),
    );
    lines.join("\n")
}

#[test]
fn units_and_their_secrets_stand_in_columns() {
    insta::assert_snapshot!(text(&Graph::new(&compile(HOUSE)).essential()), @r#"
    5 $KEY on (the daemon's environment)
    1 inbox.connector on (imap · reviewed)
    3 local.engine on (qwen3:8b · here)
    3 lokal.engine missing (not there)
    2 lost.route bad (dependency)
    2 mail.route on (route)
    1 news.connector off (disabled)
    0 secret mail/me on (in the secret store)
    5 secret work/token on (in the secret store)
    4 work.env on (2 variables)
    inbox.connector cases mail.route
    inbox.connector secret secret mail/me
    local.engine secret $KEY
    local.engine uses work.env
    lost.route uses lokal.engine
    mail.route uses local.engine
    mail.route after news.connector
    work.env secret secret work/token
    "#);
}

#[test]
fn one_unit_comes_with_what_it_leads_to_and_what_leads_to_it() {
    let graph = Graph::new(&compile(HOUSE)).around("local.engine").unwrap();
    let ids: Vec<&str> = graph.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(
        ids,
        ["$KEY", "inbox.connector", "local.engine", "mail.route", "secret work/token", "work.env"]
    );
    assert!(Graph::new(&compile(HOUSE)).around("nobody.engine").is_none());
}
