//! A pasted secret never shows, whatever the unit got wrong around it.

use super::*;

/// A password that no pattern knows: only its place tells what it is.
const CANARY: &str = "canary horse battery";

fn imap(line: &str) -> String {
    format!(
        "[connector]\nplatform = \"imap\"\n[imap]\nhost = \"a\"\nuser = \"b\"\n{line}\n[install]\nenabled = true\n"
    )
}

/// The unit has an error, and nothing that is shown of it holds the canary.
fn check(file: &str, text: &str) {
    assert!(text.contains(CANARY), "{text}");
    let compiled = compile_texts(&[(file, text)]);
    assert!(!compiled.findings.is_empty(), "{text}");
    let shown = format!(
        "{}{}{}{}",
        human(&compiled, Path::new("/u")),
        json(&compiled),
        standings(&compiled),
        short::github(&compiled.findings, &compiled.sources)
    );
    assert!(!shown.contains("canary"), "{text}\n{shown}");
    assert!(!format!("{:?}", compiled.plan).contains("canary"), "{text}");
}

#[test]
fn in_a_key_for_secrets() {
    check("a.connector.toml", &imap(&format!("password = \"{CANARY}\"")));
    check("a.connector.toml", &imap(&format!("password = '''\n{CANARY}\n{CANARY}'''")));
    check("a.connector.toml", &imap(&format!("password = [\"{CANARY}\"]")));
    check("a.connector.toml", &imap(&format!("password = {{ secret = \"{CANARY}\" }}")));
    check("a.connector.toml", &imap(&format!("password = {{ value = \"{CANARY}\" }}")));
    check("a.connector.toml", &imap(&format!("password = {{ secret = {{ x = \"{CANARY}\" }} }}")));
}

#[test]
fn in_a_misspelt_or_misplaced_key() {
    check("a.connector.toml", &imap(&format!("pasword = \"{CANARY}\"")));
    check("a.connector.toml", &imap(&format!("passwort = \"{CANARY}\"")));
    check("a.connector.toml", &imap(&format!("token = \"{CANARY}\"")));
    check("a.connector.toml", &format!("password = \"{CANARY}\"\n{}", imap("")));
    check("a.connector.toml", &imap(&format!("[imapp]\npassword = \"{CANARY}\"")));
    check("a.connector.toml", &imap(&format!("[schedule]\npassword = \"{CANARY}\"")));
    check("a.connector.toml", &imap(&format!("imap.password = \"{CANARY}\"")));
}

#[test]
fn in_broken_syntax() {
    check("a.connector.toml", &imap(&format!("password = {CANARY}")));
    check("a.connector.toml", &imap(&format!("password = \"{CANARY}")));
    check("a.connector.toml", &imap(&format!("password: {CANARY}")));
    check("a.connector.toml", &imap(&format!("password = '''{CANARY}")));
    check("a.connector.toml", &imap(&format!("password = \"{CANARY}\" \"{CANARY}\"")));
    check("a.connector.toml", &imap(&format!("password = \"x\"\npassword = \"{CANARY}\"")));
}

#[test]
fn in_the_environment_of_an_env_unit() {
    check("a.env.toml", &format!("[set]\nDB_PASSWORD = \"{CANARY}\"\n"));
    check("a.env.toml", &format!("[set]\nAPI_KEY = \"{CANARY}\"\n"));
    check("a.env.toml", &format!("[sett]\nAPI_KEY = \"{CANARY}\"\n"));
    check("a.env.toml", &format!("[set]\nGITHUB_TOKEN = [\"{CANARY}\"]\n"));
}

#[test]
fn in_a_url() {
    let canary = CANARY.replace(' ', "-");
    let text = format!(
        "[connector]\nplatform = \"feed\"\n[feed]\nurl = \"https://me:{canary}@example.org/\" # {CANARY}?\n[install]\nenabled = true\n"
    );
    let compiled = compile_texts(&[("a.connector.toml", &text)]);
    let shown = format!("{}{}", human(&compiled, Path::new("/u")), json(&compiled));
    assert!(
        !shown.contains("canary-horse") && compiled.findings[0].check.code == "literal-secret",
        "{shown}"
    );
}

#[test]
fn dummies_that_local_servers_take_are_let_be() {
    let compiled =
        compile_texts(&[("a.env.toml", "[set]\nOPENAI_API_KEY = \"ollama\"\nKEY_FILE = \"/a/key\"\n")]);
    assert_eq!(standings(&compiled), "a.env on");
}
