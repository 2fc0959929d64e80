//! The pages in a real browser: nothing exceeds the width of a desktop or a phone, no text overlaps
//! another text of a chart, and the figures are present.
//!
//! The browser is `ROBOSIEVE_TEST_BROWSER`, or a Chromium on the path. Without one the test prints
//! a notice and passes.

use super::outputs::{HOSTILE, forms};
use super::{Capture, compile, compiled, done};
use crate::command::words;
use crate::test_dir::TestDir;
use crate::waiting;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("ROBOSIEVE_TEST_BROWSER") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|dir| NAMES.map(|name| dir.join(name)))
        .find(|file| file.is_file())
}

/// Replaces the page's own rule against scripts: measures, and writes the result into the title.
///
/// `wide` are elements beyond the right edge of the window, `scrolled` regions that scroll, `tiny`
/// texts below 11 pixels, `overlaps` texts of a chart that cover each other, and `broken` words of up
/// to 18 characters that two lines share.
const MEASURE: &str = "<script>addEventListener('load', () => {
  const page = document.documentElement, all = [...document.querySelectorAll('body *')];
  const names = list => list.map(e => e.tagName + '.' + e.getAttribute('class'));
  const wide = names(all.filter(e => !e.closest('.wide') && !e.closest('defs')
    && e.getBoundingClientRect().right > innerWidth + 1));
  const scrolled = names(all.filter(e => e.matches('.wide') && e.scrollWidth > e.clientWidth + 1));
  const has_text = e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  const size = e => parseFloat(getComputedStyle(e).fontSize) * (e.getScreenCTM ? e.getScreenCTM().a : 1);
  const tiny = names(all.filter(e => has_text(e) && !e.closest('title') && size(e) < 11));
  const broken = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; node = texts.nextNode();) {
    if (node.parentElement.closest('code, svg, script, style, .upright')) continue;
    for (const word of node.data.matchAll(/[\\p{L}\\p{N}_]+/gu)) {
      if (word[0].length > 18) continue;
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const sides = [...range.getClientRects()].map(b => Math.round(b.top) + ' ' + Math.round(b.left));
      if (new Set(sides).size > 1) broken.push(word[0]);
    }
  }
  const overlaps = [];
  for (const chart of document.querySelectorAll('svg')) {
    const boxes = [...chart.querySelectorAll('text')].map(e => e.getBoundingClientRect());
    boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) overlaps.push(i);
    }));
  }
  const fetched = performance.getEntriesByType('resource').map(e => e.name);
  const long = selector => [...document.querySelectorAll(selector)].filter(e => e.getBoundingClientRect().width > 100).length;
  document.title = JSON.stringify({ inner: innerWidth, scroll: page.scrollWidth, wide, scrolled, tiny, overlaps, broken, fetched,
    bars: long('svg.bar'), charts: long('svg.chart'), ran: typeof hacked !== 'undefined' });
});</script>";

/// The widths of a desktop, a tablet and a phone.
const WIDTHS: [u32; 3] = [1280, 720, 360];

/// The results of the measuring page in each of the widths.
///
/// A headless window cannot be as narrow as a phone, so the page is in frames of these widths.
fn measured(browser: &Path, dir: &TestDir, page: &str) -> Vec<Value> {
    let (before, rest) = page
        .split_once("<meta http-equiv=\"Content-Security-Policy\"")
        .unwrap();
    let (_, after) = rest.split_once('>').unwrap();
    let framed = format!("{before}{MEASURE}{after}")
        .replace('&', "&amp;")
        .replace('"', "&quot;");
    let frame = |width| {
        format!(
            "<iframe style='width:{width}px;height:900px;border:0' srcdoc=\"{framed}\"></iframe>"
        )
    };
    let frames: String = WIDTHS.map(frame).concat();
    let outer = format!(
        "<!DOCTYPE html><title>outer</title>{frames}<script>addEventListener('load', () => setTimeout(() => {{
document.title = 'measured [' + [...document.querySelectorAll('iframe')].map(frame => frame.contentDocument.title).join(',') + ']'; }}, 50));</script>"
    );
    let file = dir.path("frames.html");
    std::fs::write(&file, outer).unwrap();
    let mut child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-sync",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--window-size=1400,1000",
        ])
        .args(["--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", dir.path("profile").display()))
        .arg(format!("file://{}", file.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    waiting::ended("the browser", &mut child);
    let dom = reading.join().unwrap().unwrap();
    let title = dom
        .split("<title>measured ")
        .nth(1)
        .and_then(|rest| rest.split("</title>").next());
    let title = title.unwrap_or_else(|| panic!("the page was not measured:\n{:.2000}", dom));
    let title = title
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&title).unwrap_or_else(|err| panic!("{err}: {title}"))
}

