//! Sizes: `"64K"`, `"8M"`, `"1G"` (powers of 1024), or bytes.

/// The bytes; `None` for anything else.
pub(super) fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text.get(..digits)?.parse().ok()?;
    let scale = match text.get(digits..)? {
        "" | "B" => 1,
        "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_binary_units() {
        assert_eq!(parse("64K"), Some(65_536));
        assert_eq!(parse("8M"), Some(8 << 20));
        assert_eq!(parse("100"), Some(100));
        for wrong in ["", "K", "1.5M", "8MB", "-1", "99999999999G"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
