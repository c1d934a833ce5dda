#!/bin/sh
# Make every system call of the overseer fail once, or kill it there, during a
# repair: tests/faults/torture-overseer.sh BUILD [STEP]
#
# The daemon does not start until a session of the fake agent has repaired it;
# then it lands one task and exits, and so does the overseer. With a STEP above
# 1 only about every STEP-th call is tried; LLMC_TORTURE_SEED selects another
# sample. Prints TAP. Whatever fails, the overseer must exit by itself with one
# of its exit statuses, and say why if that is not 0. The files it leaves must
# be valid: no daemon runs if they say so, no line of its history is broken, no
# temporary file is left. The next overseer must finish the same work, and the
# work must land once.
set -eu

build=$(cd "${1:?build folder}" && pwd)
step=${2:-1}
llmc=$build/src/cli/llmc
overseer=$build/src/overseer/overseer
preload=torture.so # by name: the folder may have a space
seed=${LLMC_TORTURE_SEED:-1}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/llmc-torture.XXXXXX")
cd "$scratch"

export HOME="$scratch/home" GIT_CONFIG_NOSYSTEM=1 TERM=dumb
export TMUX_TMPDIR="$scratch" TMPDIR="$scratch" PATH="$build/src/cli:$PATH"
export LD_LIBRARY_PATH="$build/tests/faults"
unset LLMC_ROOT LLMC_AGENT TMUX NO_COLOR FORCE_COLOR GIT_DIR GIT_WORK_TREE \
	GIT_INDEX_FILE
leaks=1
[ "$(uname -m)" = aarch64 ] && leaks=0 # takes seconds per process there
sanitizer="verify_asan_link_order=0:exitcode=99:detect_leaks=$leaks"
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:$sanitizer"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-}:halt_on_error=1:exitcode=99"

# EIO, ENOSPC, EACCES, EMFILE: errors of disks, permissions and limits; 0 is
# SIGKILL during the call.
errors='5 28 13 24 0'
patience=150 # seconds for one run: a lost hook costs a minute
failed=0
tried=0
n=1

daemon_pid() {
	sed -n '/"pid"/{s/.*: *\([0-9]*\).*/\1/p;q;}' work/.llmc/daemon.json \
		2>/dev/null || true
}

# Processes that a run may have left: all that have our folder in their
# arguments.
sweep() {
	for process in /proc/[0-9]*; do
		! grep -qzF -- "$scratch" "$process/cmdline" 2>/dev/null ||
			kill -KILL "${process#/proc/}" 2>/dev/null || true
	done
	tmux -L torture kill-server 2>/dev/null || true
}

