//! Checks the spelling of agents against the names in a snapshot.

use crate::crawlers::spell_check::SpellCheck;
use crate::crawlers::spelling::{CheckedName, letters, registered};
use crate::error::{Error, Result};
use crate::file_pass::count_files_naming;
use crate::snapshot::Snapshot;

/// A name outside the registry is suggested only if at least one in this many robots.txt files of a
/// snapshot names it. Sites misspell names too, and in a large snapshot any short name is close to
/// some misspelling.
const RARE: u64 = 10_000;

impl SpellCheck {
    /// Looks the agents up among the names of a snapshot.
    ///
    /// Cost: a binary search for each agent. If an agent is unknown, also a pass over all names. If
    /// any of these is close to it, also a pass over the named agents of all robots.txt files.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the snapshot's bytes contradict each
    /// other.
    pub fn add_snapshot(&mut self, snapshot: &Snapshot) -> Result<()> {
        for name in self.names() {
            name.is_known |= snapshot.token_number(&name.text)?.is_some();
        }
        let numbers = close_names(self, snapshot)?;
        if numbers.is_empty() {
            return Ok(());
        }
        let counts = count_files_naming(snapshot, &numbers)?;
        let least = u64::from(snapshot.file_count()).div_ceil(RARE);
        let mut frequent = Vec::new();
        for (number, files) in numbers.into_iter().zip(counts) {
            let text = snapshot.token(u64::from(number))?;
            if files >= least || registered(&self.registry, text).is_some() {
                frequent.push((text.to_vec(), files));
            }
        }
        self.add_close(&frequent);
        Ok(())
    }
}

/// The numbers of the snapshot's names that are close to an unknown one.
fn close_names(check: &mut SpellCheck, snapshot: &Snapshot) -> Result<Vec<u32>> {
    let unknown: Vec<&mut CheckedName> = check.unknown().collect();
    let mut numbers = Vec::new();
    if unknown.is_empty() {
        return Ok(numbers);
    }
    for number in 0..snapshot.token_count()? {
        let other = snapshot.token(number)?;
        let letters = letters(other);
        if unknown
            .iter()
            .any(|name| name.distance(other, letters).is_some())
        {
            numbers
                .push(u32::try_from(number).map_err(|_| Error::corrupt("the number of tokens"))?);
        }
    }
    Ok(numbers)
}
