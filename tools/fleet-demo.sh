#!/bin/sh
# make fleet-demo: three hosts share one queue; one of them is killed, and one
# paused past its lease. Each host is a clone of its own with a home, a tmux
# server and, where that is allowed, a network namespace; PostgreSQL and the git
# remote are in a fourth one. Elsewhere the hosts are only processes. The workers run a stand-in for Claude Code.
# Everything is in a scratch folder, which is removed; namespaces are without
# a name, and end with their processes.
#
#   tools/fleet-demo.sh [BUILD]
#   LLMC_DEMO_HOSTS=processes: no namespaces
set -eu

here=$(cd "$(dirname "$0")" && pwd)
postgres=$here/../contrib/fleet/postgres.sh
"$postgres" find >/dev/null
PATH=$PATH:/usr/sbin:/sbin # ip
tasks=24
hosts="atlas borg cray"
serving=10.77.0.1 # in a network of its own
limit=240         # seconds for each wait

say() {
	printf '\n== %s\n' "$*"
}

# A network that this user may make, in which nothing else is. Root keeps being
# root; others get the rights in a user namespace.
alone="unshare --mount --net"
[ "$(id -u)" = 0 ] ||
	alone="unshare --user --map-current-user --keep-caps --mount --net"

# Prints what namespaces lack here, if anything.
no_namespaces() {
	[ "${LLMC_DEMO_HOSTS:-}" != processes ] ||
		echo "LLMC_DEMO_HOSTS says so"
	[ -x "$(git --exec-path)/git-daemon" ] ||
		echo "git daemon is not installed"
	# shellcheck disable=SC2086 # words
	$alone ip link add demo type veth peer name eth0 2>&1 |
		sed 's/^/this user may not make them: /'
}

if [ "${LLMC_DEMO_HOSTS:-}" != inside ]; then
	missing=$(no_namespaces | head -n 1)
	if [ -z "$missing" ]; then
		export LLMC_DEMO_HOSTS=inside
		# shellcheck disable=SC2086 # words
		exec $alone "$here/fleet-demo.sh" "$@"
	fi
	say "three hosts, as processes without a network of their own: $missing"
	namespaces=false
else
	say "three hosts, each in a network namespace of its own"
	namespaces=true
fi

# shellcheck source=tools/scratch.sh
. "$here/scratch.sh"
scratch_begin "${1:-build}" atlas
agent=$build/tests/tools/fake-claude
port=$((20000 + $$ % 20000))
server=false
remote=

on() { # host command...
	on=$1
	shift
	! $namespaces || set -- nsenter "--net=$scratch/net-$on" "$@"
	(cd "$scratch/$on" && HOME="$scratch/home-$on" \
		TMUX_TMPDIR="$scratch/home-$on" "$@")
}

