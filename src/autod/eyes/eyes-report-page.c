/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "buf.h"
#include "child.h"
#include "clock.h"
#include "core.h"
#include "errtext.h"
#include "eyes-floor.h"
#include "eyes-report-page.h"
#include "http-server.h"
#include "log.h"
#include "mem.h"
#include "web-rules.h"
#include "workspace.h"

struct eyes_report_page {
	struct eyes_floor *eyes;
	struct child *child; /* makes one; NULL = none is made */
	struct http_exchange *askers[EYES_REPORT_PAGE_ASKERS_MAX];
	size_t asker_count;
	struct buf last; /* what was made last; empty = nothing */
	int64_t made_ms; /* monotonic */
};

static void
answer(const struct eyes_report_page *page, struct http_exchange *exchange)
{
	const struct web_content content = { .type = web_path_type(WEB_REPORT),
		.len = page->last.len };

	if (page->last.len > 0)
		http_reply(exchange, 200, &content, page->last.data);
	else
		http_refuse(exchange, 500);
}

static void
answer_all(struct eyes_report_page *page)
{
	while (page->asker_count > 0)
		answer(page, page->askers[--page->asker_count]);
}

static void
on_made(const struct child_result *result, void *arg)
{
	struct eyes_report_page *page = arg;
	cleanup_buf struct buf how = BUF_INIT;

	page->child = NULL;
	page->made_ms = clock_mono_ms();
	if (result->out.total > EYES_REPORT_PAGE_BYTES_MAX)
		log_info(
		    "the report is too long for the page; use llmc report");
	else if (!child_succeeded(result)) {
		child_result_describe(result, &how);
		buf_adds(&how, ": ");
		child_output_text(&result->err, &how);
		log_info("llmc report for the page: %s", how.data);
	} else
		child_output_text(&result->out, &page->last);
	answer_all(page);
}

static void
make(struct eyes_report_page *page)
{
	const struct core *core = page->eyes->core;
	const char *const argv[] = { core->llmc, "--root",
		core->workspace->root, "report", "--json", NULL };
	const struct child_spec spec = {
		.argv = argv,
		.cwd = core->workspace->root,
		.deadline_ms = EYES_REPORT_PAGE_DEADLINE_MS,
		.output_max = EYES_REPORT_PAGE_BYTES_MAX,
	};
	struct err err = { 0 };

	buf_release(&page->last);
	if (child_spawn(core->loop, &spec, on_made, page, &page->child, &err) ==
	    0)
		return;
	log_info("llmc report for the page: %s", err.msg);
	answer_all(page);
}

void
eyes_report_page_serve(
    struct eyes_report_page *page, struct http_exchange *exchange)
{
	if (page->child == NULL && page->last.len > 0 &&
	    clock_mono_ms() - page->made_ms < EYES_REPORT_PAGE_KEPT_MS) {
		answer(page, exchange);
		return;
	}
	if (page->asker_count == EYES_REPORT_PAGE_ASKERS_MAX) {
		http_refuse(exchange, 503);
		return;
	}
	page->askers[page->asker_count++] = exchange;
	if (page->child == NULL)
		make(page);
}

struct eyes_report_page *
eyes_report_page_new(struct eyes_floor *eyes)
{
	struct eyes_report_page *page = xcalloc(1, sizeof *page);

	page->eyes = eyes;
	return page;
}

void
eyes_report_page_free(struct eyes_report_page *page)
{
	if (page == NULL)
		return;
	if (page->child != NULL)
		child_abandon(page->child);
	buf_release(&page->last);
	answer_all(page);
	free(page);
}
