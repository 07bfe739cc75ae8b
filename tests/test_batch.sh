#!/bin/sh
# test_batch.sh PROGRAM: lists of bakes: failures stay single, done work is skipped, SIGKILL loses nothing.
# ctest: slow

. "$(dirname "$0")/shell.sh"
subcommand=batch

cat >jobs.json <<'END'
{"defaults": {"solver": "dqs", "fps": 20},
 "jobs": [{"input": "arm", "clip": "flex", "output": "flex.glb"},
          {"input": "arm", "clip": "no_such_clip", "output": "bad.glb"},
          {"input": "arm", "clip": "twist", "solver": "lbs", "output": "twist.pc2", "check": "volume_error_max<0.5"},
          {"input": "arm", "clip": "twist", "output": "strict.pc2", "check": "self_intersections_max<0"},
          {"input": "arm", "clip": "twist", "output": "safe.glb", "targets": "safe", "loop": true}]}
END
run 1 jobs.json --jobs 2
cat err >>out
same "$(grep -c ' done ' out)" 3 "jobs that are fine"
shows 'failed .*bad.glb .*exit code 2.*no_such_clip'
shows 'failed .*strict.pc2 .*exit code 3.*self_intersections_max'
shows '3 done, 0 skipped, 2 failed'
tells jobs.json.summary.json "(r['done'], r['failed'], len(r['jobs'])) == (3, 2, 5)"
tells flex.glb.job.json "r['report']['morphs']['targets'] >= 1 and len(r['key']) == 16"

# Again: done is done; another parameter or a missing output is not.
run 1 jobs.json
shows '0 done, 3 skipped, 2 failed'
sed -i 's/"fps": 20/"fps": 21/' jobs.json
rm safe.glb
run 1 jobs.json
shows '3 done, 0 skipped, 2 failed'

# One clip in pieces: the whole has the frames of one bake, seams below 1e-4 of the size, and leaves no pieces behind.
cat >split.json <<'END'
{"defaults": {"input": "arm", "clip": "flex", "solver": "lattice", "set": {"lattice": {"resolution": 12}}, "fps": 30},
 "jobs": [{"split": 0.5, "output": "split.npy"}, {"output": "whole.npy"}]}
END
run 0 split.json --jobs 2
shows 'done .*split.npy .*pieces, seam'
tells split.npy.job.json "r['report']['pieces'] >= 3 and r['report']['seam'] <= 1e-4"
holds "pieces are joined frame by frame" <<'END'
from read_npy import read_npy
one, whole = read_npy("split.npy"), read_npy("whole.npy")
assert one[0] == whole[0], (one[0], whole[0])
worst = max(abs(a - b) for a, b in zip(one[1], whole[1]))
assert worst < 5e-4, worst
END
same "$(ls | grep part-)" "" "pieces"
run 0 split.json
shows '0 done, .* skipped, 0 failed'
run 0 split.json --force
shows '0 skipped, 0 failed'
same "$(ls | grep part-)" "" "pieces after --force"
sed 's/"split.npy"/"split.glb"/' split.json >glb.json
run 1 glb.json
says "job 0: a clip that is split becomes a cache ($("$program" bake arm 2>&1 | sed -n 's/.*-o OUT (\(.*\)).*/\1/p')), without a loop"

# Killed at many moments, the list is done in the end, and every output is whole.
cat >many.json <<END
{"jobs": [$(for i in 1 2 3 4 5 6; do
    echo "{\"input\": \"man\", \"clip\": \"walk\", \"solver\": \"dqs\", \"fps\": 3$i, \"output\": \"m$i.npy\"},"
done | sed '$ s/,$//')]}
END
for delay in 0.05 0.1 0.2 0.3 0.5; do
    "$program" batch many.json --jobs 2 >/dev/null 2>&1 &
    batch=$!
    sleep $delay
    kill -9 $batch 2>/dev/null
    wait $batch 2>/dev/null
    holds "files are whole after SIGKILL" <<'END'
from glob import glob
from read_npy import read_npy
for path in glob("m?.npy"): read_npy(path)
END
done
run 0 many.json --jobs 2
same "$(ls m?.npy | wc -l)" 6 "outputs"
# A bake that was killed may take a moment to be gone; what it left goes with the next run.
for try in 1 2 3 4 5 6 7 8 9 10; do
    run 0 many.json
    shows '0 done, 6 skipped, 0 failed'
    [ -z "$(ls | grep 'm[0-9].*tmp')" ] && break
    sleep 1
done
same "$(ls | grep 'm[0-9].*tmp')" "" "temporary files"

echo '{"jobs": [{"input": "arm"}]}' >bad.json
run 1 bad.json
shows "needs 'input' and 'output'" err
echo '[{"input": "arm", "output": "x.glb", "sovler": "lbs"}]' >bad.json
run 1 bad.json
shows "no option 'sovler'" err
finish
