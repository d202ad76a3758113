//! A text's skeleton for comparison by appearance: similar characters become one, marks and
//! invisible characters are removed, case is folded.
//!
//! For comparing with the few words of our own headings only, so the table has those letters and no
//! others. Its rows follow Unicode's table of confusable characters (UTS 39); a test compares them.
//! Whole tables of it hold a pointer for each of 6700 characters, which every daemon would have to
//! itself.

mod words;

pub(crate) use words::{in_line, remarks};

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

use crate::shown::is_hidden;

/// What stands for which characters. In the keys `l` is also `i` and `1`, and `o` is also `0`.
#[rustfmt::skip]
const ALIKE: &[(&str, &str)] = &[
    ("<", "˂ᐸᚲ‹❮ⵦ\u{1032d}\u{16aec}\u{1d236}〈⟨〈"),
    (">", "˃ᐳ›❯\u{16f3f}\u{1d237}〉⟩〉"),
    (
        "a",
        "ɑαаᎪᗅ⍶⍺\u{a4ee}\u{ab64}\u{102a0}\u{16f40}\u{1ccd6}\u{1df40}\u{1df41}\u{1df5a}\u{1df6a}",
    ),
    (
        "c",
        "¢ȼϲϹсҫငၚᲃᴄ₡ⲥ\u{a4da}\u{abaf}\u{102a2}\u{10302}\u{1043d}\u{1051b}\u{118e9}\u{118f2}\
         \u{1ccd8}\u{1d134}\u{1f16e}\u{1f74c}",
    ),
    ("d", "ÐđƌɖɗԁᎠᏧᑯᗞᗪ₫\u{a4d2}\u{a4d3}\u{1018b}\u{1ccd9}\u{1df2d}"),
    ("e", "ɇΕеҽҿᎬ℮⋿ⴹ\u{a4f0}\u{a5cb}\u{ab32}\u{10286}\u{118a6}\u{118ae}\u{1ccda}\u{1df81}"),
    ("g", "ƍǥɠɡԌցᏀᏳᶃ\u{a4d6}\u{1ccdc}\u{1df45}"),
    ("h", "ħɦΗНћҢһӇӉհႹᎻᏂᏲᕼⱧⲎ\u{a4e7}\u{a695}\u{102cf}\u{1ccdd}\u{1df32}\u{1df46}\u{1df47}"),
    (
        "l",
        "¡ıłƚǀɨɩɪɫɭιіӏւ\u{5c0}\u{5d5}\u{5df}\u{627}\u{661}\u{673}۱\u{7ca}।၊Ꮮᒪᛁᛅᛐᵻᵼ↿∣⍳⍸⏽│┃ⲓⳐⵊⵏ\
         \u{a4e1}\u{a4f2}\u{a56f}\u{a647}\u{a781}\u{a7fe}\u{a830}\u{a8ce}\u{aa5d}\u{ab75}\
         \u{1028a}\u{10309}\u{10320}\u{1041b}\u{1050e}\u{10526}\u{10926}\u{10c3e}\u{10ca5}\
         \u{10cfa}\u{11047}\u{110c0}\u{11141}\u{111c5}\u{113d4}\u{1144b}\u{115c5}\u{11641}\
         \u{118b2}\u{118c3}\u{11c41}\u{11dda}\u{11de1}\u{16ae4}\u{16d63}\u{16eaa}\u{16f16}\
         \u{16f28}\u{1ccde}\u{1cce1}\u{1ccf1}\u{1d100}\u{1d22a}\u{1d377}\u{1df6e}\u{1e141}\
         \u{1e8c7}\u{1ed01}\u{fe31}",
    ),
    (
        "m",
        "ɱΜϺМӍՠᎷᗰᛖᵯ₥Ⲙ\u{a4df}\u{ab51}\u{102b0}\u{10311}\u{10c21}\u{11700}\u{118e3}\u{1cce2}\
         \u{1df4a}\u{1df4b}\u{1df4c}",
    ),
    (
        "n",
        "ŋƞɲɳΝηղոռᵰⲚ\u{a4e0}\u{1018e}\u{10513}\u{11abe}\u{1cce3}\u{1df4d}\u{1df4e}\u{1df4f}",
    ),
    (
        "o",
        "øɵθοσϭоѳөօ\u{5e1}\u{629}\u{647}\u{665}\u{6be}\u{6c1}\u{6c3}\u{6d5}۵\u{6ff}\u{7c0}\
         \u{7cb}\u{840}०০੦૦ଠ୦௦\u{c02}౦\u{c82}೦\u{d02}ഠ൦\u{d82}๐໐ဝ၀ჿᄋᆼዐፀ០ᩅ᪀᪐\u{1bea}ᲂᴏᴑ∅⊖⊝⌀⍥⍬ⲑⲟⴱ\
         ⵁⵔ\u{3007}\u{a4f3}\u{a6a2}\u{a74b}\u{ab3d}\u{ab3e}\u{ab74}\u{ab8e}\u{abbb}\u{10292}\
         \u{102ab}\u{1030f}\u{1042c}\u{104ea}\u{10516}\u{1051e}\u{1092c}\u{10c17}\u{10d07}\
         \u{11124}\u{11302}\u{114d0}\u{118b5}\u{118c8}\u{118d7}\u{118e0}\u{11de0}\u{1699b}\
         \u{16ae9}\u{16e80}\u{1cce4}\u{1ccf0}\u{1d21a}\u{1df3c}\u{1e140}\u{1e2f0}\u{1f714}",
    ),
    ("p", "þƥƿρϸрᏢᑭᵽ⍴ⲣⳏ\u{a4d1}\u{10295}\u{1cce5}"),
    (
        "r",
        "ƦɍɼɽгғᎡᏒᖇᴦᵲⲅ\u{a4e3}\u{ab47}\u{ab48}\u{ab81}\u{104b4}\u{16a19}\u{16f35}\u{1cce7}\
         \u{1d216}\u{1df37}",
    ),
    (
        "s",
        "ƽʂѕՏടႽჽᏕᵴ\u{a4e2}\u{a576}\u{a731}\u{abaa}\u{10296}\u{10448}\u{118c1}\u{16ad6}\u{16f3a}\
         \u{1cce8}",
    ),
    (
        "u",
        "Ʉʋυџսሀᑌᴜᵾ∪⋃\u{a4f4}\u{a79f}\u{ab4e}\u{ab52}\u{ab9c}\u{104f6}\u{118d8}\u{16f42}\
         \u{1ccea}\u{1df39}",
    ),
    (
        "v",
        "νѵ\u{5d8}\u{667}۷ᐯᴠ∨⋁ⴸ\u{a4e6}\u{a6df}\u{aba9}\u{10197}\u{1051d}\u{10c1f}\u{11706}\
         \u{118c0}\u{16f08}\u{1cceb}\u{1cefc}\u{1d20d}\u{1df51}\u{1df52}\u{1e145}\u{1f708}",
    ),
    ("cc", "\u{1f16d}"),
    (
        "ll",
        "ǁ\u{5f0}॥။Ỻ‖∥\u{a8cf}\u{10199}\u{11048}\u{110c1}\u{11142}\u{111c6}\u{113d5}\u{1144c}\
         \u{11642}\u{11c42}\u{1d262}",
    ),
    ("lo", "Ю⏨"),
    ("ls", "ʪ"),
];

