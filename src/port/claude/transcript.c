/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "loop.h"
#include "transcript.h"
#include "watch.h"

/* A whole line, without its newline; called from the loop only. */
typedef void subagents_fn(const char *line, size_t len, void *arg);

#define TRANSCRIPT_TEXT_MAX ((size_t)16 * 1024 * 1024) /* bytes read */

struct subagents;

static void subagents_look(struct subagents *s);

#define BOX         "/.llmc/box/"
#define FILE_DEPTH  2 /* folder and file below projects */
#define FOLDER_MORE 1 /* <id>/subagents instead of <id>.jsonl */

/* The last `depth` parts of a path; the slash before them becomes a NUL. */
static char *
split(char *path, int depth)
{
	char *slash = path + strlen(path);

	while (depth-- > 0 && slash > path)
		do
			slash--;
		while (slash > path && *slash != '/');
	*slash = '\0';
	return slash + 1;
}

static int
open_below(const char *path, int depth, int flags)
{
	cleanup_free char *base = xstrdup(path);
	cleanup_fd int dir = -1;
	const char *inside;
	char *part, *slash;
	int fd;

	if (path[0] != '/')
		return -EINVAL;
	/* In a box, everything below the folder of its worker. */
	inside = strstr(path, BOX);
	if (inside != NULL) {
		inside += strlen(BOX);
		for (depth = 0; (inside = strchr(inside, '/')) != NULL; depth++)
			inside++;
	}
	part = split(base, depth);
	dir = open(
	    base[0] != '\0' ? base : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (dir >= 0 && (slash = strchr(part, '/')) != NULL) {
		*slash = '\0';
		fd = openat(
		    dir, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd == -1)
			return -errno;
		fd_close(dir);
		dir = fd;
		part = slash + 1;
	}
	if (dir < 0)
		return -errno;
	fd = openat(dir, part, flags | O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd == -1 ? -errno : fd;
}

int
transcript_open_file(const char *path)
{
	cleanup_fd int fd = open_below(path, FILE_DEPTH, O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		return -EINVAL;
	return take_fd(&fd);
}

int
transcript_open_folder(const char *path)
{
	return open_below(path, FILE_DEPTH + FOLDER_MORE, O_DIRECTORY);
}

#define FILES     "agent-*.jsonl"
#define ENDING    ".jsonl"
#define FILES_MAX 1000
#define LONGEST   ((size_t)1024 * 1024)

struct agent_file {
	char *name;
	off_t offset; /* read so far: the beginning of a line */
	bool cut; /* in the middle of a line that is too long */
};

struct subagents {
	struct loop *loop;
	subagents_fn *fn;
	void *arg;
	char *parent; /* of the conversation */
	char *folder; /* in it */
	const char *watched; /* one of these two, or NULL */
	struct watch *watch;
	struct loop_call *call; /* reads on */
	struct agent_file *files;
	size_t count;
};

static struct agent_file *
file_of(struct subagents *s, const char *name)
{
	struct agent_file *file;

	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->files[i].name, name) == 0)
			return &s->files[i];
	if (s->count == FILES_MAX)
		return NULL;
	s->files = xreallocarray(s->files, s->count + 1, sizeof *s->files);
	file = &s->files[s->count++];
	*file = (struct agent_file){ .name = xstrdup(name) };
	return file;
}

static void
tell_lines(struct subagents *s, struct agent_file *file, char *text, size_t len)
{
	char *end = text + len, *newline;

	for (; text < end; text = newline + 1) {
		newline = memchr(text, '\n', (size_t)(end - text));
		*newline = '\0';
		if (!file->cut)
			s->fn(text, (size_t)(newline - text), s->arg);
		file->cut = false;
	}
}

/* Returns true if there may be more. */
static bool
read_some(struct subagents *s, int dir, struct agent_file *file)
{
	cleanup_fd int fd = openat(dir, file->name,
	    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	cleanup_buf struct buf text = BUF_INIT;
	const char *last;
	struct stat st;
	size_t whole;
	ssize_t n;

	if (fd == -1 || fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		return false;
	buf_reserve(&text, LONGEST);
	n = pread(fd, text.data, LONGEST, file->offset);
	if (n <= 0)
		return false;
	last = memrchr(text.data, '\n', (size_t)n);
	if (last == NULL && (size_t)n < LONGEST)
		return false; /* it is still being written */
	whole = last == NULL ? (size_t)n : (size_t)(last - text.data) + 1;
	file->offset += (off_t)whole;
	if (last == NULL)
		file->cut = true;
	else
		tell_lines(s, file, text.data, whole);
	return true;
}

static DIR *
open_folder(const char *path)
{
	cleanup_fd int fd = transcript_open_folder(path);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir != NULL)
		take_fd(&fd);
	return dir;
}

static void
scan(struct subagents *s)
{
	cleanup_dir DIR *dir = open_folder(s->folder);
	const char *name;
	struct agent_file *file;
	struct stat st;

	while ((name = dir_next(dir)) != NULL) {
		if (fnmatch(FILES, name, 0) != 0 ||
		    fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
		    !S_ISREG(st.st_mode) || (file = file_of(s, name)) == NULL ||
		    st.st_size <= file->offset)
			continue;
		if (read_some(s, dirfd(dir), file)) {
			loop_call_request(s->call);
			break;
		}
	}
}

static void
on_changed(void *arg)
{
	subagents_look(arg);
	scan(arg);
}

/* Something may have been made between the look and the watch: look again. */
static void
subagents_look(struct subagents *s)
{
	for (;;) {
		const char *want =
		    file_is_dir(s->parent) ? s->folder : s->parent;

		if (want == s->watched)
			return;
		watch_free(take_ptr(&s->watch));
		s->watched = NULL;
		if (watch_new(s->loop, want, on_changed, s, &s->watch, NULL) <
		    0)
			return;
		s->watched = want;
		loop_call_request(s->call);
	}
}

/* Watches them; at most one mebibyte is read per pass of the loop. Longer lines
 * are left out. */
static struct subagents *
subagents_new(
    struct loop *loop, const char *transcript, subagents_fn *fn, void *arg)
{
	struct subagents *s = xcalloc(1, sizeof *s);
	size_t len = strlen(transcript), ending = strlen(ENDING);

	if (len > ending && strcmp(transcript + len - ending, ENDING) == 0)
		len -= ending;
	s->loop = loop;
	s->fn = fn;
	s->arg = arg;
	s->parent = xstrndup(transcript, len);
	s->folder = xasprintf("%s/subagents", s->parent);
	s->call = loop_call_new(loop, on_changed, s);
	subagents_look(s);
	return s;
}

static void
subagents_free(struct subagents *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->count; i++)
		free(s->files[i].name);
	free(s->files);
	watch_free(s->watch);
	loop_call_free(s->call);
	free(s->parent);
	free(s->folder);
	free(s);
}

#define LINE_MAX_BYTES ((size_t)8 * 1024 * 1024)

static void
transcript_text_add_block(struct buf *out, const char *title, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	buf_addf(out, "--- %s\n", title);
	text_add_visible(out, text, strlen(text), true);
	buf_adds(out, text[strlen(text) - 1] == '\n' ? "\n" : "\n\n");
}

static void
add_part(struct buf *out, const char *who, struct json_object *part)
{
	const char *type = json_string_or(part, "type", "");
	struct json_object *input = NULL;
	cleanup_buf struct buf title = BUF_INIT, text = BUF_INIT;

	if (strcmp(type, "text") == 0) {
		transcript_text_add_block(
		    out, who, json_string_or(part, "text", ""));
	} else if (strcmp(type, "tool_use") == 0) {
		buf_addf(&title, "tool %s", json_string_or(part, "name", "?"));
		if (json_object_object_get_ex(part, "input", &input))
			json_print(input, true, &text);
		transcript_text_add_block(out, title.data, text.data);
	} else if (strcmp(type, "tool_result") == 0) {
		struct json_object *content = json_member(part, "content");
		cleanup_buf struct buf all = BUF_INIT;
		size_t count;

		/* A tool's result is a text, or a list of parts with texts. */
		if (json_object_is_type(content, json_type_string)) {
			transcript_text_add_block(
			    out, "result", json_object_get_string(content));
			return;
		}
		if (!json_object_is_type(content, json_type_array))
			return;
		count = json_object_array_length(content);
		for (size_t i = 0; i < count; i++)
			buf_addf(&all, "%s\n",
			    json_string_or(
				json_object_array_get_idx(content, i), "text",
				""));
		transcript_text_add_block(out, "result", all.data);
	}
}

static void
render_line(const char *line, size_t len, char **model, struct buf *out)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *message = NULL, *content = NULL;
	const char *who;
	size_t count;

	if (json_parse(line, len, LINE_MAX_BYTES, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return;
	json = transcript_translate(json, model);
	who = json_string_or(json, "type", "");
	if ((strcmp(who, "user") != 0 && strcmp(who, "assistant") != 0) ||
	    !json_object_object_get_ex(json, "message", &message) ||
	    !json_object_is_type(message, json_type_object) ||
	    !json_object_object_get_ex(message, "content", &content))
		return;
	if (json_object_is_type(content, json_type_string)) {
		transcript_text_add_block(
		    out, who, json_object_get_string(content));
		return;
	}
	if (!json_object_is_type(content, json_type_array))
		return;
	count = json_object_array_length(content);
	for (size_t i = 0; i < count; i++)
		add_part(out, who, json_object_array_get_idx(content, i));
}

int
transcript_text(const char *path, struct buf *out, struct err *err)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	cleanup_free char *model = NULL;
	size_t at = 0, len;
	int r = file_read(path, TRANSCRIPT_TEXT_MAX, &bytes, err);

	if (r < 0)
		return r;
	while (at < bytes.len) {
		const char *end = memchr(bytes.data + at, '\n', bytes.len - at);

		len = end != NULL ? (size_t)(end - (bytes.data + at)) :
				    bytes.len - at;
		render_line(bytes.data + at, len, &model, out);
		at += len + 1;
	}
	return 0;
}

#define TAIL_SIZE ((size_t)128 * 1024)

/* The newest messages, oldest first; their texts belong to the lines. */
struct tail {
	struct stall_message messages[STALL_SAMPLE_MESSAGES];
	size_t count;
	struct json_object *lines[STALL_SAMPLE_MESSAGES];
};

static void
add(struct tail *tail, struct json_object *line,
    const struct stall_message *message)
{
	if (tail->count == STALL_SAMPLE_MESSAGES) {
		json_object_put(tail->lines[0]);
		memmove(tail->lines, tail->lines + 1,
		    (tail->count - 1) * sizeof(struct json_object *));
		memmove(tail->messages, tail->messages + 1,
		    (tail->count - 1) * sizeof tail->messages[0]);
		tail->count--;
	}
	tail->messages[tail->count] = *message;
	tail->lines[tail->count++] = json_object_get(line);
}

static void
transcript_tail_add_block(struct tail *tail, struct json_object *line,
    enum stall_role role, struct json_object *block)
{
	const char *type = json_string_or(block, "type", "");
	struct stall_message message = { .role = role };

	if (strcmp(type, "text") == 0) {
		message.text = json_string_or(block, "text", NULL);
		message.is_error =
		    json_bool_or(line, "isApiErrorMessage", false);
	} else if (strcmp(type, "tool_use") == 0) {
		message.role = STALL_TOOL_CALL;
		message.tool = json_string_or(block, "name", NULL);
	} else if (strcmp(type, "tool_result") == 0) {
		message.role = STALL_TOOL_RESULT;
		message.text = json_string_or(block, "content", NULL);
		message.is_error = json_bool_or(block, "is_error", false);
	} else {
		return;
	}
	add(tail, line, &message);
}

static void
add_line(struct tail *tail, struct json_object *line)
{
	const char *type = json_string_or(line, "type", "");
	bool assistant = strcmp(type, "assistant") == 0;
	enum stall_role role = assistant ? STALL_ASSISTANT : STALL_USER;
	struct json_object *message, *content;

	if ((!assistant && strcmp(type, "user") != 0) ||
	    json_bool_or(line, "isMeta", false) ||
	    json_bool_or(line, "isSidechain", false) ||
	    !json_object_object_get_ex(line, "message", &message) ||
	    !json_object_is_type(message, json_type_object) ||
	    !json_object_object_get_ex(message, "content", &content))
		return;
	if (json_object_is_type(content, json_type_string))
		add(tail, line,
		    &(struct stall_message){ .role = role,
			.text = json_object_get_string(content) });
	else if (json_object_is_type(content, json_type_array))
		for (size_t i = 0; i < json_object_array_length(content); i++)
			transcript_tail_add_block(tail, line, role,
			    json_object_array_get_idx(content, i));
}

static int
read_tail(const char *path, struct buf *text)
{
	cleanup_fd int fd = transcript_open_file(path);
	struct stat st;
	size_t want;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) == -1)
		return -1;
	want = (size_t)st.st_size > TAIL_SIZE ? TAIL_SIZE : (size_t)st.st_size;
	buf_reserve(text, want);
	n = pread(fd, text->data, want, st.st_size - (off_t)want);
	if (n <= 0)
		return -1;
	buf_grew(text, (size_t)n);
	return 0;
}

