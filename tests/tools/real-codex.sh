#!/bin/sh
# Get the real Codex for tests: tests/tools/real-codex.sh FOLDER
#
# Installs the version that llmc was tried with into FOLDER (once)
# and prints the path of its native program. Exit status 77 if it is not
# available: no npm, no network, no build for this machine.
#
#   tests/tools/real-codex.sh --here
#
# Installs nothing: prints LLMC_REAL_CODEX, or the `codex` of that version in
# PATH. Exit status 77, with the reason, if there is none.
set -eu

version=0.169.0
folder=${1:?usage: real-codex.sh FOLDER | --here}

version_of() { # program home
	HOME=$2 "$1" --version 2>/dev/null | cut -d' ' -f2
}

here() {
	if [ -n "${LLMC_REAL_CODEX:-}" ]; then
		if [ ! -x "$LLMC_REAL_CODEX" ]; then
			echo "no program $LLMC_REAL_CODEX (LLMC_REAL_CODEX)" >&2
			exit 77
		fi
		echo "$LLMC_REAL_CODEX"
		return
	fi
	program=$(command -v codex) || {
		echo "codex is not in PATH" >&2
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
Linux-x86_64) arch=x64 cpu=x86_64 ;;
Linux-aarch64) arch=arm64 cpu=aarch64 ;;
*)
	echo "real-codex.sh: no build for $(uname -s) $(uname -m)" >&2
	exit 77
	;;
esac

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
program=$folder/node_modules/@openai/codex-linux-$arch/vendor/$cpu-unknown-linux-musl/bin/codex

ready() {
	[ -x "$program" ] && [ "$(version_of "$program" "$folder")" = "$version" ]
}

install() {
	npm install --prefix "$folder" --cache "$folder/npm" --no-audit \
		--no-fund --ignore-scripts --loglevel error \
		"@openai/codex@$version" >&2
}

if ! ready; then
	if ! command -v npm >/dev/null 2>&1; then
		echo "real-codex.sh: npm is not installed" >&2
		exit 77
	fi
	for try in 1 2 3; do
		if install && ready; then
			break
		fi
		echo "real-codex.sh: try $try of 3 failed" >&2
		[ "$try" = 3 ] || sleep "$try"
	done
	rm -rf "$folder/npm"
	ready || exit 77
fi
echo "$program"
