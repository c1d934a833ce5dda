/* SPDX-License-Identifier: ISC */

#include "base.h"

#define FATAL_STATUS 70 /* EX_SOFTWARE */

static void (*last_words)(const char *text);

void
fatal_on(void (*fn)(const char *text))
{
	last_words = fn;
}

/* Does not allocate, since memory may have run out. If saying it fails in turn,
 * only the plain line is printed. */
__attribute__((format(printf, 2, 0))) static void
die(bool words, const char *fmt, va_list ap)
{
	static const char memory[] = "out of memory";
	static bool dying;
	char text[1024];
	int saved = errno, status;
	size_t len;

	vsnprintf(text, sizeof text, fmt, ap);
	status = strncmp(text, memory, strlen(memory)) == 0 ?
	    FATAL_EXIT_MEMORY :
	    FATAL_STATUS;
	len = strlen(text);
	if (words)
		snprintf(
		    text + len, sizeof text - len, ": %s", strerror(saved));
	if (dying || last_words == NULL)
		dprintf(STDERR_FILENO, "fatal: %s\n", text);
	if (dying)
		_exit(status);
	dying = true;
	if (last_words != NULL)
		last_words(text);
	exit(status);
}

void
fatal(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	die(true, fmt, ap);
	va_end(ap);
	abort();
}

void
fatalx(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	die(false, fmt, ap);
	va_end(ap);
	abort();
}
