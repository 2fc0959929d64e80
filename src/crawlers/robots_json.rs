//! Reads `robots.json` of the public list github.com/ai-robots-txt/ai.robots.txt: an object from
//! names to objects of free texts. `datasets/README.md` documents how its texts become facts.
//!
//! The texts are uneven: most `function`s are headings of a directory of agents ("AI Assistants"),
//! others are sentences. A text that no rule here reads states nothing. Then a crawler keeps the
//! purpose that the registry has, which a guess would overwrite.

use super::entry::{CrawlerEntry, bad_registry, has_control, token_defect};
use super::known_agent::{Compliance, Purpose};
use crate::error::Result;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

/// The texts of one name that are read. `function` must be there: it distinguishes the list from
/// other JSON.
#[derive(Deserialize)]
struct ListedTexts {
    #[serde(default)]
    operator: String,
    #[serde(default)]
    respect: String,
    function: String,
}

/// The entries in the order of the file. Names that differ in case or version alone
/// (`MistralAI-User/1.0`) are one crawler, with the first statement of each fact.
struct ListedCrawlers(Vec<CrawlerEntry>);

impl<'de> Deserialize<'de> for ListedCrawlers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(ListVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = ListedCrawlers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object from names to objects with operator, respect and function")
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut map: A,
    ) -> std::result::Result<ListedCrawlers, A::Error> {
        let mut entries: Vec<CrawlerEntry> = Vec::new();
        let mut indices: HashMap<String, usize> = HashMap::new();
        while let Some((name, texts)) = map.next_entry::<String, ListedTexts>()? {
            let entry = entry_of(&name, &texts);
            if let Some(defect) = token_defect(&entry.token) {
                return Err(A::Error::custom(defect));
            }
            match indices.entry(entry.token.to_ascii_lowercase()) {
                Entry::Occupied(index) => entries[*index.get()].complete_with(entry),
                Entry::Vacant(index) => {
                    index.insert(entries.len());
                    entries.push(entry);
                }
            }
        }
        Ok(ListedCrawlers(entries))
    }
}

/// The crawlers of the list, in its order.
pub(super) fn parse(text: &str) -> Result<Vec<CrawlerEntry>> {
    match serde_json::from_str::<ListedCrawlers>(text) {
        Ok(list) => Ok(list.0),
        Err(err) => {
            let advice =
                "give robots.json of github.com/ai-robots-txt/ai.robots.txt, or a table with TABs";
            Err(bad_registry(
                None,
                format!("not a list of crawlers: {err}; {advice}"),
            ))
        }
    }
}

fn entry_of(name: &str, texts: &ListedTexts) -> CrawlerEntry {
    let token = name.split('/').next().unwrap_or_default();
    let (operator, _) = split_link(&texts.operator);
    let (respect, source) = split_link(&texts.respect);
    CrawlerEntry {
        token: token.split_whitespace().collect::<Vec<_>>().join(" "),
        operator: operator_name(operator),
        purpose: purpose_of(&texts.function),
        // Its texts do not say which other groups a crawler obeys.
        falls_back_to: None,
        ignores_star: None,
        obeys: match respect.trim() {
            "Yes" => Some(Compliance::Yes),
            "No" => Some(Compliance::No),
            _ => None,
        },
        source: source.map(str::to_owned),
    }
}

/// The label and the address of a Markdown link; of a bare address only that, of other text only
/// the text.
fn split_link(text: &str) -> (&str, Option<&str>) {
    let text = text.trim();
    if is_address(text) {
        return ("", Some(text));
    }
    let link = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]("));
    let parts = link.and_then(|(label, rest)| Some((label, rest.split_once(')')?.0)));
    match parts {
        Some((label, address)) => (label, Some(address).filter(|address| is_address(address))),
        None => (text, None),
    }
}

/// Whether a text is a web address and nothing else.
fn is_address(text: &str) -> bool {
    (text.starts_with("https://") || text.starts_with("http://"))
        && !text.contains(char::is_whitespace)
        && !has_control(text)
}

