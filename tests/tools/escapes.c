/* SPDX-License-Identifier: ISC */

/*
 * escapes MODE[:KIND] [SETTING...]: run every row of escape-table.h in a box on
 * a scratch repository, and beside it without one, and print what was held as
 * JSON. The settings are lines for the table [defaults] of the repository.
 * LLMC is the path of llmc, TMUX_REAL the socket of a tmux server, if there is
 * one. A box that cannot be made is {"no_box": REASON}. KIND: check, setup or
 * repair, for the rows that hold in every kind of box.
 *
 * escapes probe KIND WHERE [WORD]: what the scripts of the table cannot do with
 * a shell: use a socket, a key or a system call. Never sends anything to
 * another machine.
 */
#include "base.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "api-error.h"
#include "box-net.h"
#include "box-probe.h"
#include "box.h"
#include "config.h"
#include "escape-kernel.h"
#include "escape-scene.h"
#include "escape-table.h"
#include "settings.h"
#include "workspace.h"

/* Connect, and send the word (NULL = nothing). Negative errno. */
static int
reach(int type, const void *address, size_t len, const char *word)
{
	const struct sockaddr *to = address;
	cleanup_fd int fd = socket(to->sa_family, type | SOCK_CLOEXEC, 0);

	if (fd == -1 || connect(fd, to, (socklen_t)len) == -1)
		return -errno;
	return word == NULL ? 0 : file_write_all(fd, word, strlen(word));
}

/* Any length of path is fine: its folder is named by a descriptor. */
static int
probe_unix(const char *path, const char *word)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *dir = slash == NULL ?
	    xstrdup(".") :
	    xstrndup(path, (size_t)(slash - path) + 1);
	cleanup_fd int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (fd == -1)
		return -errno;
	snprintf(address.sun_path, sizeof address.sun_path,
	    "/proc/self/fd/%d/%s", fd, slash == NULL ? path : slash + 1);
	return reach(SOCK_STREAM, &address, sizeof address, word);
}

static int
probe_abstract(const char *name, const char *word)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(name);

	if (len >= sizeof address.sun_path)
		return -ENAMETOOLONG;
	memcpy(address.sun_path + 1, name, len);
	return reach(SOCK_STREAM, &address,
	    offsetof(struct sockaddr_un, sun_path) + 1 + len, word);
}

static int
probe_port(int type, const char *port, const char *word)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	int64_t number;

	if (!text_parse_int(port, 1, UINT16_MAX, &number))
		return -EINVAL;
	address.sin_port = htons((uint16_t)number);
	return reach(type, &address, sizeof address, word);
}

static int
probe_tcp(const char *port, const char *word)
{
	return probe_port(SOCK_STREAM, port, word);
}

static int
probe_udp(const char *port, const char *word)
{
	return probe_port(SOCK_DGRAM, port, word);
}

/* Connecting a datagram socket looks for a route, and sends nothing. */
static int
probe_route(const char *host, const char *word)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons(53) };

	(void)word;
	if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
		return -EINVAL;
	return reach(SOCK_DGRAM, &address, sizeof address, NULL);
}

/* Print a key of the kernel, by its number. A keyring that holds it, if one is
 * named, is linked to the session's first. */
static int
probe_key(const char *key, const char *ring)
{
	char text[256];
	int64_t number, holder = 0;
	long got;

	if (!text_parse_int(key, 1, INT32_MAX, &number) ||
	    (ring != NULL && !text_parse_int(ring, 1, INT32_MAX, &holder)))
		return -EINVAL;
	if (holder != 0)
		syscall(SYS_keyctl, KEYCTL_LINK, (int)holder,
		    KEY_SPEC_SESSION_KEYRING);
	got = syscall(
	    SYS_keyctl, KEYCTL_READ, (int)number, text, sizeof text - 1);
	if (got < 0)
		return -errno;
	text[(size_t)got < sizeof text ? (size_t)got : sizeof text - 1] = '\0';
	puts(text);
	return 0;
}

static const struct {
	const char *kind;
	int (*probe)(const char *where, const char *word);
} probes[] = {
	{ "unix", probe_unix },
	{ "abstract", probe_abstract },
	{ "tcp", probe_tcp },
	{ "udp", probe_udp },
	{ "route", probe_route },
	{ "key", probe_key },
	{ "call", escape_kernel_call },
	{ "trace", escape_kernel_trace },
	{ "leave", escape_kernel_leave },
};

static int
probe(const char *kind, const char *where, const char *word)
{
	for (size_t i = 0; i < nitems(probes); i++)
		if (strcmp(kind, probes[i].kind) == 0)
			return probes[i].probe(where, word) == 0 ? 0 : 1;
	return 2;
}

struct trial {
	enum box_mode mode;
	const char *kind; /* of box; NULL = a session's */
	bool linked; /* a worktree, as where there can be no clone */
	bool scoped; /* worktree closes abstract sockets */
	struct escape_scene *scene;
	struct box box;
};

