/* SPDX-License-Identifier: ISC */

/*
 * A proxy in front of a server on 127.0.0.1 that behaves as bad as a network
 * can:
 *
 *	tcp-proxy PORT FILE PID	prints "PORT n", its own port; ends with PID
 *
 * FILE says what happens to all connections, now and later; it is read when it
 * changes, and absent means "pass":
 *
 *	pass
 *	delay MS	each way takes so much longer
 *	hole		nothing arrives any more, and nobody is told
 *	cut		every connection is closed, and new ones at once
 *	lose N		N times: what the server says next is thrown away and
 *the connection closed, so that the client does not know what became of its
 *request
 *
 */
#include "base.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define PAIRS_MAX 128
#define CHUNK     65536
#define LOOK_MS   10

/* Bytes on their way in one direction. */
struct chunk {
	struct chunk *next;
	int64_t due_ms;
	size_t len, at;
	char bytes[];
};

struct way {
	int from, to;
	struct chunk *first, **last;
	bool ended; /* `from` says no more */
};

struct pair {
	struct way up, down; /* of the client, of the server */
};

static struct pair pairs[PAIRS_MAX];
static size_t count;
static char mode[16];
static long number;
static struct timespec changed;

static void
pair_free(size_t i)
{
	struct way *ways[] = { &pairs[i].up, &pairs[i].down };
	struct chunk *chunk;

	for (size_t n = 0; n < nitems(ways); n++) {
		close(ways[n]->from);
		while ((chunk = ways[n]->first) != NULL) {
			ways[n]->first = chunk->next;
			free(chunk);
		}
	}
	count--;
	if (i < count) {
		pairs[i] = pairs[count];
		for (size_t n = 0; n < nitems(ways); n++)
			if (ways[n]->first == NULL)
				ways[n]->last = &ways[n]->first;
	}
}

static void
read_file(const char *file)
{
	struct stat st;
	FILE *in;

	if (stat(file, &st) != 0 ||
	    memcmp(&st.st_mtim, &changed, sizeof changed) == 0)
		return;
	changed = st.st_mtim;
	number = 0;
	in = fopen(file, "re");
	if (in == NULL || fscanf(in, "%15s %ld", mode, &number) < 1)
		snprintf(mode, sizeof mode, "pass");
	if (in != NULL)
		fclose(in);
}

static bool
is(const char *word)
{
	return strcmp(mode, word) == 0;
}

static int
dial(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
		close(fd);
		return -1;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}

static void
take(int listener, int port)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), on = 1, server;

	if (fd < 0)
		return;
	server = is("cut") || count == PAIRS_MAX ? -1 : dial(port);
	if (server < 0) {
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	pairs[count] = (struct pair){ .up = { .from = fd, .to = server },
		.down = { .from = server, .to = fd } };
	pairs[count].up.last = &pairs[count].up.first;
	pairs[count].down.last = &pairs[count].down.first;
	count++;
}

/* False: the pair is over. */
static bool
receive(struct way *way, bool answer)
{
	struct chunk *chunk = xmalloc(sizeof *chunk + CHUNK);
	ssize_t n = recv(way->from, chunk->bytes, CHUNK, MSG_DONTWAIT);

	if (n > 0 && !(answer && is("lose") && number > 0)) {
		*chunk = (struct chunk){ .due_ms = clock_mono_ms() +
			    (is("delay") ? number : 0),
			.len = (size_t)n };
		*way->last = chunk;
		way->last = &chunk->next;
		return true;
	}
	free(chunk);
	if (n > 0) {
		number--;
		return false;
	}
	way->ended = n == 0;
	return n == 0 || errno == EAGAIN;
}

static bool
send_due(struct way *way)
{
	struct chunk *chunk;

	while (
	    (chunk = way->first) != NULL && chunk->due_ms <= clock_mono_ms()) {
		ssize_t n = send(way->to, chunk->bytes + chunk->at,
		    chunk->len - chunk->at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN;
		chunk->at += (size_t)n;
		if (chunk->at < chunk->len)
			return true;
		way->first = chunk->next;
		if (way->first == NULL)
			way->last = &way->first;
		free(chunk);
	}
	return !(way->ended && way->first == NULL);
}

static void
run(int listener, int port, const char *file, const char *process)
{
	while (access(process, F_OK) == 0) {
		struct pollfd fds[1 + 2 * PAIRS_MAX];
		size_t known = count;

		read_file(file);
		while (is("cut") && count > 0)
			pair_free(0);
		known = count;
		fds[0] = (struct pollfd){ listener, POLLIN, 0 };
		for (size_t i = 0; i < known; i++) {
			short events = is("hole") ? 0 : POLLIN;

			fds[1 + 2 * i] = (struct pollfd){
				pairs[i].up.ended ? -1 : pairs[i].up.from,
				events, 0
			};
			fds[2 + 2 * i] = (struct pollfd){
				pairs[i].down.ended ? -1 : pairs[i].down.from,
				events, 0
			};
		}
		poll(fds, (nfds_t)(1 + 2 * known), LOOK_MS);
		for (size_t i = known; i-- > 0 && !is("hole");) {
			struct pair *p = &pairs[i];
			bool ok = true;

			if (fds[1 + 2 * i].revents != 0)
				ok = receive(&p->up, false);
			if (ok && fds[2 + 2 * i].revents != 0)
				ok = receive(&p->down, true);
			if (!ok || !send_due(&p->up) || !send_due(&p->down))
				pair_free(i);
		}
		if (fds[0].revents != 0)
			take(listener, port);
	}
}

int
main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char process[64];

	if (argc != 4) {
		fputs("usage: tcp-proxy PORT FILE PID\n", stderr);
		return 2;
	}
	snprintf(process, sizeof process, "/proc/%s", argv[3]);
	snprintf(mode, sizeof mode, "pass");
	if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 ||
	    listen(fd, 16) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &len) < 0) {
		perror("tcp-proxy: no port");
		return 1;
	}
	printf("PORT %d\n", ntohs(at.sin_port));
	fflush(stdout);
	run(fd, (int)strtol(argv[1], NULL, 10), argv[2], process);
	return 0;
}
