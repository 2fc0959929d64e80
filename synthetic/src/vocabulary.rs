//! The vocabulary of generated paths and host names.

use crate::random::Dice;

/// The words in URLs and most patterns. A power of two, so that seven bits select one.
#[rustfmt::skip]
pub(super) const WORDS: [&str; 128] = [
    "a", "about", "album", "all", "archive", "art", "article", "at", "author", "autumn", "bay",
    "best", "bird", "black", "blog", "blue", "board", "book", "boots", "bread", "bridge",
    "building", "camera", "castle", "category", "city", "cloud", "coffee", "collection", "color",
    "community", "company", "concert", "country", "course", "data", "day", "design", "detail",
    "docs", "dress", "drive", "en", "energy", "engine", "episode", "event", "family", "farm", "faq",
    "festival", "field", "film", "fish", "flower", "food", "for", "forest", "forum", "gallery",
    "game", "garden", "gold", "green", "guide", "hand", "harbour", "health", "history", "home",
    "hotel", "house", "how", "image", "in", "index", "island", "item", "jacket", "job", "journal",
    "kitchen", "lake", "law", "letter", "library", "light", "list", "local", "map", "market",
    "media", "member", "moon", "mountain", "museum", "music", "news", "night", "notes", "of",
    "office", "paper", "park", "people", "photo", "piano", "post", "product", "project", "recipe",
    "red", "report", "review", "river", "school", "science", "season", "shoes", "story", "summer",
    "table", "tea", "the", "topic", "travel", "video", "winter",
];

/// Path prefixes that sites typically disallow.
#[rustfmt::skip]
pub(super) const PRIVATE: [&str; 64] = [
    "/account", "/accounts/", "/admin", "/admin/", "/administrator/", "/ajax/", "/api/", "/app/",
    "/assets/", "/auth/", "/backend/", "/backup/", "/bin/", "/cache/", "/cart", "/cart/",
    "/catalogsearch/", "/cgi-bin/", "/checkout", "/checkout/", "/cli/", "/comments/", "/compare/",
    "/components/", "/config/", "/core/", "/customer/", "/download/", "/embed/", "/error/",
    "/export/", "/feed/", "/files/", "/filter/", "/go/", "/images/", "/includes/", "/install.php",
    "/internal/", "/js/", "/language/", "/libraries/", "/login", "/logs/", "/modules/", "/orders/",
    "/plugins/", "/print/", "/private/", "/profiles/", "/redirect/", "/register", "/scripts/",
    "/search", "/search/", "/sendfriend/", "/tag/", "/templates/", "/tmp/", "/user/", "/wishlist/",
    "/wp-admin/", "/wp-includes/", "/xmlrpc.php",
];

/// Names of query parameters.
#[rustfmt::skip]
pub(super) const PARAMETERS: [&str; 16] = [
    "page", "id", "q", "sort", "lang", "ref", "utm_source", "s", "filter", "view", "color", "size",
    "replytocom", "sid", "p", "order",
];

/// File extensions of pages, and those of files that sites have rules for.
const PAGE_ENDINGS: [&str; 8] = [
    ".html", ".html", ".html", ".php", ".htm", ".aspx", ".jpg", ".pdf",
];
pub(super) const FILE_ENDINGS: [&str; 8] = [
    ".pdf", ".xml", ".js", ".css", ".gif", ".doc", ".zip", ".json",
];

/// Consonants and vowels, each sorted: a syllable of a host's name is one digit of its number.
const CONSONANTS: &[u8; 20] = b"bcdfghjklmnprstvwxyz";
const VOWELS: &[u8; 5] = b"aeiou";

/// The number of different syllables.
pub(super) const SYLLABLES: u64 = 100;

/// Appends a number below 100 to the power of `count` as `count` syllables. Names sort like their
/// numbers.
pub(super) fn push_syllables(number: u64, count: u32, out: &mut Vec<u8>) {
    for power in (0..count).rev() {
        let digit = (number / SYLLABLES.pow(power) % SYLLABLES) as usize;
        out.extend([
            CONSONANTS[digit / VOWELS.len()],
            VOWELS[digit % VOWELS.len()],
        ]);
    }
}

/// The number that the first `count` syllables of `name` encode.
pub(super) fn read_syllables(name: &[u8], count: u32) -> Option<u64> {
    let letters = name.get(..count as usize * 2)?;
    letters.chunks_exact(2).try_fold(0, |number, pair| {
        let consonant = CONSONANTS.iter().position(|c| *c == pair[0])?;
        let vowel = VOWELS.iter().position(|v| *v == pair[1])?;
        Some(number * SYLLABLES + (consonant * VOWELS.len() + vowel) as u64)
    })
}

/// Appends a path of about `len` bytes: words and numbers, separated by `/`, `-` and `_`.
pub(super) fn push_path(len: u64, capital: bool, dice: &mut Dice, out: &mut Vec<u8>) {
    let end = out.len() + len as usize;
    out.push(b'/');
    let mut bits = 0;
    while out.len() < end {
        // One draw is enough for four words, 16 bits each: seven for the word, the rest for its
        // surroundings.
        if bits == 0 {
            bits = dice.bits() | 1 << 63;
        }
        let word = WORDS[bits as usize % WORDS.len()].as_bytes();
        let rest = bits >> 7 & 0x1ff;
        bits >>= 16;
        match rest & 7 {
            0 => push_number(dice.bits(), out),
            _ if capital => {
                out.push(word[0].to_ascii_uppercase());
                out.extend_from_slice(&word[1..]);
            }
            _ => out.extend_from_slice(word),
        }
        out.push(b"///---_-"[(rest >> 3 & 7) as usize]);
    }
    if len > 1 {
        push_ending(dice, out);
    }
}

/// Replaces the separator after the last word.
fn push_ending(dice: &mut Dice, out: &mut Vec<u8>) {
    out.pop();
    match dice.below(8) {
        0 | 1 => out.push(b'/'),
        2 | 3 => out.extend_from_slice(dice.one_of(&PAGE_ENDINGS).as_bytes()),
        _ => {}
    }
}

/// Appends a number of one to seven digits.
pub(super) fn push_number(bits: u64, out: &mut Vec<u8>) {
    let digits = 1 + (bits & 0xff) % 7;
    let mut number = (bits >> 8) % 10_000_000;
    for _ in 0..digits {
        out.push(b'0' + (number % 10) as u8);
        number /= 10;
    }
}

/// Appends a query of about `len` bytes, with its `?`.
pub(super) fn push_query(len: u64, dice: &mut Dice, out: &mut Vec<u8>) {
    let end = out.len() + len as usize;
    let mut divider = b'?';
    while out.len() < end {
        out.push(divider);
        out.extend_from_slice(dice.one_of(&PARAMETERS).as_bytes());
        out.push(b'=');
        if dice.below(2) == 0 {
            push_number(dice.bits(), out);
        } else {
            out.extend_from_slice(dice.one_of(&WORDS).as_bytes());
        }
        divider = b'&';
    }
}
