/* SPDX-License-Identifier: ISC */

#include "fleet.h"
#include "toprun.h"

#define TMUX    "tmux -L eyes "
#define LOOK_MS 30 /* a screen of another program */

static const char *
shell(const char *script)
{
	const struct e2e_run *run = e2e_sh(fleet_root(), script);

	e2e_expect(run, 0, NULL);
	return run->out;
}

void
top_shell(int columns, int rows)
{
	unit_at_end(top_end);
	e2e_guard(fleet_root(),
	    e2e_path("TMUX_TMPDIR='%s' " TMUX "kill-server", unit_scratch()));
	shell(e2e_path(TMUX "-f /dev/null new-session -d -x %d -y %d "
			    "\"PS1='prompt> ' ENV= exec sh\"",
	    columns, rows));
	top_wait("prompt>");
}

void
top_end(void)
{
	e2e_sh(NULL, TMUX "kill-server 2>/dev/null; true");
}

/* The script replaces itself, so that the pid is that of llmc. */
void
top_type(const char *before)
{
	e2e_script(e2e_scratch("top"),
	    "#!/bin/sh\necho $$ >\"$FLEET/top.new\"\n"
	    "mv \"$FLEET/top.new\" \"$FLEET/top.pid\"\nexec \"$LLMC\" top\n");
	shell("rm -f \"$FLEET/top.pid\"");
	top_keys(e2e_path("'%s\"$FLEET/top\"; echo ended-$?' Enter", before));
	top_wait("llmc top ");
}

int
top_pid(void)
{
	return (int)strtol(e2e_read(e2e_scratch("top.pid")), NULL, 10);
}

void
top_wait_end(int status)
{
	top_wait(e2e_path("ended-%d", status));
	ck_assert_str_eq(top_ask("#{alternate_on} #{cursor_flag}"), "0 1");
}

void
top_keys(const char *keys)
{
	shell(e2e_path(TMUX "send-keys %s", keys));
}

void
top_resize(int columns, int rows)
{
	shell(e2e_path(TMUX "resize-window -x %d -y %d", columns, rows));
}

const char *
top_screen(void)
{
	return shell(TMUX "capture-pane -p");
}

const char *
top_colours(void)
{
	return shell(TMUX "capture-pane -ep");
}

const char *
top_ask(const char *format)
{
	const char *out = shell(e2e_path(TMUX "display -p '%s'", format));

	return e2e_path("%.*s", (int)strcspn(out, "\n"), out);
}

static void
wait_on(const char *what, const char *screen)
{
	ck_assert_msg(!unit_is_late(), "%s: %s", what, e2e_shown(screen));
	poll(NULL, 0, LOOK_MS);
}

void
top_wait(const char *words)
{
	const char *screen;

	while (strstr((screen = top_screen()), words) == NULL)
		wait_on(words, screen);
}

void
top_wait_without(const char *words)
{
	const char *screen;

	while (strstr((screen = top_screen()), words) != NULL)
		wait_on(words, screen);
}

void
top_wait_same(int columns, int rows)
{
	/* How late the daemon was is not sent before something changes. */
	const char *script =
	    e2e_path("plain() { sed '1s/lag [0-9]*ms//; 1s/  */ /g'; }\n" TMUX
		     "capture-pane -p | plain >\"$FLEET/shown\"\n"
		     "COLUMNS=%d LINES=%d \"$LLMC\" top | plain "
		     ">\"$FLEET/new\"\n"
		     "diff \"$FLEET/new\" \"$FLEET/shown\"",
		columns, rows);
	const struct e2e_run *run;

	while ((run = e2e_sh(fleet_root(), script))->status != 0)
		wait_on(e2e_path("%dx%d", columns, rows), run->out);
}
