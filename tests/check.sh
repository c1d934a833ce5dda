#!/bin/sh
# Run the tests: tests/check.sh BUILD [OPTION...]. Options are those of meson test.
# The suite soak, which repeats what others show, is for tests/soak.sh.
#
# Tests with the real Claude Code run if it is available: LLMC_REAL_CLAUDE names
# it, or `claude` is the version that the tests are written for. Those with the
# real Codex likewise, with LLMC_REAL_CODEX and `codex`, and those with the real
# OpenCode, with LLMC_REAL_OPENCODE and `opencode`.
set -u

build=${1:?build folder}
shift
cd "$(dirname "$0")/.." || exit 1

missing=
if real=$(tests/tools/real-agent.sh claude --here 2>/dev/null); then
	LLMC_REAL_CLAUDE=$real
	export LLMC_REAL_CLAUDE
else
	unset LLMC_REAL_CLAUDE
	missing=$(tests/tools/real-agent.sh claude --here 2>&1)
fi
for kind in codex opencode gemini; do
	variable=LLMC_REAL_$(echo "$kind" | tr '[:lower:]' '[:upper:]')
	if real=$(tests/tools/real-agent.sh "$kind" --here 2>/dev/null); then
		export "$variable=$real"
	else
		unset "$variable"
	fi
done
# Most tests of whole programs spend their time waiting.
MESON_TESTTHREADS=${MESON_TESTTHREADS:-$((3 * $(nproc)))}
export MESON_TESTTHREADS
meson test -C "$build" --no-suite soak --print-errorlogs "$@"
status=$?
skipped=$(sed -n 's/^ok [0-9]* - \(.*\) # SKIP \(.*\)/  \1: \2/p' \
	"$build/meson-logs/testlog.txt")
if [ -n "$skipped" ]; then
	echo "Skipped:"
	echo "$skipped" | sed 's|[^ ]*/unit-main.c:||'
fi
if [ -n "$missing" ]; then
	echo "Not tested with the real Claude Code: $missing."
	echo "To have it: export" \
		"LLMC_REAL_CLAUDE=\$(tests/tools/real-agent.sh claude $build/real-claude)"
fi
exit "$status"
