//! The help of findings whose advice, if followed, once did harm.

use robosieve::lint::{Code, lint};

/// The help of the finding with a code; `None` without such a finding.
fn help(body: &str, code: Code) -> Option<String> {
    let findings = lint(body.as_bytes());
    let found = findings.into_iter().find(|finding| finding.code == code);
    found.map(|finding| finding.help)
}

#[test]
fn a_star_alone_is_as_long_as_a_slash() {
    let help_of = |rule: &str, code| help(&format!("User-agent: *\nAllow: /\n{rule}\n"), code);
    let star = help_of("Disallow: *", Code::LeadingStar);
    assert_eq!(star.as_deref(), Some("write `/`"));
    for rule in ["Disallow: *#q=*", "Disallow: /*#q", "Disallow: /#/"] {
        assert_eq!(help_of(rule, Code::LeadingStar), None, "{rule}");
        let fragment = help_of(rule, Code::Fragment).unwrap();
        assert!(
            fragment.ends_with("remove the line, which disallows every path"),
            "{rule}"
        );
    }
    let path = help_of("Disallow: /a#b", Code::Fragment).unwrap();
    assert!(path.contains("or write the path alone"), "{path}");
}
