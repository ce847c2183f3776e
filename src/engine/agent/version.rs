//! Versions of programs. Pure.

use std::fmt;

/// Three numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::engine) struct Version(pub [u32; 3]);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The first version in what a program prints: `2.1.332 (Claude Code)`, `codex-cli 0.171.0`.
pub(super) fn parse(text: &str) -> Option<Version> {
    text.split(|c: char| c.is_whitespace() || c == 'v' || c == '(').find_map(|word| {
        let mut parts = word.splitn(3, '.');
        let mut number = || {
            let part = parts.next()?;
            let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part.get(..digits)?.parse().ok()
        };
        Some(Version([number()?, number()?, number()?]))
    })
}

/// The versions that an engine knows: from the one that it was tried with up to below the next that may differ.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Known {
    pub from: [u32; 3],
    pub below: [u32; 3],
}

impl Known {
    /// What to say of a version outside.
    pub(super) fn warning(&self, version: &Version) -> Option<String> {
        let Self { from, below } = *self;
        let range = || format!("{} to below {}", Version(from), Version(below));
        if version.0 < from {
            Some(format!("older than this engine knows ({})", range()))
        } else if version.0 >= below {
            Some(format!("newer than this engine knows ({})", range()))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_programs_print_them() {
        let check = |text: &str, expected: Option<[u32; 3]>| {
            assert_eq!(parse(text).map(|version| version.0), expected, "{text}");
        };
        check("2.1.332 (Claude Code)\n", Some([2, 1, 332]));
        check("codex-cli 0.171.0\n", Some([0, 171, 0]));
        check("codex-cli 0.172.0-alpha.3", Some([0, 172, 0]));
        check("program v1.2.3", Some([1, 2, 3]));
        check("built 2026 with 1.2", None);
        check("", None);
        check("99999999999.1.1", None);
    }

    #[test]
    fn outside_of_the_known_range_is_said() {
        let known = Known { from: [2, 1, 300], below: [2, 2, 0] };
        let warning = |version| known.warning(&Version(version));
        assert_eq!(warning([2, 1, 332]), None);
        assert_eq!(warning([2, 1, 9]).unwrap(), "older than this engine knows (2.1.300 to below 2.2.0)");
        assert_eq!(warning([2, 2, 0]).unwrap(), "newer than this engine knows (2.1.300 to below 2.2.0)");
    }
}
