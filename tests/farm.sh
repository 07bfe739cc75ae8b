#!/bin/sh
# farm.sh PROGRAM: a list of bakes on a cluster: a Slurm of one node, started here on 127.0.0.1 only. 200 small bakes, a task
# killed in the middle, failures with reasons, resubmission; the outputs are those of one machine, byte for byte.

for tool in sbatch slurmctld slurmd munged; do
    if ! command -v "$tool" >/dev/null && ! [ -x "/usr/sbin/$tool" ]; then
        echo "skipped: $tool is not installed (make test-farm installs Slurm)"
        exit 77
    fi
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: a Slurm of one's own needs root" && exit 77; }

PATH=$PATH:/usr/sbin:/sbin
. "$(dirname "$0")/shell.sh"
subcommand=batch

# ---- a cluster of one node, which ends with this script ----
slurm=$folder/slurm
mkdir -p "$slurm/state" "$slurm/spool" "$slurm/log"
chmod 755 "$folder" "$slurm"
name=$(hostname -s)
port=$((20000 + $$ % 20000))
head -c 1024 /dev/urandom >"$slurm/munge.key"
chmod 400 "$slurm/munge.key"
cat >"$slurm/slurm.conf" <<END
ClusterName=cutis
SlurmctldHost=$name(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.pid
SlurmctldLogFile=$slurm/log/slurmctld.log
SlurmdLogFile=$slurm/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=$name NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000
PartitionName=main Nodes=$name Default=YES MaxTime=60 State=UP
END
export SLURM_CONF="$slurm/slurm.conf"
stop() {
    for daemon in slurmd slurmctld munged; do
        [ -e "$slurm/$daemon.pid" ] && kill "$(cat "$slurm/$daemon.pid")" 2>/dev/null
    done
    sleep 0.5
    rm -rf "$folder"
}
trap stop EXIT
munged --force --key-file="$slurm/munge.key" --socket="$slurm/munge.socket" --pid-file="$slurm/munged.pid" \
    --log-file="$slurm/log/munged.log" --seed-file="$slurm/munge.seed" >"$slurm/log/start" 2>&1 &&
    slurmctld -c >>"$slurm/log/start" 2>&1 && slurmd >>"$slurm/log/start" 2>&1
for try in $(seq 60); do
    sinfo --noheader --format=%T 2>/dev/null | grep -q idle && break
    sleep 0.5
done
if ! sinfo --noheader --format=%T 2>/dev/null | grep -q idle; then
    cat "$slurm"/log/*
    fail "the cluster does not start"
    finish
    exit 1
fi

# wait_for COUNT: until so many jobs of the list have ended, or two minutes without one more
wait_for() {
    last=-1
    idle=0
    while [ "$idle" -lt 240 ]; do
        ended=$(ls | grep -c '\.job\.json$\|\.job\.failed\.json$')
        [ "$ended" -ge "$1" ] && break
        [ "$ended" = "$last" ] && idle=$((idle + 1)) || idle=0
        last=$ended
        sleep 0.5
    done
}

# ---- 200 bakes, two that fail, and one that is killed ----
cat >jobs.json <<END
{"defaults": {"solver": "dqs", "clip": "flex"},
 "jobs": [{"input": "arm", "clip": "no_such_clip", "output": "bad.npy"},
          {"input": "man", "clip": "walk", "solver": "layers", "fps": 60, "output": "slow.npy"},
$(for i in $(seq 198); do echo "{\"input\": \"cylinder\", \"clip\": \"bend\", \"fps\": $((10 + i)), \"output\": \"o$i.npy\"},"; done | sed '$ s/,$//')]}
END
clip=$("$program" models --json | python3 -c "
import json, sys
for model in json.load(sys.stdin)['models']:
    if model['name'] == 'cylinder': print(model['clips'][0] if isinstance(model['clips'][0], str) else model['clips'][0]['name'])")
sed -i "s/\"clip\": \"bend\"/\"clip\": \"$clip\"/" jobs.json
run 0 jobs.json --slurm --jobs 2 --sbatch="--partition=main --time=10"
shows '^array [0-9]*: 200 jobs'
run 0 jobs.json --slurm --jobs 2
shows '^0 submitted'

# the slow one is killed with its step, as a lost node would be
for try in $(seq 240); do
    victim=$(pgrep -f "$program bake man -o slow.npy" | head -n 1)
    [ -n "$victim" ] && break
    sleep 0.5
done
sleep 0.5
pkill -9 -f "$program batch jobs.json .*--task 1 " || pkill -9 -f -- "--task 1 "
[ -z "$victim" ] || kill -9 "$victim" 2>/dev/null
wait_for 199
for try in $(seq 60); do
    [ -z "$(squeue --noheader)" ] && break
    sleep 0.5
done
run 1 jobs.json --status
shows 'failed   job 0  bad.npy  (exit code 2) .*no_such_clip'
shows 'failed   job 1  slow.npy '
shows '198 done, 0 running, 0 queued, 2 failed, 0 not submitted, of 200'

# ---- only the failed ones again; here with a list in which they can succeed ----
sed -i 's/"clip": "no_such_clip"/"clip": "flex"/; s/"solver": "layers", "fps": 60/"solver": "lbs", "fps": 12/' jobs.json
run 0 jobs.json --resubmit
shows '2 submitted, 198 done already'
wait_for 200
for try in $(seq 60); do
    [ -z "$(squeue --noheader)" ] && break
    sleep 0.5
done
run 0 jobs.json --status
shows '200 done, 0 running, 0 queued, 0 failed'
tidy

# ---- one machine goes on where the cluster stopped, and gives the same bytes ----
run 0 jobs.json
shows '0 done, 200 skipped, 0 failed'
mkdir here
sed 's/"output": "/"output": "here\//' jobs.json >here.json
run 0 here.json --jobs 2
for file in bad.npy slow.npy o1.npy o77.npy o198.npy; do equal "$file" "here/$file" "cluster and one machine"; done

# ---- one clip in pieces, which are joined when all are done ----
cat >split.json <<END
{"jobs": [{"input": "arm", "clip": "flex", "solver": "lattice", "fps": 20, "split": 0.7, "output": "split.npy"}]}
END
run 0 split.json --slurm --jobs 2
for try in $(seq 240); do
    [ -z "$(squeue --noheader)" ] && break
    sleep 0.5
done
run 0 split.json --status
tells split.npy.job.json "r['report']['pieces'] >= 3 and r['report']['seam'] <= 1e-4"

# a machine without Slurm says so
checks=$((checks + 1))
PATH=/nowhere "$program" batch jobs.json --slurm >out 2>err && fail "--slurm without Slurm succeeds"
grep -q "is Slurm installed" err || fail "no hint that Slurm is missing: $(cat err)"
finish
