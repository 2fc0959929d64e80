//! What filter lists say about the origin runs of a batch.
//!
//! Few runs have an origin with entries in a list. So they are kept apart, in their order, and the
//! loop over all runs compares its number with the next of them. The searches for their entries
//! take turns, and overlap their cache misses.

use super::rows::BATCH;
use crate::error::Result;
use crate::filter_lists::{FilterLists, ListDecision, OriginEntries, OriginSearch};
use std::ops::Range;

/// The runs of a batch about which filter lists say something, in ascending order.
#[derive(Debug, Default)]
pub(super) struct ListedRuns<'d> {
    /// The searches for the entries of runs.
    searches: Vec<OriginSearch<'d>>,
    /// The runs of these searches.
    searched: Vec<usize>,
    /// The runs with entries.
    runs: Vec<ListedRun>,
    /// The first of them that was not taken.
    next: usize,
    /// The rows of the batch with listed words, ascending, and what decides about each.
    words: Vec<(usize, ListDecision)>,
    /// A bit for each of these rows.
    has_words: u64,
}

#[derive(Debug)]
struct ListedRun {
    run: usize,
    entries: OriginEntries,
}

impl<'d> ListedRuns<'d> {
    /// Removes all.
    pub(super) fn clear(&mut self) {
        self.searches.clear();
        self.searched.clear();
        self.runs.clear();
        self.next = 0;
        self.words.clear();
        self.has_words = 0;
    }

    /// Adds the search for the entries of a run. The run is later in the batch than those before.
    pub(super) fn push(&mut self, run: usize, search: OriginSearch<'d>) {
        self.searched.push(run);
        self.searches.push(search);
    }

    /// Finds the entries of all runs.
    pub(super) fn finish_searches(&mut self, lists: &FilterLists) -> Result<()> {
        lists.finish_searches(&mut self.searches)?;
        for (run, search) in self.searched.iter().zip(&mut self.searches) {
            let entries = search.take_entries();
            if !entries.is_empty() {
                self.runs.push(ListedRun { run: *run, entries });
            }
        }
        Ok(())
    }

    /// Whether lists say something about a run with these rows. Runs are asked for in ascending
    /// order, and those with entries are taken.
    #[inline(always)]
    pub(super) fn concern(&self, run: usize, rows: &Range<usize>) -> bool {
        let next = self.runs.get(self.next);
        next.is_some_and(|next| next.run == run) || self.have_words_in(rows.clone())
    }

    /// The entries of a run.
    pub(super) fn take(&mut self, run: usize) -> OriginEntries {
        match self.runs.get_mut(self.next) {
            Some(next) if next.run == run => {
                self.next += 1;
                std::mem::take(&mut next.entries)
            }
            _ => OriginEntries::default(),
        }
    }

    /// Adds the decision by the words of a row, which is after the rows before.
    pub(super) fn push_word(&mut self, row: usize, decision: ListDecision) {
        self.has_words |= 1 << (row % BATCH);
        self.words.push((row, decision));
    }

    /// Whether some of these rows have listed words.
    #[inline(always)]
    pub(super) fn have_words_in(&self, rows: Range<usize>) -> bool {
        self.has_words != 0
            && rows
                .into_iter()
                .any(|row| self.has_words >> (row % BATCH) & 1 == 1)
    }

    /// The decision by the words of a row, if it has listed ones.
    pub(super) fn word_in(&self, row: usize) -> Option<ListDecision> {
        let place = self
            .words
            .binary_search_by_key(&row, |(row, _)| *row)
            .ok()?;
        self.words.get(place).map(|(_, decision)| *decision)
    }
}

#[cfg(test)]
mod tests {
    /// Judges that ask filter lists give the answers of single look-ups, in every way of judging rows.
    #[cfg(feature = "filter-lists")]
    mod with_lists {

        use crate::compile::Compiler;
        use crate::filter_lists::{FilterLists, ListCompiler, ListKind};
        use crate::judge::emitter::Joined;
        use crate::judge::{Judge, JudgeOptions, Rows, Stage, Verdicts};
        use crate::snapshot::Snapshot;
        use proptest::collection::vec;
        use proptest::prelude::*;
        use proptest::sample::select;

        fn host() -> impl Strategy<Value = String> {
            let label = select(vec!["a", "b", "www", "com", "uk", "x"]);
            vec(label, 1..4).prop_map(|labels| labels.join("."))
        }

        fn line() -> impl Strategy<Value = String> {
            let mark = select(vec!["", "", "@@", "=", "https://"]);
            let path = select(vec!["", "", "/a", "/a/b", "/*b$", ":8080/a"]);
            (mark, host(), path).prop_map(|(mark, host, path)| format!("{mark}{host}{path}"))
        }

        /// A URL, often of the same origin as others; some are not in normal form, and some are not URLs.
        fn url() -> impl Strategy<Value = String> {
            let origin = prop_oneof![
                8 => host().prop_map(|host| format!("https://{host}")),
                2 => host().prop_map(|host| format!("http://{host}:8080")),
                1 => host().prop_map(|host| format!("HTTPS://u@{}.", host.to_uppercase())),
                1 => host().prop_map(|host| format!("https://{host}.")),
                1 => select(vec!["http://1.2.3.4", "https://[::1]", "http://x"]).prop_map(str::to_owned),
                1 => Just("not a URL".to_owned()),
            ];
            let path = select(vec!["", "/", "/a", "/a/b", "/x%62", "/q#a", "?a", "/a/b/c"]);
            (origin, path).prop_map(|(origin, path)| format!("{origin}{path}"))
        }

