#!/bin/sh
# test_interrupt.sh: Ctrl-C and SIGTERM end the program within a second, wherever it is, and leave no file behind;
# --partial keeps the frames that are done. Ranges of a clip.
# ctest: slow
. "$(dirname "$0")/shell.sh"

# interrupt SIGNAL SECONDS ARGUMENTS...: start, wait, send the signal; the exit code in $got, milliseconds in $took.
interrupt() {
    signal=$1 wait=$2
    shift 2
    python3 - "$program" "$signal" "$wait" "$@" <<'PYTHON' >took
import signal, subprocess, sys, time
program, name, wait, arguments = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:]
with open("err", "w") as err, open("out", "w") as out:
    process = subprocess.Popen([program] + arguments, stdout=out, stderr=err)
    time.sleep(wait)
    start = time.monotonic()
    process.send_signal(getattr(signal, name))
    code = process.wait(timeout=60)
    print(code, int(1000 * (time.monotonic() - start)))
PYTHON
    read -r got took <took
    checks=$((checks + 2))
    [ "$got" -eq 130 ] || { fail "cutis $* exits with $got, not 130"; cat err; }
    # a second on a quiet machine
    [ "$took" -lt 2500 ] || fail "cutis $* took $took ms to end"
}

# While the model is built, in the lead-in and between frames.
for wait in 0.05 0.3 1 2.5; do
    interrupt SIGINT $wait bake man --solver layers --threads 1 -q -o man.glb
    interrupt SIGTERM $wait bake man --solver layers --threads 1 -q -o man.npy
done
checks=$((checks + 1))
[ -z "$(ls -d man* 2>/dev/null)" ] || fail "left behind: $(ls -d man*)"
interrupt SIGINT 0.5 render man layers --clip walk --sheet --threads 1 -q -o man.png
interrupt SIGINT 0.5 compare man --clip walk --threads 1 -q -o compared

# What is done is kept when asked for.
interrupt SIGINT 3 bake arm --solver layers --lead-in 0 --fps 1000 --threads 1 --partial -q -o arm.npy --report arm.json
checks=$((checks + 1))
python3 - <<'PYTHON' || fail "--partial keeps nothing"
import json, read_npy
frames = read_npy.read("arm.npy") if hasattr(read_npy, "read") else None
report = json.load(open("arm.json"))
assert report["interrupted"] and 1 <= report["frames"] < 2601, report["frames"]
PYTHON
grep -q "interrupted: [0-9]* frames were written" err || fail "no word of the frames kept"

# Ranges: the same instants as of the whole clip, and nothing else.
run 0 bake arm --clip flex --solver lbs -q -o whole.npy
run 0 bake arm --clip flex --solver lbs --start 0.5 --end 1 -q -o range.npy --report range.json
checks=$((checks + 1))
python3 - <<'PYTHON' || fail "a range is not the same as that part of the clip"
import json, struct
def rows(path):
    data = open(path, "rb").read()
    return data[data.index(b"\n") + 1:]
whole, part = rows("whole.npy"), rows("range.npy")
report = json.load(open("range.json"))
assert report["frames"] == 16 and abs(report["start"] - 0.5) < 1e-9
size = len(part) // 16
assert part == whole[15 * size:31 * size]
PYTHON
run 2 bake arm --clip flex --start 2 --end 1 -o x.npy
says "the range from 2 to 1 s is outside 'flex', which runs from 0 to 2.6 s"
run 2 bake arm --clip flex --start 1 --loop -o x.npy
says "a loop is the whole clip; leave out its start and end"
run 0 render arm lbs --clip flex --frame 0.5s:1s --sheet --style samples:1 -q -o sheet.png
run 1 render arm lbs --clip flex --frame 9s: -q -o sheet.png
finish
