/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "remains.h"
#include "session-clear.h"
#include "session-inside.h"

static void
on_over(const struct err *err, void *arg)
{
	struct session *s = arg;

	s->clearing = NULL;
	if (err != NULL) {
		s->left = *err;
		log_debug("%s: %s", s->worker, err->msg);
	}
	s->on_cleared(s);
}

void
session_clear_then(struct session *s, void (*fn)(struct session *s))
{
	session_clear_stop(s);
	s->left = (struct err){ 0 };
	s->on_cleared = fn;
	if (s->host->workspace != NULL)
		s->clearing = remains_end(
		    s->host->loop, s->host->workspace, s->worker, on_over, s);
	if (s->clearing == NULL)
		fn(s);
}

void
session_clear_stop(struct session *s)
{
	remains_free(take_ptr(&s->clearing));
}

const struct err *
session_left(const struct session *s)
{
	return s->left.code != 0 ? &s->left : NULL;
}
