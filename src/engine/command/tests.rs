use super::*;
use crate::unit::value::Value;

#[test]
fn a_relative_path_is_refused() {
    let check =
        |program: &str| check(&Settings([("program".to_owned(), Value::Text(program.into()))].into())).len();
    assert_eq!(
        [check("claude"), check("/usr/bin/claude"), check("bin/claude"), check("./claude")],
        [0, 0, 1, 1]
    );
}

#[test]
fn local_only_if_the_user_says_so() {
    let local = |flag| (SPEC.is_local)(&Settings([("local".to_owned(), Value::Bool(flag))].into()));
    assert!(local(true) && !local(false) && !(SPEC.is_local)(&Settings::default()));
}
