use proptest::prelude::*;

use super::*;

/// The values of the redaction case.
const CANARIES: [&str; 6] = [
    "ghp_CANARYq7Zk3mB9xT2vR8nL5wS1yD6fH0jC4a",
    "p@ss CANARY w0rd/+=%41",
    "CANARYfeed-6f1c9e2b7d3a",
    "CANARYproxy-18aa",
    "sk-CANARY-0f9e8d7c6b5a4938271605f4e3d2c1b0",
    "-----BEGIN CANARY-----\nQ0FOQVJZbGluZTE=\n-----END CANARY-----",
];

fn knowing(values: &[&str]) -> Scrubber {
    let scrubber = Scrubber::new();
    for value in values {
        assert!(scrubber.register(&SecretValue::new((*value).to_owned())));
    }
    scrubber
}

/// `encode`d, each canary is masked whole, between other text.
fn check(encode: impl Fn(&str) -> String) {
    let scrubber = knowing(&CANARIES);
    for canary in CANARIES {
        let encoded = encode(canary);
        let shown = scrubber.scrub(&format!("before <{encoded}> after")).into_owned();
        assert_eq!(shown, "before <[masked]> after", "{encoded}");
    }
}

/// `encode`d together with its neighbours, all but `rest_max` bytes is masked.
fn check_most(rest_max: usize, encode: impl Fn(&str) -> String) {
    let scrubber = knowing(&CANARIES);
    for canary in CANARIES {
        let encoded = encode(canary);
        let shown = scrubber.scrub(&encoded).into_owned();
        let rest = shown.replacen(MASK, "", 1);
        assert!(shown.contains(MASK) && rest.len() <= rest_max, "{encoded} gave {shown}");
    }
}

fn base64(bytes: &[u8], alphabet_tail: &str, pad: bool) -> String {
    let alphabet: Vec<char> =
        ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(alphabet_tail.chars()).collect();
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for digit in 0..=chunk.len() {
            out.push(alphabet[usize::try_from(word >> (18 - 6 * digit) & 63).unwrap()]);
        }
        if pad {
            out.push_str(&"=".repeat(3 - chunk.len()));
        }
    }
    out
}

#[test]
fn plain() {
    check(str::to_owned);
}

#[test]
fn in_json_and_in_json_in_json() {
    let json = |text: &str| serde_json::to_string(text).unwrap().trim_matches('"').to_owned();
    check(json);
    check(|canary| json(&json(canary)));
    check(|canary| canary.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect());
}

#[test]
fn in_debug_of_text_and_of_bytes() {
    check(|canary| format!("{canary:?}").trim_matches('"').to_owned());
    check(|canary| canary.bytes().map(|byte| format!("\\x{byte:02X}")).collect());
    check(|canary| format!("{:?}", canary.as_bytes()).trim_matches(['[', ']']).to_owned());
    check_most(10, |canary| format!("{:#?}", canary.as_bytes()));
}

#[test]
fn in_urls() {
    let some = |canary: &str| url::form_urlencoded::byte_serialize(canary.as_bytes()).collect::<String>();
    let all = |canary: &str| canary.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    check(some);
    check(all);
    check(|canary| some(&some(canary)));
}

#[test]
fn in_markup() {
    check(|canary| canary.chars().map(|c| format!("&#{};", u32::from(c))).collect());
    check(|canary| canary.replace('=', "&#x3D;").replace('-', "&#45;"));
    let scrubber = knowing(&["a&b<c>d\"e"]);
    assert_eq!(scrubber.scrub("<p>a&amp;b&lt;c&gt;d&quot;e</p>"), "<p>[masked]</p>");
}

#[test]
fn in_hex() {
    check(|canary| canary.bytes().map(|byte| format!("{byte:02x}")).collect());
    check(|canary| canary.bytes().map(|byte| format!("{byte:02X}")).collect());
}

#[test]
fn in_base64_of_all_kinds_and_alignments() {
    for (tail, pad) in [("+/", true), ("+/", false), ("-_", true), ("-_", false)] {
        for lead in ["", "u", "me", "me:", "user=me\u{1}auth=Bearer "] {
            for trail in ["", "\u{1}", "\u{1}\u{1}", "ab"] {
                // The neighbours' own digits, up to two at each seam, and padding.
                let rest_max = (lead.len() + trail.len()).div_ceil(3) * 4 + 6;
                check_most(rest_max, |canary| base64(format!("{lead}{canary}{trail}").as_bytes(), tail, pad));
            }
        }
    }
    // Alone, all of it goes but the digits that share bits with the padding.
    let scrubber = knowing(&CANARIES);
    for canary in CANARIES {
        let shown = scrubber.scrub(&base64(canary.as_bytes(), "+/", true)).into_owned();
        assert!(shown.starts_with(MASK) && shown.len() <= MASK.len() + 3, "{shown}");
    }
}

