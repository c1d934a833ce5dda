#!/bin/sh
# make shots: pictures of the page, with llmc at work in a scratch repository.
# tools/shots.sh BUILD makes docs/page.png, and page-dark.png and page-phone.png in
# BUILD/shots. Needs chromium (tools/deps.sh lint).
set -eu

cd "$(dirname "$0")/.."
. tools/scratch.sh
docs=$PWD/docs
scratch_begin "${1:-build}" parser
export TZ=UTC

command -v chromium >/dev/null || {
	echo "shots.sh: there is no chromium; install it: tools/deps.sh lint" >&2
	exit 1
}

set_to() {
	"$llmc" config set "$1" "$2" >/dev/null
}

task() {
	"$llmc" task add "$1" >/dev/null
}

wait_for() { # a shell command that succeeds within a minute
	tries=0
	until (eval "$1") >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ "$tries" -lt 120 ] || {
			echo "shots.sh: waited in vain for: $1" >&2
			exit 1
		}
		sleep 0.5
	done
}

wait_event() { # words
	wait_for "\"\$llmc\" events | grep -q '$1'"
}

scratch_home
scratch_repo
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
wait_event 't4 is finished'
wait_event 't3 is finished'
task 'Add a --version flag
fake: run sleep 60'
task 'Fuzz the parser of dates
fake: sleep 60000'
# shellcheck disable=SC2016 # expanded later
wait_for '[ "$("$llmc" status | grep -c working)" -ge 2 ]'
task 'Describe the file format in a manual page
fake: limit You have hit your session limit'
wait_event 'limit'

page=$("$llmc" web)
picture() { # file width height options...
	file=$1 size=$2,$3
	shift 3
	timeout 60 chromium --headless --no-sandbox --disable-gpu \
		--disable-dev-shm-usage --no-first-run --hide-scrollbars \
		--user-data-dir="$scratch/browser" --window-size="$size" \
		--timeout=3000 --screenshot="$file" "$@" "$page" >/dev/null 2>&1
	ls -l "$file"
}
mkdir -p "$build/shots"
picture "$docs/page.png" 980 920
picture "$build/shots/page-dark.png" 980 2400 --blink-settings=preferredColorScheme=0
picture "$build/shots/page-phone.png" 320 3200
