//! The pages of series and of units: each number equals the figure of the JSON that its pointer
//! names, and the size is bounded.

use super::outputs::{assert_figures, forms};
use super::{compile, done, parsed};
use crate::command::{assert_has, words};
use crate::test_dir::TestDir;
use serde_json::Value;

/// Three snapshots of a small web: the first disallows `a` partly by `*`, the second also wholly by
/// name, and in the third all origins fail.
fn some_months() -> TestDir {
    let dir = TestDir::new();
    let partly = "user-agent: *\ndisallow: /x";
    let named = "user-agent: a\ndisallow: /";
    for (name, robots) in [
        (
            "1.rsieve",
            [
                ("https://one.com", 200, partly),
                ("https://two.org", 404, ""),
                ("http://one.com", 200, ""),
            ],
        ),
        (
            "2.rsieve",
            [
                ("https://one.com", 200, partly),
                ("https://two.org", 200, named),
                ("http://one.com", 404, ""),
            ],
        ),
        (
            "3.rsieve",
            [
                ("https://one.com", 503, ""),
                ("https://two.org", 503, ""),
                ("http://one.com", 503, ""),
            ],
        ),
    ] {
        compile(&dir, name, &robots);
    }
    dir
}

/// The page and the JSON of a series.
fn series(dir: &TestDir, args: &[&str]) -> (String, Value) {
    let outputs = ["report", "-q", "--html", "r.html", "--json-to", "r.json"];
    assert_eq!(done(dir.run(&[&outputs, args].concat())), "");
    (dir.read_text("r.html"), parsed(&dir.read_text("r.json")))
}

#[test]
fn numbers_of_a_series_equal_the_json() {
    let dir = some_months();
    dir.write("w.csv", "one.com,3\ntwo.org,1\n");
    let months = words("--series 2025-01=1.rsieve 2025-02=2.rsieve 2025-03=3.rsieve");
    for units in [&[][..], &["--by", "host", "--weights", "w.csv", "--common"]] {
        let (page, json) = series(&dir, &[&["-a", "b,a"], units, &months].concat());
        // Two agents, three snapshots, and four columns; the units of the last snapshot, and the
        // common units.
        assert_eq!(
            assert_figures(&page, &json),
            2 * 3 * 4 + 1 + usize::from(!units.is_empty()),
            "{units:?}"
        );
        assert_eq!(
            page.contains(" of the weight of the hosts disallow"),
            !units.is_empty(),
            "{units:?}"
        );
        // Two lines with three points in each chart; wholly, partly, and with weights.
        let sections = if units.is_empty() { 2 } else { 3 };
        assert_eq!(page.matches("<svg class=\"chart\"").count(), 2 * sections);
        assert_eq!(
            page.matches("<polyline points=\"46.0,").count(),
            2 * 2 * sections
        );
        assert_eq!(
            page.matches("<circle cx").count() - 2 * sections,
            2 * 2 * 3 * sections
        );
    }
    // By hand: of three origins, the second snapshot disallows `a` wholly at one, which names it.
    let (page, _) = series(
        &dir,
        &[&["-a", "b,a", "--by", "origin"], &months[..]].concat(),
    );
    for text in [
        "2025-02, wholly: 33.3\u{a0}%",
        "2025-02, by name: 33.3\u{a0}%",
        "2025-03, wholly: 100\u{a0}%",
    ] {
        assert_has(&page, text);
    }
    let first_chart = page
        .find("<figcaption>")
        .map(|position| &page[position..])
        .unwrap();
    assert!(
        first_chart
            .starts_with("<figcaption><strong>b</strong> <span>100\u{a0}%, by name 0\u{a0}%"),
        "{first_chart:.200}"
    );
}

#[test]
fn numbers_of_units_equal_the_json() {
    let dir = some_months();
    std::fs::copy(dir.path("2.rsieve"), dir.path("s.rsieve")).unwrap();
    dir.write("w.csv", "one.com,3\ntwo.org,1\nthree.org,4\n");
    let args = words("-a b,a --by host --weights w.csv --group-by tld");
    let (page, json, _) = forms(&dir, &args);
    assert_figures(&page, &json);
    // By hand: two hosts, of which two.org disallows `a` by name, with a weight of 1 of 4.
    for text in [
        "data-m=\"/units\">2<",
        "data-m=\"/groups/1/agents/1/wholly\">1<",
        "data-m=\"/weights/units_matched\">2<",
        "a is disallowed most: 50.0\u{a0}% of the hosts disallow it wholly, 50.0\u{a0}% by name",
        "a is disallowed most: wholly by 25.0\u{a0}% of the weight, 25.0\u{a0}% by name",
        "50.0\u{a0}% of the listed weight. All other hosts weigh nothing.",
        "All schemes and ports of a host count once, by one of its origins.",
    ] {
        assert_has(&page, text);
    }
}

#[test]
fn size_of_a_series_is_bounded() {
    let dir = some_months();
    let agents: String = (0..100)
        .map(|i| format!("agent<&\"'>{}{i}\n", "<".repeat(100)))
        .collect();
    dir.write("agents.txt", agents);
    dir.write("w.csv", "one.com,3\n");
    // With twelve snapshots each value has a point, with sixty none.
    for snapshots in [12, 60] {
        let labels: Vec<String> = (0..snapshots)
            .map(|i| format!("{}{i}=1.rsieve", "<&\"'>".repeat(10)))
            .collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let args = words("--agents-from agents.txt --by host --weights w.csv --series");
        let (page, json) = series(&dir, &[&args, &labels[..]].concat());
        assert!(page.len() < 1_000_000, "{snapshots}: {} bytes", page.len());
        assert!(
            page.contains("<circle cx=\"46.0\"") == (snapshots == 12)
                && !page.to_lowercase().contains("<script")
        );
        assert_eq!(json["points"].as_array().unwrap().len(), snapshots);
        assert_eq!(json["agents"].as_array().unwrap().len(), 100);
    }
}
