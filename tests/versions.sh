#!/bin/sh
# Try what is released: tests/versions.sh BUILD [TAG...]
#
# Installs Claude Code of each tag of its package (latest and stable by default)
# below BUILD, and runs the tests with the real program on it. Says what was
# tried; exit status 1 if a test failed. For a nightly job: a new version changes
# hooks, tools and dialogs, and the tests name what has changed.
set -eu

build=$(cd "${1:?usage: tests/versions.sh BUILD [TAG...]}" && pwd)
shift
[ $# -gt 0 ] || set -- latest stable
cd "$(dirname "$0")/.."
pinned=$(sed -n 's/^\tversion=\([^ ]*\) package=@anthropic-ai.*/\1/p' \
	tests/tools/real-agent.sh)
tried=" $pinned "
status=0

for tag; do
	folder=$build/real-claude-$tag
	if ! program=$(LLMC_REAL_VERSION=$tag tests/tools/real-agent.sh claude \
		"$folder" 2>"$build/versions.log"); then
		echo "$tag: not available: $(tail -n 1 "$build/versions.log")"
		continue
	fi
	version=$(HOME=$folder "$program" --version | sed 's/ .*//')
	case $tried in
	*" $version "*)
		echo "$tag: $version, which is tested already"
		continue
		;;
	esac
	tried="$tried$version "
	if LLMC_REAL_CLAUDE=$program meson test -C "$build" --suite real \
		--no-suite soak --no-suite story --print-errorlogs \
		--logbase "versions-$tag" &&
		LLMC_REAL_CLAUDE=$program meson test -C "$build" \
			--print-errorlogs --logbase "versions-$tag-agents" \
			agents-real; then
		echo "$tag: $version passes; tests/tools/real-agent.sh pins $pinned"
	else
		echo "$tag: $version FAILED; tests/tools/real-agent.sh pins $pinned"
		status=1
	fi
done
exit $status
