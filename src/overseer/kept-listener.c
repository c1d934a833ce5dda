/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "client.h"
#include "http-request.h"
#include "http-server.h"
#include "overseer-private.h"

void
kept_listener_release(struct kept_listener *kept)
{
	kept->fd = fd_close(kept->fd);
	explicit_bzero(kept->text, sizeof kept->text);
}

void
kept_listener_give(struct kept_listener *kept, int channel)
{
	int r;

	kept->messages = kept->ignored = 0;
	if (kept->fd < 0)
		return;
	r = fd_channel_send(channel, kept->text, kept->fd);
	if (r < 0) {
		log_info("the socket of the page is not handed on: %s",
		    strerror(-r));
		kept_listener_release(kept);
	}
}

/* One line for each daemon is enough. */
static void
ignore(struct kept_listener *kept, const char *why)
{
	if (kept->ignored++ == 0)
		log_info("a message of the daemon is ignored: %s", why);
}

/* Takes the descriptor. */
static void
take_message(struct kept_listener *kept, const char *text, int fd)
{
	struct err err = { 0 };

	if (strcmp(text, WEB_DROP) == 0 && fd < 0) {
		kept_listener_release(kept);
	} else if (!text_begins(text, WEB_KEEP) || fd < 0) {
		ignore(kept, "it is not known");
	} else if (http_listens(fd, NULL, NULL, &err) < 0) {
		ignore(kept, err.msg);
	} else {
		kept_listener_release(kept);
		kept->fd = take_fd(&fd);
		memcpy(kept->text, text, strlen(text) + 1);
	}
	fd_close(fd);
}

int
kept_listener_read(struct kept_listener *kept, int channel)
{
	char text[FD_CHANNEL_TEXT_SIZE];
	int fd = -1, r = fd_channel_receive(channel, text, &fd);

	if (r == -EAGAIN)
		return 0;
	if (r != 1 && r != -EBADMSG)
		return -EPIPE;
	if (++kept->messages > KEPT_LISTENER_MESSAGES) {
		ignore(kept, "there are too many");
		fd_close(fd);
		kept_listener_release(kept);
		return -EPIPE;
	}
	if (r == 1)
		take_message(kept, text, fd);
	else
		ignore(kept, "it cannot be read");
	return 1;
}

void
kept_listener_drain(struct kept_listener *kept, int channel)
{
	while (channel >= 0 && kept_listener_read(kept, channel) > 0)
		;
}
