# shell.sh: the head of scripts that try the cutis program. Sourced, with the program as $1:
#     . "$(dirname "$0")/shell.sh"
# From then on the script is in a temporary folder of its own; $root is where it was started, the source root. Checks
# print what differs and go on; the script ends with `finish`, whose exit code is 1 when anything did. `$subcommand`, when
# set, stands before the arguments of `run`.

program=$1
case $program in /*) ;; *) program=$PWD/$program ;; esac
[ -x "$program" ] || { echo "usage: $(basename "$0") PROGRAM" >&2; exit 2; }
root=$PWD
PYTHONPATH=$(cd "$(dirname "$0")" && pwd) PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
subcommand=
failures=0
checks=0

fail() { failures=$((failures + 1)); echo "FAILED: $*"; }

# run CODE ARGUMENTS...: run cutis, keep stdout and stderr as out and err, check the exit code.
run() {
    code=$1
    shift
    "$program" $subcommand "$@" >out 2>err
    got=$?
    checks=$((checks + 1))
    [ "$got" -eq "$code" ] || { fail "cutis ${subcommand:+$subcommand }$* exits with $got, not $code"; cat err; }
}

# The first line of stderr is exactly this.
says() {
    checks=$((checks + 1))
    [ "$(head -n 1 err)" = "cutis: error: $1" ] || fail "expected 'cutis: error: $1', got '$(head -n 1 err)'"
}

# stdout (or the file $2) has a line that matches.
shows() {
    checks=$((checks + 1))
    grep -q -e "$1" "${2:-out}" || { fail "no '$1' in:"; cat "${2:-out}"; }
}

same() {
    checks=$((checks + 1))
    [ "$1" = "$2" ] || fail "$3: '$1' is not '$2'"
}

# The file is there and holds something.
written() {
    checks=$((checks + 1))
    [ -s "$1" ] || fail "$1 is missing"
}

# tells FILE EXPRESSION: true of the report r.
tells() {
    checks=$((checks + 1))
    python3 -c "import json, sys
r = json.load(open('$1'))
sys.exit(0 if ($2) else 1)" || fail "not true of $1: $2"
}

# holds WHAT <<'END': a Python program that raises nothing.
holds() {
    checks=$((checks + 1))
    python3 - || fail "$1"
}

equal() {
    checks=$((checks + 1))
    cmp -s "$1" "$2" || fail "$1 and $2 differ: $3"
}

differ() {
    checks=$((checks + 1))
    ! cmp -s "$1" "$2" || fail "$1 and $2 are the same: $3"
}

# Nothing is left beside the files that were asked for.
tidy() {
    checks=$((checks + 1))
    [ -z "$(find . -name '*.tmp*')" ] || fail "temporary files are left: $(find . -name '*.tmp*')"
}

finish() {
    echo "== $(basename "$0" .sh): $checks checks, $failures failures"
    [ "$failures" -eq 0 ]
}
