#!/bin/sh
# Checks the #include lines against the layers below, that some functions are
# called only in the files that may call them, and that no files of a folder call
# each other in a circle: tests/layers.sh BUILD. Prints TAP.
#
#   cli, autod, overseer -> session -> port -> model -> base
#   keeper -> nothing
#   autod: main -> show -> team -> oversight -> plan -> auto -> landing -> fleet
#     -> core; forge and hosts -> auto
set -eu

build=$(realpath "${1:?build folder}")
cd "$(dirname "$0")/.."
n=0
failed=0

# Every header, and its folder.
headers=$(mktemp)
trap 'rm -f "$headers"' EXIT
# Also those that are made: NAME.h.in.
find src -name '*.h' -o -name '*.h.in' |
	sed 's|^\(.*\)/\([^/]*\.h\)\(\.in\)*$|\2 \1/|' >"$headers"

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

# Quoted includes below one folder that are not headers of the allowed folders.
outside() { # folder allowed...
	folder=$1
	shift
	find "src/$folder" -name '*.[ch]' -exec grep -Hn '^#include "' {} + |
		awk -v headers="$headers" -v allowed="$*" '
		BEGIN {
			while ((getline line <headers) > 0) {
				split(line, part, " ")
				place[part[1]] = part[2]
			}
			count = split(allowed, folders, " ")
		}
		{
			split($0, part, "\"")
			for (i = 1; i <= count; i++)
				if (index(place[part[2]], "src/" folders[i] "/") == 1)
					next
			print
		}'
}

# Lines of the sources, without comments, that match a pattern outside the
# allowed files.
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

echo 1..37
verdict "base includes only base" "$(outside base base)"
verdict "model includes only base" "$(outside model model base)"
below=
for folder in records settings task landing oversight plan team hosts view api; do
	below="$below model/$folder"
	# shellcheck disable=SC2086 # a list of folders
	verdict "model/$folder includes only the folders before it" \
		"$(outside "model/$folder" $below base)"
done
verdict "port includes only model and base" "$(outside port port model base)"
below="port model base"
# shellcheck disable=SC2086 # a list of folders
{
	verdict "session includes only what is below it" \
		"$(outside session session $below)"
	verdict "autod's core includes no other floor" \
		"$(outside autod/core autod/core $below)"
	below="session $below"
	verdict "autod's fleet includes no floor above it" \
		"$(outside autod/fleet autod/fleet autod/core $below)"
	verdict "autod's landing includes no floor above it" \
		"$(outside autod/landing autod/landing autod/fleet autod/core \
			$below)"
	verdict "autod's auto mode includes only the floors below it" \
		"$(outside autod/auto autod/auto autod/landing autod/fleet \
			autod/core $below)"
	for folder in forge hosts; do
		verdict "autod's $folder includes only the floors below it" \
			"$(outside "autod/$folder" "autod/$folder" autod/auto \
				autod/landing autod/fleet autod/core $below)"
	done
	verdict "autod's goals include only the floors below them" \
		"$(outside autod/plan autod/plan autod/auto autod/landing \
			autod/fleet autod/core $below)"
	verdict "autod's oversight includes only the floors below it" \
		"$(outside autod/oversight autod/oversight autod/plan autod/auto \
			autod/landing autod/fleet autod/core $below)"
	verdict "autod's team includes only the floors below it" \
		"$(outside autod/team autod/team autod/oversight autod/plan \
			autod/auto autod/landing autod/fleet autod/core $below)"
	verdict "autod's view includes only the floors below it" \
		"$(outside autod/show autod/show autod/team autod/oversight \
			autod/plan autod/hosts autod/auto autod/landing \
			autod/fleet autod/core $below)"
	verdict "autod includes no other program" "$(outside autod autod $below)"
	verdict "overseer includes no other program" \
		"$(outside overseer overseer $below)"
	verdict "cli includes no other program" "$(outside cli cli $below)"
}
verdict "keeper includes nothing but itself" "$(outside keeper keeper)"
verdict "model knows no clock, system call or loop" \
	"$(grep -rHnE '#include [<"](event2?/|time\.h|unistd\.h|sys/|fcntl\.h|signal\.h|clock\.h|loop\.h|file\.h|child\.h)' src/model --include='*.[ch]' || true)"
