#!/bin/sh
# Run every fuzz target for some seconds each: tests/fuzz/run.sh BUILD SECONDS
set -eu

build=${1:?build folder}
seconds=${2:?seconds a target}
top=$(cd "$(dirname "$0")/../.." && pwd)

cd "$top"
[ -f "$build/build.ninja" ] ||
	CC=clang meson setup "$build" -Dfuzz=true -Db_lundef=false \
		-Db_sanitize=address,undefined >/dev/null
ninja -C "$build" --quiet
failed=0
for source in tests/fuzz/fuzz-*.c; do
	target=$(basename "$source" .c)
	name=${target#fuzz-}
	corpus=$build/corpus/$name
	mkdir -p "$corpus"
	seeds=tests/fuzz/seeds/$name
	[ -d "$seeds" ] || seeds=
	log=$build/$target.log
	# shellcheck disable=SC2086 # seeds may be nothing
	if "$build/tests/fuzz/$target" -max_total_time="$seconds" \
		-timeout=10 -artifact_prefix="$build/$target-" \
		"$corpus" $seeds >"$log" 2>&1; then
		runs=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log")
		echo "ok - $target: ${runs:-0} runs in ${seconds}s"
	else
		failed=1
		echo "not ok - $target"
		tail -n 40 "$log"
	fi
done
exit "$failed"
