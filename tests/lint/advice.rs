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

#[test]
fn a_rule_for_other_files_stays_when_robots_txt_is_allowed() {
    let help_of = |rules: &str| help(&format!("User-agent: *\n{rules}\n"), Code::ProfilesDiffer);
    for (rules, start) in [
        ("Disallow: /robots.txt", Some("remove the rule")),
        ("Disallow: /*.txt$", Some("add `Allow: /robots.txt`")),
        ("Disallow: /*robots.txt$", Some("narrow the path")),
        ("Disallow: /*.txt$\nAllow: /robots.txt", None),
        (
            "Disallow: /*.txt$\nAllow: /r",
            Some("add `Allow: /robots.txt`"),
        ),
    ] {
        let help = help_of(rules);
        assert_eq!(help.is_some(), start.is_some(), "{rules}");
        assert!(
            help.unwrap_or_default().starts_with(start.unwrap_or("")),
            "{rules}"
        );
    }
}

#[test]
fn joined_groups_are_told_what_another_rule_opens() {
    for (separator, remedy) in [
        (
            "Crawl-delay: 30\n\n",
            "move the crawl-delay of line 2 below the rules",
        ),
        ("\n", "remove the blank line 2"),
    ] {
        let body = format!("User-agent: bingbot\n{separator}User-agent: *\nDisallow: /install/\n");
        let help = help(&body, Code::JoinedGroups).unwrap();
        assert!(help.starts_with(remedy), "{help}");
        assert!(
            help.ends_with("(`Allow: /` lets its agents fetch everything)"),
            "{help}"
        );
    }
}

#[test]
fn a_rule_of_joined_groups_is_not_said_to_close_the_site() {
    for separator in [
        "Sitemap: https://e.example/s.xml\n\n",
        "Crawl-delay: 5\n\n",
        "\n",
    ] {
        let body = format!("User-agent: *\n{separator}User-agent: SemrushBot\nDisallow: /\n");
        assert_eq!(help(&body, Code::ClosesSite), None, "{body}");
        assert!(help(&body, Code::JoinedGroups).is_some(), "{body}");
    }
}

#[test]
fn two_slashes_among_other_rules_are_not_said_to_mean_all_paths() {
    let alone = help("User-agent: *\nDisallow: //\n", Code::DoubleSlash).unwrap();
    let among = help(
        "User-agent: *\nDisallow: //\nDisallow: /a\n",
        Code::DoubleSlash,
    )
    .unwrap();
    assert!(alone.contains("write `/`") && !among.contains("write `/`"));
}

/// The old help repeated what is wrong in the line, or called a rule a name.
#[test]
fn the_help_of_a_line_repeats_none_of_its_mistakes() {
    for (line, code, expected) in [
        (
            "User-agent = *",
            Code::MissingColon,
            "write `User-agent: *`",
        ),
        ("Disallow - /a", Code::MissingColon, "write `Disallow: /a`"),
        ("User-agent: = *", Code::AgentName, "write `User-agent: *`"),
        ("Disallow:: /a", Code::NoLeadingSlash, "write `/a`"),
        (
            "User-agent: GPTBot Disallow: /",
            Code::SeveralFields,
            "write `User-agent: GPTBot` and `Disallow: /`, each on a line of its own",
        ),
        (
            "Disallow: Sitemap: https://e.example/s",
            Code::SeveralFields,
            "write `Disallow:` and `Sitemap: https://e.example/s`, each on a line of its own",
        ),
        (
            "User-agent: User-agent: *",
            Code::SeveralFields,
            "write `User-agent: *`",
        ),
        (
            "User-agent: yandex.com",
            Code::AgentName,
            "write `User-agent: Yandex`",
        ),
        (
            "User-agent: heritrix/3.3 +http://e.example",
            Code::AgentName,
            "write `User-agent: heritrix`",
        ),
        (
            "User-agent: GPTBot;",
            Code::AgentName,
            "write `User-agent: GPTBot`",
        ),
        (
            "Disallow: //a.example.com/",
            Code::DoubleSlash,
            "write the path alone, in the robots.txt of that host",
        ),
    ] {
        let body = format!("User-agent: Bingbot\nDisallow: /b\n{line}\n");
        assert_eq!(help(&body, code).as_deref(), Some(expected), "{line}");
    }
}
