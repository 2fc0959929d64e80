//! The metadata of written files about the run that wrote them.

use crate::judge::Judge;

/// The entries of a file: agents, version and snapshot, then further ones.
pub(crate) fn run_metadata<'m>(
    judge: &Judge,
    more: &'m [(String, String)],
) -> Vec<(&'m str, String)> {
    let names: Vec<String> = judge.agents().iter().map(ToString::to_string).collect();
    let checksum = judge.snapshot().checksum();
    let mut entries = vec![
        ("robosieve.agents", names.join(",")),
        ("robosieve.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("robosieve.snapshot", format!("{checksum:016x}")),
    ];
    entries.extend(
        more.iter()
            .map(|(key, value)| (key.as_str(), value.clone())),
    );
    entries
}