finish() {
	sweep
	cd /
	rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

random() { # below $1
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	random=$((seed / 65536 % $1))
}

nth() { # index word...
	shift "$(($1 + 1))"
	error=$1
}

complain() { # text
	failed=$((failed + 1))
	echo "# call $n ($call) with error $error: $1"
	{ tail -n 15 out err && tail -n 15 work/.llmc/logs/overseer.log; } \
		2>/dev/null | cut -c 1-240 | sed 's/^/#   /'
}

# A template: a workspace with a task, and a daemon that does not start.
mkdir home
git init -q -b main --template= ready
git -C ready config user.name T
git -C ready config user.email t@example.invalid
git -C ready commit -q --allow-empty -m Start
cd ready
"$llmc" init >/dev/null
"$llmc" config set defaults.agent_command "$build/tests/tools/fake-claude"
"$llmc" config set defaults.allow_root true
"$llmc" config set auto.check_command none
"$llmc" config set overseer.daemon_command \
	"./daemon.sh" >/dev/null
"$llmc" config set overseer.remediation_prompt \
	"Mend it.
fake: run echo mended >\"\$LLMC_ROOT/.llmc/remedy/finding.txt\"; touch \"\$LLMC_ROOT/.llmc/mended\"" >/dev/null
"$llmc" config set overseer.restart_cooldown 0s
"$llmc" config set tmux.socket torture
cat >daemon.sh <<'SCRIPT'
#!/bin/sh
[ -e .llmc/mended ] || { echo "not mended" >&2; exit 3; }
exec llmc up --auto --until-empty "$@"
SCRIPT
chmod +x daemon.sh
printf 'daemon.sh\n' >>.git/info/exclude 2>/dev/null ||
	{ mkdir -p .git/info && echo daemon.sh >.git/info/exclude; }
"$llmc" task add "A task
fake: commit work.txt done" >/dev/null
cd ..

run() { # preloaded or not: environment assignments...
	timeout "$patience" env "$@" "$overseer" --root work >out 2>err
}

# Files that are not finished. A daemon that was left running may be just
# writing one.
temporaries() {
	i=0
	while left=$(find work/.llmc -name '*.tmp' 2>/dev/null) &&
		[ -n "$left" ] && [ -n "$(daemon_pid)" ] && [ "$i" -lt 30 ]; do
		sleep 0.1
		i=$((i + 1))
	done
}

# Did it say why, and is that right?
judge() { # status
	case $1 in
	0 | 1 | 3 | 4 | 5 | 6) ;;
	137) [ "$error" -eq 0 ] || complain "was killed" ;;
	70) grep -q 'cannot ' err || complain "ended with 70" ;; # no loop
	124) complain "it did not end" ;;
	*) complain "ended with $1" ;;
	esac
	[ "$1" -eq 0 ] || [ "$1" -eq 137 ] || [ -s err ] || [ -s out ] ||
		complain "failed without a word"
	! grep -q 'Sanitizer\|runtime error:' err ||
		complain "a sanitizer complained"
	"$llmc" --root work --json status >status.json 2>err ||
		complain "status cannot be told"
	if [ -e work/.llmc/overseer.json ] &&
		[ "$(sed -n '1p;$p' work/.llmc/overseer.json)" != "{
}" ]; then
		complain "overseer.json is broken"
	fi
	! grep -qv '^{"kind":.*}$' work/.llmc/failures.jsonl 2>/dev/null ||
		complain "failures.jsonl is broken"
	pid=$(daemon_pid)
	if [ -n "$pid" ] && grep -qz -- "--auto" "/proc/$pid/cmdline" \
		2>/dev/null && grep -q '"state": "Terminated"' \
		work/.llmc/overseer.json 2>/dev/null; then
		complain "it says that it has ended, and the daemon runs"
	fi
	temporaries
	[ -z "$left" ] || [ "$error" -eq 0 ] || complain "left behind: $left"
}

commits() {
	git -C work rev-list --count main
}

# The next overseer continues, and the work is done once. A daemon that was left
# running may have finished it alone: then no other one is started.
go_on() {
	i=0
	while [ "$error" -eq 0 ] && [ "$(commits)" -ne 2 ] && [ "$i" -lt 30 ] &&
		[ -e work/.llmc/mended ]; do
		sleep 0.1
		i=$((i + 1))
	done
	rm -f work/.llmc/manual_intervention_needed_*
	timeout 10 "$overseer" --root work --clear torture >out 2>err ||
		complain "the history cannot be cleared"
	[ "$(commits)" -eq 2 ] || run A=1 ||
		complain "the next overseer ended with $?"
	[ "$(commits)" -eq 2 ] || complain "$(commits) commits"
	[ "$(git -C work show main:work.txt 2>&1)" = "done" ] ||
		complain "the work is not there"
}

# One run with the n-th call failing; false if there were fewer calls.
try() {
	rm -rf work 2>/dev/null || { sleep 1 && rm -rf work; }
	cp -R ready work
	status=0
	run LLMC_TORTURE_N=$n LLMC_TORTURE_ERRNO="$error" \
		LLMC_TORTURE_COUNT="$scratch/count" LD_PRELOAD="$preload" ||
		status=$?
	seen=$(od -An -N4 -tu4 count | tr -d " ")
	call=$(tail -c +17 count | tr -d '\0')
	if [ "$seen" -lt "$n" ]; then
		[ "$status" -eq 0 ] || complain "without a fault: $status"
		sweep
		return 1
	fi
	tried=$((tried + 1))
	judge "$status"
	go_on
	sweep
}

echo "# seed $seed, step $step"
if [ "$step" -gt 1 ]; then
	random "$step"
	n=$((1 + random))
fi
while :; do
	random 5
	# shellcheck disable=SC2086 # a list of words
	nth $random $errors
	try || break
	if [ "$step" -gt 1 ]; then
		random $((2 * step - 1))
		n=$((n + 1 + random))
	else
		n=$((n + 1))
	fi
done
if [ "$failed" -eq 0 ]; then
	echo "ok 1 - overseer: $tried faults among $seen calls"
else
	echo "not ok 1 - overseer"
fi
echo "1..1"
[ "$failed" -eq 0 ]
