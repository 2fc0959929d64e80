# Installs what checks need from the network: .ci/run and scripts/x nightly source this file after
# common.sh. What cannot be installed is skipped by the checks, each with a notice.

# Installs programs from Debian's packages. A program of packages with other names is followed by these.
install_programs() {
  local program command packages missing=()
  for program in "$@"; do
    read -r command packages <<< "$program"
    if ! command -v "$command" > /dev/null; then
      missing+=("${packages:-$command}")
    fi
  done
  if [ ${#missing[@]} -eq 0 ] || ! command -v apt-get > /dev/null; then
    return 0
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update > /dev/null 2>&1 || true
  # All together, or each alone if one of them is not there.
  for packages in "${missing[*]}" "${missing[@]}"; do
    # shellcheck disable=SC2086 # one word per package
    if apt-get install -y --no-install-recommends $packages > /dev/null 2>&1 && [ "$packages" = "${missing[*]}" ]; then
      break
    fi
  done
}

# Installs packages of PyPI, each alone, into the virtual environment `venv`.
install_packages() {
  local package
  if ! [ -e "$venv/bin/pip" ] && ! python3 -m venv "$venv"; then
    return 0
  fi
  for package in "$@"; do
    "$venv/bin/pip" install --quiet "$package" || skipped "$package cannot be installed"
  done
}

# Installs programs of crates.io into the target directory, where the next run finds them.
install_crates() {
  local crate
  for crate in "$@"; do
    if ! command -v "$crate" > /dev/null; then
      CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --profile dev --root "$target/tools" "$crate" ||
        skipped "$crate cannot be installed"
    fi
  done
}

# Whether the nightly toolchain is there, after an attempt to install it.
install_nightly() {
  cargo +nightly --version > /dev/null 2>&1 && return
  rustup toolchain install nightly --profile minimal > /dev/null 2>&1 && return
  skipped "the nightly toolchain cannot be installed"
  return 1
}

venv="$work/venv"
export PATH="$target/tools/bin:$PATH" PIP_DISABLE_PIP_VERSION_CHECK=1
