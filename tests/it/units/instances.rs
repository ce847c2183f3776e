//! Templates and their instances.

use super::*;

const TEMPLATE: &str = "[unit]\ndescription = \"Mail of %i\"\n[connector]\nplatform = \"imap\"\n[imap]\nhost = \"%i.example.org\"\n\
     user = \"me@%i\"\npassword = { secret = \"%p/%i\" }\n";
const ON: &str = "[install]\nenabled = true\n";

/// Findings, then each unit with its state.
fn check(files: &[(&str, &str)], expected: &str) {
    let compiled = compile_texts(files);
    let shown = format!("{}\n{}", short(&compiled, Path::new("/u")), standings(&compiled));
    assert_eq!(shown.trim(), expected);
}

fn connector(files: &[(&str, &str)], name: &str) -> workagent::unit::plan::ConnectorUnit {
    let compiled = compile_texts(files);
    match compiled.plan.connectors.get(name) {
        Some(Standing::Active(unit)) => (**unit).clone(),
        _ => panic!("{}\n{}", human(&compiled, Path::new("/u")), standings(&compiled)),
    }
}

#[test]
fn a_template_is_no_unit_of_the_plan_even_if_it_is_enabled() {
    check(&[("mail@.connector.toml", TEMPLATE)], "");
    check(&[("mail@.connector.toml", &format!("{TEMPLATE}{ON}"))], "");
}

#[test]
fn a_drop_in_makes_an_instance_whose_text_is_the_templates() {
    let files = [("mail@.connector.toml", TEMPLATE), ("2:mail@work.connector.d/enabled.toml", ON)];
    check(&files, "mail@work.connector on");
    let unit = connector(&files, "mail@work");
    assert_eq!(unit.description, "Mail of work");
    assert_eq!(unit.settings.text("host"), Some("work.example.org"));
    assert_eq!(unit.settings.text("user"), Some("me@work"));
    assert_eq!(unit.settings.secret("password").unwrap().to_string(), "mail/work");
    let compiled = compile_texts(&files);
    let name = UnitName { name: "mail@work".into(), kind: Kind::Connector };
    assert_eq!(compiled.plan.sources[&name], Path::new("/u/1/mail@.connector.toml"));
}

#[test]
fn an_instance_with_a_file_of_its_own_takes_nothing_from_the_template() {
    let own = "[connector]\nplatform = \"feed\"\n[feed]\nurl = \"https://x/%i\"\n[install]\nenabled = true\n";
    let files = [("2:mail@.connector.toml", TEMPLATE), ("1:mail@own.connector.toml", own)];
    assert_eq!(connector(&files, "mail@own").settings.text("url"), Some("https://x/own"));
    check(&files[1..], "mail@own.connector on");
}

#[test]
fn drop_ins_apply_from_wide_to_narrow() {
    let every = |every: &str| format!("[schedule]\nevery = \"{every}\"\n");
    let (kind, template, own) = (every("1h"), every("2h"), every("3h"));
    let mut files = vec![
        ("1:mail@.connector.toml", TEMPLATE),
        ("1:mail@a.connector.d/a.toml", ON),
        ("3:connector.d/z.toml", &kind),
        ("2:mail@.connector.d/y.toml", &template),
        ("1:mail@a.connector.d/x.toml", &own),
    ];
    for expected in ["3h", "2h", "1h"] {
        let unit = connector(&files, "mail@a");
        let every = unit.settings.text("host").map(|_| format!("{:?}", unit.schedule)).unwrap();
        let seconds = expected[..1].parse::<u64>().unwrap() * 3600;
        assert!(every.contains(&format!("{seconds}s")), "{every} is not {expected}");
        files.pop();
    }
}

