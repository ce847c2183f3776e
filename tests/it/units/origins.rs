//! Where each key comes from.

use workagent::catalog::CATALOG;
use workagent::unit::compile::KeyOrigin;

use super::*;

fn name(full: &str) -> UnitName {
    let (name, kind) = full.rsplit_once('.').unwrap();
    UnitName { name: name.to_owned(), kind: Kind::from_word(kind).unwrap() }
}

/// "table.key = value  place  < shadowed places", one a line.
fn shown(compiled: &Compiled, unit: &str) -> String {
    let place = |span: workagent::diag::Span| {
        let (line, column) = compiled.sources.position(span);
        format!("{}:{line}:{column}", compiled.sources.path(span.source).display())
    };
    let line = |origin: &KeyOrigin| {
        let from = origin.span.map_or_else(|| "default".to_owned(), place);
        let below: Vec<String> = origin.shadows.iter().map(|span| format!(" < {}", place(*span))).collect();
        format!("{}.{} = {}  {from}{}", origin.table, origin.key, origin.value, below.concat())
    };
    compiled.origins.get(&name(unit)).unwrap().iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_key_names_its_place_and_what_it_covers() {
    let compiled = compile_texts(&[
        (
            "m@.connector.toml",
            "[unit]\ndescription = \"Two\\nlines\"\n[connector]\nplatform = \"imap\"\n[imap]\nhost = \"a\"\nuser = \"me\"\n\
             password = { secret = \"%i\" }\n[install]\nenabled = true\n",
        ),
        ("connector.d/0.toml", "[imap]\nport = 1\n[connector]\nhold = \"5s\"\n"),
        ("m@.connector.d/0.toml", "unset = [\"connector.hold\"]\n[imap]\nport = 2\n"),
        ("2:m@x.connector.d/0.toml", "[imap]\nport = 3\n[unit]\nafter = { append = [\"m@y.connector\"] }\n"),
    ]);
    insta::assert_snapshot!(shown(&compiled, "m@x.connector"), @r#"
    connector.platform = "imap"  /u/1/m@.connector.toml:4:12
    connector.outbound = "reviewed"  default
    connector.backlog = "new"  default
    connector.hold = "30s"  /u/1/m@.connector.d/0.toml:1:10 < /u/1/connector.d/0.toml:4:8
    connector.shadow = false  default
    connector.stop_timeout = "30s"  default
    auto.after = 0  default
    auto.agreement = 95  default
    schedule.every = "15m"  default
    schedule.at_start = true  default
    schedule.jitter = "0s"  default
    schedule.on_resume = "once"  default
    restart.network_first = "5s"  default
    restart.network_max = "15m"  default
    restart.config_first = "1m"  default
    restart.config_max = "1h"  default
    restart.auth_every = "1h"  default
    restart.bug_first = "10s"  default
    restart.bug_max = "30m"  default
    restart.bug_attempts = 10  default
    imap.host = "a"  /u/1/m@.connector.toml:6:8
    imap.port = 3  /u/2/m@x.connector.d/0.toml:2:8 < /u/1/m@.connector.d/0.toml:3:8 < /u/1/connector.d/0.toml:2:8
    imap.user = "me"  /u/1/m@.connector.toml:7:8
    imap.password = { secret = "x" }  /u/1/m@.connector.toml:8:12
    unit.description = "Two\nlines"  /u/1/m@.connector.toml:2:15
    unit.after = ["m@y.connector"]  /u/2/m@x.connector.d/0.toml:4:9
    install.enabled = true  /u/1/m@.connector.toml:10:11
    install.masked = false  default
    "#);
}

#[test]
fn variables_and_masked_units() {
    let compiled = compile_texts(&[
        ("a.env.toml", "[set]\nA = \"1\"\nB = { env = \"B\" }\n"),
        ("a.env.d/x.toml", "[set]\nA = \"2\"\n"),
        ("m.env.toml", "[install]\nmasked = true\n"),
    ]);
    insta::assert_snapshot!(shown(&compiled, "a.env"), @r#"
    set.A = "2"  /u/1/a.env.d/x.toml:2:5 < /u/1/a.env.toml:2:5
    set.B = { env = "B" }  /u/1/a.env.toml:3:5
    install.masked = false  default
    "#);
    assert_eq!(shown(&compiled, "m.env"), "");
}

#[test]
fn every_key_of_every_shipped_unit_under_three_layers_has_its_place() {
    let registry = CATALOG.registry();
    let mut all = load(&SearchPath { builtin: true, dirs: Vec::new(), files: Vec::new() }, registry.shipped);
    let units: Vec<String> =
        registry.shipped.iter().map(|unit| unit.file.strip_suffix(".toml").unwrap().to_owned()).collect();
    let layer =
        |text: &str| format!("# {text}\n\n[unit]\ndescription = \"{text}\"\ndocumentation = [\"{text}\"]\n");
    let mut drop_ins = Vec::new();
    for unit in &units {
        for level in 1..=3 {
            drop_ins.push((format!("{level}:{unit}.d/{level}.toml"), layer(&format!("layer {level}"))));
        }
    }
    let drop_ins: Vec<(&str, &str)> =
        drop_ins.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    all.files.extend(loaded(&drop_ins).files);
    let compiled = compile(&all, &registry, &env());
    for unit in &units {
        let origins = compiled.origins.get(&name(unit)).unwrap();
        let find = |key: &str| origins.iter().find(|origin| origin.key == key).unwrap();
        let description = find("description");
        assert_eq!((description.value.as_str(), description.shadows.len()), ("\"layer 3\"", 3), "{unit}");
        assert_eq!(
            (find("documentation").value.as_str(), find("documentation").shadows.len()),
            ("[\"layer 3\"]", 2)
        );
        for origin in origins.iter() {
            let places = origin.span.iter().chain(&origin.shadows);
            for span in places {
                let (line, column) = compiled.sources.position(*span);
                let path = compiled.sources.path(span.source);
                // What stands there is the value, as it was written.
                let slice = compiled.sources.slice(*span);
                assert!(!slice.is_empty() && line > 0 && column > 0, "{unit} {origin:?}");
                let text = compiled.sources.text(span.source);
                let written = text.lines().nth(line as usize - 1).unwrap();
                let wanted = format!("{} = ", origin.key);
                assert!(
                    written.contains(&wanted),
                    "{}:{line}:{column} `{written}` is not {wanted}",
                    path.display()
                );
            }
            assert!(!origin.value.is_empty() && !origin.value.contains('\n'), "{unit} {origin:?}");
        }
        // A key that stands in the unit's own file and nowhere else is told from there.
        let shipped = registry.shipped.iter().find(|file| file.file == format!("{unit}.toml")).unwrap();
        let own = shipped.text.lines().filter(|line| line.contains(" = ") && !line.starts_with('#')).count();
        let told = origins.iter().filter(|origin| {
            origin
                .span
                .iter()
                .chain(&origin.shadows)
                .any(|span| compiled.sources.path(span.source).starts_with(workagent::unit::BUILT_IN))
        });
        assert_eq!(told.count(), own, "{unit}");
    }
}
