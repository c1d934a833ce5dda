#!/bin/sh
# The unit tests under valgrind: tests/valgrind.sh BUILD [TEST...]
set -eu

build=$(cd "${1:-build}" && pwd)
[ $# -eq 0 ] || shift
CK_FORK=no
export CK_FORK
exec meson test -C "$build" --suite unit --print-errorlogs --no-rebuild \
	--logbase valgrind --timeout-multiplier 20 \
	--wrapper 'valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect --child-silent-after-fork=yes' \
	"$@"
