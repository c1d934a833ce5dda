#!/bin/sh
# The Debian package in a scratch root: installed, upgraded under a running fleet,
# removed. An upgrade stops nothing; llmc restart then goes on with the new
# programs. tests/upgrade.sh BUILD [PACKAGE.deb]. Prints TAP.
# shellcheck disable=SC2317 # functions that ok() calls
set -eu

build=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")/.."
for program in dh dpkg lintian fakeroot tmux; do
	command -v "$program" >/dev/null 2>&1 || {
		echo "1..0 # SKIP no $program: tools/deps.sh package"
		exit 0
	}
done
scratch=$(mktemp -d)
root=$scratch/root
repo=$scratch/project
llmc=$root/usr/bin/llmc
n=0
failed=0
finish() {
	cd "$repo" 2>/dev/null || exit
	# What removed the package also removed the command that ends it.
	"$build/src/cli/llmc" down --force >/dev/null 2>&1 || :
	rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

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

package() { # dpkg's arguments
	dpkg --root="$root" --force-not-root --force-depends \
		--log="$scratch/dpkg.log" "$@"
}

# The processes of the fleet: daemon, overseer, agents.
running() {
	sed -n 's/^ *"pid": *\([0-9]*\).*/\1/p' "$repo/.llmc/daemon.json" \
		"$repo/.llmc/overseer.json"
	tmux -L "$("$build/src/cli/llmc" config get tmux.socket)" list-panes -a \
		-F '#{pane_pid}'
}
same() { # processes as before, and nothing to do
	echo "before: $processes"
	[ "$(running | sort)" = "$processes" ] && silent
}
silent() {
	! "$llmc" doctor | grep -q 'llmc restart'
}
due() {
	"$llmc" doctor | grep -q 'llmc restart'
}
task() { # file
	"$llmc" task add "Write $1.
fake: run until [ -e '$scratch/go-$1' ]; do sleep 0.1; done
fake: commit $1 text"
}

deb=${2:-}
if [ -z "$deb" ]; then
	meson dist -C "$build" --no-tests --allow-dirty --formats gztar \
		>/dev/null 2>&1
	deb=$(tools/deb.sh "$build" "$build/deb" | tail -n 1)
fi
echo 1..11
ok "lintian has nothing to say" \
	lintian --fail-on error,warning --tag-display-limit 0 "$deb"
ok "no script of the package runs anything" sh -c \
	"! dpkg-deb --ctrl-tarfile '$deb' | tar -t | grep -E 'inst|prerm|postrm'"

mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$repo"
touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
ok "it is installed" package -i "$deb"
ok "the installed llmc lands work, and is restarted" env LLMC="$llmc" \
	LLMC_FAKE_CLAUDE="$build/tests/tools/fake-claude" \
	AUTOPKGTEST_TMP="$scratch/first" sh -c \
	"mkdir '$scratch/first' && exec debian/tests/landing"

export HOME="$scratch/home"
mkdir -p "$HOME"
cd "$repo"
{
	git init -q -b main .
	git config user.name 'A tester'
	git config user.email tester@localhost
	git commit -q --allow-empty -m Begin
	"$llmc" init --yes
	"$llmc" config set defaults.agent_command \
		"$build/tests/tools/fake-claude"
	"$llmc" config set auto.check_command none
	"$llmc" config set defaults.sandbox off
	[ "$(id -u)" != 0 ] || "$llmc" config set defaults.allow_root true
	task one.txt
	task two.txt
	"$llmc" overseer --concurrency 2 --detach
} >"$scratch/began" 2>&1 || sed 's/^/# /' "$scratch/began"
within 30 sh -c "[ \$('$llmc' --json status | grep -c '\"status\": *\"working\"') = 2 ]" || :
processes=$(running | sort)
ok "a fleet runs" silent
ok "it is upgraded under the fleet" package -i "$deb"
ok "no process has noticed, and llmc doctor says what to do" due
touch "$scratch/go-one.txt"
ok "llmc restart goes on with the new programs" "$llmc" restart
ok "no restart is due, and the sessions are the same" same
touch "$scratch/go-two.txt"
ok "the work that was under way lands" \
	within 60 sh -c "[ -e one.txt ] && [ -e two.txt ]"
ok "it is removed, and the fleet goes on" sh -c "
	dpkg --root='$root' --force-not-root --log=/dev/null -r llmc >/dev/null &&
	[ ! -e '$llmc' ] && '$build/src/cli/llmc' status >/dev/null"
exit $failed
