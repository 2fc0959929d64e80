//! The condensed text of a robots.txt: only lines with known fields, at their original line
//! numbers. Finding these lines is the first half of the parser.

use crate::profile::Profile;
use crate::robots::field::{self, RobotsField};
use crate::robots::line::{MAX_BODY, MAX_LINE, NumberedLine, NumberedLines};

/// A line with a known field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldLine<'a> {
    /// The number, from 1.
    pub number: u32,
    /// The text without comment and surrounding white space.
    pub text: &'a [u8],
    pub field: RobotsField,
    /// The end of the text, after the field.
    pub value: &'a [u8],
}

/// The lines of a body with a field that `profile` knows. `cut_short`: the archive has only the
/// beginning of the body.
pub(crate) fn field_lines(
    body: &[u8],
    cut_short: bool,
    profile: Profile,
) -> impl Iterator<Item = FieldLine<'_>> {
    NumberedLines::new(body, cut_short).filter_map(move |line| {
        let text = line.text(profile);
        let (field, value) = field::split(text, profile)?;
        Some(FieldLine {
            number: line.number,
            text,
            field,
            value,
        })
    })
}

/// The longest condensed text: the part of a body that counts, the NUL of a line that the size limit
/// cuts, and a line end.
pub(crate) const MAX_CONDENSED: usize = MAX_BODY + 2;

/// The condensed text of a body as served (after content decoding): the lines with a field that
/// either profile knows, without comments and white space around them; all others are blank.
///
/// A line with more than [`MAX_LINE`] bytes before its comment keeps the white space at its start,
/// because profile `Google` counts the bytes from there. If a NUL or the size limit cuts it, that
/// profile alone reads it: one byte over the limit and a NUL are kept, which say so.
///
/// In either profile, the text parses to the same groups, rules, fields and line numbers as the body, but without
/// comments, unknown lines and HTML error pages it is much smaller. A snapshot stores it to explain
/// verdicts, and two robots.txt files count as equal if their condensed texts are. Condensing it
/// again changes nothing.
pub(crate) fn condense(body: &[u8], cut_short: bool) -> Vec<u8> {
    let mut condensed = Vec::with_capacity(body.len().min(MAX_BODY));
    let mut number = 1;
    for line in NumberedLines::new(body, cut_short).filter(has_field) {
        // One line end for the previous kept line, and one for each blanked line after it.
        let line_ends = (line.number - number) as usize;
        number = line.number;
        condensed.resize(condensed.len() + line_ends, b'\n');
        match line.long {
            None => condensed.extend_from_slice(line.text),
            Some(long) if long.is_cut => {
                condensed.extend_from_slice(&long.text[..=MAX_LINE]);
                condensed.push(0);
            }
            Some(long) => condensed.extend_from_slice(long.text),
        }
    }
    if !condensed.is_empty() {
        condensed.push(b'\n');
    }
    condensed
}

/// Whether either profile knows the field of a line.
fn has_field(line: &NumberedLine<'_>) -> bool {
    // What RFC 9309 reads of a line of usual length, Google's parser reads too.
    let is_known = |profile| field::split(line.text(profile), profile).is_some();
    is_known(Profile::Google) || (line.long.is_some() && is_known(Profile::Rfc9309))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::RobotsRef;
    use crate::robots::reference::key_values;

    /// The lines that each profile reads, by the parser.
    fn parsed(body: &[u8], cut_short: bool, profile: Profile) -> String {
        let robots = RobotsRef::from_lines(field_lines(body, cut_short, profile), profile);
        format!("{robots:?}")
    }

    /// Lines with texts around the limit of profile `Google`, in each way that a line can end.
    #[test]
    fn condensed_long_lines_say_the_same_in_both_profiles() {
        let starts = [
            "",
            " ",
            "\u{b} ",
            "allow",
            "Disallow /",
            "allow:",
            "allow:/",
            "dissallow: /",
        ];
        let ends = [
            "",
            " ",
            "x",
            "x$",
            ": /x",
            "#x",
            " # x",
            "\0",
            "x\0y",
            "\0#",
            "allow: /x",
            "\n",
        ];
        for start in starts {
            for fill in [" ", "a", "/"] {
                for over in -1_i32..3 {
                    let len = (MAX_LINE as i32 + over) as usize - start.len();
                    for end in ends {
                        let line = format!("{start}{}{end}", fill.repeat(len));
                        check(&format!("user-agent: *\n{line}"), false);
                        check(&format!("user-agent: *\n{line}"), true);
                    }
                }
            }
        }
    }

    fn check(body: &str, cut_short: bool) {
        let condensed = condense(body.as_bytes(), cut_short);
        let shown = format!(
            "{} bytes: {:?} … {:?}",
            body.len(),
            &body[..30],
            &body[body.len() - 20..]
        );
        assert!(condensed.len() <= MAX_CONDENSED, "{shown}");
        assert_eq!(condense(&condensed, false), condensed, "{shown}");
        for profile in [Profile::Google, Profile::Rfc9309] {
            let expected = parsed(body.as_bytes(), cut_short, profile);
            assert_eq!(
                parsed(&condensed, false, profile),
                expected,
                "{profile:?} {shown}"
            );
            if !cut_short {
                let lines = |body: &[u8]| format!("{:?}", key_values(body, profile));
                assert_eq!(
                    lines(&condensed),
                    lines(body.as_bytes()),
                    "{profile:?} {shown}"
                );
            }
        }
    }

    /// The size limit cuts a long line at each place, and its condensed text is the longest.
    #[test]
    fn long_lines_that_the_size_limit_cuts_stay_googles_alone() {
        for len in MAX_LINE - 2..MAX_LINE + 4 {
            let head = "user-agent: *\n";
            let pad = "disallow: /a\n".repeat((MAX_BODY - head.len() - len) / 13);
            let blank = "\n".repeat(MAX_BODY - head.len() - pad.len() - len);
            let body = format!("{head}{pad}{blank}allow: /{}", "a".repeat(MAX_LINE + 99));
            check(&body, false);
            let condensed = condense(body.as_bytes(), false);
            let counts = [Profile::Google, Profile::Rfc9309].map(|profile| {
                RobotsRef::parse(&condensed, profile).groups()[0]
                    .rules()
                    .len()
            });
            assert_eq!(counts[0] - counts[1], usize::from(len > MAX_LINE), "{len}");
        }
    }
}
