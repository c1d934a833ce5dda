#!/bin/sh
# How the folders beside this were made: what the last llmc without a book left of
# a run with the stand-in agent, as text. It was run once, with that program.
#
#   make.sh BUILD OUT    BUILD: its build folder (git worktree add ... 7faf4903)
#
# OUT/ended: tasks and a goal were done, another goal is paused, a question and mail
#            are open, and messages wait that no channel took; then llmc down.
# OUT/killed: daemon and sessions were killed while one worker waited for an answer,
#            one was in the middle of its work, and a third one's waited to land.
#
# In each: llmc (the folder .llmc without what a start makes anew), store.sql, repo
# (git fast-export), worktrees (worker, branch, commit) and when (seconds).
# @ROOT@ is the repository (@CODED@ in names of conversations), @AGENT@ the stand-in.
#
# shellcheck disable=SC2016 # such scripts run in a shell of their own
set -eu
# shellcheck disable=SC2016 # wait_for runs them in a shell of their own

build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
llmc=$build/src/cli/llmc
agent=$build/tests/tools/fake-claude
scratch=$(mktemp -d /tmp/llmc-before.XXXXXX)
repo=$scratch/ended
export HOME="$scratch/home" TMUX_TMPDIR="$scratch" GIT_CONFIG_NOSYSTEM=1
export GIT_CONFIG_GLOBAL=/dev/null
unset TMUX || true
mkdir "$HOME"