verdict "processes are made, signalled and reaped in one place each" \
	"$(uses '\b(v?fork|kill|killpg|waitpid|waitid|wait4|tgkill|posix_spawnp?|execvp?e?|execlp?)\(' \
		src/base/child.c src/base/child-exec.c src/base/procref.c \
		src/overseer/writer.c \
		src/port/process/errand-run.c src/port/process/sibling.c \
		src/cli/terminal.c \
		src/keeper/keeper-box.c src/keeper/keeper-outer.c src/keeper/keeper-program.c \
		src/keeper/keeper-processes.c \
		src/port/process/box-net.c)"
verdict "the clock is read in one place" \
	"$(uses '\b(clock_gettime|gettimeofday|time)\(' src/base/clock.c)"
verdict "SQLite is used in port/book only, and threads nowhere" \
	"$(grep -rnE '#include <(sqlite3|pthread)\.h>' src |
		grep -v '^src/port/book/.*sqlite3' || true)"
verdict "libpq is used in port/shared only" \
	"$(grep -rn '#include <libpq-fe' src | grep -v '^src/port/shared/' || true)"
unused=$(sed -n '/^enum shared_statement {/,/SHARED_STATEMENT_COUNT/s/^\t\(SHARED_[A-Z_]*\),.*/\1/p' \
	src/model/hosts/shared-statements.h |
	while IFS= read -r name; do
		grep -rqw "$name" src/autod src/port || echo "$name"
	done
	sed -n '/^const char \*const shared_tables/,/;/p' \
		src/model/hosts/shared-statements.c |
		grep -o '"[a-z_]*"' | tr -d '"' |
		while IFS= read -r name; do
			tr -d '\n\t"' <src/model/hosts/shared-statements.c |
				grep -qE "(from|join) +$name\b" || echo "$name"
		done)
verdict "what is asked of the shared book is asked, and its tables are read" \
	"$unused"
names=$(find src -name '*.h' -exec basename {} \; | sort | uniq -d)
verdict "every header name exists once" "$names"
# Take away the files of a folder that call no other of it, again and again, and
# then those that none calls: what is left are circles.
circles=$(find "$build/src" -name '*.c.o' -exec nm -A -P {} + | awk '
	{
		at = index($0, ".c.o: ")
		file = substr($0, 1, at + 1)
		split(substr($0, at + 6), symbol, " ")
		folder = file
		sub(/[^\/_]*$/, "", folder)
		place[file] = folder
		if (symbol[2] == "U")
			used[file, symbol[1]]
		else if (symbol[2] ~ /^[A-Z]$/)
			home[folder, symbol[1]] = file
	}
	END {
		for (use in used) {
			split(use, part, SUBSEP)
			callee = home[place[part[1]], part[2]]
			if (callee != "" && callee != part[1])
				calls[part[1], callee] = part[2]
		}
		for (side = 1; side <= 2; side++)
			do {
				again = 0
				split("", needed)
				for (call in calls) {
					split(call, part, SUBSEP)
					needed[part[side]]
				}
				for (call in calls) {
					split(call, part, SUBSEP)
					if (part[3 - side] in needed)
						continue
					delete calls[call]
					again = 1
				}
			} while (again)
		for (call in calls) {
			split(call, part, SUBSEP)
			sub(/.*\//, "", part[1])
			sub(/.*\//, "", part[2])
			print part[1] " calls " part[2] ": " calls[call]
		}
	}' | sort)
verdict "no files of a folder call each other in a circle" "$circles"
# A folder may share one header: a private one, or one with its own name, such
# as that of all kinds of agents.
lonely=$(find src -name '*.c' ! -name main.c |
	while IFS= read -r source; do
		folder=$(basename "$(dirname "$source")")
		[ -e "${source%.c}.h" ] ||
			grep -qE "^#include \"([a-z]*-private|$folder(-kind)?)\.h\"" \
				"$source" || echo "$source"
	done)
verdict "every source has a header of its own" "$lonely"
exit "$failed"
