#!/bin/sh
# dist.sh [FOLDER]: everything that is handed out, in FOLDER (default build/dist): source tarball, Debian packages, a Linux
# tarball for any x86-64, the Python wheel, the Blender add-on, and the Windows archive and npm package where their tools are
# installed. The same sources give the same bytes: one time for all files (that of the last commit), sorted names, no owner, and
# no path of the building machine.
#
# One program for every x86-64: it is linked with the shared library, of which there are two builds with the same results.
# The loader (glibc 2.33 or later) takes the one for AVX2 from lib/glibc-hwcaps/x86-64-v3 where the processor has it.
set -eu
cd "$(dirname "$0")/.."
dist=${1:-build/dist}
mkdir -p "$dist"
dist=$(cd "$dist" && pwd)
work=$PWD/build/dist-work
jobs=${JOBS:-$(nproc)}
version=$(sed -n 's/^#define CUTIS_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/cutis/base.h | paste -sd .)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
maintainer="cutis maintainers <maintainers@cutis.example>"
multiarch=$(gcc -print-multiarch)
machine=$(dpkg --print-architecture)
rm -rf "$work/stage"
mkdir -p "$work/stage"

# pack FOLDER FILE: a reproducible .tar.gz of a folder of the staging area
pack() {
    tar -C "$work/stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$1" |
        gzip -n9 >"$dist/$2"
    echo "$dist/$2"
}

# compile ARCH FOLDER TARGET...: a release build for one level of x86-64
compile() {
    arch=$1 folder=$work/$2
    shift 2
    cmake -G Ninja -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O3 \
        -DCMAKE_C_FLAGS="-ffile-prefix-map=$PWD=." -DCMAKE_CXX_FLAGS="-ffile-prefix-map=$PWD=." -DCUTIS_ARCH="$arch" \
        -DCUTIS_PACKAGE=ON -DCUTIS_TESTS=OFF -DCUTIS_WERROR=ON -DCMAKE_INSTALL_PREFIX=/usr \
        -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON \
        -DCMAKE_INSTALL_LIBDIR=lib >"$work/configure.log" || { cat "$work/configure.log" && exit 1; }
    cmake --build "$folder" -j "$jobs" --target "$@" >"$work/build.log" || { tail -n 30 "$work/build.log" && exit 1; }
}

# ---- source ----
if git rev-parse --git-dir >/dev/null 2>&1; then
    git archive --format=tar --prefix="cutis-$version/" HEAD | gzip -n9 >"$dist/cutis-$version.tar.gz"
    echo "$dist/cutis-$version.tar.gz"
fi

# ---- builds ----
if [ "$machine" = amd64 ]; then
    compile x86-64 base all
    compile x86-64-v3 v3 cutis_shared
else
    compile "" base all
fi
root=$work/stage/root
DESTDIR=$root cmake --install "$work/base" --strip >"$work/install.log"
library=$(basename "$(readlink -f "$root"/usr/lib/libcutis.so)")
soname=$(objdump -p "$root/usr/lib/libcutis.so" | sed -n 's/ *SONAME *//p')
objcopy --strip-unneeded "$root/usr/lib/libcutis.a"
if [ "$machine" = amd64 ]; then
    mkdir -p "$root/usr/lib/glibc-hwcaps/x86-64-v3"
    install -m 644 "$work/v3/$library" "$root/usr/lib/glibc-hwcaps/x86-64-v3/$library"
    strip --strip-unneeded "$root/usr/lib/glibc-hwcaps/x86-64-v3/$library"
    ln -s "$library" "$root/usr/lib/glibc-hwcaps/x86-64-v3/$soname"
fi
chmod 644 "$root/usr/lib/$library"

# ---- Linux tarball: with the libraries that are not part of every system ----
name=cutis-$version-linux-$(uname -m)
cp -a "$root/usr" "$work/stage/$name"
python3 - "$work/stage/$name" <<'END'
import os, sys
sys.path.insert(0, "scripts")
from python_stage import bring, needed
folder = sys.argv[1]
paths = set(needed(os.path.join(folder, "bin/cutis")) + needed(os.path.join(folder, "lib/libcutis.so")))
bring([path for path in sorted(paths) if "libcutis" not in path], os.path.join(folder, "lib"),
      os.path.join(folder, "share/doc/cutis/licences"))
END
pack "$name" "$name.tar.gz"

# ---- Debian packages ----
# place PACKAGE PATH...: move paths of the installed tree into a package
place() {
    package=$1
    shift
    for path in "$@"; do
        target=$work/stage/$package/$(dirname "$path" | sed "s,^usr/lib,usr/lib/$multiarch,")
        mkdir -p "$target"
        mv "$root/$path" "$target/"
    done
}

# depends BINARY: what the shared libraries of a binary come from
depends() {
    mkdir -p "$work/depends/debian"
    printf 'Source: cutis\nPackage: cutis\nArchitecture: any\nDescription: x\n' >"$work/depends/debian/control"
    (cd "$work/depends" && dpkg-shlibdeps -O --ignore-missing-info -l"$work/stage/libcutis0/usr/lib/$multiarch" "$1" 2>/dev/null) |
        sed 's/^shlibs:Depends=//'
}

# deb PACKAGE SECTION DEPENDS SUMMARY TEXT: control files and the archive
deb() {
    folder=$work/stage/$1
    doc=$folder/usr/share/doc/$1
    mkdir -p "$folder/DEBIAN" "$doc"
    {
        echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
        printf 'Upstream-Name: cutis\n\nFiles: *\n'
        sed -n 's/^Copyright (c) /Copyright: /p' LICENSE
        echo "License: Expat"
        sed '1,/^Copyright/d' LICENSE | sed '/./,$!d' | sed 's/^$/./; s/^/ /'
    } >"$doc/copyright"
    sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | while read -r released; do
        printf 'cutis (%s) stable; urgency=medium\n\n  * Version %s; see CHANGELOG.md of the sources.\n\n' "$released-1" "$released"
        printf ' -- %s  %s\n\n' "$maintainer" "$(date -R -d "@$SOURCE_DATE_EPOCH")"
    done | gzip -n9 >"$doc/changelog.Debian.gz"
    (cd "$folder" && find usr -type f | sort | xargs md5sum) >"$folder/DEBIAN/md5sums"
    cat >"$folder/DEBIAN/control" <<END
Package: $1
Source: cutis
Version: $version-1
Architecture: $machine
Maintainer: $maintainer
Installed-Size: $(du -k --apparent-size -s "$folder/usr" | cut -f1)
Depends: $3
Section: $2
Priority: optional
Description: $4
 $5
END
    find "$folder" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    chmod -R u=rwX,go=rX "$folder"
    dpkg-deb --root-owner-group -Zxz --build "$folder" "$dist/$1_$version-1_$machine.deb" >/dev/null
    echo "$dist/$1_$version-1_$machine.deb"
}

rm -rf "$root/usr/share/doc"
gzip -n9 "$root"/usr/share/man/man1/*.1
echo "file(RPATH_REMOVE FILE \"$root/usr/bin/cutis\")" >"$work/rpath.cmake"
cmake -P "$work/rpath.cmake"
place libcutis0 "usr/lib/$library" "usr/lib/$soname"
[ ! -e "$root/usr/lib/glibc-hwcaps" ] || place libcutis0 usr/lib/glibc-hwcaps
place libcutis-dev usr/include usr/lib/libcutis.so usr/lib/libcutis.a usr/lib/pkgconfig usr/lib/cmake
place cutis usr/bin usr/share/man usr/share/bash-completion
pc=$work/stage/libcutis-dev/usr/lib/$multiarch/pkgconfig/cutis.pc
sed -i "s,^prefix=.*,prefix=/usr," "$pc"
sed -i "s,^libdir=.*,libdir=\${prefix}/lib/$multiarch," "$pc"
# the targets file finds its prefix from its own folder, one level deeper now
sed -i "s,\${_IMPORT_PREFIX}/lib/,\${_IMPORT_PREFIX}/lib/$multiarch/,; /^get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_FILE}\" PATH)/a get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)" \
    "$work/stage/libcutis-dev/usr/lib/$multiarch"/cmake/cutis/cutis-targets*.cmake
mkdir -p "$work/stage/libcutis0/DEBIAN"
echo "activate-noawait ldconfig" >"$work/stage/libcutis0/DEBIAN/triggers"
echo "libcutis 0 libcutis0 (>= $version)" >"$work/stage/libcutis0/DEBIAN/shlibs"
deb libcutis0 libs "$(depends "$work/stage/libcutis0/usr/lib/$multiarch/$library")" \
    "physically based skin and flesh for animated characters" \
    "Simulates the skin and flesh of a rigged character: shared library."
deb libcutis-dev libdevel "libcutis0 (= $version-1)" "physically based skin and flesh, development files" \
    "Headers, static library, pkg-config and CMake files of libcutis."
deb cutis graphics "libcutis0 (= $version-1), $(depends "$work/stage/cutis/usr/bin/cutis" | sed 's/libcutis0 ([^)]*),* *//; s/, *$//')" \
    "give animated characters believable skin and flesh" \
    "Bakes, rigs, measures, converts and draws characters: command-line program."

# ---- Python wheel and Blender add-on ----
CUTIS_LIBRARY=$work/base/libcutis.so python3 - "$dist" <<'END'
import sys
sys.path.insert(0, "python")
import build_wheel_here
print(sys.argv[1] + "/" + build_wheel_here.build_wheel(sys.argv[1]))
END
python3 scripts/blender_zip.py "$work/base/libcutis.so" "$dist/cutis_blender-$version.zip"

# ---- where their tools are installed ----
if command -v x86_64-w64-mingw32-gcc >/dev/null && [ -z "${CUTIS_DIST_QUICK:-}" ]; then
    JOBS=$jobs sh scripts/cross.sh win64
    sh scripts/windows-zip.sh
fi
if command -v emcc >/dev/null && command -v npm >/dev/null && [ -z "${CUTIS_DIST_QUICK:-}" ]; then
    JOBS=$jobs sh scripts/web.sh >"$work/web.log" || { tail -n 30 "$work/web.log" && exit 1; }
    (cd build/npm/cutis && npm pack --silent --pack-destination "$dist")
fi
