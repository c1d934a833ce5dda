#!/bin/sh
# A task_pool_command: prints the paragraphs of a file, one at a time.
#
#   llmc up --auto --task-pool-command '/path/to/task-pool.sh TODO.txt'
#
# Runs at the top of the repository. Its output is the next task. No output, or
# exit status 4, means that there is none now; any other status except 0 stops
# auto mode. Each task is asked for only once, so this remembers what it has
# printed, in .llmc/task-pool.taken: not in the file itself, and not beside it,
# because work cannot land in a checkout that has uncommitted changes. To have a
# paragraph printed again, delete it there.
set -eu

file=${1:-TODO.txt}
taken=.llmc/task-pool.taken
[ -s "$file" ] || exit 4
touch "$taken"
task=$(awk -v RS= '
	FILENAME == ARGV[1] { taken[$0]; next }
	!($0 in taken) { print; exit }' "$taken" "$file")
[ -n "$task" ] || exit 4
printf '%s\n\n' "$task" >>"$taken"
printf '%s\n' "$task"
