#!/bin/sh
# make demo: what a newcomer would do, on a scratch repository that is removed
# afterwards. The worker is a stand-in for Claude Code that does what its task
# spells out, so this needs no account and no network.
set -eu

build=$(cd "${1:-build}" && pwd)
llmc=$build/src/cli/llmc
scratch=$(mktemp -d "${TMPDIR:-/tmp}/llmc-demo.XXXXXX")
repo="$scratch/a repository"

# Nothing of the user's own git, tmux or Claude set-up takes part.
export HOME="$scratch/home"
export GIT_CONFIG_NOSYSTEM=1
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

mkdir "$HOME"
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
run config set defaults.agent_command "$build/tests/tools/fake-claude"
run doctor
run up --detach
run add adam
run wait adam --until idle --timeout 30s
run start --worker adam --prompt 'Write a greeting.
fake: commit greeting.txt Good morning
fake: say The greeting is written.'
run wait adam --until needs_review --timeout 30s
run status
run review adam
run accept adam
run wait adam --until idle --timeout 30s
run status
run down

say git log --stat
git log --stat --format='%h %s'
say git status --short, which shows nothing: llmc left no trace in the tree
git status --short
printf '\nOne task, one commit. README.md goes on from here.\n'
