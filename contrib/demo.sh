#!/bin/sh
# make demo: let llmc do a list of tasks in a scratch repository, which is removed
# afterwards. The workers run a stand-in for Claude Code that does what its task
# says, so this needs no account and no network.
#
# LLMC_DEMO_AGENT=claude make demo: use the real Claude Code, with your account.
set -eu

build=$(cd "${1:-build}" && pwd)
llmc=$build/src/cli/llmc
scratch=$(mktemp -d "${TMPDIR:-/tmp}/llmc-demo.XXXXXX")
repo="$scratch/a repository"

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

# Do not use the user's own git, tmux or Claude set-up; only the real Claude Code
# needs the home directory in which its user is logged in.
$real || export HOME="$scratch/home"
export GIT_CONFIG_NOSYSTEM=1
export GIT_CONFIG_GLOBAL=/dev/null
export TMUX_TMPDIR="$scratch"
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

$real || mkdir "$HOME"
say git init, and a first commit
git init -q -b main "$repo"
cd "$repo"
git config user.name Demo
git config user.email demo@example.invalid
echo hello >README
git add README
git commit -q -m Start
git log --oneline

run init
run config set defaults.agent_command "$agent"
[ "$(id -u)" != 0 ] || run config set defaults.allow_root true
if $real; then
	echo "Claude Code must trust $repo: this adds one line to ~/.claude.json."
	run trust
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
  llmc events --follow            what happens, as it happens
README.md continues from here; man llmc describes every command.
EOF
[ "$landed" -eq 7 ]