        fn snapshot() -> Snapshot {
            let mut archive = String::new();
            for (host, rules) in [
                ("a.com", "disallow: /a"),
                ("b.com", "allow: /"),
                ("x", "disallow: /"),
            ] {
                for (time, extra) in [(1_000, "disallow: /old\n"), (2_000, "")] {
                    archive += &format!(
                        "{{\"url\": \"https://{host}/robots.txt\", \"fetched_at\": {time}, \
                         \"body\": \"user-agent: *\\n{}{rules}\"}}\n",
                        extra.replace('\n', "\\n")
                    );
                }
            }
            archive += "{\"url\": \"https://www.a.com/robots.txt\", \"status\": 404, \"fetched_at\": 1500}\n";
            let mut compiler = Compiler::default().history(true);
            compiler.add_reader("archive", archive.as_bytes()).unwrap();
            Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
        }

        /// Whether each row is listed, and its verdicts, as one text.
        type Answers = Vec<String>;

        fn describe(is_listed: bool, letters: String) -> String {
            format!("{is_listed} {letters}")
        }

        proptest! {
            #![proptest_config(ProptestConfig { failure_persistence: None, cases: 60, ..ProptestConfig::default() })]

            #[test]
            fn batches_ask_lists_as_single_look_ups_do(
                lines in vec(line(), 1..30),
                exceptions in vec(line(), 0..5),
                has_words in any::<bool>(),
                urls in vec((url(), 1..4usize), 1..90),
                times in vec(select(vec![None, Some(500), Some(1_500), Some(2_500)]), 300),
            ) {
                let mut compiler = ListCompiler::new().allow_suffixes(true);
                prop_assume!(compiler.add("own", ListKind::Block, lines.join("\n").as_bytes()).is_ok());
                let _ = compiler.add("ours", ListKind::Allow, exceptions.join("\n").as_bytes());
                if has_words {
                    let words = [
                        ("hard", ListKind::Words, "word\nuk"),
                        ("soft", ListKind::SoftWords, "soft\ntender"),
                        ("parts", ListKind::Substrings, "bigwin"),
                    ];
                    for (name, kind, text) in words {
                        compiler.add(name, kind, text.as_bytes()).unwrap();
                    }
                }
                let lists = FilterLists::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
                // Neighbours often have the same URL.
                let rows: Vec<&[u8]> = urls
                    .iter()
                    .flat_map(|(url, times)| std::iter::repeat_n(url.as_bytes(), *times))
                    .collect();
                let agents = ["FooBot".parse().unwrap(), "BarBot".parse().unwrap()];
                let plain = Judge::new(snapshot(), &agents, JudgeOptions::default()).unwrap();
                let judge = plain.with_lists(lists.clone());
                let is_listed = |url: &[u8]| {
                    let found = lists.find(url).unwrap();
                    found.is_some_and(|found| !found.is_exception())
                };

                // Single URLs: the verdicts are those of a judge without lists.
                let mut expected: Answers = Vec::new();
                for url in &rows {
                    let [with, without] = [&judge, &plain].map(|judge| judge.judge(url).unwrap());
                    prop_assert_eq!(with.is_listed(), is_listed(url), "{}", String::from_utf8_lossy(url));
                    prop_assert!(!without.is_listed());
                    let letters = |verdicts: &Verdicts| -> String {
                        verdicts.iter().map(|verdict| verdict.letter()).collect()
                    };
                    prop_assert_eq!(letters(&with), letters(&without));
                    expected.push(describe(with.is_listed(), letters(&with)));
                }

                // Lines.
                let text: Vec<u8> = rows.iter().flat_map(|row| [row, &b"\n"[..]].concat()).collect();
                let engine = judge.engine();
                for joined in [Joined::SameOrigin, Joined::SameReason] {
                    let mut found: Answers = Vec::new();
                    let mut scratch = engine.scratch();
                    engine.judge_lines(&text, Stage::Match, joined, &mut scratch, |run, verdicts| {
                        let letters: String = verdicts.iter().map(|verdict| verdict.letter()).collect();
                        for _ in run.ends {
                            found.push(describe(verdicts.is_listed(), letters.clone()));
                        }
                        Ok(())
                    }).unwrap();
                    prop_assert_eq!(&found, &expected);
                }

                // Columns.
                let mut found: Answers = vec![String::new(); rows.len()];
                judge.judge_rows(Rows::Slices(&rows), |range, verdicts| {
                    let letters: String = verdicts.iter().map(|verdict| verdict.letter()).collect();
                    found[range].fill(describe(verdicts.is_listed(), letters));
                    Ok(())
                }).unwrap();
                prop_assert_eq!(&found, &expected);

                // Lines with times: what lists say does not depend on them.
                let times = &times[..rows.len().min(times.len())];
                let mut found = Vec::new();
                let mut scratch = engine.scratch();
                engine.judge_timed_lines(&text, times, Stage::Match, Joined::SameReason, &mut scratch, |run, verdicts| {
                    found.extend(run.ends.iter().map(|_| verdicts.is_listed()));
                    Ok(())
                }).unwrap();
                let expected: Vec<bool> = rows.iter().map(|url| is_listed(url)).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
