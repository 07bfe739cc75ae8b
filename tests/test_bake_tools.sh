#!/bin/sh
# test_bake_tools.sh PROGRAM: checks, loops and comparisons on the command line.
set -u
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "test_bake_tools: $1"; cat "$folder/out" "$folder/err" 2>/dev/null; exit 1; }
# expect CODE ARGUMENTS...
expect() {
    code=$1
    shift
    "$program" "$@" >"$folder/out" 2>"$folder/err"
    found=$?
    [ $found -eq "$code" ] || fail "exit code $found instead of $code: $*"
}

# The gate: which bound failed, by how much; the report holds all of it.
expect 3 bake arm -s dqs -c flex --fps 10 -o "$folder/a.glb" --report "$folder/a.json" \
    --check "volume_error_max<0.001, stretch_p99<=50,morph_error_max<0.0011"
grep -q "check failed: volume_error_max<0.001, but it is 0.0[0-9]* (off by 0.0" "$folder/err" || fail "no reason given"
[ "$(wc -l <"$folder/err")" -eq 1 ] || fail "only one bound fails"
[ -s "$folder/a.glb" ] || fail "the output is missing"
python3 - "$folder/a.json" <<'END' || fail "the report is wrong"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["schema"] == 1
assert [check["passed"] for check in report["checks"]] == [False, True, True], report["checks"]
assert report["checks"][0]["value"] == report["quality"]["volume_error_max"] > 0.001
morphs = report["morphs"]
assert 1 <= morphs["targets"] <= 32 and morphs["rms_error"] <= morphs["max_error"] <= 0.001 < morphs["residual"]
END
expect 0 bake arm -s dqs -c flex --fps 10 -q -o "$folder/a.npy" --check "frames=27,non_finite<=0"
expect 3 bake arm -s dqs -c flex --fps 10 -q -o "$folder/a.npy" --check "seam_position<1"
grep -q "no such figure" "$folder/err" || fail "a figure that is not there"
expect 2 bake arm -s dqs -o "$folder/a.npy" --check "volume_eror_max<1"
grep -q "did you mean 'volume_error_max'" "$folder/err" || fail "no hint"
for bad in "" "volume_error_max" "volume_error_max<" "volume_error_max<<1" "<1" "volume_error_max<1x"; do
    expect 2 bake arm -s dqs -o "$folder/a.npy" --check "$bad"
done

# A loop of a solver with a past: one period, last key = first key, seam told.
expect 0 bake man -s lattice -c walk --loop --fps 20 -q -o "$folder/loop.npy" --report "$folder/loop.json" \
    --check "seam_position<0.0001,seam_velocity<0.01"
python3 - "$folder" <<'END' || fail "the loop is wrong"
import json, struct, sys
folder = sys.argv[1]
data = open(folder + "/loop.npy", "rb").read()
start = 10 + data[8] + 256 * data[9]
frames, vertices, _ = eval(data[10:start])["shape"]
size = 12 * vertices
assert data[start:start + size] == data[-size:], "the last key is not the first"
report = json.load(open(folder + "/loop.json"))
assert report["loop"]["closed"] and abs((frames - 1) / report["fps"] - report["loop"]["period"]) < 1e-6
END
horse=../shared/models/mesh2motion-horse/horse.glb
if [ -e "$horse" ]; then
    # Saved one key short of its period: the key is added.
    expect 0 bake "$horse" -s lattice -c Trot --loop -q -o "$folder/trot.glb" --report "$folder/loop.json" \
        --check "seam_position<0.0001,seam_velocity<0.01,morph_error_max<0.0011"
    grep -q '"closed_by": 0.033' "$folder/loop.json" || fail "the clip is not closed"
    expect 0 bake ../shared/models/khronos-Fox/Fox.glb -s lattice -c Run --loop -q -o "$folder/run.glb" \
        --check "seam_position<0.0001,seam_velocity<0.01,morph_error_max<0.0011"
fi
# Flesh that touches itself: the period begins where it closes best, and still goes from the clip's start to its end.
"$program" make cat --resolution 0.12 -o "$folder/cat.glb" >"$folder/out" || exit 1
expect 0 bake "$folder/cat.glb" -s layers -c walk --loop -q -o "$folder/loop.npy" --report "$folder/loop.json" \
    --check "seam_position<0.0001,seam_velocity<0.01"
python3 - "$folder" <<'END' || fail "the loop of layers is wrong"
import json, struct, sys
folder = sys.argv[1]
data = open(folder + "/loop.npy", "rb").read()
start = 10 + data[8] + 256 * data[9]
frames, vertices, _ = eval(data[10:start])["shape"]
values = struct.unpack("<%df" % (frames * vertices * 3), data[start:])
row = 3 * vertices
assert values[:row] == values[-row:], "the last key is not the first"
# Nowhere a jump: the speed changes as smoothly at the seam and the clip's ends as elsewhere.
moves = [[values[(f + 1) * row + i] - values[f * row + i] for i in range(row)] for f in range(frames - 1)]
turns = [max(abs(a - b) for a, b in zip(moves[f], moves[f - 1])) for f in range(frames - 1)]
assert turns[0] <= max(turns[1:]), turns
report = json.load(open(folder + "/loop.json"))["loop"]
assert report["closed"] and 0 <= report["seam_time"] < report["period"], report
END
# What cannot close is written and told.
expect 3 bake hand -s dqs -c grasp --loop --fps 5 -q -o "$folder/open.npy" --report "$folder/loop.json"
grep -q "check failed: the loop does not close: its seam is [0-9.]* % of the size (at most 0.01 %)" "$folder/err" || fail "the seam is not told"
grep -q '"closed": false' "$folder/loop.json" || fail "the report calls it closed"
[ -s "$folder/open.npy" ] || fail "the output is missing"
expect 3 bake hand -s lattice -c grasp --set resolution=8 --loop --fps 5 -q -o "$folder/open.npy"

# The comparison: a table, and a page that needs nothing else.
expect 0 compare arm --clip flex --solvers lbs,dqs --fps 6 -q -o "$folder/compare"
grep -q "^dqs " "$folder/out" || fail "no table"
for file in index.html sheet.png compare.json lbs.npy dqs.npy; do
    [ -s "$folder/compare/$file" ] || fail "$file is missing"
done
[ "$(grep -c 'src="data:image/png;base64,' "$folder/compare/index.html")" -eq 2 ] || fail "pictures are missing"
[ "$(grep -c '<polyline' "$folder/compare/index.html")" -eq 4 ] || fail "plots are missing"
! grep -q 'src="[^d]\|href=' "$folder/compare/index.html" || fail "the page points elsewhere"
expect 1 compare arm --solvers nonsense -q -o "$folder/none"
expect 0 rates cylinder --solvers lbs
[ "$(grep -c '^lbs ' "$folder/out")" -eq 5 ] || fail "five rates"
echo "== test_bake_tools: fine"
