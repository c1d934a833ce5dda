/* SPDX-License-Identifier: ISC */

/* The write-ahead log of a book, as it lies on the disk. SQLite takes the first
 * frame that is wrong for the end of the log, and forgets what follows; here
 * that is told from a log whose last transaction was never finished. */

#include "base.h"

#include <endian.h>

#include "book-private.h"

/* Of SQLite's file format. The checksum of a frame goes on from that of the
 * one before, and covers its page and the first bytes of its header. */
#define HEADER_SIZE    32
#define MAGIC          0x377f0682U /* + 1: sums of big-endian words */
#define AT_SALTS       16
#define AT_HEADER_SUM  24
#define FRAME_HEADER   24
#define FRAME_SIZE     (FRAME_HEADER + BOOK_PAGE_SIZE)
#define AT_PAGE_NUMBER 0
#define AT_COMMIT      4 /* pages of the database; 0: more frames follow */
#define AT_FRAME_SALTS 8
#define AT_FRAME_SUM   16
#define SUMMED         8 /* bytes of the header of a frame */

#define LOG_MAX     ((size_t)1 << 30)
#define REPAIRS_MAX 50 /* they take time */

struct sums {
	uint32_t a, b;
};

static uint32_t
log_number(const unsigned char *at)
{
	uint32_t number;

	memcpy(&number, at, sizeof number);
	return be32toh(number);
}

static struct sums
stored_sums(const unsigned char *at)
{
	return (struct sums){ log_number(at), log_number(at + 4) };
}

static struct sums
log_sum(bool big, struct sums sums, const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i += 8) {
		uint32_t words[2];

		memcpy(words, bytes + i, sizeof words);
		sums.a +=
		    (big ? be32toh(words[0]) : le32toh(words[0])) + sums.b;
		sums.b +=
		    (big ? be32toh(words[1]) : le32toh(words[1])) + sums.a;
	}
	return sums;
}

static unsigned
bits_between(const unsigned char *a, const unsigned char *b)
{
	uint64_t words[2];

	memcpy(&words[0], a, sizeof words[0]);
	memcpy(&words[1], b, sizeof words[1]);
	return (unsigned)__builtin_popcountll(words[0] ^ words[1]);
}

static unsigned char *
frame_of(const struct book_log *log, size_t i)
{
	return (unsigned char *)log->bytes.data + HEADER_SIZE + i * FRAME_SIZE;
}

static struct sums
frame_sums(const struct book_log *log, size_t i)
{
	const unsigned char *frame = frame_of(log, i);
	struct sums sums = i > 0 ?
	    stored_sums(frame - FRAME_SIZE + AT_FRAME_SUM) :
	    stored_sums((unsigned char *)log->bytes.data + AT_HEADER_SUM);

	sums = log_sum(log->big, sums, frame, SUMMED);
	return log_sum(log->big, sums, frame + FRAME_HEADER, BOOK_PAGE_SIZE);
}

static bool
frame_is_whole(const struct book_log *log, size_t i)
{
	struct sums sums = frame_sums(log, i);
	struct sums stored = stored_sums(frame_of(log, i) + AT_FRAME_SUM);

	return sums.a == stored.a && sums.b == stored.b;
}

/* Put right one wrong bit, in the checksum or in what it covers. The number of
 * bits that it can be: these checksums are weak, and it is left if they are
 * several. */
static size_t
frame_repair(struct book_log *log, size_t i)
{
	unsigned char *frame = frame_of(log, i);
	size_t found = 0, where = 0;

	for (size_t bit = 0; bit < FRAME_SIZE * 8; bit++) {
		if (bit == AT_FRAME_SALTS * 8)
			bit = AT_FRAME_SUM * 8;
		frame[bit / 8] ^= (unsigned char)(1U << bit % 8);
		if (frame_is_whole(log, i)) {
			found++;
			where = bit;
		}
		frame[bit / 8] ^= (unsigned char)(1U << bit % 8);
	}
	if (found == 1)
		frame[where / 8] ^= (unsigned char)(1U << where % 8);
	return found;
}

static bool
header_is_whole(struct book_log *log)
{
	const unsigned char *header = (unsigned char *)log->bytes.data;
	struct sums none = { 0, 0 }, sums;
	struct sums stored = stored_sums(header + AT_HEADER_SUM);

	log->big = (header[3] & 1) != 0;
	sums = log_sum(log->big, none, header, AT_HEADER_SUM);
	return (log_number(header) & ~1U) == MAGIC && sums.a == stored.a &&
	    sums.b == stored.b;
}

static bool
header_repair(struct book_log *log)
{
	unsigned char *header = (unsigned char *)log->bytes.data;

	for (unsigned bit = 0; bit < HEADER_SIZE * 8; bit++) {
		header[bit / 8] ^= (unsigned char)(1U << bit % 8);
		if (header_is_whole(log))
			return true;
		header[bit / 8] ^= (unsigned char)(1U << bit % 8);
	}
	header_is_whole(log);
	return false;
}

/* A frame that was never finished has nothing behind it but the rest of its
 * transaction: each one is synced before the next begins. */
static void
look_at_frames(struct book_log *log, bool is_bad)
{
	const unsigned char *salts = is_bad ?
	    frame_of(log, 0) + AT_FRAME_SALTS :
	    (unsigned char *)log->bytes.data + AT_SALTS;
	bool is_past = false; /* a transaction with a bad frame */
	size_t tries = 0;

	for (size_t i = 0; i < log->frames; i++) {
		const unsigned char *frame = frame_of(log, i);
		unsigned bits = bits_between(frame + AT_FRAME_SALTS, salts);

		log->whole[i] = bits <= 1 && frame_is_whole(log, i);
		if (bits <= 1 && !log->whole[i] && tries++ < REPAIRS_MAX) {
			size_t found = frame_repair(log, i);

			log->whole[i] = found == 1;
			log->repaired += found == 1;
			log->is_damaged = log->is_damaged || found > 0;
		}
		if (!log->whole[i]) {
			is_bad = true;
			continue;
		}
		if (is_past || bits == 1)
			log->is_damaged = true;
		if (log_number(frame + AT_COMMIT) != 0) {
			log->end = i + 1;
			is_past = is_bad;
		}
	}
}

int
book_log_read(const char *path, struct book_log *log, struct err *err)
{
	cleanup_free char *file = xasprintf("%s-wal", path);
	bool is_whole;
	int r = 0;

	*log = (struct book_log){ .bytes = BUF_INIT };
	if (file_exists(file))
		r = file_read(file, LOG_MAX, &log->bytes, err);
	if (r < 0 || log->bytes.len < HEADER_SIZE + FRAME_SIZE)
		return r;
	log->frames = (log->bytes.len - HEADER_SIZE) / FRAME_SIZE;
	log->whole = xcalloc(log->frames, sizeof *log->whole);
	is_whole = header_is_whole(log);
	if (!is_whole && header_repair(log)) {
		is_whole = true;
		log->repaired++;
	}
	look_at_frames(log, !is_whole);
	if (log->repaired > 0)
		log->is_damaged = true;
	return 0;
}

const unsigned char *
book_log_page(const struct book_log *log, size_t i, uint32_t *ret_number)
{
	const unsigned char *frame = frame_of(log, i);

	*ret_number = log_number(frame + AT_PAGE_NUMBER);
	return log->whole[i] ? frame + FRAME_HEADER : NULL;
}

void
book_log_release(struct book_log *log)
{
	buf_release(&log->bytes);
	free(take_ptr(&log->whole));
}
