#!/bin/sh
# Get a real agent for tests: tests/tools/real-agent.sh KIND FOLDER
#
# Installs the version that the tests are written for into FOLDER (once) and
# prints the path of its program. Exit status 77 if it is not available: no npm,
# no network, no build for this machine. LLMC_REAL_VERSION in the environment
# names another one, such as 2.1.300, or a tag of the package: latest, stable.
#
#   tests/tools/real-agent.sh KIND --here
#
# Installs nothing: prints LLMC_REAL_KIND (such as LLMC_REAL_CODEX), or the
# program of that version in PATH. Exit status 77, with the reason, if there is
# none.
set -eu

usage='usage: real-agent.sh claude|codex|opencode|gemini FOLDER | --here'
kind=${1:?$usage}
folder=${2:?$usage}

without() { # reason
	echo "$1" >&2
	exit 77
}

case $(uname -m) in
x86_64) arch=x64 ;;
aarch64) arch=arm64 ;;
*) without "no build of $kind for $(uname -s) $(uname -m)" ;;
esac

# Where a package has its program, below node_modules.
case $kind in
claude) # the fake agent was compared with it
	version=2.1.328 package=@anthropic-ai/claude-code
	for loader in /lib/ld-musl-*; do
		[ -e "$loader" ] && arch=$arch-musl
	done
	place=@anthropic-ai/claude-code-linux-$arch/claude
	;;
codex)
	version=0.169.0 package=@openai/codex
	place=@openai/codex-linux-$arch/vendor/$(uname -m)-unknown-linux-musl/bin/codex
	;;
opencode)
	version=1.18.18 package=opencode-ai
	place=opencode-linux-$arch/bin/opencode
	;;
gemini)
	version=0.61.0 package=@google/gemini-cli
	place=.bin/gemini
	command -v node >/dev/null 2>&1 || without "node is not installed"
	;;
*)
	echo "$usage" >&2
	exit 2
	;;
esac

if [ -n "${LLMC_REAL_VERSION:-}" ]; then
	version=$(npm view "$package@$LLMC_REAL_VERSION" version 2>/dev/null) ||
		version=
	[ -n "$version" ] || without "no $package@$LLMC_REAL_VERSION"
fi

version_of() { # program home
	HOME=$2 "$1" --version 2>/dev/null | tail -n 1 |
		sed 's/^[^0-9]*\([0-9.]*\).*/\1/'
}

if [ "$folder" = --here ]; then
	variable=LLMC_REAL_$(echo "$kind" | tr '[:lower:]' '[:upper:]')
	program=$(printenv "$variable") || program=
	if [ -n "$program" ]; then
		[ -x "$program" ] || without "no program $program ($variable)"
		echo "$program"
		exit
	fi
	program=$(command -v "$kind") || without "$kind is not in PATH"
	# Not in the caller's HOME, which must not be changed.
	home=$(mktemp -d)
	found=$(version_of "$program" "$home")
	rm -rf "$home"
	[ "$found" = "$version" ] ||
		without "$program is ${found:-broken}, not $version"
	echo "$program"
	exit
fi

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
program=$folder/node_modules/$place

ready() {
	[ -x "$program" ] && [ "$(version_of "$program" "$folder")" = "$version" ]
}

install() {
	npm install --prefix "$folder" --cache "$folder/npm" --no-audit \
		--no-fund --ignore-scripts --loglevel error \
		"$package@$version" >&2
}

if ! ready; then
	command -v npm >/dev/null 2>&1 || without "npm is not installed"
	for try in 1 2 3; do
		if install && ready; then
			break
		fi
		echo "real-agent.sh: try $try of 3 failed" >&2
		[ "$try" = 3 ] || sleep "$try"
	done
	rm -rf "$folder/npm"
	ready || exit 77
fi
echo "$program"
