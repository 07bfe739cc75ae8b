#!/bin/sh
# test_wild.sh: the short form of scripts/wild.py: a few frames of characters that nobody here made. Skipped without them.
# ctest: slow
. "$(dirname "$0")/shell.sh"
[ -d "$root/../shared/models" ] || { echo "test_wild: there is no ../shared/models"; exit 77; }

wild() {
    python3 "$root/scripts/wild.py" --program "$program" --models "$root/../shared/models" --output wild --short "$@" >out 2>err
    got=$?
    checks=$((checks + 1))
    [ "$got" -eq 0 ] || { fail "wild.py $* exits with $got"; cat out err; }
}

wild --solver layers,lattice --only khronos-RiggedFigure --only khronos-Fox
shows "== wild: 4 rows: .* 0 bad, 0 failed"
for file in table.md table.json index.html khronos_Fox_Fox_Survey.layers.png; do
    checks=$((checks + 1))
    [ -s "wild/$file" ] || fail "there is no wild/$file"
done
checks=$((checks + 1))
[ -z "$(ls wild/*.tmp* wild/*.npy 2>/dev/null)" ] || fail "left behind: $(ls wild/*.tmp* wild/*.npy)"

# Run again, nothing is baked.
touch mark
wild --solver layers,lattice --only khronos-RiggedFigure --only khronos-Fox
checks=$((checks + 1))
[ -z "$(find wild -name '*.row.json' -newer mark)" ] || fail "rows were made again"

# Random motion replaces the clips, and a document's table the one before.
printf 'text\n\n    scripts/wild.py --solver layers --random 20 --seconds 0.3 --only khronos-Fox\n\n| character |\n0 bad.\nmore\n' >document.md
wild --solver layers --random 20 --only khronos-Fox --document document.md
shows "Fox.glb | random 20 | layers"
shows "== wild: 1 rows: .* 0 bad, 0 failed"
checks=$((checks + 1))
grep -q '^| Fox | random 20 |' document.md && [ "$(sed -n '1p;$p' document.md | tr '\n' ' ')" = 'text more ' ] ||
    fail "document.md: $(cat document.md)"
finish
