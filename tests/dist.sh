#!/bin/sh
# dist.sh BUILD: make what is handed out and try it as a stranger would: lintian, an installation into a fresh Debian
# (debootstrap into a folder), the tarball with both builds of the library, the wheel. Results are those of BUILD, byte for
# byte. With CUTIS_DIST_TWICE a second clone at another path must give the same bytes.
set -u
build=$1
for tool in lintian debootstrap dpkg-deb; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: $tool is not installed (make test-dist installs it)"
        exit 77
    fi
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: installing into a folder needs root" && exit 77; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "dist: $1"
    [ -e "$folder/log" ] && tail -n 30 "$folder/log"
    exit 1
}
export CUTIS_DIST_QUICK=1 JOBS="${JOBS:-1}"
sh scripts/dist.sh "$folder/one" >"$folder/log" 2>&1 || fail "scripts/dist.sh fails"
count=$(find "$folder/one" -type f | wc -l)
[ "$count" -ge 7 ] || fail "$count files are made, 7 are expected"

# the result that every package must give
"$build/bin/cutis" bake arm --clip flex --solver lattice -q -o "$folder/wanted.glb" || fail "the build's own bake"
same() {
    cmp "$folder/$1" "$folder/wanted.glb" >"$folder/log" 2>&1 || fail "$2: another result"
}

# Debian packages: clean, and whole in a system that has nothing of ours
lintian --fail-on warning --allow-root "$folder"/one/*.deb >"$folder/log" 2>&1 || fail "lintian"
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 2>/dev/null | head -n 1)
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
debootstrap --variant=minbase "$release" "$folder/root" "$mirror" >"$folder/log" 2>&1 || fail "debootstrap"
cp "$folder"/one/*.deb "$folder/root/root/"
cp /etc/resolv.conf "$folder/root/etc/" 2>/dev/null
chroot "$folder/root" sh -c 'DEBIAN_FRONTEND=noninteractive apt-get -qq update
    apt-get install -qq -y --no-install-recommends /root/*.deb' >"$folder/log" 2>&1 || fail "the packages cannot be installed"
chroot "$folder/root" cutis bake arm --clip flex --solver lattice -q -o /root/deb.glb >"$folder/log" 2>&1 ||
    fail "the installed program"
mv "$folder/root/root/deb.glb" "$folder"
same deb.glb "the Debian package"
[ -s "$folder/root/usr/share/man/man1/cutis.1.gz" ] || fail "no manual page"
rm -rf "$folder/root"

# the tarball: the loader's choice, and the build for any x86-64
tar -C "$folder" -xzf "$folder"/one/cutis-*-linux-*.tar.gz
mv "$folder"/cutis-*-linux-* "$folder/moved"
"$folder/moved/bin/cutis" bake arm --clip flex --solver lattice -q -o "$folder/tar.glb" || fail "the tarball's program"
same tar.glb "the tarball"
loader=$(ls /lib64/ld-linux-x86-64.so.2 2>/dev/null)
if [ -n "$loader" ]; then
    used=$("$loader" --list "$folder/moved/bin/cutis" | grep -c glibc-hwcaps/x86-64-v3/libcutis)
    grep -q avx2 /proc/cpuinfo && [ "$used" -ne 1 ] && fail "the loader does not take the build for AVX2"
    "$loader" --glibc-hwcaps-mask none "$folder/moved/bin/cutis" bake arm --clip flex --solver lattice -q \
        -o "$folder/base.glb" || fail "the program without AVX2"
    same base.glb "the build without AVX2"
fi

# the wheel
python3 -m zipfile -e "$folder"/one/*.whl "$folder/wheel" || fail "the wheel"
if /usr/bin/python3 -c "import numpy" 2>/dev/null; then
    PYTHONPATH=$folder/wheel /usr/bin/python3 -m cutis >"$folder/log" 2>&1 || fail "python3 -m cutis from the wheel"
fi

# the same bytes from another place
if [ -n "${CUTIS_DIST_TWICE:-}" ]; then
    git clone -q . "$folder/clone" || fail "git clone"
    (cd "$folder/clone" && sh scripts/dist.sh "$folder/two") >"$folder/log" 2>&1 || fail "scripts/dist.sh in a clone"
    diff -r "$folder/one" "$folder/two" >"$folder/log" 2>&1 || fail "two builds differ"
fi
echo "== dist: $count files; lintian clean; Debian package, tarball with and without AVX2 and wheel give the build's own bytes"
