#!/bin/sh
# test_install_deps.sh PROGRAM: scripts/install-deps.sh waits while another package run holds apt's locks. The commands of
# the system are stand-ins in a folder of their own: nothing is installed.
. "$(dirname "$0")/shell.sh"
mkdir bin
PATH=$folder/bin:$PATH
export PATH

# stand_in NAME: a command whose script is on stdin.
stand_in() {
    { echo '#!/bin/sh'; cat; } >"bin/$1"
    chmod +x "bin/$1"
}
stand_in dpkg-query </dev/null
stand_in id <<'END'
echo 0
END
stand_in sleep <<'END'
echo "$1" >>slept
END

# apt-get as in Debian 12: it waits for dpkg's lock only when told to, and never for that of the lists.
stand_in apt-get <<'END'
case "$*" in
*update*)
    [ "$(wc -l <slept)" -ge 2 ] || { echo "E: Could not get lock /var/lib/apt/lists/lock."; exit 100; } ;;
*DPkg::Lock::Timeout=*install*broken*) echo "E: Unable to locate package"; exit 100 ;;
*DPkg::Lock::Timeout=*install*) ;;
*) echo "E: Could not get lock /var/lib/dpkg/lock-frontend."; exit 100 ;;
esac
echo "$*" >>done
END
: >slept
checks=$((checks + 1))
sh "$root/scripts/install-deps.sh" lint >out 2>err || { fail "install-deps.sh does not wait for apt's locks"; cat out err; }
same "$(wc -l <slept | tr -d ' ')" 2 "waits for the lock of the lists"
shows "update" done
shows "install .*clang-format" done
shows "waiting for another package run"

# another failure ends it at once
sed -i 's/broken/clang-tidy/' bin/apt-get
checks=$((checks + 1))
! sh "$root/scripts/install-deps.sh" lint >out 2>err || fail "a package that is not there is no failure"
shows "could not install: *clang-format" err
same "$(wc -l <slept | tr -d ' ')" 2 "waits for a package that is not there"
finish
