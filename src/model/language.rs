//! In which language a text is: a guess by its letters and its smallest words, for routes. Pure.
//!
//! It knows a score of languages and says nothing where it is not sure: a text of few words, of several languages, or in
//! one that it does not know. Greetings of one line are beyond it.

use super::text::cut;

/// The languages that it knows, by ISO 639-1.
pub const WORDS: [&str; 24] = [
    "ar", "cs", "da", "de", "el", "en", "es", "fi", "fr", "he", "hi", "hu", "it", "ja", "ko", "nl", "no",
    "pl", "pt", "ru", "sv", "th", "uk", "zh",
];

/// Small words that are frequent in one language; those that several share count for each.
const SMALL: [(&str, &[&str]); 15] = [
    (
        "en",
        &[
            "the", "and", "of", "to", "is", "you", "that", "for", "it", "with", "on", "are", "this", "have",
            "not", "we", "can", "would", "your", "from", "be", "about", "what", "please", "could", "will",
        ],
    ),
    (
        "de",
        &[
            "der", "die", "das", "und", "ist", "nicht", "ich", "sie", "wir", "mit", "für", "ein", "eine",
            "zu", "den", "dem", "auf", "im", "von", "auch", "es", "bitte", "können", "haben", "wie", "uns",
            "ihre", "wenn",
        ],
    ),
    (
        "fr",
        &[
            "le", "la", "les", "des", "et", "est", "une", "un", "je", "vous", "nous", "pour", "que", "qui",
            "dans", "pas", "ne", "avec", "sur", "du", "ce", "au", "votre", "merci", "être", "avez", "plus",
        ],
    ),
    (
        "es",
        &[
            "el", "los", "las", "de", "que", "y", "en", "un", "una", "es", "no", "por", "con", "para", "se",
            "su", "lo", "como", "está", "más", "pero", "usted", "gracias", "del", "al", "hola",
        ],
    ),
    (
        "it",
        &[
            "il", "lo", "gli", "di", "che", "è", "e", "un", "una", "non", "per", "con", "sono", "della",
            "del", "mi", "ho", "si", "anche", "questo", "grazie", "nel", "come", "più", "dei", "alla",
        ],
    ),
    (
        "pt",
        &[
            "o", "os", "as", "de", "que", "e", "um", "uma", "não", "para", "com", "por", "em", "do", "da",
            "no", "na", "se", "você", "está", "mais", "obrigado", "dos", "são", "ao", "isso",
        ],
    ),
    (
        "nl",
        &[
            "de", "het", "een", "en", "van", "is", "ik", "dat", "niet", "je", "u", "we", "voor", "met", "op",
            "te", "zijn", "aan", "er", "ook", "maar", "kunnen", "graag", "bij", "naar", "wij",
        ],
    ),
    (
        "sv",
        &[
            "och", "att", "det", "är", "jag", "en", "ett", "som", "på", "för", "med", "inte", "av", "du",
            "vi", "till", "om", "har", "den", "från", "kan", "tack",
        ],
    ),
    (
        "da",
        &[
            "og", "at", "det", "er", "jeg", "en", "et", "som", "på", "for", "med", "ikke", "af", "du", "vi",
            "til", "om", "har", "den", "fra", "kan", "hvad", "tak",
        ],
    ),
    (
        "no",
        &[
            "og", "å", "det", "er", "jeg", "en", "et", "som", "på", "for", "med", "ikke", "av", "du", "vi",
            "til", "om", "har", "den", "fra", "kan", "hva", "takk",
        ],
    ),
    (
        "fi",
        &[
            "ja", "on", "ei", "se", "että", "ovat", "oli", "minä", "sinä", "me", "te", "kun", "niin",
            "mutta", "myös", "kanssa", "voi", "ole", "kiitos", "tämä", "mitä",
        ],
    ),
    (
        "pl",
        &[
            "i",
            "w",
            "na",
            "się",
            "nie",
            "z",
            "do",
            "jest",
            "to",
            "że",
            "o",
            "jak",
            "czy",
            "ale",
            "dla",
            "po",
            "od",
            "są",
            "proszę",
            "mam",
            "tego",
            "za",
            "dziękuję",
        ],
    ),
    (
        "cs",
        &[
            "a", "je", "se", "na", "v", "že", "to", "s", "z", "do", "o", "by", "jsem", "ale", "jak", "pro",
            "jsou", "není", "prosím", "děkuji", "nebo", "mám", "při",
        ],
    ),
    (
        "hu",
        &[
            "a",
            "az",
            "és",
            "hogy",
            "nem",
            "is",
            "egy",
            "van",
            "meg",
            "ez",
            "de",
            "ha",
            "csak",
            "kell",
            "lehet",
            "vagy",
            "mint",
            "köszönöm",
            "vagyok",
            "már",
            "még",
        ],
    ),
    // Not among those that it tells: only so that its texts are not taken for another's.
    (
        "tr",
        &["ve", "bir", "bu", "için", "de", "da", "ile", "ne", "çok", "var", "ben", "mi", "değil", "olarak"],
    ),
];

/// Looked at: enough to be sure, and a bound on the work.
const BYTES_MAX: usize = 8 * 1024;

/// Letters of a script that decide by themselves.
const LETTERS_MIN: usize = 12;

/// Small words that must be found.
const HITS_MIN: usize = 4;

