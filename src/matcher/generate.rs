//! Lists of rules and URL paths for property tests, in sizes around every threshold. The strategies
//! for one rule path and one text are those of all tests, `tests/generate.rs`.

#[path = "../../tests/generate.rs"]
#[allow(dead_code, reason = "the integration tests use the rest")]
mod shared;

use crate::profile::Profile;
use crate::robots::reference;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use shared::rule_path;
pub(super) use shared::text;

/// Sizes of rule sets around every threshold of the layouts.
const SIZES: &[usize] = &[
    1, 2, 3, 7, 8, 9, 12, 20, 31, 32, 33, 50, 63, 64, 65, 90, 103, 104, 105, 127, 128, 129, 140,
    300, 1100, 5000,
];

/// How a generated rule path comes about: on its own, or from that of an earlier rule.
#[derive(Clone, Debug)]
enum Made {
    Fresh(String),
    Extended(Index, String),
    Cut(Index, Index),
}

fn literal_path() -> BoxedStrategy<String> {
    text(1..9)
        .prop_map(|text| format!("/{}", text.replace('*', "x")))
        .boxed()
}

fn made(fresh: BoxedStrategy<String>) -> BoxedStrategy<(Made, bool)> {
    let made = prop_oneof![
        8 => fresh.prop_map(Made::Fresh),
        1 => (any::<Index>(), text(1..3)).prop_map(|(earlier, more)| Made::Extended(earlier, more)),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(earlier, at)| Made::Cut(earlier, at)),
    ];
    (made, any::<bool>()).boxed()
}

/// The paths of a list of rules, each with whether it allows. Half of the lists are mostly literal,
/// as on real sites.
pub(super) fn rule_paths() -> impl Strategy<Value = Vec<(String, bool)>> {
    let rule = prop_oneof![
        Just(made(rule_path())),
        Just(made(
            prop_oneof![1 => rule_path(), 20 => literal_path()].boxed()
        )),
    ];
    (rule, select(SIZES))
        .prop_flat_map(|(rule, size)| vec(rule, size))
        .prop_map(resolve_relatives)
}

fn resolve_relatives(list: Vec<(Made, bool)>) -> Vec<(String, bool)> {
    let mut paths: Vec<(String, bool)> = Vec::new();
    for (made, allow) in list {
        let earlier = |index: Index| {
            if paths.is_empty() {
                ""
            } else {
                &*paths[index.index(paths.len())].0
            }
        };
        let path = match made {
            Made::Fresh(path) => path,
            Made::Extended(index, more) => format!("{}{more}", earlier(index)),
            Made::Cut(index, at) => {
                let chars: Vec<char> = earlier(index).chars().collect();
                chars[..at.index(chars.len() + 1)].iter().collect()
            }
        };
        paths.push((path, allow));
    }
    paths
}

/// Paths, most of them made from the rules: `*` filled in, something appended.
pub(super) fn url_paths(
    rules: &[(String, bool)],
    made: Vec<(Index, String, String)>,
    profile: Profile,
) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    for (rule, fill, tail) in made {
        let rule = &rules[rule.index(rules.len())].0;
        let path = format!("{}{tail}", rule.trim_end_matches('$').replace('*', &fill));
        let slash = if path.starts_with('/') { "" } else { "/" };
        paths.push(reference::normal_path(
            format!("{slash}{path}").as_bytes(),
            profile,
        ));
    }
    paths
}
