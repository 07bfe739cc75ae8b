#!/bin/sh
# arm64.sh BUILD: the build for 64-bit ARM under qemu: golden hashes, and a bake byte for byte that of BUILD's program.
# Skipped without the cross compiler or qemu (make test-arm64).
set -u
if ! command -v aarch64-linux-gnu-gcc >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
    echo "skipped: ARM64, the cross compiler and qemu are not installed (make test-arm64 installs them)"
    exit 77
fi
sh scripts/cross.sh arm64 || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for name in golden cutis; do
    printf '#!/bin/sh\nexec qemu-aarch64 -L /usr/aarch64-linux-gnu "%s/build/arm64/bin/%s" "$@"\n' "$PWD" $name \
        >"$folder/$name"
    chmod +x "$folder/$name"
done
sh tests/check_golden.sh "$folder/golden" 2 || exit 1
for program in "$folder/cutis" "$1/bin/cutis"; do
    "$program" bake arm --clip flex --solver lattice --fps 4 -q -o "$folder/$(dirname "$program" | tr / _).glb" || exit 1
done
cmp "$folder"/*.glb || exit 1
echo "== arm64: golden hashes and a bake are those of x86-64"
