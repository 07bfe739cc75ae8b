#!/bin/sh
# windows.sh BUILD: the Windows build under wine: golden hashes, bakes byte for byte those of BUILD's program, paths with
# letters outside ASCII, files that are replaced, lists of bakes. Skipped without mingw-w64 or wine (make test-windows).
set -u
if ! command -v x86_64-w64-mingw32-gcc >/dev/null || ! command -v wine >/dev/null; then
    echo "skipped: Windows, mingw-w64 and wine are not installed (make test-windows installs them)"
    exit 77
fi
sh scripts/cross.sh win64 || exit 1
fail() {
    echo "windows: $1"
    exit 1
}
native=$1/bin/cutis
root=$PWD
export WINEDEBUG=-all WINEPREFIX="$root/build/wine"
folder=$(mktemp -d)
trap 'timeout 30 wineserver -k; rm -rf "$folder"' EXIT

# wine's server and services outlive the programs: started here, once, they hold no output that somebody waits for
wineserver -p </dev/null >/dev/null 2>&1
wine wineboot -i </dev/null >"$root/build/wineboot.log" 2>&1 || fail "no wine prefix: see build/wineboot.log"

for name in golden cutis; do
    printf '#!/bin/sh\nexec wine "%s/build/win64/bin/%s.exe" "$@"\n' "$root" $name >"$folder/$name"
    chmod +x "$folder/$name"
done

sh tests/check_golden.sh "$folder/golden" 2 || exit 1

# bakes, the second over the first, in a folder whose name needs UTF-8
mkdir "$folder/größe 寸"
cd "$folder/größe 寸" || exit 1
for solver in layers lattice springs; do
    for ending in glb pc2 usda; do
        "$folder/cutis" bake arm --clip flex --solver $solver --fps 4 -q -o "ünder.$ending" || fail "$solver to .$ending"
        "$native" bake arm --clip flex --solver $solver --fps 4 -q -o native.$ending || exit 1
        cmp "ünder.$ending" native.$ending || fail "$solver: .$ending differs"
    done
done
[ "$(ls | wc -l)" -eq 6 ] || fail "left over: $(ls)"
cd "$root" || exit 1

for script in test_formats test_batch; do sh tests/$script.sh "$folder/cutis" || fail "$script"; done
echo "== windows: golden hashes and 9 bakes are those of Linux"
