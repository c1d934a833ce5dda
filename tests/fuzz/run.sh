#!/bin/sh
# Run every fuzz target for some seconds each, as many at once as there are
# processors: tests/fuzz/run.sh BUILD SECONDS [TARGET]. With 0 seconds they are
# only built. In .ci/run the first inputs are the same each time; elsewhere they
# are random.
set -eu

build=${1:?build folder}
seconds=${2:?seconds a target}
target=${3:-}
cd "$(dirname "$0")/../.."

if [ -z "$target" ]; then
	targets=$(cd tests/fuzz && for source in fuzz-*.c; do
		echo "${source%.c}"
	done)
	[ -f "$build/build.ninja" ] ||
		CC=clang meson setup "$build" -Dfuzz=true -Db_lundef=false \
			-Db_sanitize=address,undefined >/dev/null
	echo "$targets" | sed 's|^|tests/fuzz/|' |
		xargs ninja -C "$build" --quiet
	[ "$seconds" -gt 0 ] || exit 0
	echo "$targets" |
		xargs -n 1 -P "$(nproc)" tests/fuzz/run.sh "$build" "$seconds"
	exit
fi

name=${target#fuzz-}
corpus=$build/corpus/$name
mkdir -p "$corpus"
seeds=tests/fuzz/seeds/$name
[ -d "$seeds" ] || seeds=
log=$build/$target.log
seed=0 # random
[ -z "${LLMC_CI_CLONE:-}" ] || seed=1
# The search for leaks at the end takes longer than a short run on aarch64.
if [ "$seconds" -lt 10 ] && [ "$(uname -m)" = aarch64 ]; then
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
	export ASAN_OPTIONS
fi
# shellcheck disable=SC2086 # seeds may be nothing
if "$build/tests/fuzz/$target" -max_total_time="$seconds" \
	-timeout=10 -seed="$seed" -artifact_prefix="$build/$target-" \
	"$corpus" $seeds >"$log" 2>&1; then
	runs=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log")
	echo "ok - $target: ${runs:-0} runs in ${seconds}s"
else
	echo "not ok - $target"
	tail -n 40 "$log"
	exit 1
fi
