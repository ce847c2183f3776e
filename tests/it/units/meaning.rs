//! The plan depends on what the units mean, and on nothing else.

use proptest::prelude::*;

use super::*;

const UNITS: [(&str, &str); 7] = [
    (
        "inbox.connector.toml",
        "[unit]\ndescription = \"Mail\"\nwants = [\"keys.env\"]\n[connector]\nplatform = \"imap\"\nhold = \"1m\"\n\
         [imap]\nhost = \"mail.example.org\"\nuser = \"me\"\npassword = { secret = \"mail\" }\n[install]\nenabled = true\n",
    ),
    (
        "news.connector.toml",
        "[connector]\nplatform = \"feed\"\n[feed]\nurl = \"https://a/\"\n[install]\nenabled = true\n",
    ),
    ("keys.env.toml", "[set]\nA = \"1\"\nB = { env = \"B\" }\n[unset]\nnames = [\"C\", \"D\"]\n"),
    ("t.engine.toml", "[engine]\nengine = \"template\"\nenv = [\"keys\"]\n"),
    ("mail.route.toml", "[route]\nengines = [\"t\"]\npriority = 3\n[match]\nconnector = [\"in*\"]\n"),
    ("broken.route.toml", "[route]\nengines = [\"tt\"]\n"),
    ("news.connector.d/x.toml", "[schedule]\nevery = \"2h\"\n"),
];

fn hash(files: &[(&str, &str)]) -> String {
    compile_texts(files).plan.hash
}

/// The first unit with an edit.
fn edited(from: &str, to: &str) -> String {
    let mut files = UNITS.map(|(name, text)| (name, text.to_owned()));
    assert!(files[0].1.contains(from), "{from}");
    files[0].1 = files[0].1.replace(from, to);
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    hash(&files)
}

#[test]
fn writing_it_otherwise_keeps_the_hash() {
    let before = hash(&UNITS);
    assert_eq!(before.len(), 64);
    for (from, to) in [
        ("[unit]", "# a comment\n\n[unit]"),
        ("hold = \"1m\"", "hold    =   '60s'  # the same"),
        ("host = \"mail.example.org\"\nuser = \"me\"", "user = \"me\"\nhost = \"mail.example.org\""),
        ("{ secret = \"mail\" }", "{secret='mail'}"),
        ("[imap]\n", "[imap]\nport = 993\n"),
        ("[imap]\nhost", "[schedule]\nevery = \"15m\"\n[imap]\nhost"),
        ("enabled = true", "enabled = true\nmasked = false"),
    ] {
        assert_eq!(before, edited(from, to), "{to}");
    }
}

#[test]
fn meaning_something_else_changes_the_hash() {
    let mut seen = vec![hash(&UNITS)];
    for (from, to) in [
        ("\"Mail\"", "\"Mails\""),
        ("hold = \"1m\"", "hold = \"2m\""),
        ("{ secret = \"mail\" }", "{ env = \"mail\" }"),
        ("enabled = true", "enabled = false"),
        ("enabled = true", "masked = true"),
        ("[imap]\n", "[imap]\nport = 994\n"),
        ("user = \"me\"", "usr = \"me\""),
        ("wants", "after"),
    ] {
        let now = edited(from, to);
        assert!(!seen.contains(&now), "{to}");
        seen.push(now);
    }
}

/// The same files in another writing: tables and keys in another order, comments, blank lines, other spaces. What is
/// drawn from `seed` decides.
#[expect(clippy::indexing_slicing, reason = "drawn below the length")]
fn rewritten(files: &[(&str, &str)], seed: u64) -> Vec<(String, String)> {
    let mut state = seed;
    let mut draw = |below: usize| {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % below as u64).unwrap()
    };
    let mut out = Vec::new();
    for (name, text) in files {
        let mut tables: Vec<Vec<&str>> = Vec::new();
        for line in text.lines() {
            if line.starts_with('[') {
                tables.push(Vec::new());
            }
            tables.last_mut().unwrap().push(line);
        }
        let mut written = String::new();
        while !tables.is_empty() {
            let mut lines = tables.remove(draw(tables.len()));
            let mut next = Some(lines.remove(0));
            while let Some(line) = next {
                written.push_str(["", "", "\n", "# = \"a\n", "  # [unit] ä\n\n", "#\r\n"][draw(6)]);
                let (around, indent) = ([" = ", "=", "  =\t"][draw(3)], ["", "", "  ", "\t"][draw(4)]);
                written.push_str(indent);
                written.push_str(&if line.starts_with('[') {
                    line.to_owned()
                } else {
                    line.replacen(" = ", around, 1)
                });
                written.push_str(["\n", "\n", " # enabled = false\n", "\r\n", "   \n"][draw(5)]);
                next = (!lines.is_empty()).then(|| lines.remove(draw(lines.len())));
            }
        }
        out.push(((*name).to_owned(), written));
    }
    out
}

