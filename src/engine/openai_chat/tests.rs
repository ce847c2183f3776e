use super::*;
use crate::model::secret_ref::SecretRef;
use crate::unit::value::Value as UnitValue;

fn settings(pairs: &[(&str, &str)]) -> Settings {
    Settings(pairs.iter().map(|(key, text)| ((*key).to_owned(), UnitValue::Text((*text).into()))).collect())
}

#[test]
fn base_urls() {
    let check = |given: &str, expected: &str| {
        assert_eq!(base_url(&settings(&[("base_url", given)])).unwrap().as_str(), expected);
    };
    check("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1");
    check("http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1");
    check("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1");
    check("https://api.example.org/v1/chat/completions", "https://api.example.org/v1");
    check("https://openrouter.example/api", "https://openrouter.example/api/v1");
    check("https://gateway.example/v1beta/openai/", "https://gateway.example/v1beta/openai");
    check("https://gateway.example/voices?x=1#y", "https://gateway.example/voices/v1");
}

#[test]
fn local_is_loopback() {
    let local = |given: &str| (SPEC.is_local)(&settings(&[("base_url", given)]));
    for url in ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1", "http://127.9.9.9/v1"] {
        assert!(local(url), "{url}");
    }
    for url in
        ["http://192.168.1.2:1", "https://api.example.org", "http://localhost.example.org", "http://[::2]/"]
    {
        assert!(!local(url), "{url}");
    }
}

#[test]
fn problems_of_keys() {
    let problem = |pairs: &[(&str, &str)]| check(&settings(pairs)).pop().map(|problem| problem.message);
    assert_eq!(problem(&[("base_url", "http://127.0.0.1:1"), ("temperature", "0.2")]), None);
    assert_eq!(problem(&[("base_url", "file:///x")]).unwrap(), "is not http or https");
    assert_eq!(
        problem(&[("base_url", "https://me:canary@x.example")]).unwrap(),
        "holds a user or password; put the key into `key`"
    );
    assert_eq!(problem(&[("temperature", "hot")]).unwrap(), "is not a number from 0 to 2");
    let mut with_key = settings(&[("base_url", "http://192.168.1.2:1")]);
    with_key.0.insert("key".into(), UnitValue::Secret(SecretRef::Stored("k".into())));
    assert_eq!(check(&with_key)[0].key, "base_url");
}
