#!/bin/sh
# Get the real Claude Code for tests: tests/tools/real-claude.sh FOLDER
#
# Installs the version that the fake agent was compared with into FOLDER (once)
# and prints the path of its native program. Exit status 77 if it is not
# available: no npm, no network, no build for this machine.
#
#   tests/tools/real-claude.sh --here
#
# Installs nothing: prints LLMC_REAL_CLAUDE, or the `claude` of that version in
# PATH. Exit status 77, with the reason, if there is none.
set -eu

version=2.1.325
folder=${1:?usage: real-claude.sh FOLDER | --here}

version_of() { # program home
	HOME=$2 "$1" --version 2>/dev/null | cut -d' ' -f1
}

here() {
	if [ -n "${LLMC_REAL_CLAUDE:-}" ]; then
		if [ ! -x "$LLMC_REAL_CLAUDE" ]; then
			echo "no program $LLMC_REAL_CLAUDE (LLMC_REAL_CLAUDE)" >&2
			exit 77
		fi
		echo "$LLMC_REAL_CLAUDE"
		return
	fi
	program=$(command -v claude) || {
		echo "claude is not in PATH" >&2
		exit 77
	}
	# Not in the caller's HOME, which must not be changed.
	home=$(mktemp -d)
	found=$(version_of "$program" "$home")
	rm -rf "$home"
	if [ "$found" != "$version" ]; then
		echo "$program is ${found:-broken}, not $version" >&2
		exit 77
	fi
	echo "$program"
}

if [ "$folder" = --here ]; then
	here
	exit
fi

case $(uname -s)-$(uname -m) in
Linux-x86_64) arch=x64 ;;
Linux-aarch64) arch=arm64 ;;
*)
	echo "real-claude.sh: no build for $(uname -s) $(uname -m)" >&2
	exit 77
	;;
esac
for loader in /lib/ld-musl-*; do
	[ -e "$loader" ] && arch=$arch-musl
done

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
program=$folder/node_modules/@anthropic-ai/claude-code-linux-$arch/claude

ready() {
	[ -x "$program" ] && [ "$(version_of "$program" "$folder")" = "$version" ]
}

install() {
	npm install --prefix "$folder" --cache "$folder/npm" --no-audit \
		--no-fund --ignore-scripts --loglevel error \
		"@anthropic-ai/claude-code@$version" >&2
}

if ! ready; then
	if ! command -v npm >/dev/null 2>&1; then
		echo "real-claude.sh: npm is not installed" >&2
		exit 77
	fi
	for try in 1 2 3; do
		if install && ready; then
			break
		fi
		echo "real-claude.sh: try $try of 3 failed" >&2
		[ "$try" = 3 ] || sleep "$try"
	done
	rm -rf "$folder/npm"
	ready || exit 77
fi
echo "$program"
