#!/bin/sh
# Make docs/page.png, a picture of the page: contrib/shots.sh BUILD. Stand-ins for
# Claude Code work on a list of tasks in a scratch repository, which is removed
# afterwards. Needs chromium (contrib/deps.sh lint).
set -eu

build=$(cd "${1:-build}" && pwd)
cd "$(dirname "$0")/.."
picture=$PWD/docs/page.png
llmc=$build/src/cli/llmc
scratch=$(mktemp -d "${TMPDIR:-/tmp}/llmc-shots.XXXXXX")
repo=$scratch/parser

# Nothing of the user's own git, tmux, Claude Code or browser.
export HOME="$scratch/home"
export GIT_CONFIG_NOSYSTEM=1
export GIT_CONFIG_GLOBAL=/dev/null
export TMUX_TMPDIR="$scratch"
export TZ=UTC
unset TMUX

finish() {
	if [ -d "$repo/.llmc" ]; then
		cd "$repo"
		"$llmc" down >/dev/null 2>&1 || true
		tmux -L "$("$llmc" config get tmux.socket)" kill-server \
			>/dev/null 2>&1 || true
	fi
	cd /
	rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

command -v chromium >/dev/null || {
	echo "shots.sh: there is no chromium; install it: contrib/deps.sh lint" >&2
	exit 1
}

set_to() {
	"$llmc" config set "$1" "$2" >/dev/null
}

task() {
	"$llmc" task add "$1" >/dev/null
}

wait_for() { # words, within a minute
	tries=0
	until "$llmc" events 2>/dev/null | grep -q "$1"; do
		tries=$((tries + 1))
		[ "$tries" -lt 120 ] || {
			echo "shots.sh: waited in vain for: $1" >&2
			exit 1
		}
		sleep 0.5
	done
}

mkdir "$HOME"
git init -q -b main "$repo"
cd "$repo"
git config user.name Demo
git config user.email demo@example.invalid
echo hello >README
git add README
git commit -q -m Start
"$llmc" init >/dev/null
set_to defaults.agent_command "$build/tests/tools/fake-claude"
[ "$(id -u)" != 0 ] || set_to defaults.allow_root true
set_to web.enabled true
set_to auto.check_command 'test ! -e broken.c'
set_to auto.max_attempts 1
set_to budget.day_cost 20

for name in 'Read numbers with exponents' 'Faster tests of the parser' \
	'Say the line of an error'; do
	task "$name
fake: commit $(echo "$name" | tr ' ' '-').c done"
done
task 'Accept trailing commas
fake: commit broken.c oops'
"$llmc" up --auto --concurrency 4 >/dev/null 2>&1 &
wait_for 't4 is finished'
wait_for 't3 is finished'
task 'Add a --version flag
fake: run sleep 60'
task 'Fuzz the parser of dates
fake: sleep 60000'
task 'Describe the file format in a manual page
fake: limit You have hit your session limit'
wait_for 'limit'
wait_for 'gets t6'

page=$("$llmc" web)
timeout 60 chromium --headless --no-sandbox --disable-gpu \
	--disable-dev-shm-usage --no-first-run --hide-scrollbars \
	--user-data-dir="$scratch/browser" --window-size=980,920 \
	--timeout=3000 --screenshot="$picture" "$page" >/dev/null 2>&1
ls -l "$picture"
