#!/bin/sh
# A systemd user manager of its own runs the overseer of a scratch repository:
# while two workers work it is reloaded after an upgrade, killed, and stopped.
# tests/systemd-user.sh BUILD. Prints TAP. Only root can pretend that systemd has
# booted this machine, in a mount namespace.
# shellcheck disable=SC2154,SC2317 # of scratch.sh; functions that ok() calls
set -eu

build=$(cd "${1:-build}" && pwd)
manager=/lib/systemd/systemd
if [ "${2:-}" != inside ]; then
	if [ "$(id -u)" = 0 ] && [ -x "$manager" ] &&
		command -v systemctl >/dev/null &&
		unshare -m true 2>/dev/null; then
		exec unshare -m "$0" "$build" inside
	fi
	echo "1..0 # SKIP needs root, unshare and systemd"
	exit 0
fi
cd "$(dirname "$0")/.."
units=$PWD/contrib/systemd/user
# shellcheck source=tools/scratch.sh
. tools/scratch.sh
scratch_begin "$build" "a project"
programs=$scratch/programs
n=0
failed=0

finish() {
	touch "$scratch/go-one.txt" "$scratch/go-two.txt"
	systemctl --user stop "$unit" >/dev/null 2>&1 || :
	{ kill "$pid" && wait "$pid"; } 2>/dev/null || :
	scratch_end
}

ok() { # what command...
	what=$1
	shift
	n=$((n + 1))
	if "$@" >"$scratch/said" 2>&1; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		sed 's/^/# /' "$scratch/said"
		failed=1
	fi
}

within() { # seconds command...
	left=$(($1 * 10))
	shift
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ "$left" -gt 0 ] || return 1
		sleep 0.1
	done
}

panes() {
	tmux -L "$("$llmc" config get tmux.socket)" list-panes -a \
		-F '#{pane_pid}' | sort
}
at_work() { [ "$("$llmc" --json status | grep -c '"status": *"working"')" = 2 ]; }
due() { "$llmc" doctor | grep -q 'llmc restart'; }
main_pid() { systemctl --user show --value -p MainPID "$unit"; }
landed() { [ -e one.txt ] && [ -e two.txt ]; }
reload() {
	systemctl --user reload "$unit" && ! due &&
		[ "$(main_pid)" = "$overseer" ] &&
		[ "$(daemon_pid)" = "$daemon" ] && [ "$(panes)" = "$sessions" ]
}
# The sessions and the daemon do not notice.
crash() {
	systemctl --user kill --kill-who=main -s KILL "$unit" &&
		within 30 is_another && within 30 supervised &&
		[ "$(daemon_pid)" = "$daemon" ] && [ "$(panes)" = "$sessions" ]
}
is_another() { [ "$(main_pid)" != 0 ] && [ "$(main_pid)" != "$overseer" ]; }
supervised() { "$llmc" status | grep -q "^Running  pid $(main_pid)"; }
daemon_pid() {
	sed -n 's/^ *"pid": *\([0-9]*\).*/\1/p' .llmc/daemon.json
}
stop() {
	systemctl --user stop "$unit" &&
		systemctl --user show --value -p Result "$unit" |
		grep -x success && [ ! -e /proc/"$daemon" ] && ! panes | grep .
}

# --- a machine that systemd has booted ---------------------------------------
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system
scratch_home
export XDG_RUNTIME_DIR="$scratch/run" XDG_CONFIG_HOME="$HOME/.config"
unset DBUS_SESSION_BUS_ADDRESS
mkdir -p "$XDG_RUNTIME_DIR" "$XDG_CONFIG_HOME/systemd/user" \
	"$XDG_CONFIG_HOME/llmc"
chmod 700 "$XDG_RUNTIME_DIR"
scratch_repo
for program in cli/llmc autod/autod overseer/overseer keeper/keeper; do
	mkdir -p "$programs/${program%/*}"
	cp "$build/src/$program" "$programs/$program"
done
llmc=$programs/cli/llmc
sed "s|@bindir@|$programs/cli|g; s|^RestartSec=.*|RestartSec=1|" \
	"$units/llmc-overseer@.service.in" \
	>"$XDG_CONFIG_HOME/systemd/user/llmc-overseer@.service"
echo "TMUX_TMPDIR=$TMUX_TMPDIR" >"$XDG_CONFIG_HOME/llmc/environment"
unit=$(systemd-escape --path --template=llmc-overseer@.service "$repo")
{
	"$llmc" init --yes
	"$llmc" config set defaults.agent_command \
		"$build/tests/tools/fake-claude"
	"$llmc" config set auto.check_command none
	"$llmc" config set auto.concurrency 2
	"$llmc" config set defaults.sandbox off
	"$llmc" config set defaults.allow_root true
	for file in one.txt two.txt; do
		"$llmc" task add "Write $file.
fake: run until [ -e '$scratch/go-$file' ]; do sleep 0.1; done
fake: commit $file text"
	done
} >"$scratch/began" 2>&1 || sed 's/^/# /' "$scratch/began"
"$manager" --user >"$scratch/manager.log" 2>&1 &
pid=$!
trap finish EXIT
within 20 test -S "$XDG_RUNTIME_DIR/systemd/private" || {
	echo "1..0 # SKIP no user manager here: $(tail -n 1 "$scratch/manager.log")"
	exit 0
}

echo 1..7
ok "the unit starts" systemctl --user start "$unit"
ok "two workers work" within 30 at_work
sessions=$(panes)
overseer=$(main_pid)
daemon=$(daemon_pid)
for program in "$programs"/*/*; do
	cp "$program" "$scratch/new" && mv "$scratch/new" "$program"
done
ok "after an upgrade, llmc restart is due" due
ok "reload goes on with the new programs, and ends no session" reload
ok "an overseer that was killed comes again, and takes all over" crash
touch "$scratch/go-one.txt" "$scratch/go-two.txt"
ok "the work that was under way lands" within 60 landed
ok "stop ends the daemon and the sessions" stop
exit "$failed"
