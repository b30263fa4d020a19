// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/attach/spare_askers.h"

static bool is_recent(uint64_t ns, uint64_t now_ns)
{
	return ns && now_ns - ns < SPARE_ASKERS_EXPECTED_NS;
}

bool spare_askers__may_take(const struct spare_askers *askers, uid_t account, uint64_t now_ns)
{
	return !askers->taken || askers->taker != account || !is_recent(askers->others_ns, now_ns);
}

void spare_askers__note(struct spare_askers *askers, uid_t account, bool takes, uint64_t now_ns)
{
	if (askers->taken && askers->taker != account)
		askers->others_ns = now_ns;
	if (takes) {
		askers->taker = account;
		askers->taken = true;
	} else {
		askers->missed_ns = now_ns;
	}
}

bool spare_askers__more_come(const struct spare_askers *askers, uint64_t now_ns)
{
	return is_recent(askers->missed_ns, now_ns);
}