/// Shows a page in all widths, and returns what was measured in the last one.
fn fits(browser: &Path, dir: &TestDir, page: &str) -> Value {
    let mut all = measured(browser, dir, page);
    for (found, width) in all.iter().zip(WIDTHS) {
        assert_eq!(found["inner"], width, "{found}");
        assert!(
            found["scroll"].as_u64().unwrap() <= u64::from(width),
            "{width}: {found}"
        );
        for key in ["wide", "tiny", "overlaps", "fetched"] {
            assert_eq!(found[key], json!([]), "{width}: {key}");
        }
        assert_eq!(found["ran"], false, "a script of a site ran");
    }
    let phone = all.pop().unwrap();
    assert_eq!(
        phone["scrolled"],
        json!([]),
        "a phone needs no horizontal scrolling"
    );
    phone
}

/// Asserts that no word of a page is on two lines, in any width.
fn assert_no_broken_word(browser: &Path, dir: &TestDir, page: &str) {
    for (found, width) in measured(browser, dir, page).iter().zip(WIDTHS) {
        assert_eq!(found["broken"], json!([]), "{width}");
    }
}

/// The browser, or a notice that the test is skipped.
fn browser_or_notice(page: &str) -> Option<PathBuf> {
    let found = browser();
    if found.is_none() {
        let notice = format!(
            "SKIPPED: no browser was found (ROBOSIEVE_TEST_BROWSER names one), so the page of `{page}` was not looked at"
        );
        let _ = writeln!(std::io::stderr(), "{notice}");
    }
    found
}

#[test]
fn report_fits_desktop_and_phone() {
    let Some(browser) = browser_or_notice("report") else {
        return;
    };
    let long = format!("user-agent: *\ndisallow: /{}\n", "x".repeat(400));
    let hacking = format!("{HOSTILE}Disallow: /<script>hacked=1</script>\n");
    let host = format!("https://{}example", "long-name.".repeat(12));
    let dir = compiled(&[
        ("https://one.example", 200, hacking.as_str()),
        (
            "https://two.example",
            200,
            "user-agent: a\ndisallow: /\n\nuser-agent: *\ndisallow: /x",
        ),
        (host.as_str(), 200, long.as_str()),
        ("https://four.example", 503, ""),
    ]);
    let mut list: String = (0..3000)
        .map(|i| format!("https://two.example/x{i}\n{host}/xxx\n"))
        .collect();
    list += &format!(
        "{host}/{}\nhttps://one.example/<script>hacked=1</script>\n",
        "x".repeat(500)
    );
    dir.write("urls.txt", list);
    let long_name = "a-crawler-with-a-rather-long-name-".repeat(3);
    let few = format!("a,b,Googlebot-Image:Googlebot,{long_name},c,d,e,f,g,h");
    let many: Vec<String> = (0..45).map(|i| format!("{long_name}{i}")).collect();
    // Each agent has a bar of what is disallowed and one of the whole, and the origins one of the
    // bases. Nearly all URLs are disallowed, so those have one bar per agent.
    for (agents, list, bars) in [
        (&*few, &[][..], 2 * 10 + 1),
        (&*few, &["urls.txt"], 2 * 10 + 1 + 10 + 1),
        ("FooBot", &["urls.txt"], 2 + 1 + 1 + 1),
        (&*many.join(","), &["urls.txt"], 2 * 40 + 1 + 40 + 1),
    ] {
        let (page, json, _) = forms(&dir, &[&["-a", agents], list].concat());
        assert_eq!(
            fits(&browser, &dir, &page)["bars"],
            bars,
            "{agents} {list:?}"
        );
        assert!(page.contains(">4</span>") && json["snapshot"]["origins"] == 4);
    }
}

/// Names that fit a column of their own without a broken word, and names that do not.
#[test]
fn report_of_eight_crawlers_breaks_no_word() {
    let Some(browser) = browser_or_notice("report") else {
        return;
    };
    let dir = compiled(&[("https://shop.example", 200, "user-agent: *\ndisallow: /")]);
    dir.write("urls.txt", "https://shop.example/x\n");
    for agents in [
        "GPTBot,CCBot,Bytespider,meta-externalagent,AI2Bot-DeepResearchEval,Googlebot-Image,Amazonbot,\
         cohere-training-data-crawler",
        "GPTBot,CCBot,ClaudeBot",
    ] {
        let (page, ..) = forms(&dir, &["-a", agents, "urls.txt"]);
        fits(&browser, &dir, &page);
        assert_no_broken_word(&browser, &dir, &page);
    }
}

