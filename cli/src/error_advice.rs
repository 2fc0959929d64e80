//! Adds to errors of the library what the command knows: the options that remedy them, and the
//! snapshot that they are of.

use robosieve::{Error, ErrorKind, Remedy};
use std::io;
use std::path::Path;

/// The message of an error with its causes, and with the options that remedy it.
pub(crate) fn message(err: &anyhow::Error) -> String {
    let advice = err.chain().find_map(library_error).and_then(advice);
    format!("{err:#}{}", advice.unwrap_or_default())
}

/// Adds the path of the snapshot to an error of its bytes, or of its lack of a history. Other errors
/// name their file already.
pub(crate) fn at_snapshot(err: Error, snapshot: &Path) -> Error {
    match err.kind() {
        ErrorKind::Corrupt { .. } | ErrorKind::NoHistory => err.at(snapshot),
        _ => err,
    }
}

/// The library's error, if `cause` is one or wraps one as an `io::Error`.
fn library_error<'e>(cause: &'e (dyn std::error::Error + 'static)) -> Option<&'e Error> {
    if let Some(err) = cause.downcast_ref() {
        return Some(err);
    }
    cause.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref()
}

/// Whether the file that is not a snapshot is a compiled file of filter lists.
fn is_lists(err: &Error) -> bool {
    matches!(err.kind(), ErrorKind::NotASnapshot { what } if what.contains("filter lists"))
}

/// The options that remedy an error, as the end of its message.
fn advice(err: &Error) -> Option<String> {
    // The columns of Parquet files have names and no numbers.
    let is_table = matches!(err.kind(), ErrorKind::BadTable(_) | ErrorKind::BadJob(_));
    let text = match err.remedy()? {
        Remedy::CompileArchives if is_lists(err) => {
            "; `robosieve lists FILE` shows it, and --lists FILE judges by it"
        }
        Remedy::CompileArchives => "; `robosieve compile -o FILE ARCHIVE...` makes one",
        Remedy::CompileWithProfile(profile) => {
            return Some(format!(
                " (`robosieve compile --previous SNAP --profile {profile} -o SNAP`)"
            ));
        }
        Remedy::UseAsPrevious => "; a snapshot is given as --previous",
        Remedy::SkipDamage => " (--skip-damaged skips damaged places and counts them)",
        Remedy::CompileLists => {
            "; `robosieve lists -o FILE LIST...` compiles texts, and --block LIST takes one as it is"
        }
        Remedy::NameAgents => " (-s SNAP -a AGENT)",
        Remedy::NameLists => " (--lists FILE or --block LIST)",
        Remedy::AddListColumns => " (--add list,entry; of lines with --as jsonl)",
        Remedy::UseFewerThreads => " (-j N)",
        Remedy::NameColumn if is_table => "; name the column of the URLs with --field NAME",
        Remedy::NameColumn => {
            "; name the column of the URLs with --field NAME, or by its number with --field N"
        }
        Remedy::NameTimeColumn if is_table => {
            "; name the column of the times with --as-of-column NAME"
        }
        Remedy::NameTimeColumn => {
            "; name the column or key of the times with --as-of-column NAME, or a column by its \
             number with --as-of-column N"
        }
        Remedy::NameReadableTimes => {
            "; name the column or key of the times with --as-of-column, or judge by the newest rules \
             with --no-time newest"
        }
        Remedy::JudgeByNewest => "; --no-time newest judges by the newest rules",
        Remedy::UseRecordTimes => " (--as-of-record)",
        Remedy::NameDelimiter => {
            "; state it with --delimiter CHAR, and the column of the URLs with --field N or NAME"
        }
        Remedy::NameKey => "; name the key of the URLs with --json-key KEY",
        Remedy::LocateUrls => {
            "; set it with --input-format, --delimiter, --field or --json-key. For URLs without scheme or host, \
             add --default-scheme or --host"
        }
        Remedy::NameOutputFile => "; name one with -o, such as -o kept.warc.gz",
        Remedy::NameTableFile => "; name one with -o, such as -o out.parquet",
        Remedy::ChooseForm => " (--as jsonl or --as csv, next to --add)",
        Remedy::WriteObjects => " (--as jsonl)",
        Remedy::ReadWithoutQuotes => " (--input-format tsv --delimiter CHAR)",
        Remedy::SeparateOutputs => " (--out-dir)",
        Remedy::ColumnPerAgent => " (--as int8)",
        Remedy::RenameColumn => " (--as-name NAME)",
        Remedy::LeaveColumnOut => " (--disallowed-add)",
        Remedy::NameColumnsWithDots => {
            "; write dots (--column-names dots), or one row per origin and agent (--long)"
        }
        Remedy::MoveTemporaryFiles => {
            "; name another directory with --temp-dir, or keep more in memory with --memory"
        }
        Remedy::NameLogFormat => {
            "; give the layout of a log with User-Agents with --log-format or --log-key"
        }
        Remedy::AcceptFailures => "; --max-failing 100% accepts the failures as those of the sites",
        Remedy::ContinueHistory => " (--history)",
        Remedy::KeepHistory => " (`robosieve compile --history -o SNAP ARCHIVE...`)",
        Remedy::NameHost => "; give it with --host https://example.com, or log it",
        _ => return None,
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;
    use robosieve::diff::{Diff, DiffOptions};
    use robosieve::{Compiler, Profile, Snapshot};

    #[test]
    fn advice_is_added_once_at_any_depth() {
        let not_a_snapshot = || robosieve::Snapshot::new(b"x".as_slice()).map(drop);
        let expected = "not a robosieve snapshot; `robosieve compile -o FILE ARCHIVE...` makes one";
        assert_eq!(message(&not_a_snapshot().unwrap_err().into()), expected);
        let nested = not_a_snapshot()
            .map_err(io::Error::other)
            .context("a")
            .context("b")
            .unwrap_err();
        assert_eq!(message(&nested), format!("b: a: {expected}"));
        assert_eq!(message(&anyhow::anyhow!("a").context("b")), "b: a");
    }

    #[test]
    fn profiles_that_differ_name_the_command() {
        let compiled = |profile| {
            let mut compiler = Compiler::new(profile);
            compiler.add_robots("https://a.example", b"").unwrap();
            Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
        };
        let (old, new) = (compiled(Profile::Google), compiled(Profile::Rfc9309));
        let err = Diff::of(&old, &new, &DiffOptions::default()).unwrap_err();
        let advice = "(`robosieve compile --previous SNAP --profile rfc9309 -o SNAP`)";
        assert!(message(&err.into()).ends_with(advice));
    }
}
