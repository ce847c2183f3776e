//! Compiling again: the same result as from nothing, and the same parts for what did not change.

use std::sync::Arc;

use proptest::prelude::*;
use workagent::unit::compile::{Compiler, KeyOrigin, LastGood};

use super::*;

/// Files, each with the texts it can have; the first is the one it has at the beginning.
const FILES: [(&str, &[&str]); 9] = [
    (
        "inbox.connector.toml",
        &[
            "[connector]\nplatform = \"imap\"\n[imap]\nhost = \"a.example\"\nuser = \"me\"\npassword = { secret = \"m\" }\n\
             [unit]\nwants = [\"keys.env\"]\n[install]\nenabled = true\n",
            "# other\n[connector]\nplatform = \"imap\"\n[imap]\nhost = \"b.example\"\nuser = \"me\"\n\
             password = { secret = \"m\" }\n[install]\nenabled = true\n",
            "[connector]\nplatform = \"imap\"\n[imap\nhost = \"a.example\"\n[install]\nenabled = true\n",
            "[connector]\nplatform = \"imap\"\n[imap]\nhost = 3\npassword = \"hunter2hunter2\"\n[install]\nenabled = true\n",
            "[install]\nenabled = false\n",
        ],
    ),
    (
        "inbox.connector.d/a.toml",
        &["[connector]\nhold = \"1m\"\n", "[connector]\nhold = \"2m\"\n", "[conector]\n", "x"],
    ),
    ("connector.d/b.toml", &["", "[schedule]\nevery = \"2h\"\n", "[schedule]\nevery = 2\n"]),
    (
        "keys.env.toml",
        &["[set]\nA = \"1\"\n", "[set]\nA = \"2\"\n", "[set]\nA = 1\n", "[install]\nmasked = true\n"],
    ),
    (
        "t.engine.toml",
        &[
            "[engine]\nengine = \"template\"\nenv = [\"keys\"]\n",
            "[engine]\nengine = \"template\"\n",
            "[engine]\nengine = \"tempalte\"\n",
            "[unit]\nafter = [\"mail.route\"]\n[engine]\nengine = \"template\"\n",
        ],
    ),
    (
        "mail.route.toml",
        &[
            "[route]\nengines = [\"t\"]\n",
            "[route]\nengines = [\"tt\"]\n",
            "[route]\nengines = [\"t\", \"u\"]\n",
        ],
    ),
    (
        "u.engine.toml",
        &["[engine]\nengine = \"command\"\n[command]\nprogram = \"bin/x\"\n", "[install]\nenabled = false\n"],
    ),
    ("workagent.daemon.toml", &["", "[daemon]\nworkers = 2\n", "[daemon]\nworkers = \"2\"\n"]),
    ("all.target.toml", &["[unit]\nwants = [\"inbox.connector\", \"mail.route\"]\n", ""]),
];

/// Everything a compile says.
fn all(compiled: &Compiled) -> Vec<String> {
    let place = |span| {
        let path: &Path = compiled.sources.path(span);
        path.display().to_string()
    };
    let origins = compiled.origins.iter().flat_map(|(name, keys)| {
        let line = |key: &KeyOrigin| {
            let at = key.span.map(|span| (place(span.source), compiled.sources.position(span)));
            format!("{name} {} {} {} {at:?} {}", key.table, key.key, key.value, key.shadows.len())
        };
        keys.iter().map(line).collect::<Vec<_>>()
    });
    let cut = compiled.cut.iter().map(|(source, count)| (place(*source), *count)).collect::<Vec<_>>();
    [
        format!("{:#?}", compiled.plan),
        human(compiled, Path::new("/u")),
        json(compiled),
        format!("{:#?}", compiled.canonical),
        format!("{:#?}", compiled.references),
        format!("{:?} {cut:?}", compiled.daemon_off),
    ]
    .into_iter()
    .chain(origins)
    .collect()
}

fn pick(state: &[Option<usize>]) -> Loaded {
    let files: Vec<(&str, &str)> = FILES
        .iter()
        .zip(state)
        .filter_map(|((name, texts), at)| Some((*name, *texts.get((*at)? % texts.len())?)))
        .collect();
    loaded(&files)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn editing_and_compiling_again_is_compiling_from_nothing(
        edits in proptest::collection::vec((0..FILES.len(), proptest::option::weighted(0.85, 0usize..5), any::<bool>()), 1..12),
        fall_back in any::<bool>(),
    ) {
        let mut compiler = Compiler::new(registry());
        let mut state = vec![Some(0); FILES.len()];
        let mut last_good = LastGood::new();
        for (file, text, compile_between) in edits {
            state[file] = text;
            if !compile_between {
                continue;
            }
            let now = pick(&state);
            let again = compiler.compile(&now, &env(), &last_good);
            let fresh = Compiler::new(registry()).compile(&now, &env(), &last_good);
            prop_assert_eq!(all(&again), all(&fresh));
            if last_good.is_empty() {
                prop_assert_eq!(all(&again), all(&compile(&now, &registry(), &env())));
            }
            if fall_back {
                last_good = again.canonical;
            }
        }
    }
}

#[test]
fn what_did_not_change_is_the_same_part() {
    let mut compiler = Compiler::new(registry());
    let mut state = vec![Some(0); FILES.len()];
    let first = compiler.compile(&pick(&state), &env(), &LastGood::new());
    state[0] = Some(1);
    state[5] = None;
    let second = compiler.compile(&pick(&state), &env(), &LastGood::new());
    let engine = |compiled: &Compiled| match &compiled.plan.engines["t"] {
        Standing::Active(engine) => Arc::clone(engine),
        Standing::Off(off) => panic!("{off:?}"),
    };
    let inbox = |compiled: &Compiled| match &compiled.plan.connectors["inbox"] {
        Standing::Active(unit) => Arc::clone(unit),
        Standing::Off(off) => panic!("{off:?}"),
    };
    assert!(Arc::ptr_eq(&engine(&first), &engine(&second)));
    assert!(Arc::ptr_eq(&engine(&first).env[0], &engine(&second).env[0]));
    assert!(Arc::ptr_eq(&first.plan.daemon, &second.plan.daemon));
    assert!(!Arc::ptr_eq(&inbox(&first), &inbox(&second)));
    let text = |compiled: &Compiled, name: &str| {
        let found = compiled.canonical.iter().find(|(unit, _)| unit.to_string() == name);
        Arc::clone(found.unwrap().1)
    };
    assert!(Arc::ptr_eq(&text(&first, "keys.env"), &text(&second, "keys.env")));

    // An engine is another one when its environment is.
    state[3] = Some(1);
    let third = compiler.compile(&pick(&state), &env(), &LastGood::new());
    assert!(!Arc::ptr_eq(&engine(&second), &engine(&third)));
    let fourth = compiler.compile(&pick(&state), &env(), &LastGood::new());
    assert!(Arc::ptr_eq(&engine(&third), &engine(&fourth)));

    // Another machine, another meaning.
    let elsewhere =
        CompileEnv { home: Some("/home/you".into()), state_dir: "/state".into(), ..CompileEnv::default() };
    let fifth = compiler.compile(&pick(&state), &elsewhere, &LastGood::new());
    assert_eq!(all(&fifth), all(&compile(&pick(&state), &registry(), &elsewhere)));
}
