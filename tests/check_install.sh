#!/bin/sh
# check_install.sh BUILD: install into an empty prefix, then compile the examples against what was installed, once
# with pkg-config (shared, and static), once with CMake's find_package, and run them.
set -u
build=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/usr
fail() {
    echo "check_install: $1"
    [ -e "$folder/log" ] && cat "$folder/log"
    exit 1
}

cmake --install "$build" --prefix "$prefix" >"$folder/log" 2>&1 || fail "cmake --install"
library=$(dirname "$(find "$prefix" -name libcutis.a)")
for file in include/cutis/cutis.h share/doc/cutis/LICENSE; do
    [ -e "$prefix/$file" ] || fail "$file is not installed"
done
if [ -e "$build/bin/cutis" ]; then
    for file in bin/cutis share/man/man1/cutis.1 share/bash-completion/completions/cutis; do
        [ -s "$prefix/$file" ] || fail "$file is not installed or empty"
    done
    "$prefix/bin/cutis" --version >"$folder/log" 2>&1 || fail "the installed program does not run"
fi

# pkg-config; the examples get no include path but the installed one.
export PKG_CONFIG_PATH="$library/pkgconfig"
flags="-std=c17 -D_POSIX_C_SOURCE=200809L -O2 -Wall -Wextra -Werror"
for example in readme embed; do
    cc $flags examples/$example.c -o "$folder/$example" $(pkg-config --cflags --libs cutis) -pthread -lm \
        >"$folder/log" 2>&1 || fail "$example does not compile with pkg-config"
    LD_LIBRARY_PATH="$library" "$folder/$example" >"$folder/$example.out" 2>"$folder/log" || fail "$example fails"
    cc $flags examples/$example.c -o "$folder/$example-static" $(pkg-config --cflags cutis) "$library/libcutis.a" \
        $(pkg-config --static --libs-only-l cutis | sed 's/-lcutis//') -pthread -lm \
        >"$folder/log" 2>&1 || fail "$example does not compile with the static library"
    "$folder/$example-static" >"$folder/$example-static.out" 2>"$folder/log" || fail "$example-static fails"
    cmp "$folder/$example.out" "$folder/$example-static.out" >"$folder/log" || fail "$example: static and shared differ"
done

# find_package, from a project of its own.
mkdir "$folder/project"
cat >"$folder/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(cutis $(pkg-config --modversion cutis) REQUIRED)
find_package(Threads REQUIRED)
foreach(example readme embed)
  add_executable(\${example} $PWD/examples/\${example}.c)
  target_link_libraries(\${example} PRIVATE cutis::cutis Threads::Threads m)
  add_executable(\${example}_static $PWD/examples/\${example}.c)
  target_link_libraries(\${example}_static PRIVATE cutis::cutis_static Threads::Threads m)
endforeach()
END
{ cmake -G Ninja -S "$folder/project" -B "$folder/project/build" -DCMAKE_PREFIX_PATH="$prefix" &&
    cmake --build "$folder/project/build"; } >"$folder/log" 2>&1 || fail "the examples do not build with find_package"
for example in readme embed readme_static embed_static; do
    "$folder/project/build/$example" >"$folder/log" 2>&1 || fail "$example of find_package fails"
    cmp "$folder/log" "$folder/${example%_static}.out" || fail "$example of find_package gives another result"
done
cat "$folder/readme.out" "$folder/embed.out"
echo "== check_install: $(find "$prefix" -type f | wc -l) files installed, examples run with pkg-config and find_package"
