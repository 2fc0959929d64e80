//! The page in a real browser: nothing exceeds the width of a desktop or a phone, and the figures
//! are present.
//!
//! The browser is `ROBOSIEVE_TEST_BROWSER`, or a Chromium on the path. Without one the test prints
//! a notice and passes.

use super::compile;
use super::outputs::{HOSTILE, forms};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// A browser is killed after this time.
const LIMIT: Duration = Duration::from_secs(90);

fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("ROBOSIEVE_TEST_BROWSER") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).flat_map(|dir| NAMES.map(|name| dir.join(name))).find(|file| file.is_file())
}

/// Replaces the page's own rule against scripts: measures, and writes the result into the title.
const MEASURE: &str = "<script>addEventListener('load', () => {
  const page = document.documentElement;
  const wide = [...document.querySelectorAll('body *')].filter(e => !e.closest('.wide') && !e.closest('defs')
    && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '.' + e.getAttribute('class'));
  const fetched = performance.getEntriesByType('resource').map(e => e.name);
  document.title = JSON.stringify({ inner: innerWidth, scroll: page.scrollWidth, wide, fetched,
    bars: [...document.querySelectorAll('svg.bar')].filter(e => e.getBoundingClientRect().width > 100).length,
    ran: typeof hacked !== 'undefined' });
});</script>";

/// The result of the measuring page in a window of this width.
///
/// A headless window cannot be as narrow as a phone, so the page is in a frame of that width.
fn measured(browser: &Path, dir: &Path, page: &str, width: u32) -> serde_json::Value {
    let (before, rest) = page.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let (_, after) = rest.split_once('>').unwrap();
    let framed = format!("{before}{MEASURE}{after}").replace('&', "&amp;").replace('"', "&quot;");
    let outer = format!(
        "<!DOCTYPE html><title>outer</title><iframe style='width:{width}px;height:900px;border:0' srcdoc=\"{framed}\"></iframe>
<script>const frame = document.querySelector('iframe');
frame.addEventListener('load', () => setTimeout(() => {{ document.title = 'measured ' + frame.contentDocument.title; }}, 50));</script>"
    );
    let file = dir.join(format!("{width}.html"));
    std::fs::write(&file, outer).unwrap();
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--window-size=1400,1000"])
        .args(["--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", dir.join(format!("profile-{width}")).display()))
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
    end_in_time(&mut child);
    let dom = reading.join().unwrap().unwrap();
    let title = dom.split("<title>measured ").nth(1).and_then(|rest| rest.split("</title>").next());
    let title = title.unwrap_or_else(|| panic!("the page was not measured:\n{:.2000}", dom));
    let title = title.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&title).unwrap_or_else(|err| panic!("{err}: {title}"))
}

fn end_in_time(child: &mut Child) {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the browser did not end within {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn page_fits_desktop_and_phone() {
    let Some(browser) = browser() else {
        let notice = "SKIPPED: no browser was found (ROBOSIEVE_TEST_BROWSER names one), so the page of `report` was not looked at";
        let _ = writeln!(std::io::stderr(), "{notice}");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let long = format!("user-agent: *\ndisallow: /{}\n", "x".repeat(400));
    let hacking = format!("{HOSTILE}Disallow: /<script>hacked=1</script>\n");
    let host = format!("https://{}example", "long-name.".repeat(12));
    compile(
        dir.path(),
        &[
            ("https://one.example", 200, hacking.as_str()),
            ("https://two.example", 200, "user-agent: a\ndisallow: /\n\nuser-agent: *\ndisallow: /x"),
            (host.as_str(), 200, long.as_str()),
            ("https://four.example", 503, ""),
        ],
    );
    let mut list: String = (0..3000).map(|i| format!("https://two.example/x{i}\n{host}/xxx\n")).collect();
    list += &format!("{host}/{}\nhttps://one.example/<script>hacked=1</script>\n", "x".repeat(500));
    std::fs::write(dir.path().join("urls.txt"), list).unwrap();
    let agents = "a,b,Googlebot-Image:Googlebot,a-crawler-with-a-rather-long-name-indeed,c,d,e,f,g,h";
    for list in [&[][..], &["urls.txt"]] {
        let (page, json, _) = forms(dir.path(), &[&["-a", agents], list].concat());
        for width in [1280, 360] {
            let found = measured(&browser, dir.path(), &page, width);
            assert_eq!(found["inner"], width, "{found}");
            assert!(found["scroll"].as_u64().unwrap() <= u64::from(width), "{width}: {found}");
            assert_eq!(found["wide"], serde_json::json!([]), "{width}: elements overflow");
            assert_eq!(found["fetched"], serde_json::json!([]), "the page fetches a resource");
            assert_eq!(found["ran"], false, "a script of a site ran");
            let bars = if list.is_empty() { 10 + 1 } else { 20 + 2 };
            assert_eq!(found["bars"], bars, "{width}: {found}");
        }
        assert!(page.contains(">4</span>") && json["snapshot"]["origins"] == 4);
    }
}
