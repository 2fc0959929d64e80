//! Panics in the crates that decode Parquet: the library turns them into errors, so their own
//! messages are not printed.

/// Suppresses the messages of panics in the crates that read Parquet: the library returns them as
/// errors.
pub(crate) fn silence_parquet_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let location = info.location();
        if !location.is_some_and(|location| is_of_parquet_reader(location.file())) {
            default(info);
        }
    }));
}

/// The crates that decode Parquet files.
const PARQUET_READER: [&str; 7] = [
    "parquet",
    "bytes",
    "snap",
    "lz4_flex",
    "zstd",
    "zstd-safe",
    "flate2",
];

/// Whether a source file belongs to one of the crates that decode Parquet files.
///
/// Their directories end in the version (`parquet-60.1.0/src/…`) or, vendored, do not. The file of
/// any other crate counts as not of them, also one of this crate, whose path is relative in a
/// checkout and absolute when it is installed.
fn is_of_parquet_reader(file: &str) -> bool {
    let components: Vec<&str> = file.split(['/', '\\']).collect();
    components.windows(2).any(|pair| {
        pair[1] == "src"
            && PARQUET_READER
                .iter()
                .any(|name| is_directory_of(pair[0], name))
    })
}

/// Whether a directory has the name of a crate, with or without a version.
fn is_directory_of(directory: &str, crate_name: &str) -> bool {
    directory
        .strip_prefix(crate_name)
        .is_some_and(|version| version.is_empty() || version.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_panics_of_the_parquet_reader_are_silent() {
        for (file, is_silent) in [
            (
                "/home/u/.cargo/registry/src/index-1949cf8c/parquet-60.1.0/src/file/reader.rs",
                true,
            ),
            (
                "C:\\cargo\\registry\\src\\index-1\\snap-1.1.1\\src\\raw.rs",
                true,
            ),
            ("vendor/parquet/src/schema/types.rs", true),
            // Delta-coded texts are slices of `bytes`.
            (
                "/home/u/.cargo/registry/src/index-1949cf8c/bytes-1.12.1/src/bytes.rs",
                true,
            ),
            ("src/parquet/input.rs", false),
            (
                "/home/u/.cargo/registry/src/index-1949cf8c/robosieve-0.1.0/src/parquet/input.rs",
                false,
            ),
            (
                "/home/u/.cargo/registry/src/index-1949cf8c/rayon-core-1.13.0/src/registry.rs",
                false,
            ),
            ("/rustc/0123/library/core/src/slice/index.rs", false),
        ] {
            assert_eq!(is_of_parquet_reader(file), is_silent, "{file}");
        }
    }
}