#[test]
fn a_unit_that_names_an_instance_makes_it() {
    let engine = "[engine]\nengine = \"template\"\nmodel = \"%i\"\n";
    let route = "[route]\nengines = [\"codex@fast\"]\n";
    let files = [("codex@.engine.toml", engine), ("r.route.toml", route)];
    check(&files, "codex@fast.engine on\nr.route on");
    let compiled = compile_texts(&files);
    let Standing::Active(unit) = &compiled.plan.engines["codex@fast"] else { panic!() };
    assert_eq!(unit.model, "fast");
    // Only a unit that is on calls others into being; and what it names there is all the same.
    check(
        &[files[0], ("r.route.toml", &format!("{route}[install]\nenabled = false\n"))],
        "r.route disabled: [install] enabled = false",
    );
}

#[test]
fn an_instance_names_its_own_instances() {
    check(
        &[
            ("a@.env.toml", "[unit]\nwants = [\"b@%i.env\"]\n"),
            ("b@.env.toml", "[set]\nA = \"1\"\n"),
            ("a@x.env.d/y.toml", ""),
        ],
        "a@x.env on\nb@x.env on",
    );
    // Each names a longer one, as long as names may be so long.
    let compiled =
        compile_texts(&[("a@.env.toml", "[unit]\nwants = [\"a@%ix.env\"]\n"), ("a@x.env.d/y.toml", "")]);
    assert_eq!(compiled.plan.envs.len(), 126);
}

#[test]
fn an_instance_of_nothing_is_told_with_what_was_meant() {
    check(
        &[
            ("codex@.engine.toml", "[engine]\nengine = \"template\"\n"),
            ("r.route.toml", "[route]\nengines = [\"codx@fast\"]\n"),
        ],
        "1/r.route.toml:2:12: error[dangling-reference]: there is no engine unit `codx@fast`\n\n\
         r.route dependency: there is no engine unit `codx@fast`",
    );
    let compiled = compile_texts(&[
        ("codex@.engine.toml", "[engine]\nengine = \"template\"\n"),
        ("r.route.toml", "[route]\nengines = [\"codx@fast\"]\n"),
    ]);
    assert_eq!(compiled.findings[0].suggestion.as_ref().unwrap().text, "did you mean `codex@fast`?");
    check(
        &[
            ("codex@.engine.toml", "[engine]\nengine = \"template\"\n"),
            ("r.route.toml", "[route]\nengines = [\"codex@\"]\n"),
        ],
        "1/r.route.toml:2:12: error[dangling-reference]: `codex@.engine` is a template, and only its instances run\n\n\
         r.route dependency: `codex@.engine` is a template, and only its instances run",
    );
    check(
        &[("mail@work.connector.d/x.toml", ON)],
        "1/mail@work.connector.d/x.toml: warning[orphan-drop-in]: there is neither a unit `mail@work.connector` nor a \
         template `mail@.connector`",
    );
}

#[test]
fn a_template_is_looked_at_although_nothing_is_made_of_it() {
    let slip = TEMPLATE.replace("host =", "hst =");
    check(
        &[("mail@.connector.toml", &format!("{slip}{ON}"))],
        "1/mail@.connector.toml:6:1: error[unknown-key]: unknown key `imap.hst`",
    );
    check(
        &[("mail@.connector.toml", &slip)],
        "1/mail@.connector.toml: info[disabled-incomplete]: this unit is disabled; enabled, it would have 1 problem",
    );
    let literal = TEMPLATE.replace("{ secret = \"%p/%i\" }", "\"hunter2\"");
    let compiled = compile_texts(&[("mail@.connector.toml", &literal)]);
    assert!(short(&compiled, Path::new("/u")).contains("literal-secret"));
    assert!(!human(&compiled, Path::new("/u")).contains("hunter2"));
}

#[test]
fn what_an_instance_lacks_is_told_once() {
    check(
        &[
            ("mail@.connector.toml", &format!("{}{ON}", TEMPLATE.replace("host = \"%i.example.org\"\n", ""))),
            ("mail@a.connector.d/x.toml", ""),
            ("mail@b.connector.d/x.toml", ""),
        ],
        "1/mail@.connector.toml:5:1: error[missing-key]: missing key `imap.host`\n\n\
         mail@a.connector bad-setting: missing key `imap.host`\n\
         mail@b.connector bad-setting: missing key `imap.host`",
    );
}

