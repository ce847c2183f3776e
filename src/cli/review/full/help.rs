//! The keys, explained.

/// Keys and what they do, by groups.
const KEYS: [(&str, &[(&str, &str)]); 3] = [
    (
        "Decide on the shown draft",
        &[
            ("a", "approve this very version; it leaves after the undo window"),
            ("A", "approve although the thread moved on"),
            ("e", "edit it in $VISUAL or $EDITOR and come back"),
            ("r", "reject with a word; Tab: have the engine try again"),
            ("t", "reject and have the engine try again"),
            ("d", "put it away for a while"),
            ("x", "dismiss the case: it needs no answer"),
            ("u", "undo: take back the newest send that has not left"),
        ],
    ),
    (
        "What happens besides",
        &[("1-9", "turn this effect on or off"), ("Tab, space", "choose an effect, turn it on or off")],
    ),
    (
        "Look around",
        &[
            ("j k, arrows", "next draft, the one before; g G: first, last"),
            ("PgDn PgUp", "through the draft by pages; J K: by lines; Home, End"),
            ("v", "the whole thread, and all of each text"),
            ("Ctrl-L", "draw the screen anew"),
            ("Ctrl-Z", "back to the shell; fg comes back"),
            ("q", "quit"),
        ],
    ),
];

/// The lines of the page: a heading, or a key with its meaning.
pub(super) fn lines() -> Vec<(String, Option<String>)> {
    let mut lines = Vec::new();
    for (group, keys) in KEYS {
        lines.push((group.to_owned(), None));
        lines.extend(keys.iter().map(|(key, does)| ((*key).to_owned(), Some((*does).to_owned()))));
    }
    lines
}
