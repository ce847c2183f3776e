//! Effects in the words of engines: how the offered ones are told, and how chosen ones are read out of a plain text.

use std::fmt::Write as _;

use super::prompt::AnswerForm;
use crate::model::effect::{Effect, Offer};
use crate::model::limits;
use crate::model::run::{EngineOutcome, EngineResult};
use crate::model::text::one_line;

/// Before an effect in a text, on a line of its own above the reply.
const MARK: &str = "ALSO:";

/// The values of an offer may be words of the far side (names of states and labels): a name is short.
const FORM_BYTES_MAX: usize = 400;

/// The passage of a prompt about what is offered.
pub(super) fn told(offers: &[Offer], form: AnswerForm) -> String {
    if offers.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "What else can be done\n\
         With the reply, or without one, these can be proposed where the case calls for it; most cases call for none. The \
         person decides on each.\n",
    );
    for offer in offers.iter().take(limits::EFFECTS_MAX) {
        let _ = writeln!(
            text,
            "- {} ({})",
            one_line(&offer.form(), FORM_BYTES_MAX),
            one_line(&offer.what, FORM_BYTES_MAX)
        );
    }
    let fields = "name each wanted one in `effects`, as it is written above; for one without a reply, leave the text empty";
    let lines = format!(
        "write each wanted one between the two marks on a line of its own above the text: {MARK} and the effect as it \
         is written above; for one without a reply, write no text"
    );
    let _ = match form {
        AnswerForm::Schema => writeln!(text, "To propose some, {fields}."),
        AnswerForm::Marks => writeln!(text, "To propose some, {lines}."),
        AnswerForm::ToolOrMarks => {
            writeln!(text, "To propose some by the tool, {fields}. Otherwise {lines}.")
        }
    };
    text
}

/// Takes effects out of a reply's first lines. Nothing to do but effects is a draft of effects.
pub(super) fn taken_out(mut outcome: EngineOutcome) -> EngineOutcome {
    outcome.result = match outcome.result {
        EngineResult::Reply(text) => EngineResult::Reply(without_lines(&text, &mut outcome.effects)),
        EngineResult::NothingToDo(reason) if !outcome.effects.is_empty() => {
            outcome.remarks.push(format!("no reply: {reason}"));
            EngineResult::Reply(String::new())
        }
        other => other,
    };
    outcome
}

fn without_lines(text: &str, effects: &mut Vec<Effect>) -> String {
    let mut rest = text.trim_start();
    while let Some(line) = rest.strip_prefix(MARK) {
        let (effect, below) = line.split_once('\n').unwrap_or((line, ""));
        if effects.len() < limits::EFFECTS_READ_MAX {
            effects.push(Effect::parse(effect));
        }
        rest = below.trim_start();
    }
    rest.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: EngineResult, effects: &[&str], expected: &str) {
        let effects = effects.iter().map(|text| Effect::parse(text)).collect();
        let outcome = taken_out(EngineOutcome { effects, ..EngineOutcome::of(result) });
        let effects: Vec<String> = outcome.effects.iter().map(ToString::to_string).collect();
        assert_eq!(format!("{:?} {effects:?} {:?}", outcome.result, outcome.remarks), expected);
    }

    #[test]
    fn effects_stand_above_the_text() {
        let reply = |text: &str| EngineResult::Reply(text.to_owned());
        check(
            reply("ALSO: close\nALSO: label: bug\n\nDone in 1.2."),
            &[],
            r#"Reply("Done in 1.2.") ["close", "label: bug"] []"#,
        );
        check(reply("ALSO: close"), &[], r#"Reply("") ["close"] []"#);
        check(reply("It is ALSO: close"), &[], r#"Reply("It is ALSO: close") [] []"#);
    }

    #[test]
    fn nothing_to_do_but_effects() {
        let nothing = || EngineResult::NothingToDo("spam".to_owned());
        check(nothing(), &["close"], r#"Reply("") ["close"] ["no reply: spam"]"#);
        check(nothing(), &[], r#"NothingToDo("spam") [] []"#);
    }

    #[test]
    fn what_is_offered_is_told() {
        let offers =
            [Offer::plain("close", "Close the issue"), Offer::text("label", "Set a label", "its name")];
        insta::assert_snapshot!(told(&offers, AnswerForm::Marks), @r"
        What else can be done
        With the reply, or without one, these can be proposed where the case calls for it; most cases call for none. The person decides on each.
        - close (Close the issue)
        - label: <its name> (Set a label)
        To propose some, write each wanted one between the two marks on a line of its own above the text: ALSO: and the effect as it is written above; for one without a reply, write no text.
        ");
        assert_eq!(told(&[], AnswerForm::Schema), "");
    }
}
