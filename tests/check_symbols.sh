#!/bin/sh
# check_symbols.sh SHARED STATIC: the shared library exports every function that the headers declare and nothing that
# does not start with cutis_; the library holds no variable that can change (it would be global state).
set -u
shared=$1 static=$2
code=0

exported=$(nm -D --defined-only "$shared" | awk '{ print $3 }')
foreign=$(echo "$exported" | grep -v '^cutis_')
if [ -n "$foreign" ]; then
    echo "exported without the prefix cutis_:" $foreign
    code=1
fi

# What CUTIS_API declares: the name before the first parenthesis.
declared=$(cat include/cutis/*.h | tr '\n' ' ' | sed 's/CUTIS_API/\n&/g' |
    sed -n 's/^CUTIS_API [^(]*[ *]\(cutis_[a-z0-9_]*\)(.*/\1/p' | sort -u)
for name in $declared; do
    echo "$exported" | grep -qx "$name" || { echo "declared, but not exported: $name" && code=1; }
done

# Writable data: sections .data, .bss, .tbss and their kind, but not .data.rel.ro, which is constant.
changing=$(objdump -t "$static" | awk '$(NF-2) ~ /^\.(data|bss|tdata|tbss)/ && $(NF-2) !~ /^\.data\.rel\.ro/ &&
    $NF !~ /^\./ { print $NF }')
if [ -n "$changing" ]; then
    echo "variables that are not constant:" $changing
    code=1
fi
echo "== check_symbols: $(echo "$exported" | wc -w) exported, $(echo "$declared" | wc -w) declared"
exit $code
