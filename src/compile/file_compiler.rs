//! A text to the contents of a file: grouped, merged by agent, encoded.

use super::incremental::previous::{PreviousRules, PreviousSnapshot, damaged};
use super::ingest::text_store::{TextFrame, TextId, Texts};
use super::rule_sets::{self, MergedRules};
use crate::error::{Error, Result};
use crate::matcher::build::{self, CanonicalRule};
use crate::profile::Profile;
use crate::robots::RobotsRef;
use crate::robots::condense::condense;
use crate::snapshot::contents::{DigestedSet, FileContents, NamedContents, RulesContents};
use crate::snapshot::text::{DICTIONARY, Packer, Unpacker};
use crate::snapshot::text_reader::TextReader;
use std::collections::HashMap;

/// A file, and where the previous snapshot has its rules if they are inherited.
pub(super) struct CompiledFile<'c> {
    pub contents: FileContents<'c>,
    pub previous_offsets: Vec<u32>,
}

/// The new offsets of rules by their offsets in the previous snapshot, as far as files with these
/// rules were appended. Two in five rule sets of a file are known, so they need no digest.
pub(super) type InheritedOffsets = HashMap<u32, u32>;

/// Reads texts of one compilation and parses them; one per thread.
pub(super) struct FileCompiler<'c> {
    profile: Profile,
    texts: &'c Texts,
    previous: Option<PreviousTexts<'c>>,
    unpacker: Unpacker,
}

/// Reads the texts of the previous snapshot.
pub(super) struct PreviousTexts<'c> {
    snapshot: &'c PreviousSnapshot,
    texts: TextReader,
    /// Compresses the texts of another version, and old ones, again.
    packer: Option<Packer>,
}

impl<'c> FileCompiler<'c> {
    pub(super) fn new(
        profile: Profile,
        texts: &'c Texts,
        previous: Option<&'c PreviousSnapshot>,
    ) -> Result<Self> {
        Ok(Self {
            profile,
            texts,
            previous: previous.map(PreviousTexts::new),
            unpacker: Unpacker::new(DICTIONARY)?,
        })
    }

    /// The contents of the file with this text.
    ///
    /// # Errors
    /// I/O errors of temporary data; damage in the previous snapshot.
    pub(super) fn compile(
        &mut self,
        text: TextId,
        offsets: &InheritedOffsets,
    ) -> Result<CompiledFile<'c>> {
        match (self.texts.frame(text)?, &mut self.previous) {
            (TextFrame::Spooled(frame), _) => {
                let text = self.unpacker.unpack(&frame)?;
                self.contents(&text, frame)
            }
            // Reading encoded rules takes a fifth of the time of parsing the text again.
            (TextFrame::Previous(row), Some(PreviousTexts { snapshot, .. }))
                if snapshot.has_file(row) && snapshot.has_current_rules(self.profile) =>
            {
                inherited(snapshot, row, offsets)
            }
            (TextFrame::Previous(row), Some(previous)) => {
                let previous = previous.text(row)?;
                self.contents(&previous.text, previous.frame)
            }
            (TextFrame::Previous(_), None) => Err(Error::corrupt(
                "a text of a previous snapshot that is not there",
            )),
        }
    }

    /// The file with this condensed text and frame.
    fn contents(&self, text: &[u8], frame: Vec<u8>) -> Result<CompiledFile<'c>> {
        Ok(CompiledFile {
            contents: file_contents(self.profile, text, frame)?,
            previous_offsets: Vec::new(),
        })
    }
}

/// A text of the previous snapshot, as this version condenses it.
pub(super) struct PreviousText {
    pub text: Vec<u8>,
    /// It is compressed with the dictionary of this version.
    pub frame: Vec<u8>,
}

impl<'c> PreviousTexts<'c> {
    pub(super) fn new(snapshot: &'c PreviousSnapshot) -> Self {
        Self {
            snapshot,
            texts: snapshot.texts(),
            packer: None,
        }
    }

    /// The text with this number, and its frame.
    ///
    /// # Errors
    /// Damage in the previous snapshot.
    pub(super) fn text(&mut self, number: u32) -> Result<PreviousText> {
        let mut text = self.texts.read(number).map_err(damaged)?;
        let is_current = self.snapshot.has_current_texts();
        if is_current && self.snapshot.has_file(number) {
            let frame = self.snapshot.frame(number)?.to_vec();
            return Ok(PreviousText { text, frame });
        }
        // Another version may keep other lines.
        if !is_current {
            text = condense(&text, false);
        }
        // An old text may be stored as a difference.
        let packer = match &mut self.packer {
            Some(packer) => packer,
            none => none.insert(Packer::new()?),
        };
        let frame = packer.pack(&text)?.to_vec();
        Ok(PreviousText { text, frame })
    }
}