#[test]
fn any_eight_characters() {
    let scrubber = knowing(&CANARIES);
    for canary in CANARIES {
        let chars: Vec<char> = canary.chars().collect();
        for piece in chars.windows(8) {
            let piece: String = piece.iter().collect();
            assert_eq!(scrubber.scrub(&format!("cut<{piece}")), "cut<[masked]");
        }
    }
}

#[test]
fn between_characters_of_several_bytes() {
    let scrubber = knowing(&["gehe\u{f6}ffnet-12"]);
    assert_eq!(scrubber.scrub("ü gehe\u{f6}ffnet-12 ß"), "ü [masked] ß");
    assert_eq!(scrubber.scrub("ehe\u{f6}ffne"), MASK);
}

#[test]
fn short_values_only_whole_and_tiny_ones_not_at_all() {
    let scrubber = knowing(&["pin4", "1234567"]);
    assert_eq!(scrubber.scrub("pin4 pin 1234567 123456"), "[masked] pin [masked] 123456");
    assert!(!scrubber.register(&SecretValue::new("abc".into())));
    assert_eq!(scrubber.scrub("abc"), "abc");
}

#[test]
fn harmless_text_is_borrowed() {
    let text = "synced inbox.connector: 3 new items, next in 60s; 100%, \\o/ & [1, 2, 300]";
    assert!(matches!(knowing(&CANARIES).scrub(text), Cow::Borrowed(_)));
}

#[test]
fn tokens_nobody_stored() {
    let scrubber = Scrubber::new();
    assert_eq!(scrubber.scrub("Authorization: Bearer abcDEF123456789"), "Authorization: Bearer [masked]");
}

#[test]
fn a_replaced_value_stays_masked() {
    let scrubber = knowing(&["old-value-1"]);
    scrubber.register(&SecretValue::new("new-value-2".into()));
    scrubber.register(&SecretValue::new("new-value-2".into()));
    assert_eq!(scrubber.scrub("old-value-1 new-value-2"), "[masked] [masked]");
    assert_eq!(format!("{scrubber:?}"), "Scrubber(2 values)");
}

#[test]
fn json_stays_json() {
    let scrubber = knowing(&["12345678"]);
    let mut value = serde_json::json!({"at": 12_345_678, "x12345678": ["a 12345678", null]});
    scrubber.scrub_json(&mut value);
    assert_eq!(value, serde_json::json!({"at": 12_345_678, "x[masked]": ["a [masked]", null]}));
}

proptest! {
    #[test]
    fn whatever_the_text_nothing_of_eight_bytes_stays(
        secret in "[ -~]{8,40}", before in "\\PC{0,20}", after in "\\PC{0,20}"
    ) {
        let secret = secret.trim_end_matches(['\r', '\n']);
        let scrubber = knowing(&[secret]);
        let shown = scrubber.scrub(&format!("{before}{secret}{after}")).replace(MASK, "\0");
        for piece in secret.as_bytes().windows(8) {
            prop_assert!(!shown.as_bytes().windows(8).any(|window| window == piece));
        }
    }

    #[test]
    fn any_text_is_taken(text in "\\PC{0,200}", junk in "[%\\\\&#xu{};0-9a-fA-F, -]{0,80}") {
        let scrubber = knowing(&CANARIES);
        let _ = (scrubber.scrub(&text), scrubber.scrub(&junk));
    }
}

#[test]
fn in_text_of_the_user_only_whole_values_are_masked() {
    let scrubber = Scrubber::new();
    for value in ["correct horse battery", "1984", "password"] {
        scrubber.register(&SecretValue::new(value.to_owned()));
    }
    let check = |text: &str, expected: &str| assert_eq!(scrubber.mask_whole(text), expected);
    check("the correct horse in 1984", "the correct horse in 1984");
    check("ghp_0123456789abcdefghij is a token", "ghp_0123456789abcdefghij is a token");
    check("it is correct horse battery, and 1984", "it is [masked], and 1984");
    check("?key=correct%20horse+battery", "?key=correct%20horse+battery");
    check("?key=correct%20horse%20battery&x", "?key=[masked]&x");
    check("?key=correct+horse+battery&x", "?key=[masked]&x");
    check("Basic Y29ycmVjdCBob3JzZSBiYXR0ZXJ5 end", "Basic [masked] end");
    check("the word password", "the word [masked]");
}
