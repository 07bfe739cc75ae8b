#!/bin/sh
# test_batch.sh PROGRAM: lists of bakes: failures stay single, done work is skipped, SIGKILL loses nothing.
set -u
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "test_batch: $1"; cat "$folder/log" 2>/dev/null; exit 1; }
cat >"$folder/jobs.json" <<END
{"defaults": {"solver": "dqs", "fps": 20},
 "jobs": [{"input": "arm", "clip": "flex", "output": "$folder/flex.glb"},
          {"input": "arm", "clip": "no_such_clip", "output": "$folder/bad.glb"},
          {"input": "arm", "clip": "twist", "output": "$folder/twist.pc2", "check": "volume_error_max<0.5"},
          {"input": "arm", "clip": "twist", "output": "$folder/strict.pc2", "check": "self_intersections_max<0"},
          {"input": "arm", "clip": "twist", "output": "$folder/safe.glb", "safe": true, "loop": true}]}
END
"$program" batch "$folder/jobs.json" --jobs 2 >"$folder/log" 2>&1
[ $? -eq 1 ] || fail "a failed job must give exit code 1"
[ "$(grep -c ' done ' "$folder/log")" -eq 3 ] || fail "three jobs are fine"
grep -q 'failed .*bad.glb .*exit code 2.*no_such_clip' "$folder/log" || fail "the unknown clip is not told"
grep -q 'failed .*strict.pc2 .*exit code 3.*self_intersections_max' "$folder/log" || fail "the bound is not told"
grep -q '3 done, 0 skipped, 2 failed' "$folder/log" || fail "no summary"
python3 - "$folder" <<'END' || fail "the summary is wrong"
import json, sys
summary = json.load(open(sys.argv[1] + "/jobs.json.summary.json"))
assert (summary["done"], summary["failed"], len(summary["jobs"])) == (3, 2, 5), summary
record = json.load(open(sys.argv[1] + "/flex.glb.job.json"))
assert record["report"]["morphs"]["targets"] >= 1 and len(record["key"]) == 16
END

# Again: done is done; another parameter or a missing output is not.
"$program" batch "$folder/jobs.json" >"$folder/log" 2>&1
grep -q '0 done, 3 skipped, 2 failed' "$folder/log" || fail "done work is not skipped"
sed -i 's/"fps": 20/"fps": 21/' "$folder/jobs.json"
rm "$folder/safe.glb"
"$program" batch "$folder/jobs.json" >"$folder/log" 2>&1
grep -q '3 done, 0 skipped, 2 failed' "$folder/log" || fail "a changed parameter is not noticed"

# Killed at many moments, the list is done in the end, and every output is whole.
cat >"$folder/many.json" <<END
{"jobs": [$(for i in 1 2 3 4 5 6; do
    echo "{\"input\": \"man\", \"clip\": \"walk\", \"solver\": \"dqs\", \"fps\": 3$i, \"output\": \"$folder/m$i.npy\"},"
done | sed '$ s/,$//')]}
END
for delay in 0.05 0.1 0.2 0.3 0.5; do
    "$program" batch "$folder/many.json" --jobs 2 >/dev/null 2>&1 &
    batch=$!
    sleep $delay
    kill -9 $batch 2>/dev/null
    wait $batch 2>/dev/null
    for file in "$folder"/m?.npy; do
        [ -e "$file" ] || continue
        python3 - "$file" <<'END' || fail "a half written file after SIGKILL"
import sys
data = open(sys.argv[1], "rb").read()
shape = eval(data[10:10 + data[8] + 256 * data[9]])["shape"]
assert len(data) == 10 + data[8] + 256 * data[9] + 4 * shape[0] * shape[1] * shape[2]
END
    done
done
"$program" batch "$folder/many.json" --jobs 2 >"$folder/log" 2>&1 || fail "the list is not finished"
[ "$(ls "$folder"/m?.npy | wc -l)" -eq 6 ] || fail "outputs are missing"
# A bake that was killed may take a moment to be gone; what it left goes with the next run.
for try in 1 2 3 4 5 6 7 8 9 10; do
    "$program" batch "$folder/many.json" >"$folder/log" 2>&1
    grep -q '0 done, 6 skipped, 0 failed' "$folder/log" || fail "not everything is done"
    [ -z "$(ls "$folder" | grep 'm[0-9].*tmp')" ] && break
    sleep 1
done
[ -z "$(ls "$folder" | grep 'm[0-9].*tmp')" ] || fail "temporary files are left: $(ls "$folder")"

echo '{"jobs": [{"input": "arm"}]}' >"$folder/bad.json"
"$program" batch "$folder/bad.json" 2>&1 | grep -q "needs 'input' and 'output'" || fail "a job without an output"
echo '[{"input": "arm", "output": "x.glb", "sovler": "lbs"}]' >"$folder/bad.json"
"$program" batch "$folder/bad.json" 2>&1 | grep -q "no option 'sovler'" || fail "an unknown option"
echo "== test_batch: fine"
