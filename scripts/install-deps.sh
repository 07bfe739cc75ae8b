#!/bin/sh
# install-deps.sh SET...: install the Debian packages of the named sets that are missing. Quick and silent when nothing
# is missing. Uses sudo when not root. On a system without apt it prints the list and goes on, so that whatever is there
# is used.
#   build    the library and the program      demo     what the demo runs      test     what `make test` needs
#   lint     formatting and static checks     blender, windows, wine, arm64, dist, farm, web, chromium   large extras of
#   tests of their own
set -u

packages=""
for set in "$@"; do
    case $set in
    build) packages="$packages build-essential cmake ninja-build pkg-config
        libjansson-dev zlib1g-dev libsuitesparse-dev libembree-dev libpng-dev libjpeg62-turbo-dev
        libdraco-dev libmeshoptimizer-dev" ;;
    demo) packages="$packages python3 ffmpeg" ;;
    test) packages="$packages python3 python3-numpy clang libcmocka-dev ffmpeg"
        # Node may come from elsewhere than Debian.
        command -v node >/dev/null || packages="$packages nodejs"
        command -v npm >/dev/null || packages="$packages npm"
        # The sanitizers' run-time library of clang carries its version in its name.
        version=$(clang --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')
        packages="$packages libclang-rt-${version:-14}-dev" ;;
    lint) packages="$packages clang-format clang-tidy cppcheck python3" ;;
    windows) packages="$packages gcc-mingw-w64-x86-64 dpkg-dev zip" ;;
    wine) packages="$packages wine wine64" ;;
    arm64) packages="$packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user dpkg-dev" ;;
    farm) packages="$packages slurm-wlm munge" ;;
    dist) packages="$packages dpkg-dev lintian debootstrap python3" ;;
    blender) packages="$packages blender python3-numpy" ;;
    web) packages="$packages emscripten dpkg-dev python3"
        command -v node >/dev/null || packages="$packages nodejs"
        command -v npm >/dev/null || packages="$packages npm" ;;
    chromium) packages="$packages chromium" ;;
    *) echo "install-deps.sh: no set $set" >&2 && exit 1 ;;
    esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    command -v cmake >/dev/null && command -v ninja >/dev/null && command -v pkg-config >/dev/null &&
        pkg-config --exists jansson zlib libpng && exit 0
    echo "This system has no apt. cutis needs, under their Debian names (some may be there already):" >&2
    echo $packages >&2
    exit 0
fi

missing=""
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p')
for package in $packages; do
    echo "$installed" | grep -qx "$package" || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

echo "installing:$missing"
if [ "$(id -u)" -eq 0 ]; then
    as_root="env"
elif command -v sudo >/dev/null; then
    as_root="sudo env"
else
    echo "not root and no sudo: please install$missing" >&2
    exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Another package run may hold apt's locks. With a timeout apt waits for dpkg's lock, but not for that of the lists.
MAX_WAIT=600
run_apt() {
    waited=0
    until $as_root DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=$MAX_WAIT "$@" >"$log" 2>&1; do
        grep -q "Could not get lock" "$log" && [ "$waited" -lt "$MAX_WAIT" ] || return 1
        [ "$waited" -gt 0 ] || echo "waiting for another package run to end"
        sleep 2
        waited=$((waited + 2))
    done
}
run_apt update || cat "$log" >&2 # an old list may do
if ! run_apt install -y --no-install-recommends $missing; then
    tail -n 30 "$log" >&2
    echo "could not install:$missing" >&2
    exit 1
fi
