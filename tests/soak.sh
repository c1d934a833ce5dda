#!/bin/sh
# Proofs that take long: tests/soak.sh BUILD
#
# Every test SOAK_REPEAT (20) times, every system call of llmc failing in every
# way, the daemon killed SOAK_KILLS (200) times, each fuzz target for SOAK_FUZZ
# (300) seconds. Says what it did.
set -u

build=$(cd "${1:?build folder}" && pwd)
repeat=${SOAK_REPEAT:-20}
seconds=${SOAK_FUZZ:-300}
kills=${SOAK_KILLS:-200}
cd "$(dirname "$0")/.." || exit 1
failed=0

part() { # what command...
	what=$1
	shift
	began=$(date +%s)
	echo "== $what"
	if "$@"; then
		verdict=ok
	else
		verdict='not ok'
		failed=$((failed + 1))
	fi
	echo "$verdict - $what, $(($(date +%s) - began)) s"
}

part "every test $repeat times" \
	meson test -C "$build" --repeat "$repeat" --print-errorlogs \
	--timeout-multiplier 4 --logbase soak
part "every system call fails" tests/torture.sh "$build" 1
part "the daemon is killed $kills times" \
	env KILLS="$kills" KILLS_SEED="$(date +%s)" \
	meson test -C "$build" --print-errorlogs --verbose \
	--timeout-multiplier "$((kills / 20 + 1))" --logbase soak-kills \
	e2e-kills
part "each fuzz target for $seconds s" \
	tests/fuzz/run.sh build-fuzz "$seconds"

echo "$failed of 4 parts failed"
[ "$failed" -eq 0 ]
