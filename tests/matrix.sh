#!/bin/sh
# matrix.sh BUILD VARIANT: build the library and the golden program in another way, under BUILD/../matrix, and check
# that it gives the hashes of tests/golden.txt with 1 and 3 threads.
set -u
matrix=$(dirname "$1")/matrix
case $2 in
clang-O3) options="-DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS_RELEASE=-O3" ;;
scalar) options="-DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS_RELEASE=-O2 -DCUTIS_SCALAR=ON" ;;
sse2) options="-DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS_RELEASE=-O3 -DCUTIS_ARCH=x86-64" ;;
*) echo "no variant $2" && exit 1 ;;
esac
compiler=${options#*COMPILER=}
if ! command -v "${compiler%% *}" >/dev/null; then
    echo "skipped: $2, its compiler is not installed"
    exit 77
fi
if [ "$2" = sse2 ] && [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: sse2 is for x86-64"
    exit 77
fi

log=$matrix/$2.log
mkdir -p "$matrix"
cmake -G Ninja -S . -B "$matrix/$2" -DCMAKE_BUILD_TYPE=Release -DCUTIS_WERROR=ON -DCUTIS_IO=OFF -DCUTIS_CLI=OFF \
    $options >"$log" 2>&1 && cmake --build "$matrix/$2" -j 1 --target golden >>"$log" 2>&1 || { grep -A6 "error:" "$log" || tail -n 30 "$log"; exit 1; }
for threads in 1 3; do
    sh tests/check_golden.sh "$matrix/$2/bin/golden" $threads || exit 1
done