pids() { # of the daemon and the overseer of a host that are still there
	# shellcheck disable=SC2013 # numbers
	for pid in $(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' \
		"$scratch/$1/.llmc/daemon.json" \
		"$scratch/$1/.llmc/overseer.json" 2>/dev/null); do
		case $(readlink "/proc/$pid/exe") in
		"$build"/*) echo "$pid" ;;
		esac
	done
}

signal() { # host signal
	for pid in $(pids "$1"); do
		kill "-$2" "$pid" 2>/dev/null || true
	done
}

kill_sessions() { # host
	on "$1" tmux -L "$(on "$1" "$llmc" config get tmux.socket)" \
		kill-server >/dev/null 2>&1 || true
}

end() {
	trap '' HUP INT QUIT PIPE TERM # to the end
	exec >/dev/null 2>&1
	for name in $hosts; do
		[ -d "$scratch/$name/.llmc" ] || continue
		signal "$name" CONT
		on "$name" timeout 20 "$llmc" down || true
		signal "$name" KILL
		kill_sessions "$name"
	done
	! $server || "$postgres" stop "$scratch/pg" || true
	[ -z "$remote" ] || kill "$remote" || true
	! $namespaces || umount "$scratch"/net-* || true
	cd /
	rm -rf "$scratch"
}
# A shell that a signal ends does not run the EXIT trap by itself.
trap end EXIT
trap 'exit 1' HUP INT QUIT PIPE TERM

landed() {
	git -C "$scratch/origin.git" log \
		--format='%(trailers:key=Llmc-Task,valueonly)' main |
		grep -c . || true
}

wait_until() { # command...
	left=$((limit * 2))
	until "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || {
			echo "demo.sh: waited $limit seconds in vain: $*" >&2
			for name in $hosts; do
				tail -n 3 "$scratch/$name/.llmc/logs/autod.log"
			done >&2
			exit 1
		}
		sleep 0.5
	done
}

has_landed() { # tasks
	[ "$(landed)" -ge "$1" ]
}

is() { # host state, as atlas knows it
	on atlas "$llmc" status | grep -q "^$1 .*$2"
}

works() { # host
	on "$1" "$llmc" status --here | grep -q working
}

held() { # tasks that a host has claimed and not submitted
	on atlas "$llmc" fleet hosts --json |
		sed -n "/\"host\": *\"$1\"/,/}/s/.*\"claimed\": *\([0-9]*\).*/\1/p"
}

# Stop the daemon of a host, in the middle of a task.
catch() { # host
	wait_until works "$1"
	signal "$1" STOP
	until [ "$(held "$1")" -gt 0 ]; do
		signal "$1" CONT
		wait_until works "$1"
		signal "$1" STOP
	done
}

settled() { # the views of all hosts have all tasks
	[ "$(on atlas "$llmc" status --json |
		sed -n '/"hosts":/,/^  ]/s/.*"landed": *\([0-9]*\).*/\1/p' |
		awk '{ n += $1 } END { print n + 0 }')" = "$tasks" ]
}

show_hosts() { # host that is asked
	echo "\$ llmc status    # on $1"
	on "$1" "$llmc" status | sed -n '/^HOSTS/,/^$/p'
}

say "an origin, and a clone of it for each host"
mkdir "$scratch/seed"
cd "$scratch/seed"
git init -q -b main
git config user.name Demo
git config user.email demo@example.invalid
echo hello >README
git add README
git commit -q -m Start
git clone -q --bare . "$scratch/origin.git"
origin=$scratch/origin.git

if $namespaces; then
	origin=git://$serving/origin.git
	echo "$origin; atlas is 10.77.0.11, borg 10.77.0.12, cray 10.77.0.13"
	ip link set lo up
	n=10
	for name in $hosts; do
		n=$((n + 1))
		: >"$scratch/net-$name"
		unshare "--net=$scratch/net-$name" true
		ip link add "$name" type veth peer name eth0 \
			netns "$scratch/net-$name"
		ip addr add "$serving" peer "10.77.0.$n/32" dev "$name"
		ip link set "$name" up
		nsenter "--net=$scratch/net-$name" sh -ec "
			ip link set lo up
			ip addr add 10.77.0.$n peer $serving/32 dev eth0
			ip link set eth0 up"
	done
	"$(git --exec-path)/git-daemon" --listen="$serving" --reuseaddr \
		--base-path="$scratch" --export-all --enable=receive-pack &
	remote=$!
fi

chmod 711 "$scratch" # it does not run as root
at=127.0.0.1
if $namespaces; then
	at=$serving
	echo "local all owner trust
host all all 10.77.0.0/24 scram-sha-256" >"$scratch/hba"
	LLMC_POSTGRES_OPTIONS="-c listen_addresses=$at"
	LLMC_POSTGRES_OPTIONS="$LLMC_POSTGRES_OPTIONS \
		-c hba_file=$scratch/hba"
	export LLMC_POSTGRES_OPTIONS
fi
say "a PostgreSQL server of its own, on $at:$port"
"$postgres" start "$scratch/pg" "$port" >/dev/null
server=true
# Without TLS: it has no certificate, and nobody else is in this network.
database="postgresql://$at:$port/llmc?sslmode=disable"
owner="postgresql://owner@/llmc?host=$scratch/pg&port=$port"

# A lease of 8 seconds instead of 5 minutes: a demo should be short. The server
# is told when its tables are made.
echo "host_lease=8000 host_beat=1000 host_poll=1000" >"$scratch/tuning"
export LLMC_TEST_TUNING="$scratch/tuning"

for name in $hosts; do
	mkdir "$scratch/home-$name" "$scratch/$name"
	on "$name" git clone -q "$origin" .
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
	if [ "$name" = atlas ]; then
		say "llmc fleet init, once; llmc fleet join, on each host"
		on "$name" "$llmc" fleet init --owner "$owner"
	fi
	on "$name" "$llmc" fleet join --owner "$owner"
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

say "llmc up --auto --detach, on each host"
for name in $hosts; do
	on "$name" "$llmc" up --auto --detach
done
for name in $hosts; do
	wait_until is "$name" "2 of 2"
done
show_hosts atlas
wait_until has_landed 3

catch borg
say "borg loses its power, with a task or two: its processes are killed"
signal borg KILL
kill_sessions borg
catch cray
say "cray falls asleep, with a task or two: its daemon stops"
wait_until is borg lost
wait_until is cray lost
show_hosts atlas
wait_until has_landed $((tasks - 2))
say "cray wakes up, borg has power again: what they had is not theirs any more"
signal cray CONT
on borg "$llmc" up --auto --detach >/dev/null 2>&1
wait_until has_landed $tasks
for name in $hosts; do
	wait_until is "$name" "up .* 0 of 2"
done
wait_until settled
kinds="--kind host_lost --kind host_up --kind task_fenced"
echo "\$ llmc log $kinds    # on atlas"
# shellcheck disable=SC2086 # words
on atlas "$llmc" log $kinds
echo
show_hosts atlas

say "who did what"
work=$(git -C "$scratch/origin.git" log --reverse --format="$(
	printf '%s %s' '%(trailers:key=Llmc-Task,valueonly,separator=%x20)' \
		'%(trailers:key=Llmc-Attempt,valueonly,separator=%x20)'
)" main)
for name in $hosts; do
	printf '%s:' "$name"
	echo "$work" | sed -n "s|^\\(t[0-9]*\\)-atlas [0-9]*/$name/.*| \\1|p" |
		tr -d '\n'
	echo
done
# The fence is 1 in the first attempt, and rises when others take it over.
printf 'taken over from a host that was lost:'
echo "$work" | sed -n 's|^\(t[0-9]*\)-atlas \([2-9]\)/\([a-z]*\)/.*| \1 by \3|p' |
	tr '\n' ','  | sed 's/,$//'
echo
twice=$(echo "$work" | cut -d ' ' -f 1 | grep . | sort | uniq -d)
say "$(landed) of $tasks tasks landed, ${twice:-none} twice"
[ -z "$twice" ]
