//! Encoded forms of a value that are searched for as they stand.

use zeroize::Zeroizing;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The value itself, and with `+` for blanks as in a form or a query.
pub fn of_text(value: &str, mut add: impl FnMut(&[u8])) {
    add(value.as_bytes());
    if value.contains(' ') {
        add(Zeroizing::new(value.replace(' ', "+")).as_bytes());
    }
}

/// Hex of both cases, base64 of both alphabets at all three alignments.
pub fn of_bytes(value: &[u8], mut add: impl FnMut(&[u8])) {
    let lower = Zeroizing::new(crate::model::text::hex(value));
    add(lower.as_bytes());
    add(Zeroizing::new(lower.to_ascii_uppercase()).as_bytes());
    for lead in 0..3 {
        let standard = base64_within(value, lead);
        add(&standard);
        if standard.iter().any(|&byte| byte == b'+' || byte == b'/') {
            let url_safe = standard.iter().map(|&byte| match byte {
                b'+' => b'-',
                b'/' => b'_',
                other => other,
            });
            add(&Zeroizing::new(url_safe.collect::<Vec<u8>>()));
        }
    }
}

/// The digits that stand for `value` alone when `lead` bytes (modulo three) come before it and anything after it. The
/// digits at the seams, which share bits with the neighbours, are not among them; padding is not either.
fn base64_within(value: &[u8], lead: usize) -> Zeroizing<Vec<u8>> {
    let bit_at = |bit: usize| value.get(bit / 8).map_or(0, |byte| usize::from(byte >> (7 - bit % 8) & 1));
    // The first digit boundary at or behind the start of the value, in bits from that start.
    let first = (6 - (lead * 8) % 6) % 6;
    let digits = (value.len() * 8).saturating_sub(first) / 6;
    let mut out = Zeroizing::new(Vec::with_capacity(digits));
    for digit in 0..digits {
        let start = first + digit * 6;
        let index = (start..start + 6).fold(0, |index, bit| index << 1 | bit_at(bit));
        out.extend(STANDARD.get(index));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_digits_of_all_alignments() {
        // base64 of "CANARY", "xCANARY" and "xxCANARY" is Q0FOQVJZ, eENBTkFSWQ==, eHhDQU5BUlk=.
        let shown = |lead| String::from_utf8(base64_within(b"CANARY", lead).to_vec()).unwrap();
        assert_eq!([shown(0), shown(1), shown(2)], ["Q0FOQVJZ", "NBTkFSW", "DQU5BUl"]);
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert!(base64_within(b"", 1).is_empty());
    }
}
