#!/bin/sh
# slide_sweep.sh [FOLDER of the build [MODELS [RESOLUTION...]]]: every material of slide, zeta 0.3 and 1, on every clip of
# the zoo at resolutions 0.3 to 2 and of every character of MODELS (../shared/models). Prints a row a run and ends with the
# sums; exits with 1 when anything was reset, did not converge or is inside out. Takes hours; the short form is
# bin/test_slide_sweep.
set -u
build=${1:-build/release}
models=${2:-../shared/models}
[ $# -gt 2 ] && shift 2 || set --
sweep=$build/bin/test_slide_sweep
status=0
echo "| character | resolution | clip | material | zeta | dofs | steps | reset | unconverged | inside out |"
echo "|---|---|---|---|---|---|---|---|---|---|"
run() { "$sweep" "$@" || status=1; }
for zeta in 0.3 1; do
    for resolution in ${*:-0.3 0.5 1 2}; do run zoo "$resolution" $zeta; done
    for file in "$models"/*/*.glb "$models"/rigs/*/*.glb; do
        [ -f "$file" ] && run "$file" - $zeta
    done
done
exit $status
