#!/bin/sh
# Long-running tests: tests/soak.sh BUILD
#
# What CI has no time for. Runs every test, with all of its random trials
# (UNIT_WHOLE), SOAK_REPEAT (20) times, once with the sanitizers, those of base
# under valgrind, and all checkers without a limit; tries the rules of the tick
# with SOAK_RECONCILE (400) seeds; makes every system call of llmc fail
# in every way, and those of the overseer during a repair; kills the daemon, and
# sessions with each kind of keeper, SOAK_KILLS (400) times, the daemon as often
# beside a user who rebases in the same checkout, and the overseer
# SOAK_OVERSEER_KILLS (1,000) times;
# ends a landing at each of its points, by a kill and by a power cut; kills the
# daemon at each step of each story of tests/faults/faults.h; resizes llmc top
# while 100 workers run;
# runs SOAK_HOSTS_TASKS (1,000) tasks on three hosts of a fleet, and two hosts
# beside a hostile one for SOAK_HOSTILE (600) seconds;
# lands SOAK_LANDINGS (1,000) times beside a user in the same checkout;
# runs each fuzz target for SOAK_FUZZ (300) seconds and the full chaos run with
# SOAK_SEEDS (5) seeds; measures the cost of 1,000 tasks. Prints what it did.
set -u

build=$(cd "${1:?build folder}" && pwd)
repeat=${SOAK_REPEAT:-20}
seconds=${SOAK_FUZZ:-300}
kills=${SOAK_KILLS:-400}
overseer_kills=${SOAK_OVERSEER_KILLS:-1000}
seeds=${SOAK_SEEDS:-5}
landings=${SOAK_LANDINGS:-1000}
reconcile=${SOAK_RECONCILE:-400}
hosts_tasks=${SOAK_HOSTS_TASKS:-1000}
hostile=${SOAK_HOSTILE:-600}
cd "$(dirname "$0")/.." || exit 1
failed=0
parts=0
UNIT_WHOLE=1
export UNIT_WHOLE

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
	parts=$((parts + 1))
	echo "$verdict - $what, $(($(date +%s) - began)) s"
}

# CI leaves out the suites slow and plain, most of the programs and two checks.
sanitized() {
	[ -f build-sanitized/build.ninja ] ||
		CC=clang meson setup build-sanitized -Dfuzz=true -Db_lundef=false \
			-Db_sanitize=address,undefined >/dev/null || return 1
	ASAN_OPTIONS=detect_stack_use_after_return=1 \
		UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		meson test -C build-sanitized --print-errorlogs \
		--timeout-multiplier 8 --logbase soak
}

chaos() { # number of seeds
	first=$(date +%s)
	for seed in $(seq "$first" $((first + $1 - 1))); do
		CHAOS_SEED=$seed CHAOS_WORKERS=8 CHAOS_TASKS=60 \
			CHAOS_STEPS=150 CHAOS_LOG="$build" \
			meson test -C "$build" --print-errorlogs --verbose \
			--timeout-multiplier 4 --logbase soak-chaos e2e-chaos ||
			return 1
	done
}

cost() {
	ninja -C "$build" --quiet tests/bench/bench-auto &&
		BENCH_TASKS=1000 "$build/tests/bench/bench-auto" "$build"
}

part "every test $repeat times" \
	meson test -C "$build" --repeat "$repeat" --print-errorlogs \
	--timeout-multiplier 4 --logbase soak
part "every test with the sanitizers" sanitized
part "the package is built twice, the same byte for byte" \
	tests/repro.sh "$build"
part "the other packages are built" tests/packages.sh "$build"
part "the unit tests under valgrind" tests/valgrind.sh "$build"
part "the checkers, without a limit" tests/lint.sh "$build"
part "the rules of the tick with $reconcile seeds" \
	env RECONCILE_SEEDS="$reconcile" meson test -C "$build" \
	--print-errorlogs --timeout-multiplier "$((reconcile / 20 + 1))" \
	--logbase soak-reconcile reconcile-property
part "every system call fails" tests/faults/torture.sh "$build" 1
part "every system call of the overseer fails" \
	env LLMC_TORTURE_SEED="$(date +%s)" tests/faults/torture-overseer.sh "$build" 1
part "the daemon is killed $kills times, and as often beside a user" \
	env FAULTS="$kills" FAULTS_SEED="$(date +%s)" \
	meson test -C "$build" --print-errorlogs --verbose \
	--timeout-multiplier "$((3 * kills / 20 + 1))" \
	--logbase soak-kills e2e-kills
part "sessions are killed $kills times with each kind of keeper" \
	env FAULTS="$kills" FAULTS_SEED="$(date +%s)" \
	meson test -C "$build" --print-errorlogs \
	--timeout-multiplier "$((kills / 20 + 1))" --logbase soak-keeper-kills \
	e2e-keeper-kills
part "the overseer is killed $overseer_kills times" \
	env FAULTS="$overseer_kills" FAULTS_SEED="$(date +%s)" \
	meson test -C "$build" --print-errorlogs --verbose \
	--timeout-multiplier "$((overseer_kills / 50 + 1))" \
	--logbase soak-overseer-kills e2e-overseer-kills
part "the daemon is killed at each step of each story" \
	env FAULTS=all meson test -C "$build" --print-errorlogs --verbose \
	--timeout-multiplier 60 --logbase soak-steps \
	e2e-auto-review e2e-auto-words e2e-contracts e2e-forge-issues \
	e2e-origin e2e-oversight-kills e2e-queue-kills e2e-team-delegate
part "llmc top with 100 workers that run" \
	env TOP_WORKERS=100 CK_TIMEOUT_MULTIPLIER=8 meson test -C "$build" --print-errorlogs \
	--timeout-multiplier 4 --logbase soak-top e2e-top
part "50 landings beside a person who pushes" \
	env ORIGIN_LANDINGS=50 meson test -C "$build" \
	--print-errorlogs --timeout-multiplier 4 --logbase soak-origin \
	e2e-origin
part "three hosts with $hosts_tasks tasks" \
	env HOSTS_TASKS="$hosts_tasks" CK_TIMEOUT_MULTIPLIER=8 meson test \
	-C "$build" --print-errorlogs --timeout-multiplier 60 \
	--logbase soak-hosts e2e-hosts e2e-hosts-2 e2e-hosts-3
part "a hostile host beside two good ones for $hostile s" \
	env HOSTILE_SECONDS="$hostile" CK_TIMEOUT_MULTIPLIER=8 meson test \
	-C "$build" --print-errorlogs --timeout-multiplier 8 \
	--logbase soak-hostile e2e-hosts-hostile
part "$landings landings beside a user in the same checkout" \
	env RACE_LANDINGS="$landings" RACE_SEED="$(($(date +%s) % 100000 + 1))" \
	meson test -C "$build" --print-errorlogs --verbose \
	--timeout-multiplier "$((landings / 30 + 1))" --logbase soak-race \
	git-race
part "each fuzz target for $seconds s" \
	tests/fuzz/run.sh build-fuzz "$seconds"
part "chaos with $seeds seeds" chaos "$seeds"
part "the cost of 1,000 tasks" cost

echo "$failed of $parts parts failed"
[ "$failed" -eq 0 ]