/// The language of a text, or `None` where it is not sure. Quoted lines and links do not count.
#[must_use]
pub fn guess(text: &str) -> Option<&'static str> {
    let own: Vec<&str> =
        cut(text, BYTES_MAX).lines().filter(|line| !line.trim_start().starts_with('>')).collect();
    let words = own.iter().flat_map(|line| line.split_whitespace()).filter(|word| !word.contains("://"));
    let words: Vec<String> = words
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphabetic()).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    by_script(&words).or_else(|| by_small_words(&words))
}

fn by_script(words: &[String]) -> Option<&'static str> {
    let mut found = [0_usize; 9];
    let mut latin = 0;
    let mut ukrainian = 0;
    for letter in words.iter().flat_map(|word| word.chars()) {
        let place = match letter {
            '\u{370}'..='\u{3ff}' => 0,
            '\u{400}'..='\u{4ff}' => 1,
            '\u{590}'..='\u{5ff}' => 2,
            '\u{600}'..='\u{6ff}' => 3,
            '\u{900}'..='\u{97f}' => 4,
            '\u{e00}'..='\u{e7f}' => 5,
            '\u{3040}'..='\u{30ff}' => 6,
            '\u{ac00}'..='\u{d7af}' => 7,
            '\u{4e00}'..='\u{9fff}' => 8,
            _ => {
                latin += 1;
                continue;
            }
        };
        ukrainian += usize::from(matches!(letter, 'і' | 'ї' | 'є' | 'ґ'));
        if let Some(count) = found.get_mut(place) {
            *count += 1;
        }
    }
    let [greek, cyrillic, hebrew, arabic, hindi, thai, kana, hangul, han] = found;
    // A few kana among many Han letters are Japanese, never the other way round.
    let japanese = if kana * 10 >= han && kana > 0 { kana + han } else { 0 };
    let chinese = if japanese == 0 { han } else { 0 };
    let russian = if ukrainian == 0 { cyrillic } else { 0 };
    let all = [
        ("el", greek),
        ("ru", russian),
        ("uk", cyrillic - russian),
        ("he", hebrew),
        ("ar", arabic),
        ("hi", hindi),
        ("th", thai),
        ("ja", japanese),
        ("ko", hangul),
        ("zh", chinese),
    ];
    let (word, most) = all.into_iter().max_by_key(|(_, count)| *count)?;
    // Names and brands stand in Latin letters everywhere.
    (most >= LETTERS_MIN && most > latin).then_some(word)
}

fn by_small_words(words: &[String]) -> Option<&'static str> {
    let hits = |small: &[&str]| words.iter().filter(|word| small.contains(&word.as_str())).count();
    let mut all: Vec<(usize, &'static str)> =
        SMALL.iter().map(|(word, small)| (hits(small), *word)).collect();
    all.sort_by(|a, b| b.cmp(a));
    let (first, second) = (all.first()?, all.get(1)?);
    // Sure: enough of them, among the words of a language every sixth, and clearly more than of any other.
    let sure = first.0 >= HITS_MIN && first.0 * 6 >= words.len() && first.0 * 4 >= second.0 * 5;
    (sure && WORDS.contains(&first.1)).then_some(first.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(guess(text).unwrap_or("?"), expected, "{text}");
    }

    #[test]
    fn usual_mail() {
        check("Hello Kim,\n\ncould you tell me what the plan for Friday is? We have to book the room.", "en");
        check("Guten Tag,\nkönnen Sie uns bitte sagen, wie es mit der Rechnung für den Mai ist?", "de");
        check(
            "Bonjour, je vous écris pour savoir si vous avez reçu la facture. Merci pour votre aide.",
            "fr",
        );
        check(
            "Hola, quería saber si usted puede enviar la factura de mayo. Gracias por su ayuda con el pedido.",
            "es",
        );
        check(
            "Buongiorno, non ho ancora ricevuto la fattura del mese di maggio. Grazie per la risposta.",
            "it",
        );
        check(
            "Bom dia, você pode me enviar a fatura do mês de maio? Não recebi o documento até agora.",
            "pt",
        );
        check(
            "Beste Kim, kunnen we de afspraak van vrijdag naar maandag verzetten? Ik hoor het graag van je.",
            "nl",
        );
        check("Hej, jag undrar om du kan skicka fakturan för maj till mig. Det är inte bråttom, tack.", "sv");
        check(
            "Dzień dobry, czy faktura za maj jest już gotowa? Proszę o odpowiedź, bo nie mam jej w systemie.",
            "pl",
        );
        check("Здравствуйте, не могли бы вы прислать счёт за май?", "ru");
        check("Доброго дня, чи можете ви надіслати рахунок за травень? Дякую, її немає.", "uk");
        check("請問五月的發票什麼時候可以寄給我們", "zh");
        check("五月の請求書をいつ送っていただけますか", "ja");
    }

    #[test]
    fn what_it_cannot_tell_it_does_not_say() {
        for text in [
            "",
            "ok",
            "Invoice 4711",
            "12 + 30 = 42",
            "Merhaba, fatura için bir soru var mı? Bu çok önemli ve acil",
        ] {
            check(text, "?");
        }
        check("See https://example.org/the/and/of/to/is", "?");
    }

    #[test]
    fn what_is_quoted_is_not_the_writers() {
        check(
            "Vielen Dank, das ist für uns nicht zu machen.\n> could you tell me what the plan is for you and the team",
            "de",
        );
    }
}