/// Characters that open something and are drawn like a square bracket; `［` and its like are folded
/// into these.
const BRACKETS: &str = "[【〔〖〘〚⟦⟬⁅❲「『⦋⦍⦏⎡⎣";

/// Returns the text as it looks, character by character, without blanks.
pub(crate) fn folded(text: &str) -> impl Iterator<Item = char> {
    let seen = |c: &char| !is_hidden(*c) && !c.is_whitespace() && *c != '\u{2800}';
    let drawn = |c: &char| !is_combining_mark(*c) || known(*c).is_some();
    let mut shapes = text.chars().filter(seen).flat_map(plain).filter(drawn).flat_map(shape);
    let mut ahead = None;
    // `rn` is drawn like `m`.
    std::iter::from_fn(move || match (ahead.take().or_else(|| shapes.next())?, &mut shapes) {
        ('r', shapes) => match shapes.next() {
            Some('n') => Some('m'),
            next => {
                ahead = next;
                Some('r')
            }
        },
        (c, _) => Some(c),
    })
}

/// Returns whether the character opens something, drawn like a square bracket.
pub(crate) fn is_bracket(c: char) -> bool {
    c == '[' || (!c.is_ascii() && c.nfkd().any(|c| BRACKETS.contains(c)))
}

/// Returns whether the character looks like this one.
pub(crate) fn is_like(c: char, ascii: char) -> bool {
    c == ascii || (!c.is_ascii() && plain(c).flat_map(shape).any(|c| c == ascii))
}

/// Returns a character without its marks and what makes it a variant of others, unless the table has
/// it as it is.
fn plain(c: char) -> impl Iterator<Item = char> {
    let whole = (c.is_ascii() || known(c).is_some()).then_some(c);
    let parts = whole.is_none().then(|| c.nfkd());
    whole.into_iter().chain(parts.into_iter().flatten())
}

/// Returns what a character is drawn like: one or two letters.
fn shape(c: char) -> impl Iterator<Item = char> {
    let small = c.to_lowercase().next().unwrap_or(c);
    let (first, second) = match known(c).or_else(|| known(small)) {
        Some(letters) => (letters.chars().next(), letters.chars().nth(1)),
        None => (Some(small), None),
    };
    let same = |c| match c {
        'i' | '1' | '|' => 'l',
        '0' => 'o',
        c => c,
    };
    first.into_iter().chain(second).map(same)
}

fn known(c: char) -> Option<&'static str> {
    let row = ALIKE.iter().find(|(_, alike)| !c.is_ascii() && alike.contains(c));
    row.map(|(letters, _)| *letters)
}

#[cfg(test)]
mod tests;
