#!/bin/sh
# make fleet-demo: three hosts share one queue; one of them is killed, and one
# paused past its lease. Each host is a clone of its own with a home and a tmux
# server. They share a book in PostgreSQL where that is installed, else in a file. The workers run a
# stand-in for Claude Code. Everything is in a scratch folder, which is removed.
set -eu

# shellcheck source=contrib/scratch.sh
. "$(dirname "$0")/../scratch.sh"
here=$(cd "$(dirname "$0")" && pwd)
scratch_begin "${1:-build}" atlas
agent=$build/tests/tools/fake-claude
tasks=24
hosts="atlas borg cray"
port=$((20000 + $$ % 20000))
server=false

on() { # host command...
	on=$1
	shift
	(cd "$scratch/$on" && HOME="$scratch/home-$on" \
		TMUX_TMPDIR="$scratch/home-$on" "$@")
}

pids() { # of the daemon and the overseer of a host
	sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' \
		"$scratch/$1/.llmc/daemon.json" \
		"$scratch/$1/.llmc/overseer.json" 2>/dev/null || true
}

signal() { # host signal
	for pid in $(pids "$1"); do
		kill "-$2" "$pid" 2>/dev/null || true
	done
}

end() {
	trap '' HUP INT QUIT PIPE TERM # to the end
	exec >/dev/null 2>&1
	for name in $hosts; do
		[ -d "$scratch/$name/.llmc" ] || continue
		signal "$name" CONT
		on "$name" "$llmc" down >/dev/null 2>&1 || true
		signal "$name" KILL
		on "$name" tmux -L "$(on "$name" "$llmc" config get tmux.socket)" \
			kill-server >/dev/null 2>&1 || true
	done
	if $server; then
		"$here/postgres.sh" stop "$scratch/pg" >/dev/null 2>&1 || true
	fi
	cd /
	rm -rf "$scratch"
}
# A shell that a signal ends does not run the EXIT trap by itself.
trap end EXIT
trap 'exit 1' HUP INT QUIT PIPE TERM

say() {
	printf '\n== %s\n' "$*"
}

landed() {
	git -C "$scratch/origin.git" log \
		--format='%(trailers:key=Llmc-Task,valueonly)' main |
		grep -c . || true
}

wait_for() { # number of landed tasks
	until [ "$(landed)" -ge "$1" ]; do
		sleep 0.5
	done
}

say "an origin, and three clones of it"
mkdir "$scratch/seed"
cd "$scratch/seed"
git init -q -b main
git config user.name Demo
git config user.email demo@example.invalid
echo hello >README
git add README
git commit -q -m Start
git clone -q --bare . "$scratch/origin.git"

if "$here/postgres.sh" find >/dev/null 2>&1; then
	say "a PostgreSQL server of its own, on 127.0.0.1:$port"
	chmod 711 "$scratch" # it does not run as root
	"$here/postgres.sh" start "$scratch/pg" "$port"
	server=true
	database="postgresql://127.0.0.1:$port/llmc"
	owner="postgresql://owner@/llmc?host=$scratch/pg&port=$port"
else
	say "no PostgreSQL server here: the hosts share a file"
	database="sqlite:$scratch/shared.db"
	owner=
fi

first=true
for name in $hosts; do
	git clone -q "$scratch/origin.git" "$scratch/$name"
	mkdir "$scratch/home-$name"
	git -C "$scratch/$name" config user.name "$name"
	git -C "$scratch/$name" config user.email "$name@example.invalid"
	on "$name" "$llmc" init >/dev/null
	for setting in "defaults.agent_command $agent" \
		"auto.check_command true" "auto.concurrency 2" \
		"fleet.host $name" "fleet.database $database"; do
		# shellcheck disable=SC2086 # a key and a value
		on "$name" "$llmc" config set $setting >/dev/null
	done
	[ "$(id -u)" != 0 ] ||
		on "$name" "$llmc" config set defaults.allow_root true >/dev/null
	if $first; then
		say "llmc fleet init; llmc fleet join on each host"
		on "$name" "$llmc" fleet init ${owner:+--owner "$owner"}
	fi
	first=false
	on "$name" "$llmc" fleet join ${owner:+--owner "$owner"}
done

say "$tasks tasks, all added on atlas"
n=0
while [ $n -lt $tasks ]; do
	n=$((n + 1))
	on atlas "$llmc" task add "Write number $n.
fake: sleep 1500
fake: commit number-$n.txt $n
fake: say number-$n.txt is written." >/dev/null
done

say "llmc up --auto --detach on each host"
# A lease of 8 seconds instead of 5 minutes: a demo should be short.
echo "host_lease=8000 host_beat=1000 host_poll=1000" >"$scratch/tuning"
export LLMC_TEST_TUNING="$scratch/tuning"
for name in $hosts; do
	on "$name" "$llmc" up --auto --detach
done
wait_for 3
on cray "$llmc" status | sed -n '/^HOSTS/,/^$/p'

say "borg loses its power"
signal borg KILL
on borg tmux -L "$(on borg "$llmc" config get tmux.socket)" kill-server \
	>/dev/null 2>&1 || true
wait_for 8
say "cray falls asleep, for longer than its lease"
signal cray STOP
wait_for $((tasks - 2))
say "cray wakes up"
signal cray CONT
wait_for $tasks
on atlas "$llmc" status | sed -n '/^HOSTS/,/^$/p'

say "who did what"
git -C "$scratch/origin.git" log --reverse \
	--format='%h %(trailers:key=Llmc-Task,valueonly,separator=%x20) by %(trailers:key=Llmc-Attempt,valueonly,separator=%x20)  %s' \
	main | sed 1d
twice=$(git -C "$scratch/origin.git" log \
	--format='%(trailers:key=Llmc-Task,valueonly)' main | grep . | sort |
	uniq -d)
say "$(landed) of $tasks tasks landed, ${twice:-none} twice"
[ -z "$twice" ]
