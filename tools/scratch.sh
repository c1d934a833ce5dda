#!/bin/sh
# Sourced by the scripts that show llmc at work: a scratch repository with stand-ins
# for Claude Code, which is removed when the script ends. Nothing of the user's own
# git, tmux, Claude Code or browser is used.
#
# scratch_begin BUILD NAME sets $build, $llmc, $scratch and $repo; scratch_end
# removes them.
set -eu

scratch_end() {
	if [ -d "$repo/.llmc" ]; then
		cd "$repo"
		"$llmc" down >/dev/null 2>&1 || true
		tmux -L "$("$llmc" config get tmux.socket)" kill-server \
			>/dev/null 2>&1 || true
	fi
	cd /
	rm -rf "$scratch"
}

scratch_begin() {
	build=$(cd "$1" && pwd)
	llmc=$build/src/cli/llmc
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/llmc-scratch.XXXXXX")
	repo="$scratch/$2"
	trap scratch_end EXIT
	trap 'exit 1' INT TERM HUP
	export GIT_CONFIG_NOSYSTEM=1
	export GIT_CONFIG_GLOBAL=/dev/null
	export TMUX_TMPDIR="$scratch"
	unset TMUX
}

scratch_home() {
	export HOME="$scratch/home"
	mkdir "$HOME"
}

# With one commit; it becomes the current directory.
scratch_repo() {
	git init -q -b main "$repo"
	cd "$repo"
	git config user.name Demo
	git config user.email demo@example.invalid
	echo hello >README
	git add README
	git commit -q -m Start
}
