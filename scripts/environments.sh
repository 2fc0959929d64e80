# What the checks of the wheel share that need an environment for each version of a library. A command
# sources this file after common.sh.
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
# The variable would put the sources in front of the installed package.
unset PYTHONPATH

# Sets ROBOSIEVE and the wheel to those of the caller, or builds them: build_wheel WHEEL.
build_wheel() {
  wheel="$1"
  if [ -z "${ROBOSIEVE:-}" ]; then
    step "building the command-line program"
    cargo build --quiet --release --locked
    ROBOSIEVE="$target/release/robosieve"
  fi
  ROBOSIEVE="$(realpath "$ROBOSIEVE")"
  export ROBOSIEVE
  if [ -z "$wheel" ]; then
    "${PYTHON:-python3}" -m venv "$work/build"
    "$work/build/bin/pip" install --quiet "maturin>=1.16,<2"
    step "building the wheel"
    (cd python && "$work/build/bin/maturin" build --quiet --profile wheel --locked --interpreter "${PYTHON:-python3}" --out "$work/dist")
    wheel="$(echo "$work"/dist/*.whl)"
  fi
}

# Runs the tests of a folder of python/tests in an environment for each set of packages, and fails if
# some fail or are skipped: test_in_environments FOLDER COMMON SHOWN PACKAGES...
#   COMMON  packages of all environments
#   SHOWN   the names of those whose versions are printed, as an extended regular expression
test_in_environments() {
  local folder="$1" common="$2" shown="$3" packages venv number=0 status=0
  shift 3
  for packages in "$@"; do
    venv="$work/venv-$((++number))"
    "${PYTHON:-python3}" -m venv "$venv"
    # shellcheck disable=SC2086 # several names
    "$venv/bin/pip" install --quiet $packages $common "$wheel" ||
      { skipped "$packages cannot be installed"; continue; }
    step "$packages: $("$venv/bin/pip" list 2> /dev/null | grep -E "^($shown) " | tr -s ' ' | paste -sd, | sed 's/,/, /g')"
    (cd "$work" && "$venv/bin/python" -m pytest -p no:cacheprovider -rs "$OLDPWD/python/tests/$folder") | tee "$work/tests.log" || status=1
    if grep -q '^SKIPPED' "$work/tests.log"; then
      echo "$name: tests were skipped" >&2
      status=1
    fi
  done
  return "$status"
}