finish() {
	cd "$repo"
	"$llmc" down >/dev/null 2>&1 || true
	tmux -L "$("$llmc" config get tmux.socket)" kill-server >/dev/null 2>&1 ||
		true
	cd /
	rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

wait_for() { # command: until it succeeds, a minute at most
	n=0
	until sh -c "$1" >/dev/null 2>&1; do
		n=$((n + 1))
		if [ $n -gt 600 ]; then
			echo "waited in vain for: $1" >&2
			"$llmc" status >&2 || true
			tail -n 20 .llmc/logs/autod.log >&2
			exit 1
		fi
		sleep 0.1
	done
}
export llmc

ended() { # count outcome
	wait_for "[ \"\$(grep -c '\"outcome\":\"$2\"' .llmc/tasks.jsonl)\" -ge $1 ]"
}

textual() { # file
	coded=$(printf '%s' "$repo" | tr -c 'A-Za-z0-9' -)
	sed -i "s|$repo|@ROOT@|g; s|$coded|@CODED@|g; s|$agent|@AGENT@|g; \
		s|$HOME|@HOME@|g; s|$build|@BUILD@|g; s|$scratch|@SCRATCH@|g" "$1"
}

snapshot() { # name
	to=$out/$1
	rm -rf "$to"
	mkdir -p "$to"
	cp -r .llmc "$to/llmc"
	(cd "$to/llmc" && rm -rf logs checks sessions run auto.heartbeat autod.sock \
		state.json.bak .state.json.* ./*.lock tmux.conf daemon.* outbox/*.lock tasks/.llmc.lock)
	date +%s >"$to/when"
	if [ -e "$to/llmc/store.db" ]; then
		sqlite3 "$to/llmc/store.db" .dump >"$to/store.sql"
		sqlite3 "$to/llmc/store.db" 'SELECT "PRAGMA user_version = " ||
			user_version || ";" FROM pragma_user_version' \
			>>"$to/store.sql"
		sqlite3 "$to/llmc/store.db" 'SELECT "PRAGMA application_id = " ||
			application_id || ";" FROM pragma_application_id' \
			>>"$to/store.sql"
		rm -f "$to"/llmc/store.db*
	fi
	# shellcheck disable=SC2046 # one word each
	git fast-export $(git for-each-ref --format='%(refname)') >"$to/repo"
	git worktree list --porcelain | awk '
		/^worktree / { sub(".*/", "", $2); name = $2 }
		/^HEAD / { head = $2 }
		/^branch / { sub("refs/heads/", "", $2); branch = $2 }
		/^detached/ { branch = "-" }
		/^$/ { if (branch != "-" && branch != "main")
			print name, branch, head }' >"$to/worktrees"
	# Of sessions that were interrupted.
	mkdir "$to/conversations"
	sed -n 's|.*"transcript": *"\([^"]*\)".*|\1|p' .llmc/state.json |
		while read -r file; do
			if [ -e "$file" ] && ! tail -n 2 "$file" |
				grep -q turn_duration; then
				cp "$file" "$to/conversations"
			fi
		done
	find "$to" -type f | while read -r file; do textual "$file"; done
}


begin() { # name
	repo=$scratch/$1
	git init -q -b main "$repo"
	cd "$repo"
	git config user.name Before
	git config user.email before@example.invalid
	echo hello >README
	git add README
	git commit -q -m Start
	"$llmc" init >/dev/null
	"$llmc" config set budget.day_cost 100
	"$llmc" config set defaults.agent_command "$agent"
	"$llmc" config set defaults.allow_root true
	"$llmc" config set daemon.patrol_interval 200ms
	"$llmc" config set auto.concurrency 3
}

up() {
	"$llmc" up --auto --detach >/dev/null
}

task() {
	printf '%s' "$1" | "$llmc" task add - >/dev/null
}

plan() { # title task...
	printf '# %s\n## A phase\n' "$1" >"$scratch/plan.md"
	shift
	for name; do
		printf '### %s\nAcceptance: it is there\n\nfake: commit %s.txt %s\n' \
			"$name" "$name" "$name" >>"$scratch/plan.md"
	done
	goal=$("$llmc" --json goal create --plan-file "$scratch/plan.md" |
		sed -n 's/.*"goal": *"\([^"]*\)".*/\1/p')
}

ask() {
	task 'Paint it.
fake: tool request_orchestrator {"message":"Which colour?","options":["red","blue"],"timeoutSeconds":3600}
fake: commit painted.txt painted'
	wait_for "\"\$llmc\" --json tree | grep -q '\"pendingRequestCount\": *1'"
}

begin ended
cat >>.llmc/config.toml <<EOF

[people.channels.down]
type = "command"
command = "exit 1"
EOF
# Without goals: two tasks that land, one that changes nothing.
up
task 'Write a.
fake: commit a.txt a'
task 'Write b.
fake: commit b.txt b'
task 'Do nothing.
fake: say nothing to do'
ended 2 landed
wait_for '[ "$(wc -l <.llmc/tasks.jsonl)" -ge 3 ]'
"$llmc" down >/dev/null
# With goals: one that is reached, one that is not, and a question.
"$llmc" config set plan.enabled true
plan Paused later
"$llmc" goal pause "$goal" >/dev/null
up
plan Reached c
wait_for "\"\$llmc\" --json goal show $goal | grep -q '\"status\": *\"completed\"'"
ask
"$llmc" mail send person "Mail for a person" >/dev/null
"$llmc" down >/dev/null
snapshot ended

begin killed
"$llmc" config set plan.enabled true
up
plan Reached c
wait_for "\"\$llmc\" --json goal show $goal | grep -q '\"status\": *\"completed\"'"
ask
task 'Long work.
fake: commit begun.txt begun
fake: write half.txt half
fake: run until [ -e "$HOME/go" ]; do sleep 0.1; done
fake: commit half.txt whole'
wait_for '[ -e .worktrees/*/half.txt ]'
# It cannot land over what a person has not committed.
echo edited >>README
task 'Change the README.
fake: commit README changed'
wait_for '"$llmc" --json landing | grep -q "README: changed"'
# shellcheck disable=SC2046 # one word each
kill -KILL $(sed -n 's/^  "pid": *\([0-9]*\),.*/\1/p' .llmc/daemon.json) \
	$(tmux -L "$("$llmc" config get tmux.socket)" list-panes -a -F \
		'#{pane_pid} #{pid}')
touch "$HOME/go"
snapshot killed
