#!/bin/sh
# Run the tests: tests/check.sh BUILD check|world [OPTION...]
#
# check is what shows that the product does what it says: every rule, each floor,
# one story of each feature through the real programs, kills. world is all but what
# only tests/soak.sh repeats. Options are those of meson test. Shows one line that
# counts, each failure at once, and a summary.
#
# Tests with the real agents run in world if they are available: LLMC_REAL_CLAUDE
# names the program, or `claude` is the version that the tests are written for;
# likewise LLMC_REAL_CODEX and `codex`, OPENCODE and GEMINI.
set -u

build=${1:?build folder}
suite=${2:?check or world}
shift 2
cd "$(dirname "$0")/.." || exit 1

# Each takes long and shows at another floor, or with another program, what a
# test of check shows.
all='--no-suite soak --no-suite story'
left_out=$all
[ "$suite" = world ] ||
	left_out='--no-suite soak --no-suite world --no-suite real'
missing=
for kind in claude codex opencode gemini; do
	variable=LLMC_REAL_$(echo "$kind" | tr '[:lower:]' '[:upper:]')
	if real=$(tests/tools/real-agent.sh "$kind" --here 2>/dev/null); then
		export "$variable=$real"
	else
		unset "$variable"
		missing="$missing $kind"
	fi
done
# Most tests of whole programs spend their time waiting.
MESON_TESTTHREADS=${MESON_TESTTHREADS:-$((4 * $(nproc)))}
export MESON_TESTTHREADS

elapsed() { # seconds
	printf '%d:%02d' "$(($1 / 60))" "$(($1 % 60))"
}

# One line that is written over on a terminal, and now and then a line elsewhere.
show() { # text
	if [ -t 1 ]; then
		printf '\r\033[K%.100s' "$1"
	elif [ "$now" -ge "$next" ]; then
		echo "$1"
		next=$((now + 20))
	fi
}

clear_line() {
	[ ! -t 1 ] || printf '\r\033[K'
}

# What meson prints, read: progress of the build and of the tests, failures.
progress() {
	began=$(date +%s)
	next=$((began + 5))
	of_failed=0
	edges=0
	ended=
	while IFS= read -r line; do
		case $line in
		\[*/*\]\ *) # an edge of ninja's
			edges=$((edges + 1))
			[ $((edges % 25)) = 0 ] || continue
			now=$(date +%s)
			show "building ${line%%]*}] $(elapsed $((now - began)))"
			;;
		'Summary of Failures:'*)
			of_failed=0
			ended=yes
			;;
		▶*|'> '*) # a test that failed, with its reason
			clear_line
			line=${line#*- }
			echo "FAILED ${line%FAIL*}" | cut -c 1-600
			;;
		*\ OK\ *s*|*\ SKIP\ *s*|*\ FAIL\ *s*|*\ TIMEOUT\ *s*|*\ ERROR\ *s*|*\ INTERRUPT\ *s*)
			[ -z "$ended" ] || continue
			# shellcheck disable=SC2086 # its words
			set -- $line
			now=$(date +%s)
			count=${1#\[}
			while [ $# -gt 3 ] && [ "$1" != / ]; do
				shift
			done
			[ "$1" = / ] || continue
			case $3 in
			OK|SKIP)
				of_failed=0
				show "[$count] $(elapsed $((now - began))) $2"
				;;
			*)
				of_failed=40
				clear_line
				echo "[$count] $(elapsed $((now - began))) $2: $3"
				;;
			esac
			;;
		# What a failed program printed, without the tests that passed.
		'stderr:'|'(test program exited with status code '*) ;;
		''|'ok '*|'# '*|'1..'*|'>>> '*|*―――*) ;;
		'ninja: no work'*|'ninja: Entering'*) ;;
		*warning:*|*error:*|FAILED:*|ninja:*)
			clear_line
			echo "$line"
			;;
		*)
			if [ "$of_failed" -gt 0 ]; then
				echo "  $line" | cut -c 1-600
				of_failed=$((of_failed - 1))
			fi
			;;
		esac
	done
	clear_line
}

listed() { # options of meson test
	meson test -C "$build" --no-rebuild --list "$@" 2>/dev/null | wc -l
}

# shellcheck disable=SC2086 # a list of options
tests() { # options of meson test
	meson test -C "$build" $left_out "$@"
}

log=$build/meson-logs/testlog
rm -f "$log.junit.xml" "$log.txt"
began=$(date +%s)
status_file=$build/meson-logs/check.status
mkdir -p "$build/meson-logs"
{
	tests --print-errorlogs "$@" 2>&1
	echo $? >"$status_file"
} | progress
status=$(cat "$status_file")

# At most 20 lines.
echo
if [ -f "$log.json" ]; then
	grep -vE '"result": "(OK|SKIP)"' "$log.json" |
		sed -n 's/^{"name": "\([^"]*\)".*"result": "\([A-Z]*\)".*/\2 \1/p' |
		sed 's|[^ ]* / ||' | sort | head -n 8
fi
if [ -f "$log.txt" ]; then
	sed -n 's/^ok [0-9].*# SKIP \(.*\)/\1/p' "$log.txt" | sort | uniq -c |
		sort -rn | head -n 5 |
		sed 's/^ *\([0-9]*\) \(.*\)/\1 skipped: \2/'
	awk -v time="$(elapsed $(($(date +%s) - began)))" '
	/^ok / { if (/# SKIP/) skipped++; else passed++ }
	/^not ok / { failed++ }
	END {
		printf "%d tests passed, %d failed, %d skipped in %s\n",
			passed, failed, skipped, time
	}' "$log.txt"
fi
if [ "$suite" != world ]; then
	# shellcheck disable=SC2086 # lists of options
	more=$(($(listed $all) - $(listed $left_out --no-suite story)))
	echo "make check-world runs $more programs more, and the real agents"
elif [ -n "$missing" ]; then
	echo "not tested with the real$missing: tests/tools/real-agent.sh installs them"
fi
[ "$status" = 0 ] || echo "the whole log: $log.txt"
exit "$status"
