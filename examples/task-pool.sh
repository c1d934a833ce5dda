#!/bin/sh
# A task_pool_command: hands out the paragraphs of a file, one at a time.
#
#   llmc up --auto --task-pool-command '/path/to/task-pool.sh TODO.txt'
#
# Runs at the top of the repository. What it prints is the next task. Nothing,
# or exit status 4, means that there is none now; any other status but 0 stops
# the fleet. Each task is asked for once, so it is taken out of the file here;
# what was taken is kept in TODO.txt.taken.
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