/// The name at the start of a text such as "Twin, a platform for …"; `None` if it is unclear.
fn operator_name(text: &str) -> Option<String> {
    let end = [", ", ". ", " that ", " to ", " (", ";"]
        .iter()
        .filter_map(|mark| text.find(mark))
        .min();
    let name = text[..end.unwrap_or(text.len())].trim();
    let lower = name.to_ascii_lowercase();
    let is_stated =
        !name.is_empty() && !lower.starts_with("unclear") && !lower.starts_with("unknown");
    (is_stated && !has_control(name)).then(|| name.to_owned())
}

/// The purpose that a `function` states: that of a heading, else by the words of a sentence.
fn purpose_of(function: &str) -> Option<Purpose> {
    let function = function.trim().trim_end_matches('.').to_ascii_lowercase();
    match function.as_str() {
        "ai agents" | "ai coding agents" => return Some(Purpose::AiAgent),
        "ai assistants" => return Some(Purpose::AiUser),
        "ai data providers" | "data is sold" => return Some(Purpose::DataProvider),
        "ai data scrapers" | "ai data scraper" => return Some(Purpose::AiTrain),
        _ => {}
    }
    let words: Vec<&str> = function.split(|c: char| !c.is_alphanumeric()).collect();
    // A negated sentence may name the purpose that the crawler does not have.
    if ["not", "no", "never"]
        .iter()
        .any(|word| words.contains(word))
    {
        return None;
    }
    if words.iter().any(|word| word.starts_with("train")) {
        Some(Purpose::AiTrain)
    } else if words.contains(&"search") {
        Some(Purpose::AiSearch)
    } else if words.contains(&"user") {
        Some(Purpose::AiUser)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_become_purposes_only_if_they_state_one() {
        use Purpose::{AiAgent, AiSearch, AiTrain, AiUser, DataProvider};
        for (function, expected) in [
            ("AI Agents", Some(AiAgent)),
            ("AI Coding Agents", Some(AiAgent)),
            ("AI Assistants", Some(AiUser)),
            ("AI Data Providers", Some(DataProvider)),
            ("Data is sold.", Some(DataProvider)),
            ("AI Data Scrapers", Some(AiTrain)),
            ("AI data scraper", Some(AiTrain)),
            ("AI Search Crawlers", Some(AiSearch)),
            ("LLM training.", Some(AiTrain)),
            ("Training language models", Some(AiTrain)),
            ("Search result generation.", Some(AiSearch)),
            ("Takes action based on user prompts.", Some(AiUser)),
            ("Used for search. Not used for model training.", None),
            ("Undocumented AI Agents", None),
            ("Unclear at this time.", None),
            ("AI research crawler", None),
            ("Scrapes data.", None),
            ("", None),
        ] {
            assert_eq!(purpose_of(function), expected, "{function}");
        }
    }

    #[test]
    fn operators_are_names_without_links_and_sentences() {
        for (text, expected) in [
            (
                "[Ai2](https://allenai.example/crawler)",
                (Some("Ai2"), Some("https://allenai.example/crawler")),
            ),
            (
                "https://brave.example/help",
                (None, Some("https://brave.example/help")),
            ),
            ("[X](javascript:alert)", (Some("X"), None)),
            ("Twin, a platform for workers", (Some("Twin"), None)),
            ("Kagi that fetches content", (Some("Kagi"), None)),
            ("Cohere to download data", (Some("Cohere"), None)),
            (
                "Anyone who has it. Possibly [a net](https://x.example)",
                (Some("Anyone who has it"), None),
            ),
            ("Naget Inc (founded by someone)", (Some("Naget Inc"), None)),
            ("Unclear at this time.", (None, None)),
            ("Unknown", (None, None)),
            ("[half", (Some("[half"), None)),
            ("A\u{1b}B", (None, None)),
        ] {
            let (label, page) = split_link(text);
            assert_eq!((operator_name(label).as_deref(), page), expected, "{text}");
        }
    }
}
