/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "loop.h"
#include "mem.h"
#include "subagents.h"
#include "tail.h"
#include "transcript-open.h"
#include "transcript.h"
#include "watch.h"

#define STEPS_MAX 64 /* of a path */

struct transcript {
	struct loop *loop;
	char *path;
	int64_t from_ms;
	transcript_fn *fn;
	void *arg;
	struct transcript_parser *parser;
	struct tail *tail;
	struct watch *way; /* above its directory, while that is missing */
	struct subagents *side;
	struct loop_call *told; /* calls fn once for many lines */
	uint64_t offset;
};

static void
transcript_line(const char *line, size_t len, bool cut, void *arg)
{
	struct transcript *transcript = arg;
	uint64_t offset = tail_offset(transcript->tail);
	bool follows = cut ? offset > transcript->offset :
			     offset == transcript->offset + len + 1;

	if (!follows)
		transcript_parser_reset(transcript->parser);
	transcript->offset = offset;
	if (cut)
		transcript_parser_skip(transcript->parser, offset);
	else
		transcript_parser_line(transcript->parser, line, len);
	loop_call_request(transcript->told);
}

static void
transcript_side_line(const char *line, size_t len, void *arg)
{
	struct transcript *transcript = arg;

	transcript_parser_side_line(transcript->parser, line, len);
	loop_call_request(transcript->told);
}

static void
transcript_tell(void *arg)
{
	struct transcript *transcript = arg;

	subagents_look(transcript->side);
	transcript->fn(transcript->parser, transcript->arg);
}

/* The first part of the path that does not exist; its parent does. */
static char *
path_missing(const char *path)
{
	cleanup_free char *part = xstrdup(path);
	char *slash;

	while ((slash = strrchr(part, '/')) != NULL && slash != part) {
		*slash = '\0';
		if (file_is_dir(part)) {
			*slash = '/';
			break;
		}
	}
	return take_ptr(&part);
}

/* The program creates the directory with its first prompt: until then, watch
 * the nearest existing one above it. */
static void
transcript_open(void *arg)
{
	struct transcript *transcript = arg;

	watch_free(take_ptr(&transcript->way));
	/* Try again for each directory that is created between the check and
	 * the watch. */
	for (int i = 0; i < STEPS_MAX; i++) {
		cleanup_free char *missing = NULL;

		if (tail_new_with(transcript->loop, transcript->path,
			transcript_open_file, true, transcript_line, transcript,
			&transcript->tail, NULL) == 0)
			return;
		missing = path_missing(transcript->path);
		if (watch_new(transcript->loop, missing, transcript_open,
			transcript, &transcript->way, NULL) == 0 &&
		    !file_is_dir(missing))
			return;
		watch_free(take_ptr(&transcript->way));
	}
}

struct transcript *
transcript_new(struct loop *loop, const char *path, int64_t from_ms,
    transcript_fn *fn, void *arg)
{
	struct transcript *transcript = xcalloc(1, sizeof *transcript);

	transcript->loop = loop;
	transcript->path = xstrdup(path);
	transcript->from_ms = from_ms;
	transcript->fn = fn;
	transcript->arg = arg;
	transcript->parser = transcript_parser_new();
	transcript_parser_since(transcript->parser, from_ms);
	transcript->told = loop_call_new(loop, transcript_tell, transcript);
	transcript_open(transcript);
	transcript->side =
	    subagents_new(loop, path, transcript_side_line, transcript);
	return transcript;
}

void
transcript_hand_over(
    struct transcript *transcript, transcript_fn *fn, void *arg)
{
	transcript->fn = fn;
	transcript->arg = arg;
}

void
transcript_free(struct transcript *transcript)
{
	if (transcript == NULL)
		return;
	subagents_free(transcript->side);
	tail_free(transcript->tail);
	watch_free(transcript->way);
	loop_call_free(transcript->told);
	transcript_parser_free(transcript->parser);
	free(transcript->path);
	free(transcript);
}

const char *
transcript_path(const struct transcript *transcript)
{
	return transcript->path;
}

int64_t
transcript_from_ms(const struct transcript *transcript)
{
	return transcript->from_ms;
}

const struct transcript_parser *
transcript_parser_of(const struct transcript *transcript)
{
	return transcript->parser;
}

bool
transcript_mentions(const char *path, const char *words)
{
	cleanup_fd int fd = transcript_open_file(path);
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;
	size_t want;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) == -1)
		return false;
	want =
	    st.st_size > TRANSCRIPT_TAIL ? TRANSCRIPT_TAIL : (size_t)st.st_size;
	buf_reserve(&text, want);
	n = pread(fd, text.data, want, st.st_size - (off_t)want);
	if (n <= 0)
		return false;
	buf_grew(&text, (size_t)n);
	return memmem(text.data, text.len, words, strlen(words)) != NULL;
}
