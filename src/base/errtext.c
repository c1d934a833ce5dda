/* SPDX-License-Identifier: ISC */

#include "base.h"

/* Copy, truncating between characters and never inside one. */
static void
err_store(struct err *err, int code, const char *text)
{
	size_t len = text_cut(text, strlen(text), sizeof err->msg - 1);

	err->code = code;
	memmove(err->msg, text, len);
	err->msg[len] = '\0';
}

int
err_set(struct err *err, int code, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list ap;

	if (err == NULL)
		return code;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	err_store(err, code, text);
	return code;
}

int
err_errno(struct err *err, int code, const char *fmt, ...)
{
	cleanup_free char *text = NULL, *whole = NULL;
	va_list ap;

	if (err == NULL)
		return code;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	whole = xasprintf("%s: %s", text, strerror(-code));
	err_store(err, code, whole);
	return code;
}

int
err_prefix(struct err *err, const char *fmt, ...)
{
	cleanup_free char *text = NULL, *whole = NULL;
	va_list ap;

	if (err == NULL)
		return 0;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	whole = xasprintf("%s: %s", text, err->msg);
	err_store(err, err->code, whole);
	return err->code;
}
