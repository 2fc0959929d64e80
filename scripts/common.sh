# What the commands in Bash share. A command sources this file first, and is then in the folder of the
# checkout: it resolves paths of its caller before.
set -euo pipefail
# The name of the command stands in front of its messages.
name="$(basename "$0")"
if [ -n "${ROBOSIEVE:-}" ]; then
  ROBOSIEVE="$(realpath "$ROBOSIEVE")"
  export ROBOSIEVE
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
mkdir -p "$target"
# A temporary folder, which is removed at the end.
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

step() { printf '%s: %4d s: %s\n' "$name" "$SECONDS" "$*"; }
skipped() { echo "$name: skipped: $*" >&2; }
fail() {
  echo "$name: $*" >&2
  exit 1
}
# Ends the run without an error if a program is missing: needs PROGRAM INSTALLATION.
needs() {
  command -v "$1" > /dev/null && return
  skipped "$1 is missing ($2)"
  exit 0
}
# Runs a command, and prints its output only if it fails.
quietly() {
  "$@" > "$work/log" 2>&1 && return
  cat "$work/log" >&2
  exit 1
}
# Prints each Java that is installed, the default one first. One may be there under several names.
javas() {
  local java
  for java in "$(command -v java || true)" /usr/lib/jvm/*/bin/java; do
    if [ -x "$java" ]; then
      realpath "$java"
    fi
  done | awk '!seen[$0]++'
}
# Makes the files that the C test reads in a folder, by a command: c_test_files FOLDER ROBOSIEVE... The
# arguments of the test are then in `c_test_arguments`.
c_test_files() {
  local folder="$1" data=datasets/small
  shift
  "$@" compile -q -o "$folder/small.rsieve" "$data/robots.warc" "$data/more.jsonl"
  "$@" compile -q --history -o "$folder/history.rsieve" tests/capi/history.jsonl
  printf '%s\n' '||ads.example^' '@@||good.ads.example^' > "$folder/ads.txt"
  echo shop.example/cart > "$folder/shop.txt"
  "$@" lists -q -o "$folder/own.rlists" "$folder/ads.txt" "$folder/shop.txt"
  mkdir "$folder/scratch"
  # shellcheck disable=SC2034 # scripts that source this file read it
  c_test_arguments=("$folder/small.rsieve" "$data/expected.tsv" "$folder/scratch" "$folder/history.rsieve" "$folder/own.rlists")
}
usage() {
  scripts/x "$name" --help >&2
  exit 2
}
# Whether Rust's target is installed, after an attempt to install it.
has_target() {
  rustup target add "$1" > /dev/null 2>&1 && return
  skipped "Rust's target $1 cannot be installed"
  return 1
}
