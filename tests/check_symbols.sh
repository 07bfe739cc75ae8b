#!/bin/sh
# check_symbols.sh SHARED STATIC PRIVATE: the shared and the static library define every function that the headers
# declare, and nothing that does not start with cutis_; no variable of the library can change (it would be global state);
# no instruction fuses a multiply with an add (it would round once instead of twice, and other builds would differ).
set -u
shared=$1 static=$2 private=$3
code=0

exported=$(nm -D --defined-only "$shared" | awk 'NF == 3 { print $3 }')
for symbol in $(echo "$exported" | grep -v '^cutis_') $(nm -g --defined-only "$static" | awk 'NF == 3 { print $3 }' |
    grep -v '^cutis_'); do
    echo "visible without the prefix cutis_: $symbol"
    code=1
done

# What CUTIS_API declares: the name before the first parenthesis.
declared=$(cat include/cutis/*.h | tr '\n' ' ' | sed 's/CUTIS_API/\n&/g' |
    sed -n 's/^CUTIS_API [^(]*[ *]\(cutis_[a-z0-9_]*\)(.*/\1/p' | sort -u)
for name in $declared; do
    echo "$exported" | grep -qx "$name" || { echo "declared, but not exported: $name" && code=1; }
done

# Writable data: sections .data, .bss, .tbss and their kind, but not .data.rel.ro, which is constant, nor what the C++
# compiler makes for itself (iostream, exceptions).
changing=$(objdump -t "$private" | sed 's/ \.hidden / /' |
    awk 'NF > 3 && $(NF-2) ~ /^\.(data|bss|tdata|tbss)/ && $(NF-2) !~ /^\.data\.rel\.ro/ && $NF !~ /^(\.|_ZStL8__ioinit|DW\.ref\.)/ { print $NF }')
if [ -n "$changing" ]; then
    echo "variables that are not constant:" $changing
    code=1
fi
fused=$(objdump -d "$private" | grep -E '\<(vfn?m(add|sub)[a-z0-9]*|fn?m(add|sub|la|ls))\>' | head -n 3)
if [ -n "$fused" ]; then
    echo "fused multiply-add instructions:"
    echo "$fused"
    code=1
fi
echo "== check_symbols: $(echo "$exported" | wc -w) exported, $(echo "$declared" | wc -w) declared"
exit $code
