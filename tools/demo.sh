#!/bin/sh
# make demo: let llmc do a list of tasks in a scratch repository, which is removed
# afterwards. The workers run a stand-in for Claude Code that does what its task
# says, so this needs no account and no network.
#
# LLMC_DEMO_AGENT=claude make demo: use the real Claude Code, with your account.
set -eu

# shellcheck source=tools/scratch.sh
. "$(dirname "$0")/scratch.sh"
scratch_begin "${1:-build}" "a repository"

agent=$build/tests/tools/fake-claude
real=false
limit=120
if [ "${LLMC_DEMO_AGENT:-}" = claude ]; then
	if command -v claude >/dev/null; then
		agent=claude
		real=true
		limit=1800
	else
		echo "claude is not installed; using the stand-in instead." >&2
	fi
fi

# Only the real Claude Code needs the home directory in which its user is logged in.
$real || scratch_home

bold='' plain=''
if [ -t 1 ]; then
	bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi

say() {
	printf '\n%s$ %s%s\n' "$bold" "$*" "$plain"
}

run() {
	say llmc "$@"
	"$llmc" "$@"
}

# The words are for Claude Code, the lines after them for its stand-in.
task() { # file text words...
	file=$1 text=$2
	shift 2
	if $real; then
		set -- "$* Write it to $file and commit it."
	else
		set -- "$*
fake: sleep 700
fake: commit $file $text
fake: say $file is written."
	fi
	"$llmc" task add "$1"
}

say git init, and a first commit
scratch_repo
git log --oneline

run init
run config set defaults.agent_command "$agent"
run config set auto.check_command none
[ "$(id -u)" != 0 ] || run config set defaults.allow_root true
if $real; then
	echo "Claude Code must trust $repo: this adds one line to ~/.claude.json."
	run doctor trust
fi

say llmc task add, six times
task greeting.txt 'Good morning' 'Write a greeting of two words.'
task haiku.txt 'An old silent pond' 'Write the first line of a haiku.'
task numbers.txt '2 3 5 7 11' 'List the first five prime numbers.'
task colours.txt 'red green blue' 'Name three colours.'
task planets.txt 'Venus and Mars' 'Name the two planets next to ours.'
task farewell.txt 'Good night' 'Write a farewell of two words.'
run task list

say llmc up --auto --until-empty --concurrency 2
status=0
timeout --foreground "$limit" \
	"$llmc" up --auto --until-empty --concurrency 2 || status=$?
if [ "$status" -ne 0 ]; then
	echo "llmc up exited with status $status; the end of its log:" >&2
	tail -n 20 .llmc/logs/autod.log >&2 || true
	exit 1
fi

run task list
say git log --stat
git log --stat --format='%h %s'
say "git status --short    # shows nothing: llmc leaves no trace in the tree"
git status --short
run report

landed=$(git rev-list --count HEAD)
cat <<EOF

$((landed - 1)) of 6 tasks landed, one commit each, without a person.

In a repository of your own:
  llmc init                       once
  llmc task add "what to do"      as often as you like
  llmc up --auto --concurrency 2  and go to bed
  llmc status                     what each worker is doing
  llmc report                     what it brought, and what needs you
  llmc log --follow               what happens, as it happens
README.md continues from here; man llmc describes every command.
EOF
[ "$landed" -eq 7 ]
