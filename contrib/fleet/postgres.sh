#!/bin/sh
# A PostgreSQL server of the distribution's package in a folder of its own, for
# trials and tests of a fleet.
#
#   contrib/fleet/postgres.sh start DIR [PORT]   make it if need be, and start it
#   contrib/fleet/postgres.sh stop DIR           stop it; the data stays
#   contrib/fleet/postgres.sh run DIR [PORT]     in the foreground, until the
#                                                caller ends
#   contrib/fleet/postgres.sh standby DIR PORT FROM FROM_PORT
#                                                make a copy of the server in
#                                                FROM that follows it
#   contrib/fleet/postgres.sh cut DIR            it follows no longer
#   contrib/fleet/postgres.sh promote DIR        it takes over
#   contrib/fleet/postgres.sh find               print the folder of its programs
#
# It listens on 127.0.0.1 (PORT, or 54329) and on a socket in DIR, and has a
# database "llmc" whose owner, "owner", needs no password on that socket: who may
# enter DIR owns it. PostgreSQL does not run as root: root starts it as the user
# postgres, or nobody. LLMC_POSTGRES_OPTIONS has more options for the server.
set -eu

usage() {
	sed -n '5,14s/^# *//p' "$0" >&2
	exit 2
}

bin=$(pg_config --bindir 2>/dev/null || true)
[ -x "$bin/initdb" ] || bin=
for dir in /usr/lib/postgresql/*/bin; do
	[ -n "$bin" ] || [ ! -x "$dir/initdb" ] || bin=$dir
done
[ -n "$bin" ] || {
	echo "postgres.sh: no PostgreSQL server here; install postgresql" >&2
	exit 77
}
[ "${1:-}" != find ] || {
	echo "$bin"
	exit 0
}
[ $# -ge 2 ] || usage
verb=$1
[ -d "$2" ] || mkdir -m 700 "$2"
dir=$(cd "$2" && pwd)
port=${3:-54329}

# Run a program as the user of the server, who must not be root.
as=
if [ "$(id -u)" = 0 ]; then
	user=postgres
	id "$user" >/dev/null 2>&1 || user=nobody
	as="setpriv --reuid $user --regid $(id -gn "$user") --clear-groups"
	chown "$user" "$dir"
	$as test -w "$dir" || {
		echo "postgres.sh: $user, who is to run the server, may not" \
			"enter the folders above $dir; use another one" >&2
		exit 1
	}
fi

make_cluster() {
	[ ! -e "$dir/data/PG_VERSION" ] || return 0
	(cd / && $as "$bin/initdb" -D "$dir/data" -U owner --auth-local=trust \
		--auth-host=scram-sha-256 --no-sync -E UTF8 --locale=C \
		>"$dir/initdb.log" 2>&1) || {
		cat "$dir/initdb.log" >&2
		exit 1
	}
	# The database, before anybody can connect.
	echo 'create database llmc;' |
		(cd / && $as "$bin/postgres" --single -D "$dir/data" postgres \
			>"$dir/initdb.log" 2>&1)
}

start() {
	options="-p $port -c listen_addresses=127.0.0.1"
	options="$options -c unix_socket_directories=$dir"
	(cd / && $as "$bin/pg_ctl" -D "$dir/data" -w -s -l "$dir/data/log" \
		-o "$options ${LLMC_POSTGRES_OPTIONS:-}" start) || {
		tail -n 5 "$dir/data/log" >&2
		exit 1
	}
	echo "owner:  postgresql://owner@/llmc?host=$dir&port=$port"
	echo "hosts:  postgresql://127.0.0.1:$port/llmc"
}

case $verb in
start)
	make_cluster
	start
	;;
standby)
	[ $# -eq 5 ] || usage
	(cd / && $as "$bin/pg_basebackup" -D "$dir/data" -h "$4" -p "$5" \
		-U owner -R -X stream -c fast --no-sync)
	start
	;;
cut)
	echo "primary_conninfo = ''" >>"$dir/data/postgresql.auto.conf"
	(cd / && $as "$bin/pg_ctl" -D "$dir/data" -s reload)
	;;
promote)
	(cd / && $as "$bin/pg_ctl" -D "$dir/data" -s -w promote)
	;;
run)
	make_cluster
	cd /
	[ -n "$as" ] || as="setpriv"
	# shellcheck disable=SC2086 # words
	exec $as --pdeathsig INT "$bin/postgres" -D "$dir/data" -p "$port" \
		-c listen_addresses=127.0.0.1 \
		-c unix_socket_directories="$dir" \
		${LLMC_POSTGRES_OPTIONS:-} >"$dir/data/log" 2>&1
	;;
stop)
	(cd / && $as "$bin/pg_ctl" -D "$dir/data" -s -m fast -w stop)
	;;
*)
	usage
	;;
esac
