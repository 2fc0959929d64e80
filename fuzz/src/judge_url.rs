//! Robots.txt, agents and URLs of a grammar: all judges have the verdicts and lines of the
//! reference.

use crate::agreement::judges_agree;
use crate::generate::{AGENTS, ORIGIN, SEGMENTS};
use crate::input::{Bytes, expand};
use robosieve::Agent;

/// Lines of a robots.txt, and then the segments of paths of the project's random tests.
const LINES: &[&str] = &[
    "User-agent: ",
    "user-agent:",
    "Allow: ",
    "Disallow: ",
    "disalow: ",
    "Disallow: /",
    "Allow: /",
    "User-agent: *\n",
    "User-agent: a\n",
    "User-agent: ab\n",
    "user-agent: MJ12bot/1\n",
    "user-agent: b  c\n",
    "Sitemap: ",
    "Crawl-delay: 1\n",
    "\n",
    "\r\n",
    "\r",
    "\u{feff}",
    " # c",
    "/index.htm",
    "/robots.txt",
    "****************$",
    "$\n",
    "*\n",
    "%2F",
    "%zz",
    "://",
];

/// All tokens.
pub(crate) fn tokens() -> Vec<&'static str> {
    LINES.iter().chain(SEGMENTS).copied().collect()
}

/// A byte that chooses the agents, the robots.txt, 0xfe, and paths of URLs, each ended by 0xfe.
pub(crate) fn run(input: &[u8]) {
    let tokens = tokens();
    let mut input = Bytes(input);
    let first = usize::from(input.byte());
    let names = [AGENTS[first % 8], AGENTS[first / 8 % 8], "zz"];
    let agents: Vec<Agent> = names[first / 64 % 2..]
        .iter()
        .map(|name| name.parse().unwrap())
        .collect();
    let body = expand(input.part(0xfe), &tokens);
    let mut urls = vec![ORIGIN.as_bytes().to_vec()];
    while !input.is_empty() && urls.len() < 8 {
        let path = expand(input.part(0xfe), &tokens);
        let end = path.iter().rposition(|byte| !(9..=b' ').contains(byte));
        let path = &path[..end.map_or(0, |end| end + 1)];
        // `;@` belongs to the authority, and another host follows.
        let mut segments = path.split(|byte| b"/?#".contains(byte));
        let is_user = segments.next().is_some_and(|first| first.contains(&b'@'));
        let ends_host = matches!(path.first(), None | Some(b'/' | b'?' | b';' | b'#'));
        let slash: &[u8] = if ends_host && !is_user { b"" } else { b"/" };
        urls.push([ORIGIN.as_bytes(), slash, path].concat());
    }
    let urls: Vec<&[u8]> = urls.iter().map(Vec::as_slice).collect();
    judges_agree(&body, &agents, &urls);
}
