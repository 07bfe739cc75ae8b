#!/bin/sh
# slide_sweep.sh [FOLDER of the build [MODELS [SECONDS [RESOLUTION...]]]]: every material of slide, zeta 0.3 and 1, on the
# first SECONDS (0: all, which takes hours) of every clip of the zoo at resolutions 0.3 to 2 and of every character of
# MODELS (../shared/models). Prints a row a run and the sums; exits with 1 when anything was reset, did not converge or is
# inside out. The short form is bin/test_slide_sweep.
set -u
build=${1:-build/release}
models=${2:-../shared/models}
seconds=${3:-0}
[ $# -gt 3 ] && shift 3 || set --
sweep=$build/bin/test_slide_sweep
rows() {
    for zeta in 0.3 1; do
        for resolution in ${*:-0.3 0.5 1 2}; do "$sweep" zoo "$resolution" $zeta "$seconds" || :; done
        for file in "$models"/*/*.glb "$models"/rigs/*/*.glb; do
            [ -f "$file" ] || continue
            "$sweep" "$file" - $zeta "$seconds" || [ $? -eq 1 ] || echo "| $file | not read | 0 | 1 | 0 | 0 |"
        done
    done
}
echo "| character | resolution | clip | material | zeta | dofs | steps | reset | unconverged | inside out |"
echo "|---|---|---|---|---|---|---|---|---|---|"
rows "$@" | awk -F'|' '
    { print; fflush() }
    # from the end, for names of clips may hold bars
    { rows++; steps += $(NF - 4); reset += $(NF - 3); unconverged += $(NF - 2); inside += $(NF - 1) }
    END {
        printf "%d rows, %d steps: %d reset, %d unconverged, %d inside out\n", rows, steps, reset, unconverged, inside
        exit rows == 0 || reset + unconverged + inside > 0
    }'
