# Sets the environment of a build whose bytes depend on the sources and the tools alone: not on the
# folders, the time or the machine. scripts/x binary, scripts/x wheels and scripts/x dist source it from
# the folder of the checkout.

cargo_home="$(realpath "${CARGO_HOME:-$HOME/.cargo}")"
# Panic messages and assertions have paths of sources: of this checkout, of crates, of C code. The
# folder of the crates is named after the address of their registry, which may be a mirror. It is
# the only one of its kind that counts: `cargo publish --dry-run` makes others. A later flag wins
# over an earlier one.
crates="$(cargo metadata --locked --format-version 1 |
  sed -n 's/.*"manifest_path":"\([^"]*\/registry\/src\/[^/"]*\)\/.*/\1/p')"
RUSTFLAGS="${RUSTFLAGS:-}" CFLAGS="${CFLAGS:-}"
for prefix in "$(pwd -P)=robosieve" "$cargo_home=cargo" ${crates:+"$crates=cargo"}; do
  RUSTFLAGS+=" --remap-path-prefix=$prefix"
  CFLAGS+=" -ffile-prefix-map=$prefix"
done
# Names of functions that the optimiser shares between crates have hashes of folders.
CARGO_PROFILE_RELEASE_STRIP=symbols
# Files with a time have that of the last commit. Without git, it is the start of 1980, the first
# time that a zip file can hold.
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 315532800)}"
CARGO_INCREMENTAL=0
export RUSTFLAGS CFLAGS CARGO_PROFILE_RELEASE_STRIP SOURCE_DATE_EPOCH CARGO_INCREMENTAL
