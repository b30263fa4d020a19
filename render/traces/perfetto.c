/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/traces/perfetto.h"

#include <errno.h>

#define TRACE_PACKET 1
#define SEQUENCE 1
#define STATE_CLEARED 1
#define NEEDS_STATE 2
#define ENOUGH (256 * 1024)

void perfetto__begin(struct perfetto *p)
{
	p->packet = protobuf__begin(&p->packets, TRACE_PACKET);
	protobuf__number(&p->packets, PACKET_SEQUENCE, SEQUENCE);
	protobuf__number(&p->packets, PACKET_SEQUENCE_FLAGS, p->begun ? NEEDS_STATE : STATE_CLEARED);
	p->begun = true;
}

int perfetto__end(struct perfetto *p)
{
	protobuf__end(&p->packets, p->packet);
	return p->packets.failed ? -ENOMEM : p->packets.length >= ENOUGH ? perfetto__flush(p) : 0;
}

int perfetto__flush(struct perfetto *p)
{
	size_t length = p->packets.length;

	if (p->packets.failed)
		return -ENOMEM;
	p->packets.length = 0;
	errno = 0;
	if (length && fwrite(p->packets.data, 1, length, p->out) != length)
		return errno ? -errno : -EIO;
	return 0;
}

size_t perfetto__begin_event(struct perfetto *p, uint64_t time_ns, enum perfetto_event type, uint64_t track)
{
	size_t event;

	protobuf__number(&p->packets, PACKET_TIMESTAMP, time_ns);
	event = protobuf__begin(&p->packets, PACKET_EVENT);
	protobuf__number(&p->packets, EVENT_TYPE, type);
	protobuf__number(&p->packets, EVENT_TRACK, track);
	return event;
}