#[test]
fn audit_of_eight_crawlers_breaks_no_word() {
    let Some(browser) = browser_or_notice("audit") else {
        return;
    };
    let dir = TestDir::new();
    let crawlers = [
        "GPTBot",
        "CCBot",
        "Bytespider",
        "meta-externalagent",
        "AI2Bot-DeepResearchEval",
        "facebookexternalhit",
        "Amazonbot",
        "cohere-training-data-crawler",
    ];
    let long = format!("/private/{}", "long-path/".repeat(60));
    let line = |client: u32, path: &str, agent: &str| {
        format!(
            "www.shop.example:443 192.0.2.{client} - - [0{}/Aug/2026:12:00:00 +0000] \"GET {path} \
             HTTP/1.1\" 200 5 \"-\" \"{agent}/1\"\n",
            1 + client
        )
    };
    let lines = |client| crawlers.map(|name| line(client, &long, name)).concat();
    dir.write("access.log", lines(1) + &lines(2));
    dir.write("robots.txt", "User-agent: *\nDisallow: /private\n");
    let ranges = r#"{"prefixes": [{"ipv4Prefix": "192.0.2.1/32"}]}"#;
    dir.write("ranges.json", ranges);
    let args = words("audit --robots robots.txt access.log --html a.html");
    for verified in [&[][..], &["--verify-ips", "ranges.json"]] {
        done(dir.run(&[&args[..], verified].concat()));
        let page = dir.read_text("a.html");
        // Site and period come first.
        let body = page.split_once("<header>").unwrap().1;
        assert!(
            body.starts_with(
                "<p class=\"subject\">https://www.shop.example, <span class=\"date\">2026-08-02</span> \
                 to <span class=\"date\">2026-08-03</span></p><h1>"
            ),
            "{body:.300}"
        );
        let bars = if verified.is_empty() { 8 } else { 16 };
        assert_eq!(fits(&browser, &dir, &page)["bars"], bars);
        assert_no_broken_word(&browser, &dir, &page);
    }
}

#[test]
fn report_without_refusals_fits() {
    let Some(browser) = browser_or_notice("report") else {
        return;
    };
    let empty = robosieve::Compiler::default()
        .finish()
        .unwrap()
        .to_vec()
        .unwrap();
    for is_empty in [false, true] {
        let dir = compiled(&[("https://one.example", 200, "")]);
        if is_empty {
            dir.write("s.rsieve", &empty);
        }
        let (page, ..) = forms(&dir, &["-a", "a,b"]);
        assert_eq!(fits(&browser, &dir, &page)["bars"], 2 + 1);
    }
}

#[test]
fn report_of_units_fits() {
    let Some(browser) = browser_or_notice("report") else {
        return;
    };
    let captures: Vec<String> = (0..40)
        .map(|i| format!("https://site{i}.{}-{i}", "top".repeat(15)))
        .collect();
    let captures: Vec<Capture<'_>> = captures
        .iter()
        .map(|origin| (origin.as_str(), 200, "user-agent: b\ndisallow: /"))
        .collect();
    let dir = compiled(&captures);
    dir.write("w.csv", format!("site1.{}-1,1\n", "top".repeat(15)));
    let agents = (0..12)
        .map(|i| format!("{}{i}", "long-name-".repeat(8)))
        .collect::<Vec<_>>()
        .join(",")
        + ",b";
    let units = [
        "-a",
        &agents,
        "--by",
        "host",
        "--weights",
        "w.csv",
        "--group-by",
        "tld",
    ];
    let (page, ..) = forms(&dir, &units);
    assert_eq!(fits(&browser, &dir, &page)["bars"], 2 * 13 + 1);
}

