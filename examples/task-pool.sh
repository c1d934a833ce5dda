#!/bin/sh
# A task_pool_command: prints the paragraphs of a file, one at a time.
#
#   llmc up --auto --task-pool-command '/path/to/task-pool.sh TODO.txt'
#
# Runs at the top of the repository. Its output is the next task. No output, or
# exit status 4, means that there is none now; any other status except 0 stops
# auto mode. Each task is asked for only once, so this removes it from the file
# and keeps it in TODO.txt.taken.
set -eu

file=${1:-TODO.txt}
[ -s "$file" ] || exit 4
awk -v RS= -v ORS='\n\n' 'NR == 1' "$file" >"$file.next"
awk -v RS= -v ORS='\n\n' 'NR > 1' "$file" >"$file.rest"
[ -s "$file.next" ] || exit 4
cat "$file.next" >>"$file.taken"
mv "$file.rest" "$file"
cat "$file.next"
rm "$file.next"
