#!/bin/sh
# Which way the arrows point: checks the #include lines against the house plan
# and that calls with one right place are made only there. Prints TAP.
#
#   cli, autod, overseer -> session -> port, model -> base
set -eu

cd "$(dirname "$0")/.."
n=0
failed=0

verdict() { # what, offending lines
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		echo "$2" | sed 's/^/# /'
		failed=1
	fi
}

# Quoted includes of one folder that are not headers of the allowed folders.
outside() { # folder allowed...
	folder=$1
	shift
	find "src/$folder" -name '*.[ch]' -exec grep -Hn '^#include "' {} + |
		while IFS= read -r line; do
			header=$(printf '%s\n' "$line" |
				sed 's/.*#include "\([^"]*\)".*/\1/')
			for allowed in "$@"; do
				[ -n "$(find "src/$allowed" -name "$header")" ] &&
					continue 2
			done
			printf '%s\n' "$line"
		done
}

# Lines of the sources, comments left out, that use a word outside of some
# files.
uses() { # pattern allowed-file...
	pattern=$1
	shift
	find src -name '*.c' -exec grep -HnE "$pattern" {} + |
		grep -vE ':[[:space:]]*(/\*|\*)' |
		while IFS= read -r line; do
			for allowed in "$@"; do
				case $line in "$allowed":*) continue 2 ;; esac
			done
			printf '%s\n' "$line"
		done
}

echo 1..11
verdict "base includes only base" "$(outside base base)"
verdict "model includes only base" "$(outside model model base)"
verdict "port includes only model and base" "$(outside port port model base)"
verdict "session includes only port, model and base" \
	"$(outside session session port model base)"
verdict "autod includes no other program" \
	"$(outside autod autod session port model base)"
verdict "overseer includes no other program" \
	"$(outside overseer overseer session port model base)"
verdict "cli includes no other program" \
	"$(outside cli cli session port model base)"
verdict "model knows no clock, system call or loop" \
	"$(grep -HnE '#include [<"](event2?/|time\.h|unistd\.h|sys/|fcntl\.h|signal\.h|clock\.h|loop\.h|file\.h|child\.h)' src/model/*.[ch] || true)"
verdict "processes are made, signalled and reaped in one place each" \
	"$(uses '\b(v?fork|kill|killpg|waitpid|waitid|wait4|tgkill|posix_spawnp?|execvp?e?|execlp?)\(' \
		src/base/child.c src/base/child-exec.c src/base/procref.c src/base/reaper.c \
		src/port/process/errand-run.c src/port/process/launcher.c \
		src/cli/terminal.c)"
verdict "the clock is read in one place" \
	"$(uses '\b(clock_gettime|gettimeofday|time)\(' src/base/clock.c)"
names=$(find src -name '*.h' -exec basename {} \; | sort | uniq -d)
verdict "every header name exists once" "$names"
exit "$failed"
