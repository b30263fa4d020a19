// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/graind/limits/fair_share.h"

bool fair_share__allow(uid_t uid, size_t of_user, size_t left)
{
	return left && (uid == 0 || of_user < left);
}

size_t fair_share__left(size_t most, size_t taken, size_t reserved)
{
	return taken < most && reserved < most - taken ? most - taken - reserved : 0;
}