/// The contents of the file with this condensed text and frame.
pub(super) fn file_contents<'c>(
    profile: Profile,
    text: &[u8],
    frame: Vec<u8>,
) -> Result<FileContents<'c>> {
    let robots = RobotsRef::parse(text, profile);
    let by_agent = rule_sets::by_agent(&robots);
    let named = by_agent
        .named
        .into_iter()
        .map(|(name, rules)| NamedContents {
            name: name.to_vec().into(),
            rules,
        });
    Ok(FileContents {
        frame: frame.into(),
        rules: by_agent.merged.iter().map(encode).collect::<Result<_>>()?,
        global: by_agent.global,
        named: named.collect(),
    })
}

/// The contents of a file row of the previous snapshot; the rules at known offsets are not read.
fn inherited<'c>(
    snapshot: &'c PreviousSnapshot,
    row: u32,
    offsets: &InheritedOffsets,
) -> Result<CompiledFile<'c>> {
    let file = snapshot.file(row)?;
    // Agents share rules, so the rules of a file are a list that the agents refer to.
    let mut rules = InheritedRules {
        snapshot,
        offsets,
        rules: Vec::new(),
        previous_offsets: Vec::new(),
        by_offset: HashMap::new(),
    };
    let global = snapshot.global(&file);
    let global = global.map(|offset| rules.index_of(offset)).transpose()?;
    let named = snapshot.named(&file)?.map(|(token, offset)| {
        Ok(NamedContents {
            name: snapshot.token(token)?.into(),
            rules: rules.index_of(offset)?,
        })
    });
    let named = named.collect::<Result<_>>()?;
    let contents = FileContents {
        frame: snapshot.frame(row)?.into(),
        rules: rules.rules,
        global,
        named,
    };
    Ok(CompiledFile {
        contents,
        previous_offsets: rules.previous_offsets,
    })
}

/// The distinct rules of a file of the previous snapshot, in the order of their first use.
struct InheritedRules<'c, 'i> {
    snapshot: &'c PreviousSnapshot,
    offsets: &'i InheritedOffsets,
    rules: Vec<RulesContents<'c>>,
    previous_offsets: Vec<u32>,
    /// Indices by the offset in the previous snapshot.
    by_offset: HashMap<u32, usize>,
}

impl InheritedRules<'_, '_> {
    /// The index of the rules at an offset of the previous snapshot.
    fn index_of(&mut self, offset: u32) -> Result<usize> {
        if let Some(&index) = self.by_offset.get(&offset) {
            return Ok(index);
        }
        self.rules.push(match self.offsets.get(&offset) {
            Some(offset) => RulesContents::Offset(*offset),
            None => inherited_rules(self.snapshot, offset)?,
        });
        self.previous_offsets.push(offset);
        self.by_offset.insert(offset, self.rules.len() - 1);
        Ok(self.rules.len() - 1)
    }
}

/// The rules at an offset of the previous snapshot.
fn inherited_rules(snapshot: &PreviousSnapshot, offset: u32) -> Result<RulesContents<'_>> {
    let parts = match snapshot.rules(offset)? {
        PreviousRules::Set(bytes) => return Ok(RulesContents::Set(DigestedSet::new(bytes))),
        PreviousRules::Union(parts) => parts,
    };
    let mut sets = Vec::new();
    for part in parts {
        let PreviousRules::Set(bytes) = snapshot.rules(part)? else {
            return Err(damaged(Error::corrupt("a union of unions")));
        };
        sets.push(DigestedSet::new(bytes));
    }
    Ok(RulesContents::Union(sets))
}

fn encode<'p>(merged: &MergedRules<'_>) -> Result<RulesContents<'p>> {
    match merged {
        MergedRules::Set(rules) => encode_set(rules).map(RulesContents::Set),
        MergedRules::Union(sets) => sets
            .iter()
            .map(|rules| encode_set(rules))
            .collect::<Result<_>>()
            .map(RulesContents::Union),
    }
}

fn encode_set<'p>(rules: &[CanonicalRule<'_>]) -> Result<DigestedSet<'p>> {
    build::encode(rules).map(DigestedSet::new)
}