enum stall_class
transcript_tail_class(const char *path, struct buf *why)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *model = NULL;
	struct tail tail = { 0 };
	enum stall_class class;
	char *rest, *line;

	if (read_tail(path, &text) < 0)
		buf_clear(&text);
	/* The first line may be cut: it is no JSON then. */
	for (rest = text.data; (line = strsep(&rest, "\n")) != NULL;) {
		cleanup_json struct json_object *json = NULL;

		if (*line == '\0' ||
		    json_parse(line, strlen(line), TAIL_SIZE, &json, NULL) < 0)
			continue;
		json = transcript_translate(json, &model);
		add_line(&tail, json);
	}
	class = stall_sample_classify(tail.messages, tail.count, why);
	for (size_t i = 0; i < tail.count; i++)
		json_object_put(tail.lines[i]);
	return class;
}

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
	struct loop_call *notify; /* calls fn once for many lines */
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
	loop_call_request(transcript->notify);
}

static void
transcript_side_line(const char *line, size_t len, void *arg)
{
	struct transcript *transcript = arg;

	transcript_parser_side_line(transcript->parser, line, len);
	loop_call_request(transcript->notify);
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
	transcript->notify = loop_call_new(loop, transcript_tell, transcript);
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
	loop_call_free(transcript->notify);
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
