#!/bin/sh
# Run all static checkers: tests/lint.sh BUILD [quick SEED]. Prints one line for
# each. "quick" is about clang-tidy, which takes most of the time: it limits how
# far that follows the paths through a function, and takes what the last commits
# changed and every fourth file, others for the next SEED.
set -eu

build=$(cd "${1:-build}" && pwd)
quick=${2:-}
seed=${3:-0}
cd "$(dirname "$0")/.."
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

run() { # name command...
	name=$1
	shift
	if "$@" >"$log" 2>&1; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		tail -n 60 "$log"
		failed=1
	fi
}

sources=$(git ls-files 'src/*.[ch]' 'tests/*.[ch]')
units=$(git ls-files 'src/*.c')
scripts=$(git ls-files '*.sh' .ci/run)
pages=$(git ls-files 'man/*.[0-9]')

# shellcheck disable=SC2317 # called through run
tidy() {
	# Two at a time; its progress on standard error is of no use.
	set --
	[ -z "$quick" ] || units=$({
		echo "$units" | awk -v seed="$seed" '(NR + seed) % 4 == 0'
		git diff --name-only --diff-filter=d HEAD~10 HEAD -- \
			'src/*.c' 2>/dev/null
	} | sort -u)
	[ -z "$quick" ] || for argument in -Xclang -analyzer-config \
		-Xclang max-nodes=10000; do
		set -- "$@" "--extra-arg=$argument"
	done
	echo "$units" |
		xargs -n 4 -P 2 clang-tidy -p "$build" --quiet "$@" 2>/dev/null
}

# All levels, except that our own pages need not be installed.
# shellcheck disable=SC2317 # called through run
manuals() {
	# shellcheck disable=SC2086 # a list of names
	! mandoc -T lint $pages 2>/dev/null |
		grep -v 'referenced manual not found'
}

# shellcheck disable=SC2086 # lists of names without blanks
{
	run clang-format clang-format --dry-run --Werror $sources
	run shellcheck shellcheck $scripts
	run mandoc manuals
	run cppcheck cppcheck --std=c11 --error-exitcode=1 --inline-suppr \
		--enable=warning,portability --quiet -j 2 \
		--suppressions-list=tests/cppcheck.supp \
		-D_GNU_SOURCE '-D__typeof__(x)=void *' -DLLMC_VERSION='"x"' -DLLMC_COMMIT='"x"' -DLLMC_LIBEXECDIR='"x"' \
		$units
	run clang-tidy tidy
	run layers tests/layers.sh "$build"
}
exit "$failed"