#[test]
fn series_fits_desktop_and_phone() {
    let Some(browser) = browser_or_notice("report --series") else {
        return;
    };
    let dir = compiled(&[
        ("https://one.example", 200, "user-agent: b\ndisallow: /"),
        ("https://two.example", 404, ""),
    ]);
    let page = |agents: &str, labels: &[String]| {
        let snapshots: Vec<String> = labels
            .iter()
            .map(|label| format!("{label}=s.rsieve"))
            .collect();
        let snapshots: Vec<&str> = snapshots.iter().map(String::as_str).collect();
        let args = [
            "report",
            "-q",
            "-a",
            agents,
            "--html",
            "series.html",
            "--series",
        ];
        done(dir.run(&[&args, &snapshots[..]].concat()));
        dir.read_text("series.html")
            .replace("<details>", "<details open>")
    };
    let months: Vec<String> = (1..=12).map(|month| format!("2025-{month:02}")).collect();
    let long_name = "a-crawler-with-a-rather-long-name-".repeat(3);
    let many: Vec<String> = (0..42).map(|i| format!("{long_name}{i}")).collect();
    let hostile = vec![
        "<script>hacked()</script>".repeat(9),
        "\u{202e}".repeat(40),
        "W".repeat(100),
    ];
    let years: Vec<String> = (1..=70).map(|i| format!("label number {i}")).collect();
    for (agents, labels, charts) in [
        ("b", &months[..1], 2),
        ("b,FooBot", &months[..2], 4),
        (&*many.join(","), &months, 80),
        (&*format!("<script>x,{long_name}"), &hostile, 4),
        ("b", &years, 2),
    ] {
        assert_eq!(
            fits(&browser, &dir, &page(agents, labels))["charts"],
            charts,
            "{agents} {labels:?}"
        );
    }
}

#[test]
fn texts_of_the_chart_of_diff_do_not_overlap() {
    let Some(browser) = browser_or_notice("diff") else {
        return;
    };
    let dir = TestDir::new();
    let names = [
        "W".repeat(60),
        "i".repeat(200),
        "\u{5b57}".repeat(40),
        "<text>&\u{202e}".to_owned(),
        "b".to_owned(),
    ];
    let origins: Vec<String> = (0..1200).map(|i| format!("https://e{i}.example")).collect();
    let captures = |robots: &dyn Fn(usize) -> String| -> Vec<String> {
        (0..origins.len()).map(robots).collect()
    };
    let old = captures(&|i| {
        if i % 3 == 0 {
            "user-agent: *\ndisallow: /".to_owned()
        } else {
            String::new()
        }
    });
    let new = captures(&|i| format!("user-agent: {}\ndisallow: /\n", names[i % names.len()]));
    for (name, robots) in [("old.rsieve", &old), ("s.rsieve", &new)] {
        let captures: Vec<Capture<'_>> = origins
            .iter()
            .zip(robots)
            .map(|(origin, robots)| (origin.as_str(), 200, robots.as_str()))
            .collect();
        compile(&dir, name, &captures);
    }
    dir.stdout_of("diff old.rsieve s.rsieve --svg out.svg");
    let svg = dir.read_text("out.svg");
    let page = format!(
        "<!DOCTYPE html><meta http-equiv=\"Content-Security-Policy\" content=\"\"><body style='margin:0'>{svg}"
    );
    let desktop = &measured(&browser, &dir, &page)[0];
    for key in ["wide", "tiny", "overlaps"] {
        assert_eq!(desktop[key], json!([]), "{key}");
    }
    assert_eq!(svg.matches("<text class=\"n\"").count(), 1 + names.len());
}

#[test]
fn audit_fits_desktop_and_phone() {
    let Some(browser) = browser_or_notice("audit") else {
        return;
    };
    let dir = compiled(&[(
        "https://one.example",
        200,
        "user-agent: *\ndisallow: /x\ndisallow: /*script",
    )]);
    let line = |agent: &str, path: &str| {
        format!(
            "192.0.2.1 - - [15/Sep/2026:06:11:31 +0000] \"GET {path} HTTP/1.1\" 200 99 \"-\" \"{agent}\"\n"
        )
    };
    let mut log = line("GPTBot", &format!("/x{}", "y".repeat(500)));
    log += &line("GPTBot", "/robots.txt");
    log += &line("CCBot", "/<script>hacked=1</script>");
    log += &line("Googlebot", "/").repeat(2000);
    log += &line("Googlebot", "/x").replace("192.0.2.1", "198.51.100.1");
    dir.write("access.log", log);
    dir.write(
        "ips.json",
        r#"{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}"#,
    );
    let page = |log: &str| {
        let base = words("audit -q -s s.rsieve --host https://one.example --verify-ips ips.json");
        let args = [&base[..], &["--html", "audit.html", log]].concat();
        done(dir.run(&args));
        dir.read_text("audit.html")
    };
    // All requests of CCBot are disallowed, so each crawler has one bar, and so has the claim.
    let broken = page("access.log");
    assert!(broken.contains("Googlebot (claimed)"), "the bar of claims");
    assert_eq!(fits(&browser, &dir, &broken)["bars"], 4);
    dir.write("browsers.log", line("Mozilla/5.0 (X11; Linux x86_64)", "/"));
    assert_eq!(fits(&browser, &dir, &page("browsers.log"))["bars"], 0);
}
