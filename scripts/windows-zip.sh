#!/bin/sh
# windows-zip.sh: cutis-VERSION-win64.zip in build/dist from build/win64: program, cutis.dll with import library, static
# library, headers, README. The same bytes from the same sources: names sorted, one time for all files.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define CUTIS_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/cutis/base.h | paste -sd .)
name=cutis-$version-win64
rm -rf "build/dist/$name" "build/dist/$name.zip"
mkdir -p build/dist
cmake --install build/win64 --prefix "$PWD/build/dist/$name" >build/dist/win64.log
# the libraries of the cross build by name, not by where they were
sed -i "s#$PWD/build/cross/win64/lib/lib\([a-z]*\)\.a#\1#g" "build/dist/$name/lib/cmake/cutis/cutis-targets.cmake"
find "build/dist/$name" -exec touch -h -d "@$(git log -1 --format=%ct 2>/dev/null || echo 0)" {} +
(cd build/dist && find "$name" -type f | LC_ALL=C sort | TZ=UTC zip -q -X -@ "$name.zip")
rm -rf "build/dist/$name"
echo "build/dist/$name.zip"
