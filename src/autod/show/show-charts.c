/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "auto.h"
#include "child.h"
#include "core.h"
#include "serve.h"
#include "show.h"
#include "sibling.h"
#include "view.h"
#include "workspace.h"

#define AT_ONCE     4
#define DEADLINE_MS 30000
#define BYTES_MAX   ((size_t)8 * 1024 * 1024)

struct asking {
	LIST_ENTRY(asking) entry;
	struct show_charts *charts;
	struct server_call *call;
	struct child *child;
};

struct show_charts {
	struct show_floor *show;
	LIST_HEAD(askings, asking) askings;
	int count;
};

static void
asking_free(struct asking *asking)
{
	LIST_REMOVE(asking, entry);
	asking->charts->count--;
	free(asking);
}

static void
on_made(const struct child_result *result, void *arg)
{
	struct asking *asking = arg;
	cleanup_buf struct buf text = BUF_INIT, how = BUF_INIT;
	struct json_object *charts = NULL;
	struct err err = { 0 };

	if (!child_succeeded(result) || result->out.total > BYTES_MAX) {
		child_result_describe(result, &how);
		buf_adds(&how, ": ");
		child_output_text(&result->err, &how);
		serve_refuse(asking->call, API_FAILED,
		    "the charts were not made: %s", how.data);
	} else {
		child_output_text(&result->out, &text);
		if (json_parse(text.data, text.len, BYTES_MAX, &charts, &err) <
		    0)
			serve_refuse(asking->call, API_FAILED,
			    "the charts cannot be read: %s", err.msg);
		else
			serve_show(asking->call, charts);
	}
	asking_free(asking);
}

/* autod --look reads the book, with what only this daemon knows on its
 * standard input. */
static void
on_get(void *arg, struct server_call *call, struct json_object *params)
{
	static const char *const sections[] = { "head", "workers", "tasks",
		"budget" };
	struct show_charts *c = arg;
	struct core *core = c->show->core;
	cleanup_free char *autod = sibling_find("autod");
	const char *const argv[] = { autod, "--root", core->workspace->root,
		"--look", "charts", NULL };
	cleanup_json struct json_object *asked = json_object_new_object();
	cleanup_json struct json_object *list = json_object_new_array();
	cleanup_buf struct buf text = BUF_INIT;
	struct child_spec spec = {
		.argv = argv,
		.deadline_ms = DEADLINE_MS,
		.output_max = BYTES_MAX,
	};
	struct asking *asking;
	struct err err = { 0 };

	if (c->count >= AT_ONCE || autod == NULL) {
		serve_refuse(call, c->count >= AT_ONCE ? API_BUSY : API_FAILED,
		    "%s",
		    c->count >= AT_ONCE ?
			"charts are being made; try again in a moment" :
			"cannot find autod; install it with: make install");
		return;
	}
	for (size_t i = 0; i < nitems(sections); i++)
		json_object_array_add(
		    list, json_object_new_string(sections[i]));
	view_pick(
	    asked, params, (const char *const[]){ "to_ms", "worker", NULL });
	if (json_object_object_get_ex(params, "from_ms", NULL))
		json_set_int(
		    asked, "since_ms", json_int_or(params, "from_ms", 0));
	json_set_bool(asked, "active", c->show->mode->active);
	json_set_int(asked, "now_ms", clock_wall_ms());
	json_set(asked, "view", show_snapshot(c->show, list));
	json_print(asked, false, &text);
	spec.input = text.data;
	spec.input_len = text.len;
	asking = xcalloc(1, sizeof *asking);
	asking->charts = c;
	asking->call = call;
	LIST_INSERT_HEAD(&c->askings, asking, entry);
	c->count++;
	if (child_spawn(
		core->loop, &spec, on_made, asking, &asking->child, &err) < 0) {
		serve_refuse(call, API_FAILED, "%s", err.msg);
		asking_free(asking);
	}
}

struct show_charts *
show_charts_new(struct show_floor *show)
{
	struct show_charts *c = xcalloc(1, sizeof *c);

	c->show = show;
	LIST_INIT(&c->askings);
	serve_handle(show->core, "charts.get", on_get, c);
	return c;
}

void
show_charts_free(struct show_charts *c)
{
	struct asking *asking;

	if (c == NULL)
		return;
	while ((asking = LIST_FIRST(&c->askings)) != NULL) {
		child_abandon(asking->child);
		serve_refuse(asking->call, API_FAILED,
		    "the daemon ended before the charts were made");
		asking_free(asking);
	}
	free(c);
}