static int
prepare_box(struct trial *t, struct err *err)
{
	cleanup_workspace struct workspace ws = { 0 };
	struct settings *settings = NULL;
	struct box_spec spec = { .kind = BOX_SESSION,
		.workspace = &ws,
		.worker = escape_scene_worker(),
		.tree = escape_scene_worktree(t->scene) };
	int r = workspace_at(escape_scene_root(t->scene), &ws, err);

	if (r == 0)
		r = config_load_strict(&ws, &settings, err);
	if (r < 0)
		return r;
	spec.settings = settings;
	if (text_is(t->kind, "check")) {
		spec.kind = BOX_CHECK;
	} else if (text_is(t->kind, "setup")) {
		spec.kind = BOX_COMMAND;
		spec.network = true;
	} else if (text_is(t->kind, "repair")) {
		spec.worker = CALLER_REPAIR;
		spec.trial = true;
	}
	r = box_prepare(&spec, &t->box, err);
	settings_free(settings);
	return r;
}

static bool
is_wanted(const struct trial *t, const struct escape *escape)
{
	if (t->kind != NULL && (escape->modes & ESCAPE_KINDS) == 0)
		return false;
	if (t->mode == BOX_STRICT)
		return (escape->modes & ESCAPE_STRICT) != 0;
	return (escape->modes &
		   (t->linked ? ESCAPE_LINKED : ESCAPE_WORKTREE)) != 0 &&
	    ((escape->modes & ESCAPE_SCOPED) == 0 || t->scoped);
}

/* All rows in the box (or, prefix NULL, as the control): has each escaped? A
 * box changes little, so that all rows in it and then all without it is faster
 * than each row in both. */
static int
try_all(struct trial *t, char *const *prefix, bool *escaped, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < escape_count() && r == 0; i++)
		if (is_wanted(t, &escape_table[i]))
			r = escape_scene_try(t->scene, &escape_table[i], prefix,
			    &escaped[i], err);
	return r;
}

static int
run_trial(struct trial *t, struct json_object *rows, struct err *err)
{
	cleanup_free bool *box = xcalloc(escape_count(), sizeof *box);
	cleanup_free bool *control = xcalloc(escape_count(), sizeof *control);
	/* Where nothing runs, everything would look held. */
	static const struct escape nothing = { .script = "true",
		.look = "true" };
	int r = escape_scene_keep(t->scene, err);
	bool runs = false;

	if (r == 0)
		r = escape_scene_try(
		    t->scene, &nothing, t->box.prefix, &runs, err);
	if (r == 0 && !runs)
		r = err_set(err, -EPERM, "nothing runs in this box");
	if (r == 0)
		r = try_all(t, t->box.prefix, box, err);
	if (r == 0)
		r = try_all(t, NULL, control, err);
	for (size_t i = 0; i < escape_count() && r == 0; i++) {
		struct json_object *row;

		if (!is_wanted(t, &escape_table[i]))
			continue;
		row = json_object_new_object();
		json_set_string(row, "id", escape_table[i].id);
		json_set_string(row, "words", escape_table[i].words);
		json_set_string(row, "verdict",
		    box[i]         ? "not_held" :
			control[i] ? "held" :
				     "no_evidence");
		json_object_array_add(rows, row);
	}
	return r;
}

/* The programs of llmc are found on PATH, where a box shows them. */
static void
find_programs(void)
{
	const char *path = getenv("PATH"), *llmc = getenv("LLMC");
	cleanup_free char *first = xstrdup(llmc != NULL ? llmc : "/");
	const char *cli = dirname(first);
	cleanup_free char *all = xasprintf(
	    "%s:%s/../keeper:%s", cli, cli, path != NULL ? path : "/bin");

	setenv("PATH", all, 1);
}

static int
try_escapes(const char *mode, char **settings, struct err *err)
{
	cleanup_buf struct buf config = BUF_INIT;
	cleanup_json struct json_object *json = json_object_new_object();
	struct json_object *rows = json_object_new_array();
	cleanup_free char *name = xstrndup(mode, strcspn(mode, ":"));
	bool linked = strcmp(name, "linked") == 0;
	cleanup_free char *bwrap = box_find_bwrap();
	struct trial t = {
		.mode = strcmp(name, "strict") == 0 ? BOX_STRICT : BOX_WORKTREE,
		.kind =
		    strchr(mode, ':') != NULL ? strchr(mode, ':') + 1 : NULL,
		.linked = linked,
		.scoped = bwrap != NULL && box_net_can_scope(bwrap),
	};
	char self[4096] = "";
	int r;

	json_set(json, "escapes", rows);
	if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0)
		return err_errno(err, -errno, "/proc/self/exe");
	buf_addf(&config,
	    "[defaults]\nsandbox = \"%s\"\nsandbox_read = [\"%s\"]\n",
	    box_mode_name(t.mode), dirname(self));
	for (; *settings != NULL; settings++)
		buf_addf(&config, "%s\n", *settings);
	find_programs();
	r = escape_scene_begin(linked ? "worktree" : "clone", config.data,
	    getenv("TMUX_REAL"), &t.scene, err);
	if (r < 0)
		return r;
	r = prepare_box(&t, err);
	if (r < 0)
		json_set_string(json, "no_box", err->msg);
	else
		r = run_trial(&t, rows, err);
	escape_scene_end(t.scene);
	box_release(&t.box);
	puts(json_object_to_json_string(json));
	return r;
}

int
main(int argc, char **argv)
{
	struct err err = { 0 };

	if (argc >= 4 && strcmp(argv[1], "probe") == 0)
		return probe(argv[2], argv[3], argc > 4 ? argv[4] : NULL);
	if (argc < 2)
		return 2;
	if (try_escapes(argv[1], argv + 2, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	return 0;
}
