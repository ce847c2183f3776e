//! What counts, and how much: one row each, with why and what lowers it. A unit's exposure is the sum of its points over
//! the sum of the most that its kind can have, times ten.

/// One thing that opens a unit.
#[derive(Debug)]
pub struct Weight {
    /// Stable name.
    pub code: &'static str,
    /// Points at the worst.
    pub points_max: f64,
    /// What is asked, a few words.
    pub title: &'static str,
    /// What would lower it.
    pub lower: &'static str,
}

/// Without text from others nothing that follows can be steered from outside: the root of all.
pub const FOREIGN_TEXT: Weight = Weight {
    code: "foreign-text",
    points_max: 1.5,
    title: "Text by others comes in",
    lower: "let its routes take only authors you know, `[match] author`, or read a narrower place",
};

/// The one thing a reviewer cannot mend afterwards, so it weighs most.
pub const UNREVIEWED: Weight = Weight {
    code: "unreviewed",
    points_max: 3.0,
    title: "Replies leave without a look at them",
    lower: "set `outbound = \"reviewed\"` in `[connector]`",
};

/// A slip of the hand, or a reply that reads worse a minute later, can be taken back only within the hold.
pub const NO_UNDO: Weight = Weight {
    code: "no-undo",
    points_max: 0.5,
    title: "A send cannot be taken back",
    lower: "set `hold = \"30s\"` in `[connector]`",
};

/// What leaves the machine is no more in one's own hands.
pub const ELSEWHERE: Weight = Weight {
    code: "leaves-machine",
    points_max: 1.5,
    title: "Text goes to a model on another machine",
    lower: "use a local engine, or set `private = true` on the routes that must stay here",
};

/// A program acts with all rights of the user; a text that persuades a model persuades its tools.
pub const PROGRAM: Weight = Weight {
    code: "runs-program",
    points_max: 1.5,
    title: "A program with your rights works on it",
    lower: "use an engine without tools (`openai-chat`, `template`); `[sandbox]` takes rights from a program",
};

/// The same program may read and write whatever its user may.
pub const FILES: Weight = Weight {
    code: "files",
    points_max: 1.0,
    title: "It can reach your files",
    lower: "set `files = \"read-only\"` or `\"named\"` in `[sandbox]`",
};

/// A tool shell can print its environment into a draft.
pub const SECRETS: Weight = Weight {
    code: "secrets-in-env",
    points_max: 1.5,
    title: "Secrets stand in the environment of a program",
    lower: "give it only the key it needs, one with few rights; take the rest out of its env units",
};

/// Variables of the daemon may be tokens that nobody thought of.
pub const PASSED: Weight = Weight {
    code: "passed-variables",
    points_max: 0.5,
    title: "Variables of the daemon are handed through",
    lower: "set what it needs in `[set]` instead of `[pass]`",
};

/// Each alone is a risk, together they are a way out: foreign text, something worth having, and an exit.
pub const OPEN_WAY: Weight = Weight {
    code: "open-way",
    points_max: 2.0,
    title: "Foreign text, something private and a way out come together",
    lower: "take one of the three away: the foreign text, the secrets and files, or the way out",
};

/// A flood of foreign items is a bill.
pub const NO_BUDGET: Weight = Weight {
    code: "no-budget",
    points_max: 0.5,
    title: "Runs are not limited",
    lower: "set `daily_runs` in `[budget]`",
};

/// Whoever sits on the way reads and changes it.
pub const PLAIN: Weight = Weight {
    code: "plain-transport",
    points_max: 1.0,
    title: "The connection is not protected",
    lower: "use TLS, or https",
};

/// What came years ago was not written with an agent in mind.
pub const BACKLOG: Weight = Weight {
    code: "whole-backlog",
    points_max: 0.5,
    title: "All that is there already is worked on",
    lower: "set `backlog = \"new\"` or an age such as `\"7d\"`",
};

/// What is judged of a connector, in the order shown.
pub const CONNECTOR: &[&Weight] =
    &[&FOREIGN_TEXT, &UNREVIEWED, &NO_UNDO, &ELSEWHERE, &PROGRAM, &SECRETS, &OPEN_WAY, &PLAIN, &BACKLOG];

/// What is judged of an engine, in the order shown.
pub const ENGINE: &[&Weight] =
    &[&FOREIGN_TEXT, &UNREVIEWED, &ELSEWHERE, &PROGRAM, &FILES, &SECRETS, &PASSED, &OPEN_WAY, &NO_BUDGET];