#[test]
fn specifiers_mean_something_or_are_told() {
    let feed = |description: &str, url: &str| {
        format!(
            "[unit]\ndescription = \"{description}\"\n[connector]\nplatform = \"feed\"\n[feed]\nurl = \"{url}\"\n{ON}"
        )
    };
    check(
        &[("a.connector.toml", &feed("of %i", "https://x/"))],
        "1/a.connector.toml:2:15: error[bad-specifier]: `unit.description`: has `%i`, the name of an instance, but this \
         unit is no instance\n\n\
         a.connector bad-setting: `unit.description`: has `%i`, the name of an instance, but this unit is no instance",
    );
    check(
        &[("a.connector.toml", &feed("50 %x", "https://x/"))],
        "1/a.connector.toml:2:15: error[bad-specifier]: `unit.description`: there is no specifier `%x`, only %i %p %n %h \
         %u %H %E %S %C %t %%; `%%` is a `%`\n\n\
         a.connector bad-setting: `unit.description`: there is no specifier `%x`, only %i %p %n %h %u %H %E %S %C %t %%; \
         `%%` is a `%`",
    );
    let unit = connector(&[("a.connector.toml", &feed("100 %%", "https://x/%p/%20"))], "a");
    assert_eq!((unit.description.as_str(), unit.settings.text("url")), ("100 %", Some("https://x/a/%20")));
}

#[test]
fn a_masked_template_masks_its_instances_and_says_who_believes_otherwise() {
    check(
        &[("mail@.connector.toml", "[install]\nmasked = true\n"), ("mail@a.connector.d/on.toml", ON)],
        "1/mail@a.connector.d/on.toml:2:11: warning[contradictory-enablement]: enabled here, but masked in a lower layer: \
         it stays off\n\n\
         mail@a.connector masked: [install] masked = true",
    );
    // The usual way to mask a unit that is enabled.
    check(
        &[("a.env.toml", ON), ("a.env.d/mask.toml", "[install]\nmasked = true\n")],
        "a.env masked: [install] masked = true",
    );
}

#[test]
fn names_that_differ_only_in_case_are_told() {
    check(
        &[("Inbox.env.toml", ""), ("inbox.env.toml", "")],
        "1/inbox.env.toml: warning[names-differ-in-case]: `inbox.env` and `Inbox.env` differ only in capital letters\n\n\
         Inbox.env on\ninbox.env on",
    );
}

#[test]
fn a_template_that_names_ever_more_of_itself_comes_to_an_end() {
    let text = "[unit]\nwants = [\"t@%i1.env\", \"t@%i2.env\"]\n[set]\nA = \"1\"\n";
    let compiled = compile_texts(&[("t@.env.toml", text), ("t@a.env.d/x.toml", ON)]);
    let told = short(&compiled, Path::new("/u"));
    let expected = "1/t@.env.toml: error[endless-instances]: `t@.env` and others name ever more instances: no more than \
                    1000 are made\n";
    assert!(told.starts_with(expected), "{told}");
    assert!(compiled.plan.envs.len() <= 1001, "{}", compiled.plan.envs.len());
}

#[test]
fn a_list_that_no_person_wrote_is_not_looked_through() {
    let names: Vec<String> = (0..1001).map(|number| format!("u{number}.engine")).collect();
    let text = format!("[unit]\nwants = {names:?}\n[set]\nA = \"1\"\n");
    check(
        &[("a.env.toml", &text)],
        "1/a.env.toml:2:10: error[bad-value]: `unit.wants` has more than 1000 elements\n\n\
         a.env bad-setting: `unit.wants` has more than 1000 elements",
    );
}