#[test]
fn the_plan_lists_the_edges_between_units_that_are_on() {
    let compiled = compile_texts(&UNITS);
    let edges: Vec<String> = compiled
        .plan
        .edges
        .iter()
        .map(|edge| format!("{} {} {} {}", edge.from, edge.kind.word(), edge.to, edge.place.line))
        .collect();
    assert_eq!(
        edges,
        ["inbox.connector wants keys.env 3", "mail.route uses t.engine 2", "t.engine uses keys.env 3"]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_files_changes_nothing(order in Just((0..UNITS.len()).collect::<Vec<_>>()).prop_shuffle()) {
        let shuffled: Vec<(&str, &str)> = order.iter().map(|at| UNITS[*at]).collect();
        let (a, b) = (compile_texts(&UNITS), compile_texts(&shuffled));
        prop_assert_eq!(&a.plan.hash, &b.plan.hash);
        prop_assert_eq!(standings(&a), standings(&b));
        prop_assert_eq!(json(&a), json(&b));
    }

    #[test]
    fn comments_layout_and_order_of_keys_make_no_new_hash(seed in any::<u64>()) {
        let written = rewritten(&UNITS, seed);
        let files: Vec<(&str, &str)> = written.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let (before, now) = (compile_texts(&UNITS), compile_texts(&files));
        prop_assert_eq!(&before.canonical, &now.canonical);
        prop_assert_eq!(&before.plan.hash, &now.plan.hash, "{:#?}", files);
        // The same writing of something else is something else.
        let mut other = UNITS;
        other[6].1 = "[schedule]\nevery = \"3h\"\n";
        let written = rewritten(&other, seed);
        let files: Vec<(&str, &str)> = written.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        prop_assert_ne!(&before.plan.hash, &compile_texts(&files).plan.hash);
    }

    #[test]
    fn any_text_compiles_without_panic_and_the_same_way_twice(text in "(?s)\\PC{0,80}|[\\[\\]{}=\"'.,#a-c \n\\\\]{0,120}") {
        let files = [("a.connector.toml", text.as_str()), ("a.connector.d/x.toml", text.as_str())];
        let (a, b) = (compile_texts(&files), compile_texts(&files));
        prop_assert_eq!(human(&a, Path::new("/u")), human(&b, Path::new("/u")));
        prop_assert_eq!(a.plan.hash, b.plan.hash);
    }

    #[test]
    fn a_slip_anywhere_never_panics_and_never_shows_the_secret(at in 0usize..230, with in "[\\[\\]{}=\"'\n#x,. ]{0,3}", cut in 0usize..4) {
        let canary = "ghp_CANARYq7Zk3mB9xT2vR8nL5w";
        let unit = UNITS[0].1.replace("{ secret = \"mail\" }", &format!("\"{canary}\""));
        let start = unit.floor_char_boundary(at.min(unit.len()));
        let end = unit.ceil_char_boundary((start + cut).min(unit.len()));
        // A slip within the token itself, or a letter glued to it, makes it another word, which no rule can know.
        let token = unit.find(canary).unwrap();
        prop_assume!(end < token || (end == token && !with.ends_with('x')) || start >= token + canary.len());
        let mut text = unit;
        text.replace_range(start..end, &with);
        let compiled = compile_texts(&[("a.connector.toml", &text)]);
        let shown = format!("{}{}{}", human(&compiled, Path::new("/u")), json(&compiled), standings(&compiled));
        prop_assert!(!shown.contains("CANARY"), "{}\n{}", text, shown);
    }
}
